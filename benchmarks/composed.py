"""The services of compose.yaml as processes of this machine, where there are no containers.

Commands, variables, their order, health checks and grace periods are those of the file. Hosts
become addresses of this machine, secrets and volumes become folders; the code is a copy of what
.dockerignore lets into an image, which nobody may write to. Where root asks for it, the processes
belong to the user of the image, if that one may read Python, its packages and the code.
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
    """The file with its variables filled in."""
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
    """What somebody has in `.env` who changed nothing."""
    return {name: value or "" for name, value in dotenv_values(ROOT / ".env.example").items()}


def command_of_image() -> list[str]:
    """What a container does that is told nothing else."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    found = re.search(r"^CMD (\[.*?\])", text, re.MULTILINE | re.DOTALL)
    return json.loads(found[1].replace("\\\n", ""))


def make_secrets(folder: Path) -> None:
    """As somebody does who installs the site."""
    script = ROOT / "cqa_site/upkeep/deployment/make_secrets.sh"
    subprocess.run(["sh", script, folder], check=True, capture_output=True)


def copy_code(folder: Path) -> Path:
    """What an image holds, in folders closed to writers."""
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        for path in ROOT.glob(line[1:]) if line.startswith("!") else ():
            if path.is_dir():
                shutil.copytree(path, folder / path.name, copy_function=_link)
            else:
                _link(path, folder / path.name)
    _close(folder, 0o555)
    return folder


def _link(source: Path | str, target: Path | str) -> None:
    """A copy costs a test ten times as long; another file system needs one."""
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
    """An installation, with one process for each container; a worker's name is `worker-2`."""

    # Variables that lead elsewhere here: database, broker and cache, and what a test needs.
    elsewhere: dict[str, str]
    host: str = "counterpoint.example.org"
    # What `.env` says otherwise.
    values: dict[str, str] = field(default_factory=dict)
    # A folder of collected files.
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
        """The user of the image, as options of a process; none where it cannot work here."""
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
        """What the process sees: variables of image, `.env` and service."""
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
        """What a command prints, as with `docker compose run`."""
        process = self._process(
            service, list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        output, _nothing = process.communicate(timeout=120)
        if process.returncode:
            raise RuntimeError(output[-3000:])
        return output

    def up(self, workers: int = 1) -> None:
        """Start everything in the file's order, and wait until it is well."""
        assert self.start("migrate").wait(120) == 0, "the tables could not be made"
        del self.running["migrate"]
        for name in ("web", *(f"worker-{number + 1}" for number in range(workers))):
            self.start(name)
        for service in ("web", "worker"):
            self.wait_until_well(service)

    def wait_until_well(self, service: str, seconds: float = 120.0) -> None:
        """Ask as the health check does."""
        _kind, *words = self.services[service]["healthcheck"]["test"]
        deadline = time.monotonic() + seconds
        while self._process(service, words, stderr=subprocess.DEVNULL).wait(30):
            assert time.monotonic() < deadline, f"{service} is not well after {seconds} s"
            time.sleep(0.2)

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        """Signal a process, with what it started if that is SIGKILL."""
        process = self.running.pop(name)
        (os.killpg if how == signal.SIGKILL else os.kill)(process.pid, how)
        process.wait(60)

    def down(self) -> dict[str, float]:
        """Ask all to end, as `docker compose down` does; return the seconds each one took."""
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
        """Seconds until a process that does not end is killed."""
        said = self.services[service].get("stop_grace_period", "10s")
        return float(said[:-1]) * SECONDS[said[-1]]

    def remove(self) -> None:
        """End what runs still, and delete everything."""
        for name in list(self.running):
            self.kill(name)
        _close(self.code, 0o755)
        shutil.rmtree(self.folder)


def listens(port: int) -> bool:
    """Whether anything on this machine does."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
