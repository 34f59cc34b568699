"""In a restored site nothing leaves by itself: runs, batches and jobs wait for a word."""

from functools import partial

import pytest
from django.urls import reverse

from cqa_site.runs.actions import runs as control
from cqa_site.runs.actions.runs import ENDED, PausedWork, hold_back
from cqa_site.runs.carrying import clients
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.jobs import enqueue
from cqa_site.runs.models import Call, Endpoint, Job, ProviderBatch, Run
from cqa_site.runs.tasks import wake
from tests.cast import sign_in
from tests.judging.llmstub import StubServer
from tests.runs import turns
from tests.runs.judging import Lab, answer_by_text, script
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(partial(Lab, items=4))


@pytest.fixture
def stub(lab, settings):
    """A provider of batches, which counts what it is asked."""
    with StubServer(batch_seconds=0) as server:
        settings.EGRESS_ALLOW = f"127.0.0.1/32:{server.port}"
        Endpoint.objects.update(base_url=server.base_url)
        lab.endpoint.refresh_from_db()
        yield server


def batched(lab: Lab, **values) -> Run:
    """A run whose calls lie at the provider."""
    run = planned(lab, mode="batch", **values)
    clients.tend()
    ProviderBatch.objects.update(check_after="2026-01-01T00:00Z")
    assert ProviderBatch.objects.get(run=run).state == ProviderBatch.State.SUBMITTED
    return run


def planned(lab: Lab, **values) -> Run:
    """A run whose calls are written and wait."""
    run = turns.planned(lab, **values)
    run.refresh_from_db()
    Job.objects.all().delete()
    return run


def test_a_restored_run_says_why_it_waits_and_what_nobody_would_send_stays_as_it_is(lab):
    run = planned(lab)
    assert hold_back("default") == PausedWork(runs=1, jobs=0)
    address = reverse("run", args=[lab.study.public_id, run.public_id])
    shown = sign_in(lab.researcher).get(address).text
    assert "was restored from a backup" in shown
    assert 'id="resume"' in shown
    for state, reason in (("checked", ""), ("paused", "person"), ("done", "")):
        Run.objects.filter(pk=run.pk).update(state=state, pause_reason=reason)
        assert hold_back("default") == PausedWork(runs=0, jobs=0)
        run.refresh_from_db()
        assert (run.state, run.pause_reason) == (state, reason)


@pytest.mark.long
@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_batch_at_its_provider_is_asked_about_when_its_run_is_resumed(lab, stub, state):
    run = batched(lab)
    Run.objects.filter(pk=run.pk).update(state=state)
    before = sum(stub.counts.values())
    assert hold_back("default").runs == 1
    wake()
    assert sum(stub.counts.values()) == before
    run.refresh_from_db()
    control.resume_run(run=run, actor=lab.researcher)
    wake()
    run.refresh_from_db()
    assert (run.state, list(find_violations())) == (Run.State.DONE, [])


def test_a_batch_of_a_cancelled_run_is_given_up(lab, stub):
    run = batched(lab)
    control.cancel_run(run=run, actor=lab.researcher)
    before = sum(stub.counts.values())
    assert hold_back("default") == PausedWork(runs=0, jobs=0)
    wake()
    assert sum(stub.counts.values()) == before
    run.refresh_from_db()
    assert (run.state, run.budget.reserved_micro) == (Run.State.CANCELLED, 0)
    assert set(run.calls.values_list("state", flat=True)) == {Call.State.CANCELLED}
    assert list(find_violations()) == []


@pytest.mark.long
def test_a_draft_is_planned_when_somebody_says_so(lab, monkeypatch, commits):
    client = script(monkeypatch, answer_by_text)
    run = lab.start()
    assert hold_back("default") == PausedWork(runs=0, jobs=1)
    wake()
    assert client.requests == []
    address = reverse("run", args=[lab.study.public_id, run.public_id])
    shown = sign_in(lab.researcher).get(address).text
    assert ENDED in shown
    assert "Try again" in shown
    with commits(execute=True):
        control.go_on(run=run, actor=lab.researcher)
    assert len(client.requests) == 4


@pytest.mark.parametrize("state", ["ready", "leased"])
def test_jobs_that_send_are_over_and_others_go_on(lab, state):
    send = ("plan_run", "probe_endpoint", "run_webhook", "ask_cam", "analysis_check_written")
    for kind in (*send, "backup"):
        job = enqueue(study=lab.study, kind=kind, key="x")
        lease = "2099-01-01T00:00Z" if state == "leased" else None
        Job.objects.filter(pk=job.pk).update(state=state, lease_until=lease)
        assert hold_back("default").jobs == (kind in send), kind
        job.refresh_from_db()
        assert (job.is_active, job.error) == ((False, ENDED) if kind in send else (True, "")), kind
