"""The engine from plan to result, inline, with a scripted endpoint."""

import itertools
import json

import pytest

from annotation.judges.models import JudgeLabel
from cqa_site.judging.chat import CallFailed, ChatReply, Failure
from cqa_site.runs.actions import runs as control
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.models import Attempt, Call, Reply, Run
from cqa_site.runs.progress import progress_of
from tests.runs.judging import Lab, answer_by_text, good, script

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(build_once):
    return build_once(Lab)


@pytest.fixture
def lab(built, db) -> Lab:
    return built.copy()


def run_to_end(lab: Lab, capture, **values) -> Run:
    with capture(execute=True):
        run = lab.start(**values)
    run.refresh_from_db()
    assert list(find_violations()) == []
    return run


def test_a_run_labels_every_argument_once(lab, monkeypatch, django_capture_on_commit_callbacks):
    client = script(monkeypatch, answer_by_text)
    run = run_to_end(lab, django_capture_on_commit_callbacks)
    assert run.state == Run.State.DONE
    assert len(client.requests) == 30
    labels = JudgeLabel.objects.filter(run=run)
    assert labels.count() == 30
    assert {label.label for label in labels} > {0, 1}
    assert all(label.rationale == "It compares both." for label in labels)
    assert Reply.objects.count() == 30
    assert run.budget.reserved_micro == 0
    progress = progress_of(run)
    assert (progress.done, progress.unscored, progress.waiting) == (30, 0, 0)


