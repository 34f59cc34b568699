"""Faults of background work, planted: workers that died, are old or idle, and what got stuck."""

import os
import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from cqa_site.people.models import User
from cqa_site.runs import processes
from cqa_site.runs.jobs import UNEXPECTED
from cqa_site.runs.models import Attempt, Call, Job, Run, WorkerBeat
from cqa_site.runs.processes import mark_of_code
from cqa_site.upkeep.doctor.findings import State
from cqa_site.web.housekeeping import CHORES, keep_house, kept_at
from tests.cast import make_study
from tests.runs.judging import Lab

pytestmark = pytest.mark.django_db


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
    assert finds("work.workers").state == State.WELL
    process.kill()
    process.wait()
    found = finds("work.workers")
    assert found.state == State.WRONG
    assert "waiting for 3" in found.says
    assert found.command == "make worker"


def test_a_site_that_was_never_started_and_a_worker_that_takes_nothing_up(finds):
    assert finds("work.workers").state == State.LOOK
    job = wait_for_a_worker(minutes=3)
    assert finds("work.workers").state == State.LOOK
    Job.objects.filter(pk=job.pk).update(run_after=timezone.now() - timedelta(hours=1))
    assert finds("work.workers").state == State.WRONG
    beat()
    found = finds("work.workers")
    assert found.state == State.WRONG
    assert "although a worker is there" in found.says


def test_a_worker_of_another_version(finds):
    beat(code=mark_of_code())
    assert finds("work.workers").state == State.WELL
    beat("x", pid=77, code="of-last-year")
    found = finds("work.workers")
    assert found.state == State.LOOK
    assert "process 77" in found.says


def test_nobody_keeps_house(finds, settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    beat()
    assert finds("work.housekeeping").state == State.WELL
    monkeypatch.setitem(CHORES, "sweeping", lambda: 3)
    keep_house()
    assert finds("work.housekeeping").state == State.WELL
    long_ago = (timezone.now() - timedelta(hours=5)).timestamp()
    os.utime(kept_at(), (long_ago, long_ago))
    found = finds("work.housekeeping")
    assert found.state == State.WRONG
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
    assert "1 job broke" in finds("work.jobs").says
    Job.objects.filter(pk=job.pk).update(error="This file has no votes.")
    assert finds("work.jobs").state == State.WELL


@pytest.mark.parametrize(
    ("reason", "state"),
    [("denied: 401", State.LOOK), ("person", State.WELL), (Run.RESTORED, State.WELL)],
)
def test_runs_that_a_fault_paused(finds, reason, state):
    run = Lab(items=2).start()
    Run.objects.filter(pk=run.pk).update(state="paused", pause_reason=reason)
    assert finds("work.runs").state == state


def test_an_endpoint_that_refuses_its_key(finds):
    run = Lab(items=2).start()
    Run.objects.filter(pk=run.pk).update(state="running")
    assert finds("work.endpoints").state == State.WELL
    Attempt.objects.create(
        call=Call.objects.create(run=run, subject="a", subject_ids=[], position=1),
        fence=7,
        worker="w",
        outcome="failed",
        failure="denied",
        closed_at=timezone.now(),
    )
    found = finds("work.endpoints")
    assert found.state == State.LOOK
    assert run.endpoint.name in found.says


def test_a_broker_that_is_full_or_away(finds, settings, tmp_path):
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path)}
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = settings.CELERY_BROKER_TRANSPORT_OPTIONS | folders
    assert finds("work.broker").state == State.WELL
    for number in range(1_001):
        (tmp_path / f"{number}_x.celery.msg").touch()
    found = finds("work.broker")
    assert found.state == State.LOOK
    assert "holds 1001 messages" in found.says
    assert "purge" in found.command
    settings.CELERY_BROKER_TRANSPORT = None
    settings.CELERY_BROKER_URL = "redis://:hunter2@127.0.0.1:1/0"
    found = finds("work.broker")
    assert found.state == State.WRONG
    assert "hunter2" not in repr(found)
    assert "CELERY_BROKER_URL" in found.remedy


def test_nobody_who_looks_after_the_site(finds):
    found = finds("settings.administrators")
    assert found.state == State.WRONG
    assert found.command.endswith("createsuperuser")
    admin = User.objects.create_superuser("root@site.example", "a long password")
    assert finds("settings.administrators").state == State.WELL
    admin.set_unusable_password()
    admin.save()
    assert finds("settings.administrators").state == State.WRONG


def test_people_of_the_demo_in_production(finds, settings):
    User.objects.create_user("expert@counterpoint.example", "a long password")
    assert finds("settings.demo").state == State.WELL
    settings.PRODUCTION = True
    found = finds("settings.demo")
    assert found.state == State.WRONG
    assert "is_active=False" in found.command
