"""Time from a clone to the first page, the first label and the embedded judge's first answer.

    python -m benchmarks.first_minute
    python -m benchmarks.first_minute --empty-cache

Clones the committed state of this repository into a new folder and runs ``make demo`` there as
the current user. With ``--empty-cache``, uv starts with an empty cache, as on a new machine.
Packages come from the index that pip and uv are configured to use; a slower connection adds to
the times.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from threading import Thread
from typing import Any

from benchmarks.http_annotator import CSRF, Annotator

HERE = Path(__file__).parents[1]
PATIENCE = 600
ANNOTATOR, RESEARCHER = "annotator@counterpoint.example", "researcher@counterpoint.example"
PASSWORD = re.compile(r"password for all of them: (\S+)")
TOKEN = re.compile(rb"cqa_[\w-]{20,}")
WORK = re.compile(rb'href="(/s/[\w-]+/label-rounds/[\w-]+/label/)"')
THERE = "in the box are installed."


@dataclass
class Demo:
    """A site started by ``make demo``, and its output so far."""

    clone: Path
    port: int
    environment: dict[str, str]
    said: list[str] = field(default_factory=list)

    def start(self) -> None:
        """Run ``make demo`` and read its output."""
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            ["make", "demo", f"PORT={self.port}"],
            cwd=self.clone,
            env=self.environment | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)

    def stop(self) -> None:
        """Ask the site to end."""
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(60)

    def cpu_seconds(self) -> float:
        """Return the processor seconds of the site's current and ended processes only."""
        ticks, parents = {}, {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
            ticks[int(folder.name)] = sum(map(int, fields[11:15]))
        family = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
        return sum(ticks.get(pid, 0) for pid in family) / os.sysconf("SC_CLK_TCK")

    def wait_for(self, found: Any) -> tuple[float, Any]:
        """Return the seconds until ``found()`` returns a result, and that result."""
        while self.process.poll() is None and time.monotonic() - self.begun < PATIENCE:
            if result := found():
                return time.monotonic() - self.begun, result
            time.sleep(0.05)
        raise SystemExit("".join(["It did not come that far:\n", *self.said]))

    def first_page(self) -> bool:
        """Whether the sign-in page is available."""
        address = f"http://127.0.0.1:{self.port}/accounts/login/"
        try:
            with urllib.request.urlopen(address, timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def password(self) -> str:
        """Return the printed password; empty if it has not been printed yet."""
        found = PASSWORD.search("".join(self.said))
        return found[1] if found else ""

    def is_complete(self) -> bool:
        """Whether the output reports a complete installation."""
        return THERE in "".join(self.said)

    def environment_mb(self) -> int:
        """Return the size of the environment and of the model folder."""
        places = [str(self.clone / each) for each in (".venv", ".models")]
        there = [each for each in places if Path(each).exists()]
        sizes = subprocess.run(["du", "-sm", *there], capture_output=True, text=True, check=True)
        return sum(int(line.split()[0]) for line in sizes.stdout.splitlines())


def main() -> None:
    """Print a table of seconds and megabytes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--empty-cache", action="store_true")
    empty = parser.parse_args().empty_cache
    with tempfile.TemporaryDirectory() as folder:
        clone, environment = new_clone(folder), newcomer_variables()
        if empty:
            environment["UV_CACHE_DIR"] = f"{folder}/cache"
        demo = Demo(clone, free_port(), environment)
        try:
            measure(demo)
        finally:
            if demo.process.poll() is None:
                demo.stop()


def new_clone(folder: str, repository: str = str(HERE)) -> Path:
    """Clone the committed state of this repository, as a new user does."""
    clone = Path(folder) / "counterpoint"
    subprocess.run(["git", "clone", "--quiet", repository, str(clone)], check=True)
    return clone


def newcomer_variables() -> dict[str, str]:
    """Return the environment without variables that only developers set."""
    unwanted = ("DATA_DIR", "STATIC_ROOT", "MODELS_DIR", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def measure(demo: Demo) -> None:
    """Measure the first start, then further starts."""
    demo.start()
    tell(demo, "first page", demo.wait_for(demo.first_page)[0])
    size = demo.environment_mb()
    tell(demo, "sign-in printed", demo.wait_for(demo.password)[0])
    tell(demo, "first label", demo.wait_for(lambda: first_label(demo))[0])
    tell(demo, "first answer of the built-in model", demo.wait_for(begin_judging(demo))[0])
    tell(demo, "everything is there", demo.wait_for(demo.is_complete)[0])
    print(f"environment at the first page {size} MB, at the end {demo.environment_mb()} MB")
    demo.stop()
    for _time in range(3):
        demo.said.clear()
        demo.start()
        tell(demo, "first page of another start", demo.wait_for(demo.first_page)[0])
        demo.stop()


def tell(demo: Demo, what: str, seconds: float) -> None:
    """Print one line of the table, including the load of the machine."""
    cpu, load = demo.cpu_seconds(), os.getloadavg()[0]
    print(f"{what:<40}{seconds:7.1f} s {cpu:7.1f} s CPU   load {load:.1f}", flush=True)


def first_label(demo: Demo) -> bool:
    """Sign in as the annotator and answer the first item."""
    person = Annotator(demo.port, "", seed=1)
    person.sign_in(ANNOTATOR, demo.password())
    _status, page = person.request("GET", "/")
    found = WORK.search(page)
    if found is None:
        raise SystemExit("The annotator was offered no work.")
    person.base = found[1].decode()
    waiting, _state = person._open_page(time.monotonic() + 30)
    person._label(waiting[0]["id"], time.monotonic() + 30, has_enough=False)
    return bool(person.acknowledged.labels)


def begin_judging(demo: Demo) -> Any:
    """Start a run of the built-in model; return a function that counts its answers."""
    person = Annotator(demo.port, "", seed=2)
    person.sign_in(RESEARCHER, demo.password())
    token = CSRF.search(person.request("GET", "/account/")[1])
    person.token = token[1].decode() if token else ""
    fields = {"name": "First minute", "scope": "write"}
    status, _page = person.request("POST", "/account/tokens/", fields)
    if status != 302:
        raise SystemExit(f"A token was refused: {status}")
    token = TOKEN.search(person.request("GET", "/account/")[1])
    assert token is not None

    def ask(path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{demo.port}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {token[0].decode()}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    study = f"studies/{ask('studies/')['results'][0]['id']}"

    def first(path: str) -> str:
        return str(ask(f"{study}/{path}")["results"][0]["id"])

    plan = {
        "label_round": first("label-rounds/"),
        "endpoint": first("endpoints/?kind=embedded"),
        "prompt": first("prompts/?kind=relevance_single"),
        "preflight": "off",
        "choice": "sample",
        "sample": 2,
    }
    run = ask(f"{study}/runs/", plan)["id"]
    return lambda: ask(f"{study}/runs/{run}/labels/")["count"]


def free_port() -> int:
    """Return a currently unused port."""
    with closing(socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