def test_an_unusable_reply_is_asked_twice_again_and_then_unscored_never_zero(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    def answer(request):
        text = request.messages[-1]["content"]
        return "I would say relevant." if "point 7." in text else good(3)

    client = script(monkeypatch, answer)
    run = run_to_end(lab, django_capture_on_commit_callbacks)
    assert len(client.requests) == 29 + 3
    unscored = JudgeLabel.objects.get(run=run, label=None)
    assert unscored.reason == "no_json"
    assert run.calls.get(state=Call.State.UNSCORED).reason == "no_json"
    assert run.state == Run.State.DONE


def test_a_cut_reply_is_asked_once_more_with_twice_the_limit(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    def answer(request):
        if request.params["max_tokens"] == 200:
            return ChatReply(text='{"reason": "It', finish_reason="length")
        return good(1)

    client = script(monkeypatch, answer)
    run = run_to_end(lab, django_capture_on_commit_callbacks)
    assert len(client.requests) == 60
    assert {request.params["max_tokens"] for request in client.requests} == {200, 400}
    assert run.calls.filter(state=Call.State.DONE).count() == 30


def test_a_key_that_is_refused_pauses_the_run_and_keeps_the_calls(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    def answer(request):
        return CallFailed(Failure.DENIED, "The key was refused.", status=401)

    script(monkeypatch, answer)
    run = run_to_end(lab, django_capture_on_commit_callbacks)
    assert run.state == Run.State.PAUSED
    assert "denied" in run.pause_reason
    assert run.calls.filter(state=Call.State.READY).count() == 30
    script(monkeypatch, answer_by_text)
    with django_capture_on_commit_callbacks(execute=True):
        control.resume_run(run=run, actor=lab.researcher)
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert run.budget.reserved_micro == 0


def test_identical_requests_are_answered_from_the_replies_there_are(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    script(monkeypatch, answer_by_text)
    first = run_to_end(lab, django_capture_on_commit_callbacks)
    client = script(monkeypatch, answer_by_text)
    second = run_to_end(lab, django_capture_on_commit_callbacks, seed=2)
    assert first != second
    assert client.requests == []
    assert second.reused == 30
    assert second.judge_labels.filter(label__isnull=False).count() == 30
    assert second.budget.spent_micro == 0
    with django_capture_on_commit_callbacks(execute=True):
        again = control.run_again(run=second, actor=lab.researcher)
    assert len(client.requests) == 30
    assert again.spec["reuse"] is False


def test_replicates_are_asked_apart(lab, monkeypatch, django_capture_on_commit_callbacks):
    client = script(monkeypatch, answer_by_text)
    params = {"temperature": 1, "max_tokens": 200, "seed": 5}
    run = run_to_end(lab, django_capture_on_commit_callbacks, replicates=3, params=params)
    assert len(client.requests) == 90
    assert {request.params["seed"] for request in client.requests} == {5, 6, 7}
    assert run.judge_labels.count() == 90
    assert Call.objects.values("content_key").distinct().count() == 90


def test_the_batch_form_reads_each_item_apart(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    def answer(request):
        ids = [n for n in range(1, 21) if f'"id": {n},' in request.messages[-1]["content"]]
        entries = [{"id": n, "reason": "r", "label": 9 if n == 4 else n % 4} for n in ids]
        return json.dumps({"labels": entries})

    client = script(monkeypatch, answer)
    run = run_to_end(lab, django_capture_on_commit_callbacks, prompt=lab.batch)
    assert run.planned == 2
    assert len(client.requests) == 6
    rows = JudgeLabel.objects.filter(run=run)
    assert rows.count() == 30
    assert {row.reason for row in rows if row.label is None} == {"out_of_set"}
    assert rows.filter(label=None).count() == 2


def test_the_canary_asks_before_the_rest_is_sent(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    client = script(monkeypatch, lambda request: good(2))
    run = run_to_end(lab, django_capture_on_commit_callbacks, preflight="ask")
    assert run.state == Run.State.CHECKED
    assert len(client.requests) == 20
    assert run.preflight["problems"] == ["constant"]
    with django_capture_on_commit_callbacks(execute=True):
        control.go_on(run=run, actor=lab.researcher)
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert len(client.requests) == 30


def test_a_label_that_dominates_the_canary_waits_for_a_decision(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    labels = itertools.chain([3], itertools.repeat(1))
    script(monkeypatch, lambda request: good(next(labels)))
    run = run_to_end(lab, django_capture_on_commit_callbacks, preflight="auto")
    assert (run.state, run.preflight["problems"]) == (Run.State.CHECKED, ["dominant"])
    assert run.preflight["dominant"] == {"label": "1", "count": 19, "of": 20}
    assert run.preflight["valid"] == 20


def test_a_good_canary_goes_on_by_itself_if_told_so(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    script(monkeypatch, answer_by_text)
    run = run_to_end(lab, django_capture_on_commit_callbacks, preflight="auto")
    assert run.state == Run.State.DONE
    assert run.preflight["passed"] is True


def test_the_cap_halts_the_run(lab, monkeypatch, django_capture_on_commit_callbacks):
    script(monkeypatch, answer_by_text)
    one = run_to_end(lab, django_capture_on_commit_callbacks).calls.first().reserve_micro
    run = run_to_end(lab, django_capture_on_commit_callbacks, cap_micro=10 * one + 5, reuse=False)
    assert run.state == Run.State.PAUSED
    assert run.pause_reason == "budget"
    assert run.budget.spent_micro <= 10 * one + 5
    assert run.calls.filter(state=Call.State.READY).exists()
    control.set_cap(run=run, actor=lab.researcher, cap_micro=None)
    with django_capture_on_commit_callbacks(execute=True):
        control.resume_run(run=run, actor=lab.researcher)
    run.refresh_from_db()
    assert run.state == Run.State.DONE


def test_cancelling_asks_nothing_more(lab, monkeypatch, django_capture_on_commit_callbacks):
    client = script(monkeypatch, answer_by_text)
    run = run_to_end(lab, django_capture_on_commit_callbacks, preflight="ask")
    control.cancel_run(run=run, actor=lab.researcher)
    assert run.calls.filter(state=Call.State.CANCELLED).count() == 10
    assert len(client.requests) == 20
    with pytest.raises(control.RunRefused):
        control.go_on(run=run, actor=lab.researcher)


def test_the_same_run_twice_is_one(lab, monkeypatch):
    first, second = lab.start(), lab.start()
    assert first == second
    assert Run.objects.count() == 1


def test_unscored_calls_can_be_asked_again(lab, monkeypatch, django_capture_on_commit_callbacks):
    script(monkeypatch, lambda request: "nothing")
    run = run_to_end(lab, django_capture_on_commit_callbacks)
    assert run.judge_labels.filter(reason="no_json").count() == 30
    script(monkeypatch, answer_by_text)
    with django_capture_on_commit_callbacks(execute=True):
        assert control.retry_unscored(run=run, actor=lab.researcher) == 30
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert run.judge_labels.filter(label__isnull=False).count() == 30
    assert not Attempt.objects.filter(outcome="open").exists()


def test_a_draft_whose_planning_failed_can_be_planned_again(
    lab, monkeypatch, django_capture_on_commit_callbacks
):
    def fail(run):
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr("cqa_site.runs.handlers.write_calls", fail)
        run = run_to_end(lab, django_capture_on_commit_callbacks)
    assert run.state == Run.State.DRAFT
    script(monkeypatch, answer_by_text)
    with django_capture_on_commit_callbacks(execute=True):
        control.go_on(run=run, actor=lab.researcher)
    run.refresh_from_db()
    assert run.state == Run.State.DONE
