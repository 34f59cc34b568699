"""Runs whose calls travel as files to a provider's batch service, here the stub's."""

from unittest import mock

import pytest

from cqa_site.judging.chat import CallFailed, Failure
from cqa_site.runs.actions.runs import cancel_run, pause_run, resume_run
from cqa_site.runs.carrying import clients
from cqa_site.runs.carrying.worker import drain_inline, has_work
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.models import Call, Endpoint, ProviderBatch, Run
from tests.judging.llmstub import StubServer
from tests.runs.judging import Lab

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def stub():
    with StubServer(batch_seconds=0) as server:
        yield server


@pytest.fixture
def lab(stub, settings) -> Lab:
    settings.EGRESS_ALLOW = f"127.0.0.1/32:{stub.port}"
    lab = Lab(items=6)
    Endpoint.objects.update(base_url=stub.base_url)
    lab.endpoint.refresh_from_db()
    return lab


def come_due() -> None:
    ProviderBatch.objects.update(check_after="2026-01-01T00:00Z")


def start(lab, capture, **values) -> Run:
    with capture(execute=True):
        run = lab.start(mode="batch", **values)
    run.refresh_from_db()
    return run


def finish(run: Run, labels: int, state=Run.State.DONE) -> None:
    """Submit, wait for the provider, collect, and ask live what it left out."""
    for _ in range(6):
        clients.tend()
        come_due()
    drain_inline()
    run.refresh_from_db()
    assert run.state == state
    assert run.judge_labels.filter(label__isnull=False).count() == labels
    assert run.budget.reserved_micro == 0
    assert list(find_violations()) == []


@pytest.mark.parametrize("left_out", [0, 0.5])
def test_a_batch_run_ends_with_a_label_for_every_argument(lab, stub, commits, left_out):
    """What the provider leaves out is asked live."""
    stub.conduct.batch_unfinished = left_out
    run = start(lab, commits)
    assert (run.state, stub.counts["requests"]) == (Run.State.RUNNING, 0)
    clients.tend()
    # Nothing spins while a batch is away.
    assert not has_work()
    come_due()
    clients.tend()
    assert run.calls.filter(state=Call.State.DONE).count() == 6 * (1 - left_out)
    assert ProviderBatch.objects.get().state == ProviderBatch.State.COLLECTED
    run.calls.filter(state=Call.State.READY).update(run_after="2026-01-01T00:00Z")
    finish(run, labels=6)
    assert run.budget.spent_micro > 0


def test_a_process_that_died_after_submitting_finds_its_batch_again(lab, stub, commits):
    run = start(lab, commits)
    clients.tend()
    # The crash: the provider has the batch, the database does not know it.
    ProviderBatch.objects.update(
        state=ProviderBatch.State.PREPARED, batch_id="", check_after="2026-01-01T00:00Z"
    )
    finish(run, labels=6)
    assert len(stub.stub.batches.batches) == 1


def test_a_provider_that_refuses_gives_the_calls_back(lab, monkeypatch, commits):
    denied = CallFailed(Failure.DENIED, "the endpoint answered 401", status=401)
    client = mock.AsyncMock(**{"find_batch.side_effect": denied})
    monkeypatch.setitem(clients.MAKERS, Endpoint.Kind.REMOTE, lambda endpoint: client)
    run = start(lab, commits)
    clients.tend()
    run.refresh_from_db()
    assert (run.state, run.budget.reserved_micro) == (Run.State.PAUSED, 0)
    assert run.calls.filter(state=Call.State.READY, batch=None).count() == 6
    assert list(find_violations()) == []


def test_a_batch_that_was_not_sent_waits_with_its_run(lab, stub, commits):
    run = start(lab, commits)
    clients.prepare(run)
    # Somebody looked for what is due a moment before the run was paused.
    (batch,) = ProviderBatch.objects.select_related("run__endpoint")
    pause_run(run=run, actor=lab.researcher)
    clients._step(batch)
    clients.tend()
    assert len(stub.stub.batches.batches) == 0
    resume_run(run=run, actor=lab.researcher)
    finish(run, labels=6)
    assert len(stub.stub.batches.batches) == 1


@pytest.mark.parametrize("was_sent", [False, True])
def test_of_a_cancelled_run_nothing_is_sent_and_what_was_is_kept(lab, stub, commits, was_sent):
    run = start(lab, commits)
    batch = clients.prepare(run)
    if was_sent:  # by a process that died before it could say so
        clients.tend()
        ProviderBatch.objects.update(state=ProviderBatch.State.PREPARED, batch_id="")
        come_due()
    cancel_run(run=run, actor=lab.researcher)
    finish(run, 6 * was_sent, Run.State.CANCELLED)
    batch.refresh_from_db()
    assert len(stub.stub.batches.batches) == was_sent
    assert batch.state == (ProviderBatch.State.COLLECTED if was_sent else "failed")
    assert set(run.calls.values_list("state", flat=True)) == {"done" if was_sent else "cancelled"}
    assert bool(run.budget.spent_micro) == was_sent
