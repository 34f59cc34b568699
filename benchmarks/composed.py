"""The services of compose.yaml as local processes, for machines without containers.

Commands, variables, the order of services, health checks and grace periods come from the file.
Hosts become local addresses, and secrets and volumes become folders. The code is a read-only copy
of the files that .dockerignore admits to an image. If run by root, the processes run as the
image's user, provided that this user can read Python, its packages and the code.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from dotenv import dotenv_values

from benchmarks.label_round_server import ROOT, free_port

VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")
SECONDS = {"s": 1, "m": 60}
USER = 10001


def read_compose(values: dict[str, str]) -> dict[str, Any]:
    """Return the file with its variables filled in."""
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(VARIABLE.sub(lambda found: _filled(found, values), text))


def _filled(found: re.Match, values: dict[str, str]) -> str:
    name, how, usual = found.groups()
    if values.get(name):
        return values[name]
    if how != "-":
        raise KeyError(f"{name}: {usual}")
    return usual


def example() -> dict[str, str]:
    """Return the variables of an unchanged `.env` file."""
    return {name: value or "" for name, value in dotenv_values(ROOT / ".env.example").items()}


def command_of_image() -> list[str]:
    """Return the default command of a container."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    found = re.search(r"^CMD (\[.*?\])", text, re.MULTILINE | re.DOTALL)
    return json.loads(found[1].replace("\\\n", ""))


def make_secrets(folder: Path) -> None:
    """Create the secrets in the way that an administrator does."""
    script = ROOT / "cqa_site/upkeep/deployment/make_secrets.sh"
    subprocess.run(["sh", script, folder], check=True, capture_output=True)


def copy_code(folder: Path) -> Path:
    """Copy the contents of an image into read-only folders."""
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        for path in ROOT.glob(line[1:]) if line.startswith("!") else ():
            if path.is_dir():
                shutil.copytree(path, folder / path.name, copy_function=_link)
            else:
                _link(path, folder / path.name)
    _close(folder, 0o555)
    return folder


def _link(source: Path | str, target: Path | str) -> None:
    """Link a file, as copying makes a test ten times as slow; across file systems, copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _close(folder: Path, mode: int) -> None:
    for path, _folders, _files in os.walk(folder):
        os.chmod(path, mode)


def _open(folder: Path) -> None:
    for path, _folders, files in os.walk(folder):
        os.chmod(path, 0o755)
        for name in files:
            os.chmod(os.path.join(path, name), 0o644)


@dataclass
class Composed:
    """An installation with one process per container; workers have names such as `worker-2`."""

    # Variables with local values: database, broker and cache, and settings that a test needs.
    elsewhere: dict[str, str]
    host: str = "counterpoint.example.org"
    # Values that override `.env`.
    values: dict[str, str] = field(default_factory=dict)
    # A folder of collected static files.
    static: Path | None = None
    port: int = field(default_factory=free_port)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="composed-")))
    running: dict[str, subprocess.Popen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = example() | {"SITE_HOST": self.host} | self.values
        self.services = read_compose(self.values)["services"]
        for name in ("data", "code"):
            (self.folder / name).mkdir()
        make_secrets(self.folder / "secrets")
        self.code = copy_code(self.folder / "code")
        if self.static:
            shutil.copytree(self.static, self.folder / "static", copy_function=shutil.copyfile)
            _open(self.folder / "static")
        for folder in (self.folder, self.folder / "secrets"):
            folder.chmod(0o755)
        self.user = self._user()
        if self.user:
            os.chown(self.folder / "data", USER, USER)

    def _user(self) -> dict[str, Any]:
        """Return process options that select the image's user; empty if it cannot be used here."""
        if os.geteuid() != 0:
            return {}
        user = {"user": USER, "group": USER, "extra_groups": []}
        probe = ["python", "-c", "import celery, cqa_site, django, granian"]
        options = {"cwd": self.code, "env": self.environment("web")}
        try:
            subprocess.run(probe, check=True, capture_output=True, **options, **user)
        except (OSError, subprocess.CalledProcessError):
            warnings.warn(
                f"User {USER} may not read {sys.executable}, its packages, or {self.folder}: "
                "processes run as the present user."
            )
            return {}
        return user

    def environment(self, name: str) -> dict[str, str]:
        """Return the variables that a process sees: those of the image, `.env` and the service."""
        said = self.services[name]["environment"]
        return (
            {
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
                "HOME": str(self.folder / "data"),
                "DATA_DIR": str(self.folder / "data"),
                "STATIC_ROOT": str(self.folder / "static"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PORT": str(self.port),
            }
            | self.values
            | {key: self._here(value) for key, value in said.items()}
            | self.elsewhere
        )

    def _here(self, value: Any) -> str:
        return str(value).replace("/run/secrets", str(self.folder / "secrets"))

    def _command(self, words: list[str]) -> list[str]:
        here = {"--port=8000": f"--port={self.port}", "--host=0.0.0.0": "--host=127.0.0.1"}
        return [here.get(word, word) for word in words]

    def start(self, name: str) -> subprocess.Popen:
        """Start a process of a service."""
        service = name.partition("-")[0]
        command = self.services[service].get("command") or command_of_image()
        process = self.running[name] = self._process(service, command)
        return process

    def _process(self, service: str, words: list[str], **options: Any) -> subprocess.Popen:
        return subprocess.Popen(
            self._command(words),
            cwd=self.code,
            env=self.environment(service),
            start_new_session=True,
            umask=0o077,
            **self.user,
            **options,
        )

    def ask(self, service: str, *words: str) -> str:
        """Return the output of a command, as with `docker compose run`."""
        process = self._process(
            service, list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        output, _nothing = process.communicate(timeout=120)
        if process.returncode:
            raise RuntimeError(output[-3000:])
        return output

    def up(self, workers: int = 1) -> None:
        """Start all services in the file's order, and wait until they are healthy."""
        assert self.start("migrate").wait(120) == 0, "the tables could not be made"
        del self.running["migrate"]
        for name in ("web", *(f"worker-{number + 1}" for number in range(workers))):
            self.start(name)
        for service in ("web", "worker"):
            self.wait_until_well(service)

    def wait_until_well(self, service: str, seconds: float = 120.0) -> None:
        """Run the service's health check until it succeeds."""
        _kind, *words = self.services[service]["healthcheck"]["test"]
        deadline = time.monotonic() + seconds
        while self._process(service, words, stderr=subprocess.DEVNULL).wait(30):
            assert time.monotonic() < deadline, f"{service} is not well after {seconds} s"
            time.sleep(0.2)

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        """Send a signal to a process; SIGKILL also reaches its child processes."""
        process = self.running.pop(name)
        (os.killpg if how == signal.SIGKILL else os.kill)(process.pid, how)
        process.wait(60)

    def down(self) -> dict[str, float]:
        """Stop all processes as `docker compose down` does; return the seconds each one took."""
        started = time.monotonic()
        for process in self.running.values():
            process.terminate()
        took = {}
        for name, process in self.running.items():
            process.wait(self.grace(name.partition("-")[0]))
            took[name] = time.monotonic() - started
        self.running.clear()
        return took

    def grace(self, service: str) -> float:
        """Return the number of seconds after which a process that does not end is killed."""
        said = self.services[service].get("stop_grace_period", "10s")
        return float(said[:-1]) * SECONDS[said[-1]]

    def remove(self) -> None:
        """Stop the remaining processes and delete everything."""
        for name in list(self.running):
            self.kill(name)
        _close(self.code, 0o755)
        shutil.rmtree(self.folder)


def listens(port: int) -> bool:
    """Whether a process listens on this local port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
