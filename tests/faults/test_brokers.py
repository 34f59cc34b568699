"""Background work over every broker the settings offer, and with none that answers."""

import os
import signal
import socket
import subprocess
import sys
import time
import uuid

import pytest

from benchmarks.databases import postgres_database
from benchmarks.label_round_server import ROOT, LabelRoundServer
from tests.faults.fault_site import SETTINGS, wait_until
from tests.faults.test_label_race import query

ASK = """
import django; django.setup()
from annotation.consensus.actions.consensus import request_final_labels
from annotation.labelling.models.rounds import LabelRound
print(request_final_labels(label_round=LabelRound.objects.get()).public_id)
"""

TAKE = """
import sys, django; django.setup()
from cqa_site.runs.jobs import claim
assert str(claim().public_id) == sys.argv[1]
"""


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


REDIS = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/5")
RABBITMQ = os.environ.get("TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672//")


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)]
)
def site(request):
    if request.param == "sqlite":
        yield from prepared("")
        return
    with postgres_database(request.getfixturevalue("migrated")) as url:
        yield from prepared(url)


def prepared(url):
    server = LabelRoundServer(database_url=url, people=1, items=20, controls=5, settings=SETTINGS)
    try:
        server.prepare()
        yield server
    finally:
        server.remove()


def worker(site, broker, **variables):
    command = [
        sys.executable, "-m", "celery", "-A", "cqa_site", "worker", "--pool", "threads",
        "--concurrency", "1", "--without-mingle", "--without-gossip",
        "--hostname", f"{uuid.uuid4().hex}@test",
    ]  # fmt: skip
    environment = (
        site.environment | variables | {"CELERY_BROKER_URL": broker, "JOB_LEASE_SECONDS": "6"}
    )
    return subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)


def ask(site, broker):
    environment = site.environment | {"CELERY_BROKER_URL": broker, "JOB_LEASE_SECONDS": "6"}
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


def state_of(site, job):
    """The state of a job, read without starting a process."""
    return query(site, f"SELECT state FROM runs_job WHERE public_id = '{stored(site, job)}'")[0][0]


def workers_seen(site):
    return query(site, "SELECT count(*) FROM runs_workerbeat")[0][0]


def stored(site, public_id):
    """As the database writes it."""
    return public_id if site.database_url else public_id.replace("-", "")


def wait_until_done(site, job, seconds=180):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        state = state_of(site, job)
        if state == "done":
            return
        assert state in ("ready", "leased"), state
        time.sleep(0.5)
    pytest.fail("the job was not done in time")


@pytest.mark.parametrize(
    ("broker", "port"),
    [
        ("filesystem://", 0),
        pytest.param(REDIS, 6379, marks=pytest.mark.long),
        pytest.param(RABBITMQ, 5672, marks=pytest.mark.long),
    ],
)
def test_a_worker_hears_the_bell(site, broker, port):
    if port and not listens(port):
        pytest.skip(f"no broker listens on 127.0.0.1:{port}")
    before = workers_seen(site)
    # It looks by itself once, at the start, and then not for an hour.
    process = worker(site, broker, SWEEP_SECONDS="3600")
    try:
        wait_until(lambda: workers_seen(site) > before, 60)
        wait_until_done(site, ask(site, broker))
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.mark.long
def test_work_is_found_without_any_message(site):
    """The request went to a broker that does not answer; a worker looks for itself."""
    job = ask(site, "redis://127.0.0.1:9/0")
    process = worker(site, "filesystem://")
    try:
        wait_until_done(site, job)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.mark.long
def test_a_killed_worker_loses_nothing(site):
    """SIGKILL while the job is leased: after the lease another worker does it."""
    job = ask(site, "redis://127.0.0.1:9/0")
    # A process that claims the job and ends without a word:
    site.python("-c", TAKE, job, JOB_LEASE_SECONDS="6")
    assert state_of(site, job) == "leased"
    process = worker(site, "filesystem://")
    try:
        wait_until_done(site, job, seconds=240)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)
