"""Workers that carry a run are killed again and again."""

import os
import signal
import time

import pytest

from tests.faults.fault_site import FaultSite, wait_until
from tests.faults.nursery import HASTY, kill, lives

MISCHIEF = {
    "latency": 0.05, "retry_after": "1", "throttled": 0.01, "broken": 0.02, "reset": 0.01,
    "hung": 0.006, "dripped": 0.006, "drip_seconds": 0.02, "garbage": 0.02, "cut": 0.02,
}  # fmt: skip


FAULTS = ("throttled", "broken", "reset", "hung", "dripped", "garbage", "cut")


def start(site: FaultSite, number: int, after: str = HASTY) -> int:
    """A Celery worker where there is a broker for it, else `manage.py work`."""
    if site.broker.startswith("redis"):
        return site.nursery.celery(f"w{number}", after=after)
    return site.nursery.work(after=after)


@pytest.mark.parametrize("kills", [8, pytest.param(40, marks=pytest.mark.long)])
def test_kills_lose_nothing_and_double_nothing(site, kills):
    """Exactly the requests in flight at the kills are lost; only those are paid for twice."""
    in_flight: set[tuple[int, int]] = set()
    with site.stub(**MISCHIEF) as stub:
        run = site.begin(stub, limit=64, deadline=2)
        for number in range(kills):
            # Right after its first request, or somewhere among its first forty.
            wanted = stub.counts["requests"] + 1 + number * 17 % 40
            worker = start(site, number)
            wait_until(lambda n=wanted: stub.counts["requests"] >= n, 30, every=0.01)
            kill(worker)
            # A commit that was on its way to PostgreSQL still counts.
            time.sleep(0.05)
            in_flight |= site.leases()
        start(site, kills, after="")
        site.wait(run, 120)
        facts = site.check(run)
        assert all(stub.counts[fault] for fault in FAULTS), stub.counts
    assert site.lost() == in_flight
    assert len(in_flight) >= kills
    assert facts["attempts"] >= facts["planned"] + len(in_flight)


SUICIDE = """
import json, os, signal
from tests.judging.scripted import ScriptedClient
from cqa_site.runs.carrying import clients
from cqa_site.runs.models import Endpoint
from tests.faults.fault_site import case_of
def answer(request):
    case = case_of({"messages": request.messages})
    if case == 120:
        os.kill(os.getpid(), signal.SIGKILL)
    return json.dumps({"reason": "So.", "label": case % 4})
clients.MAKERS[Endpoint.Kind.REMOTE] = lambda endpoint: ScriptedClient(answer, latency=0.02)
"""


@pytest.mark.long
def test_a_call_that_kills_its_workers_is_given_up_and_takes_no_other_with_it(site):
    with site.stub() as stub:
        run = site.begin(stub, sample=200)
        deaths = 0
        while site.state_of(run) != "done":
            worker = site.nursery.work(after=HASTY + SUICIDE)
            wait_until(
                lambda one=worker: not lives(one) or site.state_of(run) == "done",
                90,
                lambda: site.summary(run),
            )
            deaths += not lives(worker)
            assert deaths <= 4, site.summary(run)
    facts = site.check(run, kept=199)
    assert deaths == 4
    assert facts["labels"]["120"] is None
    assert facts["reasons"] == {"poison": 1}


def stop_between_commits(site: FaultSite, worker: int) -> None:
    """Stop a process where it locks nobody out of the one file that SQLite writes."""
    for _attempt in range(200):
        os.kill(worker, signal.SIGSTOP)
        time.sleep(0.05)
        if not site.is_locked():
            return
        os.kill(worker, signal.SIGCONT)
        time.sleep(0.01)
    raise AssertionError("the worker was always writing")


@pytest.mark.long
def test_what_a_worker_brings_after_its_lease_passed_on_changes_nothing(site):
    """Stopped with requests on their way, overtaken by another worker, and woken again."""
    with site.stub(latency=0.4) as stub:
        run = site.begin(stub, deadline=60, sample=100)
        zombie = site.nursery.work(after=HASTY)
        wait_until(lambda: stub.stub.in_flight >= 10, 30, every=0.01)
        stop_between_commits(site, zombie)
        held = site.leases()
        assert held
        site.nursery.work()
        site.wait(run, 60)
        assert site.lost() == held
        os.kill(zombie, signal.SIGCONT)
        wait_until(lambda: site.stale() == len(held), 30, lambda: site.summary(run))
        assert stub.counts["answered"] == 100 + len(held)
    assert site.check(run, kept=100)["outcomes"] == {"replied": 100, "stale": len(held)}
