"""People steer runs while workers carry them; the web server dies after it answered."""

import json
import re
import signal
import time

import pytest

from benchmarks.http_annotator import CSRF, Annotator
from benchmarks.judging_site import START
from benchmarks.label_round_server import PASSWORD
from tests.faults.fault_site import FaultSite, wait_until
from tests.faults.nursery import kill, output_of


def test_eight_people_who_start_the_same_run_start_one(site):
    with site.stub() as stub:
        plan = json.dumps({"endpoint": site.offer(stub), "sample": 30})
        started = [site.nursery.later(START, plan) for _ in range(8)]
        runs = {output_of(one).split()[-1] for one in started}
        assert len(runs) == 1
        site.nursery.work()
        site.wait(run := runs.pop(), 60)
        assert stub.counts["answered"] == 30
    site.check(run, kept=30)


@pytest.mark.long
def test_cancelling_sends_nothing_more_and_keeps_what_was_paid(site):
    with site.stub(latency=1.0) as stub:
        run = site.begin(stub, sample=200)
        site.nursery.work()
        wait_until(lambda: stub.counts["answered"] >= 10, 30)
        site.steer(run, "cancel_run")
        # What was claimed before may still leave: it has its attempt.
        sent = site.attempts()
        wait_until(lambda: not site.leases() and site.ended() == sent, 10)
        time.sleep(1.0)
        assert stub.counts["requests"] == stub.counts["answered"] == sent == site.attempts()
    site.check_integrity()
    facts = site.facts(run)
    assert facts["state"] == "cancelled"
    assert facts["calls"] == {"done": sent, "cancelled": 200 - sent}
    assert facts["outcomes"] == {"replied": sent}


def test_a_worker_asked_to_end_claims_nothing_and_loses_nothing(site):
    with site.stub(latency=1.0) as stub:
        run = site.begin(stub, sample=100)
        worker = site.nursery.work()
        wait_until(lambda: stub.stub.in_flight >= 10, 30)
        assert kill(worker, signal.SIGTERM) < 5.0
        sent = site.attempts()
        assert stub.counts["requests"] == stub.counts["answered"] == sent < 50
        assert not site.leases()
        assert site.ended() == sent
        site.nursery.work()
        site.wait(run, 60)
        assert stub.counts["answered"] == 100
    assert site.check(run, kept=100)["outcomes"] == {"replied": 100}


@pytest.mark.long
def test_six_workers_never_pass_the_cap_and_the_books_balance(site):
    with site.stub(latency=0.05) as stub:
        run = site.begin(stub, sample=200, cap_micro=60_000)
        for _ in range(6):
            site.nursery.work()
        highest, deadline = 0, time.monotonic() + 60
        while site.state_of(run) != "paused":
            assert time.monotonic() < deadline, site.summary(run)
            [(spent, reserved)] = site.sql(
                "SELECT spent_micro, reserved_micro FROM runs_budget ORDER BY id DESC LIMIT 1"
            )
            highest = max(highest, spent + reserved)
            assert highest <= 60_000
        facts = site.facts(run)
        site.check_integrity()
        assert facts["pause_reason"] == "budget"
        assert facts["reserved"] == 0
        assert 0.9 * 60_000 < facts["spent"] <= 60_000
        assert 0 < facts["calls"]["done"] < 200
        # Nothing is left to be read, and every paid reply has a result or came too late.
        assert set(facts["calls"]) == {"done", "ready"}
        unkept = stub.counts["answered"] - facts["calls"]["done"]
        assert 0 <= unkept <= facts["failures"].get("timeout", 0), facts["outcomes"]
        site.steer(run, "set_cap", cap_micro=None)
        site.steer(run, "resume_run")
        site.wait(run, 60)
    site.check(run, kept=200)


FORM = {
    "choice": "sample", "sample": "50", "batch_size": "20", "temperature": "0",
    "max_tokens": "200", "seed": "1", "replicates": "1", "preflight": "off", "mode": "live",
}  # fmt: skip


@pytest.mark.long
def test_a_run_whose_web_server_died_after_its_answer_is_carried(site):
    with site.stub() as stub:
        form = FORM | chosen(site, site.offer(stub))
        site.start()
        try:
            browser = Annotator(site.port, site.work, seed=1)
            browser.sign_in("boss@bench.example", PASSWORD)
            path = f"/s/{site.study}/label-rounds/{site.label_round}/judges/new/"
            _status, page = browser.request("GET", path)
            browser.token = CSRF.search(page)[1].decode()
            _status, page = browser.request("POST", path, form)
            agreed = re.search(rb'name="agreed" value="([^"]+)"', page)[1].decode()
            status, _page = browser.request("POST", path, form | {"agreed": agreed})
        finally:
            site.kill()
        assert status == 302
        [(run,)] = site.sql("SELECT public_id FROM runs_run")
        site.nursery.work()
        site.wait(str(run), 60)
    site.check(str(run), kept=50)


def chosen(site: FaultSite, endpoint: str) -> dict[str, str]:
    """Endpoint and prompt as the form names them."""
    [(found,)] = site.sql(f"SELECT id FROM runs_endpoint WHERE name = '{endpoint}'")
    [(prompt,)] = site.sql("SELECT id FROM runs_promptversion WHERE kind = 'relevance_single'")
    return {"endpoint": str(found), "prompt": str(prompt)}
