"""Background work over every broker the settings offer, and with none that answers.

The broker is only a doorbell: without it, emptied, or ringing five times, jobs and runs end well.
5,000 waiting jobs of one person do not keep an import of somebody else waiting.
"""

import os
import signal
import time
from contextlib import nullcontext

import pytest
import redis

from benchmarks.composed import listens
from benchmarks.judging_site import end
from benchmarks.label_round_server import LabelRoundServer
from tests.faults.fault_site import wait_until
from tests.faults.nursery import Nursery, output_of
from tests.faults.test_label_race import query
from tests.lengths import mostly

BACKLOG = 5_000
DEADLINE = 5.0
BROKERS = {
    "filesystem": ("filesystem://", 0),
    "redis": (os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/5"), 6379),
    "rabbitmq": (os.environ.get("TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672//"), 5672),
}
ASK = """
import django; django.setup()
from annotation.consensus.actions.consensus import request_final_labels
from annotation.labelling.models import LabelRound
print(request_final_labels(label_round=LabelRound.objects.get()).public_id)
"""
TAKE = """
import sys
from datetime import timedelta
from django.conf import settings
from cqa_site.runs.jobs import claim
settings.JOB_LEASE = timedelta(seconds=6)
assert str(claim().public_id) == sys.argv[1]
"""
# A worker looks by itself once, at the start, and then not for an hour.
HEARS_ONLY = """
from django.conf import settings
settings.SWEEP_SECONDS = 3600
"""
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


# Each job holds a thread of the worker for as long as a small export does.
HANDLER = """
import time
from cqa_site.runs import jobs
jobs.handles("drill")(lambda work: time.sleep(0.05))
"""
BACKLOG_OF_ONE = """
import sys
import django
django.setup()
from django.db import transaction
from cqa_site.people.models import Study, User
from cqa_site.runs import jobs
study, actor = Study.objects.get(), User.objects.get(email="a0@bench.example")
with transaction.atomic():
    for number in range(int(sys.argv[1])):
        jobs.enqueue(study=study, kind="drill", key=str(number), actor=actor)
"""
IMPORT = """
import django
django.setup()
from cqa_site.files.actions.files import request_apply, store_upload
from cqa_site.files.actions.import_jobs import check_import
from cqa_site.files.formats import FORMATS
from cqa_site.people.models import Study, User
study, actor = Study.objects.get(), User.objects.get(email="boss@bench.example")
sample = FORMATS["argument_list"].sample
file = store_upload(
    study=study, kind="argument_list", name="list.csv", chunks=[sample.make()], actor=actor,
    options=dict(sample.options),
)
check_import(import_file=file)
file.refresh_from_db()
request_apply(import_file=file, leave_out_rejected=False, update_changed=False, actor=actor)
"""
PURGE = """
from cqa_site.celery import app
app.control.purge()
"""
STATES = "SELECT state, count(*) FROM runs_job WHERE kind {} 'drill' GROUP BY state"


def url_of(broker: str) -> str:
    url, port = BROKERS[broker]
    if port and not listens(port):
        pytest.skip(f"no broker listens on 127.0.0.1:{port}")
    return url


def states(site, comparison: str) -> dict[str, int]:
    return dict(site.sql(STATES.format(comparison)))


def state_of(site, job: str) -> str:
    """The state of a job, read without starting a process."""
    stored = job if site.database_url else job.replace("-", "")
    return query(site, f"SELECT state FROM runs_job WHERE public_id = '{stored}'")[0][0]


@pytest.mark.parametrize("broker", mostly(BROKERS, "filesystem"))
def test_a_worker_hears_the_bell(site, broker):
    seen = "SELECT count(*) FROM runs_workerbeat"
    before = site.sql(seen)
    with bellmen(site, url_of(broker)) as nursery:
        nursery.celery(f"hears-{broker}", after=HEARS_ONLY)
        wait_until(lambda: site.sql(seen) > before, 60)
        job = nursery.python(ASK).split()[-1]
        wait_until(lambda: state_of(site, job) == "done", 180)


def bellmen(site, url):
    """Processes that ring and hear by a broker; those that are there, if it is the site's."""
    if site.broker == url:
        return nullcontext(site.nursery)
    return Nursery(site.environment, CELERY_BROKER_URL=url)


@pytest.mark.long
@pytest.mark.parametrize("is_taken", [False, True])
def test_work_is_found_without_any_message(site, is_taken):
    """The request went to a broker that does not answer; a worker looks for itself.

    Also for a job that another worker took before it was killed, after the lease.
    """
    nowhere = {"CELERY_BROKER_URL": "redis://127.0.0.1:9/0"}
    job = LabelRoundServer.python(site, "-c", ASK, **nowhere).split()[-1]
    if is_taken:
        site.nursery.python(TAKE, job)
        assert state_of(site, job) == "leased"
    site.nursery.celery("finds")
    wait_until(lambda: state_of(site, job) == "done", 240)


@pytest.mark.long
@pytest.mark.parametrize(
    ("site", "broker"),
    [("sqlite", "filesystem"), ("postgres", "redis"), ("postgres", "rabbitmq")],
    indirect=["site"],
)
def test_an_import_does_not_wait_for_the_jobs_of_another_person(site, broker):
    with Nursery(site.environment, CELERY_BROKER_URL=url_of(broker)) as nursery:
        output_of(nursery.later(BACKLOG_OF_ONE, str(BACKLOG)), 300)
        nursery.celery(f"fair-{broker}", after=HANDLER)
        try:
            wait_until(lambda: states(site, "=").get("done", 0) > 20, 60)
            nursery.python(IMPORT)
            asked = time.monotonic()
            wait_until(
                lambda: states(site, "<>") == {"done": 1},
                DEADLINE,
                lambda: f"{states(site, '<>')}, of the other person {states(site, '=')}",
                every=0.02,
            )
            print(f"imported within {time.monotonic() - asked:.2f} s")
            assert states(site, "=")["ready"] > BACKLOG / 2
        finally:
            nursery.kill_all()
            nursery.python(PURGE)
            # So that the jobs can be deleted.
            site.sql("UPDATE files_importfile SET job_id = NULL")
    assert not site.sql("SELECT id FROM runs_job WHERE losses > 0 OR fence > 1")
    site.check_integrity()


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
@pytest.mark.parametrize("broker", ["redis", "rabbitmq"])
def test_two_celery_workers_share_a_run_and_one_is_killed(postgres_site, broker):
    site = postgres_site
    usual, site.broker = site.broker, url_of(broker)
    # Each with its own sweep: a single message wakes only one of them.
    workers = [site.celery(f"{name}-{broker}") for name in ("one", "two")]
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
