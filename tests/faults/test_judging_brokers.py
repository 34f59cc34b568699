"""The broker is only a doorbell: without it, emptied, or ringing five times, runs end well."""

import pytest
import redis

from tests.faults.fault_site import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("load")]
NOBODY_LISTENS = """
import django
django.setup()
from cqa_site.celery import app
app.conf.broker_url = "redis://127.0.0.1:9/0"
"""
FIVE_TIMES = """
import django
django.setup()
from cqa_site.runs import tasks
ring_once = tasks.wake.apply_async
tasks.wake.apply_async = lambda **options: [ring_once(**options) for _ in range(5)]
"""


def test_a_side_car_carries_a_run_whose_broker_is_down(site):
    with site.stub() as stub:
        run = site.begin(stub, sample=60, first=NOBODY_LISTENS)
        site.nursery.work(after=NOBODY_LISTENS)
        site.wait(run, 60)
    site.check(run, kept=60)


def test_every_message_five_times_changes_nothing(site):
    with site.stub(latency=0.05) as stub:
        run = site.begin(stub, sample=300, first=FIVE_TIMES)
        for name in ("one", "two"):
            site.nursery.celery(name, after=FIVE_TIMES)
        site.wait(run, 90)
        assert stub.counts["answered"] == 300
    assert site.check(run, kept=300)["outcomes"] == {"replied": 300}


def test_a_broker_that_is_emptied_costs_nothing(postgres_site):
    site = postgres_site
    if not site.broker.startswith("redis"):
        pytest.skip("Redis does not answer on 127.0.0.1:6379")
    with site.stub(latency=0.05) as stub, redis.Redis.from_url(site.broker) as broker:
        run = site.begin(stub, sample=300)
        assert broker.dbsize() > 0
        broker.flushdb()
        site.nursery.celery("emptied")
        wait_until(
            lambda: broker.flushdb() and site.state_of(run) == "done",
            90,
            lambda: site.summary(run),
        )
        assert stub.counts["answered"] == 300
    site.nursery.kill_all()
    site.check(run, kept=300)
