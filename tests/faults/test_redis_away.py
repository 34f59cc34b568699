"""A server whose Redis, which counts tries and rings for workers, is killed and comes back."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import redis

from benchmarks.http_annotator import CSRF, Annotator
from benchmarks.label_round_server import PASSWORD, LabelRoundServer, free_port
from tests.faults.fault_site import SETTINGS, wait_until
from tests.faults.test_brokers import ASK, state_of
from tests.faults.test_database_away import answer_of, post
from tests.faults.test_label_race import query
from tests.faults.test_refused_bodies import TOKEN

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("redis-server"), reason="needs redis-server"),
]
EMAIL = "a0@bench.example"
LOGIN, RESET = "/accounts/login/", "/accounts/reset/"


class Redis:
    """A Redis of our own that can be ended, held and started again on its port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.start()

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_until(self.answers, 20)

    def answers(self) -> bool:
        try:
            with redis.Redis(port=self.port, socket_timeout=1) as client:
                return client.ping()
        except redis.RedisError:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @contextmanager
    def held(self):
        """It accepts connections and answers nothing."""
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)


@dataclass
class RedisSite(LabelRoundServer):
    redis: Redis = field(default_factory=Redis)

    @property
    def environment(self) -> dict[str, str]:
        here = f"redis://127.0.0.1:{self.redis.port}"
        urls = {"CELERY_BROKER_URL": f"{here}/0", "CACHE_URL": f"{here}/1"}
        return super().environment | urls | {"SWEEP_SECONDS": "2"}


@pytest.fixture(scope="module")
def served():
    served = RedisSite(people=1, items=20, controls=4, workers=1, settings=SETTINGS)
    try:
        served.prepare()
        served.start()
        yield served
    finally:
        served.remove()
        served.redis.kill()


@pytest.fixture
def site(served):
    """The site with its Redis, whatever became of that."""
    served.redis.kill()
    served.redis.start()
    return served


def form(site, path, fields):
    """Status and Retry-After of a form that somebody sends who is not signed in."""
    browser = Annotator(site.port, site.work, seed=1)
    _status, page = browser.request("GET", path)
    browser.token = CSRF.search(page)[1].decode()
    reply = post(browser, path, fields | {"csrfmiddlewaretoken": browser.token})
    return reply.status, reply.headers["Retry-After"]


def api(site, token, path, method="GET"):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    address = f"http://127.0.0.1:{site.port}/api/v1/{path}"
    request = urllib.request.Request(address, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read())


def test_signing_in_waits_for_redis_and_work_goes_on(site):
    token = site.python("-c", TOKEN).strip()
    browser = Annotator(site.port, site.work, seed=1)
    browser.sign_in(EMAIL, PASSWORD)
    site.redis.kill()
    for path, fields in (
        (LOGIN, {"login": EMAIL, "password": PASSWORD}),
        (RESET, {"email": EMAIL}),
    ):
        status, again = form(site, path, fields)
        assert status == 503
        assert int(again) > 0
    assert post(browser, browser.base + "answer/", answer_of(browser)).status == 200
    assert api(site, token, "me/")
    began = time.monotonic()
    rounds = f"studies/{site.study}/label-rounds/{site.label_round}/"
    assert api(site, token, f"{rounds}final-labels/recompute/", "POST")["state"] == "ready"
    # Nobody could be rung for: the request does not wait for that.
    assert time.monotonic() - began < 5
    site.redis.start()
    Annotator(site.port, site.work, seed=2).sign_in(EMAIL, PASSWORD)
    assert form(site, RESET, {"email": EMAIL})[0] == 200


def test_jobs_are_done_before_during_and_after_a_cut(site):
    worker = site.start_worker()
    try:
        wait_until(lambda: query(site, "SELECT id FROM runs_workerbeat"), 60)
        assert_done(site, 30)
        site.redis.kill()
        assert_done(site, 30)
        site.redis.start()
        assert_done(site, 30)
        with site.redis.held():
            assert_done(site, 30)
        assert_done(site, 30)
        assert worker.poll() is None
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def test_a_worker_that_starts_without_its_broker_works(site):
    site.redis.kill()
    worker = site.start_worker()
    try:
        assert_done(site, 60)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def assert_done(site, seconds):
    job = site.python("-c", ASK).split()[-1]
    wait_until(lambda: state_of(site, job) == "done", seconds)
    assert query(site, "SELECT max(losses) FROM runs_job") == [(0,)]
