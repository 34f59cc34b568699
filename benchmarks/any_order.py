"""Run ``make demo`` and ``make test`` in any order, with interruptions, each time in a new clone.

    python -m benchmarks.any_order
    python -m benchmarks.any_order --only "at once"

Each clone contains the committed files. Every order ends with the installation steps of
``make test``, some tests, and a check that the language packages and the built-in model are
installed. Packages come from the index that pip and uv are configured to use.
"""

import argparse
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.first_minute import Demo, free_port, new_clone, newcomer_variables

PATIENCE = 900
# No server listens on this port.
CLOSED = "http://127.0.0.1:9/simple"
OFFLINE = {
    **dict.fromkeys(("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), CLOSED),
    **dict.fromkeys(("PIP_EXTRA_INDEX_URL", "UV_INDEX", "PIP_FIND_LINKS", "UV_FIND_LINKS"), ""),
    "PIP_CONFIG_FILE": os.devnull,
    # Without caches, because cached packages would hide a missing network.
    "UV_NO_CACHE": "1",
    "PIP_NO_CACHE_DIR": "1",
}
SHORT = ("tests/judging/test_packages.py", "tests/stats/test_agreement.py")
STATES = """
from cqa_site.judging.packages import Part, state
print(*(state(part).stage for part in Part))
"""


class Failure(Exception):
    """Raised if an order fails; the message is the output."""


@dataclass
class Clone:
    """A fresh clone in which commands can be run."""

    folder: Path
    environment: dict[str, str]

    def start(self, *targets: str, **variables: str) -> subprocess.Popen[str]:
        """Start a make command as the leader of a process group, as in a terminal."""
        return subprocess.Popen(
            ["make", *targets],
            cwd=self.folder,
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def make(self, *targets: str, **variables: str) -> str:
        """Return the output of a command; raise `Failure` if it fails."""
        return ended_well(self.start(*targets, **variables))

    def interrupt(self, target: str, seconds: float, how: int = signal.SIGINT) -> None:
        """Interrupt a command as Ctrl+C does, which reaches its whole process group."""
        process = self.start(target, f"PORT={free_port()}")
        time.sleep(seconds)
        if process.poll() is not None:
            raise Failure(process.communicate()[0])
        os.killpg(process.pid, how)
        process.communicate(timeout=60)

    def demo(self, **variables: str) -> Demo:
        """Start the demo site and return it."""
        demo = Demo(self.folder, free_port(), self.environment | variables)
        demo.start()
        return demo

    def python(self, *arguments: str) -> str:
        """Return the output of the environment's Python."""
        command = [self.folder / ".venv/bin/python", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        if done.returncode:
            raise Failure(done.stdout + done.stderr)
        return done.stdout

    def check(self) -> str:
        """Run the first steps of ``make test`` and some tests, and check the packages."""
        self.make(".venv/.dev", "models")
        self.python("-m", "pytest", "-p", "no:cacheprovider", *SHORT)
        return self.packages()

    def packages(self) -> str:
        """Check that all packages are installed and can be imported with their dependencies."""
        states = self.python("-c", STATES).split()
        if set(states) != {"there"}:
            raise Failure(f"states: {states}")
        self.python("-c", "import xllamacpp, torch, sentence_transformers, peft, bert_score, umap")
        return "works"


def ended_well(process: subprocess.Popen[str]) -> str:
    """Return the output of a process; raise `Failure` if it fails."""
    output, _nothing = process.communicate(timeout=PATIENCE)
    if process.returncode:
        raise Failure(output)
    return output


def demo_then_test(clone: Clone) -> str:
    """Run the site until everything is installed, then the tests."""
    demo = clone.demo()
    demo.wait_for(demo.is_complete)
    demo.stop()
    return clone.check()


def test_then_demo(clone: Clone) -> str:
    """Run the tests, then the demo, which must not download anything."""
    clone.check()
    demo = clone.demo()
    demo.wait_for(demo.password)
    demo.stop()
    if "being downloaded" in "".join(demo.said):
        raise Failure("".join(demo.said))
    return clone.check()


def demo_interrupted(clone: Clone, seconds: float, how: int = signal.SIGINT) -> str:
    """Interrupt the demo, then run the tests."""
    clone.interrupt("demo", seconds, how)
    return clone.check()


def demo_interrupted_in_torch(clone: Clone, how: int = signal.SIGINT) -> str:
    """Interrupt the demo while it installs the largest package, then run the tests."""
    progress, demo = clone.folder / ".venv/language-packages.json", clone.demo()
    demo.wait_for(lambda: progress.exists() and '"now": "torch"' in progress.read_text())
    time.sleep(1)
    os.killpg(demo.process.pid, how)
    demo.process.wait(60)
    return clone.check()


def demo_interrupted_twice(clone: Clone) -> str:
    """Interrupt the demo twice, then run it until everything is installed."""
    clone.interrupt("demo", 12)
    clone.interrupt("demo", 6, signal.SIGKILL)
    demo = clone.demo()
    demo.wait_for(demo.is_complete)
    demo.stop()
    return clone.packages()


def packages_interrupted(clone: Clone) -> str:
    """Interrupt ``make packages``, then run it again."""
    clone.make(".venv/.site")
    clone.interrupt("packages", 4)
    clone.make("packages")
    return clone.packages()


def test_interrupted(clone: Clone, seconds: float) -> str:
    """Interrupt ``make test`` while it installs, then run the tests."""
    clone.interrupt(".venv/.dev", seconds)
    return clone.check()


def demo_and_test_at_once(clone: Clone) -> str:
    """Run the demo and the tests at once, so that one must wait for the other."""
    demo = clone.demo()
    time.sleep(0.5)
    clone.make(".venv/.dev")
    demo.wait_for(demo.is_complete)
    demo.stop()
    return clone.check()


def two_tests_at_once(clone: Clone) -> str:
    """Run the tests twice at once, so that one run must wait for the other."""
    first, second = clone.start(".venv/.dev", "models"), clone.start(".venv/.dev", "models")
    ended_well(first)
    ended_well(second)
    return clone.check()


def second_start_offline(clone: Clone) -> str:
    """Start a partly installed site offline, check its message, then complete its installation."""
    first = clone.demo()
    first.wait_for(first.password)
    first.stop()
    second = clone.demo(**OFFLINE)
    second.wait_for(lambda: "make packages" in "".join(second.said))
    second.stop()
    clone.check()
    third = clone.demo(**OFFLINE)
    third.wait_for(third.first_page)
    third.stop()
    clone.make(".venv/.dev", **OFFLINE)
    return f"{clone.packages()}; what was missing was said"


def first_start_offline(clone: Clone) -> str:
    """Check that a first start offline fails with a message and succeeds later."""
    process = clone.start("demo", f"PORT={free_port()}", **OFFLINE)
    output, _nothing = process.communicate(timeout=PATIENCE)
    if process.returncode == 0 or "without a network connection" not in output:
        raise Failure(output)
    return f"a sentence; then {clone.check()}"


def with_umask(clone: Clone, mask: int) -> str:
    """Run the tests and the demo under another umask."""
    usual = os.umask(mask)
    try:
        return test_then_demo(clone)
    finally:
        os.umask(usual)


ORDERS: dict[str, Callable[[Clone], str]] = {
    "demo until everything is there, then test": demo_then_test,
    "test, then demo": test_then_demo,
    **{
        f"demo, Ctrl+C after {seconds} s, then test": partial(demo_interrupted, seconds=seconds)
        for seconds in (1, 3, 6, 10, 15, 25)
    },
    "demo, SIGKILL after 15 s, then test": partial(
        demo_interrupted, seconds=15, how=signal.SIGKILL
    ),
    "demo, Ctrl+C while torch comes, then test": demo_interrupted_in_torch,
    "demo, SIGKILL while torch comes, then test": partial(
        demo_interrupted_in_torch, how=signal.SIGKILL
    ),
    "demo, Ctrl+C, demo, SIGKILL, demo": demo_interrupted_twice,
    "packages, Ctrl+C, packages": packages_interrupted,
    **{
        f"test, Ctrl+C after {seconds} s, then test": partial(test_interrupted, seconds=seconds)
        for seconds in (2, 12)
    },
    "demo and test at once": demo_and_test_at_once,
    "two tests at once": two_tests_at_once,
    "demo, then demo and test without network": second_start_offline,
    "demo without network, then test": first_start_offline,
    "test, then demo, umask 077": partial(with_umask, mask=0o077),
}


def main() -> None:
    """Print a table of orders, their outcomes and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="orders whose name has these words")
    only, failed = parser.parse_args().only, 0
    # A shell that runs this script in the background ignores SIGINT, and commands inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("| order | outcome | s |\n|---|---|---|")
    for name, follow in ORDERS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            clone, started = Clone(new_clone(folder), newcomer_variables()), time.monotonic()
            try:
                outcome = follow(clone)
            except (Failure, SystemExit, subprocess.TimeoutExpired) as problem:
                failed += 1
                outcome = f"FAILED: {str(problem)[-1500:]}"
            print(f"| {name} | {outcome} | {time.monotonic() - started:.0f} |", flush=True)
    raise SystemExit(min(failed, 1))


if __name__ == "__main__":
    main()
