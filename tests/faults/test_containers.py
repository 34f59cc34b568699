"""What compose.yaml starts: labelled on and judged, a worker killed, down, up, nothing lost."""

import threading
import time

import pytest

from benchmarks.campaign_server import free_port
from benchmarks.composed import listens
from benchmarks.databases import postgres_database
from tests.faults.composed_site import ComposedSite
from tests.faults.fault_site import wait_until
from tests.faults.nursery import Nursery
from tests.faults.test_label_race import check

pytestmark = [pytest.mark.slow, pytest.mark.postgres]
SECONDS = 120


@pytest.fixture
def site(migrated):
    if not listens(6379):
        pytest.skip("Redis does not answer on 127.0.0.1:6379")
    with postgres_database(migrated) as url:
        site = ComposedSite(
            database_url=url,
            stub_port=free_port(),
            values={"WEB_PROCESSES": "1"},
            people=4,
            items=120,
            controls=20,
            votes=2,
        )
        try:
            with Nursery(site.environment) as site.nursery:
                site.fill()
                yield site
        finally:
            site.remove()


def test_nothing_is_lost_where_a_worker_is_killed_and_all_goes_down_and_up(site):
    composed = site.composed
    composed.up(workers=2)
    assert "no issues" in composed.ask("web", "python", "manage.py", "check", "--deploy")
    with site.stub(latency=0.3) as stub:
        run = site.begin(stub, limit=8)
        people, ends = site.annotators(), []
        deadline = time.monotonic() + SECONDS
        threads = [
            threading.Thread(target=lambda one=one: ends.append(one.label_until_done(deadline)))
            for one in people
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: stub.counts["requests"] >= 16, 30, every=0.01)
        composed.kill("worker-1")
        in_flight = site.leases()
        wait_until(lambda: stub.counts["requests"] >= 48, 30, every=0.01)
        wait_until(lambda: labels(people) >= 60, 30)
        seconds = composed.down()
        # Within the time that the file gives them, and with nothing left on its way.
        assert seconds.keys() == {"web", "worker-2"}
        assert not site.leases() - in_flight
        composed.up(workers=1)
        for thread in threads:
            thread.join()
        site.wait(run, 60)
        facts = site.check(run, kept=140)
    check(site, people, ends)
    assert site.lost() <= in_flight
    assert facts["attempts"] <= facts["planned"] + len(in_flight)
    assert sum(person.acknowledged.retries for person in people)


def labels(people):
    return sum(len(person.acknowledged.labels) for person in people)
