"""Workers whose process is over lose their leases at once; everybody else keeps them."""

import os
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from cqa_site.runs import jobs, processes
from cqa_site.runs.models import Call, Job, WorkerBeat
from tests.runs.judging import Lab
from tests.runs.turns import planned, turn

NAMED = "from cqa_site.runs.processes import worker_name; print(worker_name(), flush=True);"


@pytest.fixture
def dead() -> str:
    """The name of a worker whose process has ended."""
    said = subprocess.run([sys.executable, "-c", NAMED], capture_output=True, check=True)
    return said.stdout.decode().strip()


def test_only_an_ended_process_of_this_machine_is_gone(dead):
    living = processes.worker_name()
    elsewhere = "0" * 8 + dead[8:]
    unknown = ["batch", "", "7d4c0a52-1111-4c1c-8a3b-2f5d7c1e9a00"]
    assert processes.gone([living, dead, elsewhere, *unknown]) == {dead}
    # A number that was given away again does not keep a lease.
    machine, pid, start, mark = living.split("-")
    earlier = f"{machine}-{pid}-{int(start, 16) - 1:x}-{mark}"
    assert processes.gone([earlier]) == {earlier}
    # Each worker has a name, and each process one for its jobs.
    assert living != processes.worker_name()
    assert processes.this_worker() == processes.this_worker()
    assert len(living) <= Call._meta.get_field("leased_by").max_length
    assert f"-{os.getpid():x}-" in processes.this_worker()


def test_a_killed_process_nobody_waited_for_is_gone():
    code = NAMED + "import time; time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    assert processes.gone([name]) == set()
    child.kill()
    until = time.monotonic() + 10
    while not processes.gone([name]) and time.monotonic() < until:
        time.sleep(0.01)
    assert processes.gone([name]) == {name}
    child.wait()
    child.stdout.close()


@pytest.mark.django_db
def test_what_a_dead_worker_held_is_due_at_once_and_that_of_another_machine_is_not(dead):
    lab = Lab(items=6)
    run = planned(lab)
    turn(lab, "0" * 8 + dead[8:])
    turn(lab, "b", does_reap=True, may_claim=False)
    assert set(run.calls.values_list("state", "losses")) == {("leased", 0)}
    run.calls.update(leased_by=dead)
    turn(lab, "b", does_reap=True, may_claim=False)
    assert set(run.calls.values_list("state", "losses")) == {("ready", 1)}
    Job.objects.all().delete()
    job = jobs.enqueue(study=lab.study, kind="import", key="1")
    assert jobs.claim() == job
    assert jobs.claim() is None
    Job.objects.update(leased_by=dead)
    assert jobs.claim().losses == 1


@pytest.mark.django_db
def test_workers_of_long_ago_are_forgotten_but_for_the_last():
    """On a site that rested for a year the newest beat still says for how long."""
    for days in (365, 366, 373, 400):
        seen_at = timezone.now() - timedelta(days=days)
        WorkerBeat.objects.create(worker=f"w{days}", host="h", process_id=1, seen_at=seen_at)
    assert jobs.forget_workers() == 2
    assert set(WorkerBeat.objects.values_list("worker", flat=True)) == {"w365", "w366"}
    assert jobs.forget_workers() == 0
