"""A throw-away site with one open campaign, served by the production web server."""

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

PREPARE = """
import json, sys
import django
django.setup()
from django.contrib.auth.hashers import make_password
from django.core.management import call_command
call_command("migrate", verbosity=0, interactive=False)
call_command("createcachetable", verbosity=0)
from annotation.labelling.actions.guidelines import default_guideline
from annotation.corpus.models.questions import Argument, Comparison, text_key
from annotation.labelling.models.campaigns import Campaign, Item
from cqa_site.people.models import Membership, Study, User
from cqa_site.rounds.opening import open_round
people, items, controls, votes, password = json.loads(sys.argv[1])
study = Study.objects.create(name="Benchmark")
boss = User.objects.create_user("boss@bench.example", password)
Membership.objects.create(study=study, user=boss, role="researcher")
hashed = make_password(password)
users = User.objects.bulk_create(
    User(email=f"a{n}@bench.example", password=hashed) for n in range(people)
)
Membership.objects.bulk_create(
    Membership(study=study, user=user, role="annotator") for user in users
)
pairs = Comparison.objects.bulk_create(
    Comparison(study=study, object1=f"thing {n}", object2=f"other {n}")
    for n in range(max(1, items // 15))
)
def argument(n):
    pair = pairs[n % len(pairs)]
    text = f"The {pair.object1} is somewhat lighter than the {pair.object2} in case {n}."
    return Argument(study=study, comparison=pair, text=text, text_sha256=text_key(text))
rows = Argument.objects.bulk_create(
    (argument(n) for n in range(items + controls)), batch_size=5000
)
campaign = Campaign.objects.create(
    study=study,
    name="Benchmark",
    guideline=default_guideline(study),
    votes_per_item=votes,
    **Campaign.USUAL,
)
Item.objects.bulk_create(
    (
        Item(
            campaign=campaign,
            argument=row,
            external_id=str(row.public_id),
            control_label=2 if n < controls else None,
        )
        for n, row in enumerate(rows)
    ),
    batch_size=5000,
)
open_round(round_=campaign, actor=boss)
print(json.dumps([str(study.public_id), str(campaign.public_id)]))
"""


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class CampaignServer:
    """Prepares the database and runs the web server in a process group of its own."""

    database_url: str = ""
    people: int = 8
    items: int = 100
    controls: int = 20
    votes: int = 3
    workers: int = 2
    threads: int = 4
    port: int = field(default_factory=free_port)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="counterpoint-")))
    study: str = ""
    campaign: str = ""
    process: subprocess.Popen | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Settings of the throw-away site."""
        url = self.database_url or f"sqlite:///{self.folder / 'site.sqlite3'}"
        keep = {k: v for k, v in os.environ.items() if k not in ("DJANGO_SETTINGS_MODULE",)}
        return keep | {
            "DATA_DIR": str(self.folder),
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "cqa_site.settings",
            "STATIC_ROOT": str(self.folder / "static"),
            "SECRET_KEY": "only-for-benchmarks-" * 4,
            "JOBS_INLINE": "false",
            "LOG_LEVEL": "ERROR",
            "PYTHONPATH": str(ROOT),
        }

    def prepare(self) -> None:
        """Migrate, create the people and the campaign, open it, collect static files."""
        if not self.database_url:
            shutil.copy(migrated_file(), self.folder / "site.sqlite3")
        (self.folder / "static").symlink_to(collected_files())
        wanted = json.dumps([self.people, self.items, self.controls, self.votes, PASSWORD])
        result = self.python("-c", PREPARE, wanted)
        self.study, self.campaign = json.loads(result.splitlines()[-1])

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

    def kill(self) -> None:
        """SIGKILL the server and every process it started."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def resident_mib(self) -> float:
        """Resident memory of all server processes, MiB."""
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
        """Run Python with the settings of the throw-away site; return what it printed."""
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


def migrate(database_url: str = "") -> CampaignServer:
    """Apply every migration to a database, by default one in a file; return its site."""
    site = CampaignServer(database_url=database_url)
    atexit.register(site.remove)
    site.python("manage.py", "migrate", "--noinput", "-v0")
    return site


@cache
def migrated_file() -> Path:
    """A SQLite file with every migration applied, made once in a process and only copied."""
    return migrate().folder / "site.sqlite3"


@cache
def collected_files() -> Path:
    """The static files, compressed once in a process; servers only read them."""
    site = CampaignServer()
    atexit.register(site.remove)
    site.python("manage.py", "collectstatic", "--noinput", "-v0")
    return site.folder / "static"
