"""The broker is only a doorbell: without it, emptied, or ringing five times, runs end well."""

import os
import signal
import socket

import pytest
import redis

from benchmarks.judging_site import end
from tests.faults.fault_site import wait_until

NOBODY_LISTENS = """
import django
django.setup()
from cqa_site.celery import app
app.conf.broker_url = "redis://127.0.0.1:9/0"
"""
FIVE_TIMES = """
import django
django.setup()
from cqa_site.runs import jobs
send_once = jobs.send
jobs.send = lambda: [send_once() for _ in range(5)]
"""


@pytest.mark.long
def test_a_side_car_carries_a_run_whose_broker_is_down(site):
    with site.stub() as stub:
        run = site.begin(stub, sample=60, first=NOBODY_LISTENS)
        site.nursery.work(after=NOBODY_LISTENS)
        site.wait(run, 60)
    site.check(run, kept=60)


@pytest.mark.long
def test_every_message_five_times_changes_nothing(site):
    with site.stub(latency=0.05) as stub:
        run = site.begin(stub, sample=300, first=FIVE_TIMES)
        for name in ("one", "two"):
            site.nursery.celery(name, after=FIVE_TIMES)
        site.wait(run, 90)
        assert stub.counts["answered"] == 300
    assert site.check(run, kept=300)["outcomes"] == {"replied": 300}


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize(
    ("broker", "port"),
    [
        (os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/5"), 6379),
        (os.environ.get("TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672//"), 5672),
    ],
)
def test_two_celery_workers_share_a_run_and_one_is_killed(postgres_site, broker, port):
    site = postgres_site
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)):
            pytest.skip(f"no broker listens on 127.0.0.1:{port}")
    usual, site.broker = site.broker, broker
    # Each with its own sweep: a single message wakes only one of them.
    workers = [site.celery(f"{name}-{port}") for name in ("one", "two")]
    try:
        with site.stub(latency=1) as stub:
            run = site.begin(stub, sample=900, limit=32)
            wait_until(lambda: len(carriers(site)) == 2, 90, lambda: site.summary(run))
            end(workers[0], signal.SIGKILL)
            site.wait(run, 180)
        facts = site.check(run)
        assert len(site.sql("SELECT DISTINCT worker FROM runs_attempt")) >= 2
        assert facts["outcomes"].get("lost", 0) <= 32
    finally:
        for worker in workers:
            end(worker)
        site.broker = usual


def carriers(site) -> set:
    """Workers with calls in flight right now."""
    return set(site.sql("SELECT DISTINCT leased_by FROM runs_call WHERE state = 'leased'"))
