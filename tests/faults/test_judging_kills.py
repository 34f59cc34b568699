"""Workers that carry a run are killed again and again."""

import time

import pytest

from tests.faults.fault_site import FaultSite, wait_until
from tests.faults.nursery import kill

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("load")]
KILLS = 40
MISCHIEF = {
    "latency": 0.05,
    "retry_after": "1",
    "throttled": 0.004,
    "broken": 0.02,
    "reset": 0.01,
    "hung": 0.004,
    "dripped": 0.004,
    "drip_seconds": 0.02,
    "garbage": 0.02,
    "cut": 0.02,
}


FAULTS = ("throttled", "broken", "reset", "hung", "dripped", "garbage", "cut")


def start(site: FaultSite, number: int) -> int:
    """A Celery worker where there is a broker for it, else `manage.py work`."""
    if site.broker.startswith("redis"):
        return site.nursery.celery(f"w{number}")
    return site.nursery.work()


def test_forty_kills_lose_nothing_and_double_nothing(site):
    """Exactly the requests in flight at the kills are lost; only those are paid for twice."""
    t0 = time.monotonic()
    before = site.lost()
    in_flight: set[tuple[int, int]] = set()
    with site.stub(**MISCHIEF) as stub:
        run = site.begin(stub, limit=64, deadline=2)
        for number in range(KILLS):
            # Right after its first request, or somewhere among its first forty.
            wanted = stub.counts["requests"] + 1 + number * 17 % 40
            worker = start(site, number)
            wait_until(lambda n=wanted: stub.counts["requests"] >= n, 30, every=0.01)
            kill(worker)
            # A commit that was on its way to PostgreSQL still counts.
            time.sleep(0.05)
            in_flight |= site.leases()
        print("kills over", time.monotonic() - t0, site.summary(run)["calls"])
        start(site, KILLS)
        site.wait(run, 120)
        print("done", time.monotonic() - t0, len(in_flight))
        facts = site.check(run)
        assert all(stub.counts[fault] for fault in FAULTS), stub.counts
    assert site.lost() - before == in_flight
    assert len(in_flight) >= KILLS
    assert facts["attempts"] >= facts["planned"] + len(in_flight)
