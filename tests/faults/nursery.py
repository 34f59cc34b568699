"""Workers that start in milliseconds: forks of a process that has imported everything.

Started by `Nursery` with the environment of a site. Each line on its standard input asks for
one child, as JSON; the answer is the child's process id.
"""

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import redirect_stdout, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CELERY = [
    *("--quiet", "worker", "--pool", "threads", "--concurrency", "2"),
    *("--without-mingle", "--without-gossip", "--without-heartbeat"),
]


def work() -> None:
    """``manage.py work``."""
    from django.core.management import call_command

    call_command("work")


def celery(name: str) -> None:
    """A Celery worker."""
    from cqa_site.celery import app

    app.worker_main([*CELERY, "--hostname", f"{name}@nursery"])


def python(code: str, arguments: list[str], output: str) -> None:
    """Run code; leave what it printed, or why it failed, in a file."""
    sys.argv[1:] = arguments
    caught, status = io.StringIO(), 0
    with redirect_stdout(caught):
        try:
            exec(code, {"__name__": "__main__"})
        except BaseException:  # noqa: BLE001 - the caller is told
            status = 1
            traceback.print_exc(file=caught)
    # Complete as soon as it is there.
    Path(output + ".part").write_text(f"{status}\n{caught.getvalue()}")
    os.rename(output + ".part", output)


# Run first in a worker that is to be killed: a scenario that waits for leases to run out need not
# wait long. No shorter: a busy machine keeps a beat waiting for a second.
HASTY = """
from datetime import timedelta
from django.conf import settings
settings.CALL_LEASE = timedelta(seconds=3)
"""
CHILDREN = {"work": work, "celery": celery, "python": python}


def bear(asked: dict) -> None:
    """Be the child, and never return."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        prepare(asked.pop("after", ""))
        CHILDREN[asked.pop("do")](**asked)
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
        traceback.print_exc()
    finally:
        os._exit(status)


def prepare(code: str) -> None:
    """What a scenario changes first."""
    exec(code, {})


def main() -> None:
    import django

    django.setup()
    import openai.resources.chat.completions  # noqa: F401 - what takes longest

    import cqa_site.celery
    import cqa_site.judging.transport.openai_client
    import cqa_site.runs.management.commands.work  # noqa: F401

    # Nobody waits for the children, so they leave nothing behind.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Unbuffered: a child must not inherit lines that are not its own.
    lines = os.fdopen(os.dup(0), "rb", buffering=0)
    for line in iter(lines.readline, b""):
        if (child := os.fork()) == 0:
            bear(json.loads(line))
        os.write(1, f"{child}\n".encode())


class Nursery:
    """Starts children and knows which of them live.

    ``variables`` are added to the environment of the site.
    """

    def __init__(self, environment: dict[str, str], **variables: str) -> None:
        self._children: set[int] = set()
        self._folder = tempfile.TemporaryDirectory(prefix="nursery-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            cwd=ROOT,
            env=environment | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.kill_all()
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()
        self._folder.cleanup()

    def work(self, after: str = "") -> int:
        """``manage.py work``; ``after`` is code that the child runs first."""
        return self._ask(do="work", after=after)

    def celery(self, name: str, after: str = "") -> int:
        """A Celery worker."""
        return self._ask(do="celery", name=name, after=after)

    def later(self, code: str, *arguments: str) -> tuple[int, Path]:
        """Start code in a child; its output will be in the file."""
        output = Path(self._folder.name) / f"{time.monotonic_ns()}"
        child = self._ask(
            do="python", code=code, arguments=list(arguments), output=os.fspath(output)
        )
        return child, output

    def python(self, code: str, *arguments: str) -> str:
        """Run code in a child; return what it printed."""
        return output_of(self.later(code, *arguments))

    def _ask(self, **asked: object) -> int:
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        self._children.add(child)
        return child

    def kill_all(self) -> None:
        """SIGKILL every child that still lives."""
        for child in self._children:
            with suppress(ProcessLookupError):
                kill(child)
        self._children.clear()


def lives(child: int) -> bool:
    try:
        os.kill(child, 0)
    except ProcessLookupError:
        return False
    return True


def kill(child: int, how: int = signal.SIGKILL, seconds: float = 60.0) -> float:
    """Signal a child and wait until it is gone; return how long that took."""
    started = time.monotonic()
    os.kill(child, how)
    while lives(child):
        assert time.monotonic() - started < seconds, "the process does not end"
        time.sleep(0.005)
    return time.monotonic() - started


def output_of(started: tuple[int, Path], seconds: float = 60.0) -> str:
    """Wait for a child's output; raises RuntimeError with its traceback if it failed."""
    child, output = started
    deadline = time.monotonic() + seconds
    while not output.exists():
        assert time.monotonic() < deadline, "no output"
        assert lives(child) or output.exists(), "it died without output"
        time.sleep(0.005)
    status, _, text = output.read_text().partition("\n")
    if status != "0":
        raise RuntimeError(text[-3000:])
    return text


if __name__ == "__main__":
    main()
