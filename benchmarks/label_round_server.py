"""A throw-away site with one open round of any kind, served by the production web server."""

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "benchmark password"
MAKE_TABLES = """
import django; django.setup()
from cqa_site.preparing import make_tables
make_tables()
"""


def free_port() -> int:
    """Return a currently unused port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class LabelRoundServer:
    """A site whose database can be prepared and whose web server has its own process group."""

    database_url: str = ""
    # The work in the round; see `benchmarks.made_rounds`.
    kind: str = "label"
    settings: str = "cqa_site.settings"
    people: int = 8
    items: int = 100
    controls: int = 20
    votes: int = 3
    workers: int = 2
    threads: int = 4
    port: int = field(default_factory=free_port)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="counterpoint-")))
    study: str = ""
    label_round: str = ""
    # URL of the work page, below which items are also requested.
    work: str = ""
    process: subprocess.Popen | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Settings of the throw-away site."""
        url = self.database_url or f"sqlite:///{self.folder / 'site.sqlite3'}"
        keep = {k: v for k, v in os.environ.items() if k not in ("DJANGO_SETTINGS_MODULE",)}
        return keep | {
            "DATA_DIR": str(self.folder),
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": self.settings,
            "STATIC_ROOT": str(self.folder / "static"),
            "SECRET_KEY": "only-for-benchmarks-" * 4,
            "JOBS_INLINE": "false",
            "LOG_LEVEL": "ERROR",
            "PYTHONPATH": str(ROOT),
        }

    def prepare(self) -> None:
        """Migrate, create the people and the round, open it, collect static files."""
        if not self.database_url:
            shutil.copy(migrated_file(), self.folder / "site.sqlite3")
        (self.folder / "static").symlink_to(collected_files(self.settings))
        self.fill()

    def fill(self) -> None:
        """Create the people and the round, and open it."""
        names = ("kind", "people", "items", "controls", "votes")
        wanted = {name: getattr(self, name) for name in names} | {"password": PASSWORD}
        result = self.python("-m", "benchmarks.made_rounds", json.dumps(wanted))
        self.study, self.label_round, self.work = json.loads(result.splitlines()[-1])

    def start(self) -> None:
        """Start the web server and wait until it answers."""
        command = [
            sys.executable, "-m", "granian", "cqa_site.wsgi:application",
            "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port),
            "--workers", str(self.workers), "--blocking-threads", str(self.threads),
            "--no-access-log", "--log-level", "error",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, start_new_session=True
        )
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2)
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the web server did not answer within 60 seconds")

    def start_worker(self) -> subprocess.Popen:
        """Start a worker as `manage.py site` does, in its own group; the caller ends it."""
        return subprocess.Popen(
            [sys.executable, "-m", "cqa_site.worker"],
            cwd=ROOT,
            env=self.environment | {"CELERY_SKIP_CHECKS": "true"},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self) -> None:
        """SIGKILL the server and every process it started."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def resident_mib(self) -> float:
        """Return the resident memory of all server processes in MiB."""
        assert self.process is not None
        total = 0
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                text = status.read_text()
                group = (status.parent / "stat").read_text().rpartition(")")[2].split()[2]
            except OSError:
                continue
            if int(group) == self.process.pid:
                total += int(text.partition("VmRSS:")[2].split()[0]) if "VmRSS:" in text else 0
        return total / 1024

    def remove(self) -> None:
        """Stop the server and delete its folder."""
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def python(self, *arguments: str, **variables: str) -> str:
        """Run Python with the settings of the throw-away site; return its output."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        return done.stdout


def migrate(database_url: str) -> None:
    """Apply every migration to a database."""
    site = LabelRoundServer(database_url=database_url)
    atexit.register(site.remove)
    site.python("manage.py", "migrate", "--noinput", "-v0")


@cache
def migrated_file() -> Path:
    """Return a template SQLite file with all tables of a new site, created once per process."""
    site = LabelRoundServer()
    atexit.register(site.remove)
    site.python("-c", MAKE_TABLES)
    return site.folder / "site.sqlite3"


@cache
def collected_files(settings: str) -> Path:
    """Return the static files, compressed once per process; servers only read them."""
    site = LabelRoundServer(settings=settings)
    atexit.register(site.remove)
    site.python("manage.py", "collectstatic", "--noinput", "-v0")
    return site.folder / "static"
