"""From a clone to the first page, the first label and the first embedded judge's answer.

    python -m benchmarks.first_minute
    python -m benchmarks.first_minute --empty-cache

Clones this repository (what is committed) into a new folder and runs ``make demo`` there, as
whoever runs this. With ``--empty-cache`` uv has nothing in its cache, as on a new machine.
Packages come from wherever pip and uv are told to look: what a slower line takes comes on top.
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
    """A site that ``make demo`` runs, and what it has said."""

    clone: Path
    port: int
    environment: dict[str, str]
    said: list[str] = field(default_factory=list)

    def start(self) -> None:
        """Run ``make demo`` and listen to it."""
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
        """Ask it to end."""
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(60)

    def cpu_seconds(self) -> float:
        """Processor seconds of all that it runs and ran, whatever else the machine does."""
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
        """Seconds since the start until ``found()`` gives something, and what it gave."""
        while self.process.poll() is None and time.monotonic() - self.begun < PATIENCE:
            if result := found():
                return time.monotonic() - self.begun, result
            time.sleep(0.05)
        raise SystemExit("".join(["It did not come that far:\n", *self.said]))

    def first_page(self) -> bool:
        """Whether the page for signing in is there."""
        address = f"http://127.0.0.1:{self.port}/accounts/login/"
        try:
            with urllib.request.urlopen(address, timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def password(self) -> str:
        """What it printed, once it did."""
        found = PASSWORD.search("".join(self.said))
        return found[1] if found else ""

    def is_complete(self) -> bool:
        """Whether it said that everything is there."""
        return THERE in "".join(self.said)

    def environment_mb(self) -> int:
        """Size of the environment and of the folder of the model."""
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
    """Clone what is committed here, as a newcomer does."""
    clone = Path(folder) / "counterpoint"
    subprocess.run(["git", "clone", "--quiet", repository, str(clone)], check=True)
    return clone


def newcomer_variables() -> dict[str, str]:
    """The environment without what only a developer sets."""
    unwanted = ("DATA_DIR", "STATIC_ROOT", "MODELS_DIR", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def measure(demo: Demo) -> None:
    """The first start, then the second."""
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
    """One line of the table, with how busy the machine was."""
    cpu, load = demo.cpu_seconds(), os.getloadavg()[0]
    print(f"{what:<40}{seconds:7.1f} s {cpu:7.1f} s CPU   load {load:.1f}", flush=True)


def first_label(demo: Demo) -> bool:
    """Sign in as the annotator and answer what comes first."""
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
    """Start a run of the built-in model, as soon as there is a site; what asks for its end."""
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
    """A port that nobody listens on now."""
    with closing(socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
