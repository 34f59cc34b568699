"""From plan to result with a scripted endpoint; a run whose parameter is refused goes on."""

import itertools
import json

import pytest
from django.urls import reverse

from annotation.judges.models import JudgeLabel
from cqa_site.judging.chat import CallFailed, ChatReply, Failure
from cqa_site.runs.actions.corrections import Correction, correct_run, suggested
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.models import Attempt, Call, Endpoint, Run
from tests.cast import sign_in
from tests.runs.judging import Lab, answer_by_text, good, script
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(Lab)


def run_to_end(lab: Lab, capture, **values) -> Run:
    with capture(execute=True):
        run = lab.start(**values)
    run.refresh_from_db()
    assert list(find_violations()) == []
    return run


def test_the_batch_form_reads_each_item_apart(lab, monkeypatch, commits):
    def answer(request):
        ids = [n for n in range(1, 21) if f'"id": {n},' in request.messages[-1]["content"]]
        entries = [{"id": n, "reason": "r", "label": 9 if n == 4 else n % 4} for n in ids]
        return json.dumps({"labels": entries})

    client = script(monkeypatch, answer)
    run = run_to_end(lab, commits, prompt=lab.batch)
    assert run.planned == 2
    # At temperature 0 the same request is sent twice, no more.
    assert len(client.requests) == 4
    rows = JudgeLabel.objects.filter(run=run)
    assert rows.count() == 30
    assert {row.reason for row in rows if row.label is None} == {"out_of_set"}
    assert rows.filter(label=None).count() == 2


def test_a_label_that_dominates_the_canary_waits_for_a_decision(lab, monkeypatch, commits):
    labels = itertools.chain([3], itertools.repeat(1))
    script(monkeypatch, lambda request: good(next(labels)))
    run = run_to_end(lab, commits, preflight="auto")
    assert (run.state, run.preflight["problems"]) == (Run.State.CHECKED, ["dominant"])
    assert run.preflight["dominant"] == {"label": "1", "count": 19, "of": 20}
    assert run.preflight["valid"] == 20


def test_a_good_canary_goes_on_by_itself_if_told_so(lab, monkeypatch, commits):
    script(monkeypatch, answer_by_text)
    run = run_to_end(lab, commits, preflight="auto")
    assert run.state == Run.State.DONE
    assert run.preflight["passed"] is True


def refuse(*names, after=0):
    """Answers well until ``after`` requests came, then refuses some parameters by name."""
    came = []

    def answer(request):
        came.append(request)
        for name in names:
            if len(came) > after and name in request.params:
                error = {"message": f"Unsupported parameter: '{name}'.", "param": name}
                body = json.dumps({"error": error})
                return CallFailed(Failure.REQUEST, "it answered 400", status=400, body=body)
        return answer_by_text(request)

    return answer


def start(lab, capture, **values):
    with capture(execute=True):
        run = lab.start(**values)
    run.refresh_from_db()
    return run


def correct(lab, run, capture, correction=None):
    with capture(execute=True):
        correct_run(run=run, actor=lab.researcher, correction=correction or suggested(run))
    run.refresh_from_db()
    return run


def test_a_corrected_run_goes_on_from_where_it_was(lab, monkeypatch, commits):
    client = script(monkeypatch, refuse("max_tokens", after=7))
    lab.endpoint.max_in_flight = 1
    lab.endpoint.save()
    run = start(lab, commits)
    before = run.calls.filter(state=Call.State.DONE).count()
    assert (run.state, before) == (Run.State.PAUSED, 7)
    assert run.pause_reason.startswith("parameter: max_tokens: ")
    assert run.calls.filter(state=Call.State.READY).count() == 23
    assert suggested(run) == Correction((), "max_completion_tokens")
    spec = dict(run.spec)
    run = correct(lab, run, commits)
    assert run.state == Run.State.DONE
    assert run.calls.filter(state=Call.State.DONE).count() == 30
    # Seven answered before, one refused, twenty-three since.
    assert len(client.requests) == 7 + 1 + 23
    assert "max_tokens" not in client.requests[-1].params
    assert run.spec == spec
    (amendment,) = run.amendments
    assert (amendment["done_before"], amendment["by"]) == (7, str(lab.researcher))
    assert amendment["before"]["params"] == spec["params"]
    assert amendment["params"] == run.params
    assert run.params["max_completion_tokens"] == spec["params"]["max_tokens"]
    replied = Attempt.objects.filter(outcome="replied")
    assert replied.filter(amendment=0).count() == 7
    assert replied.filter(amendment=1).count() == 23
    assert list(find_violations()) == []


@pytest.mark.long
def test_a_pre_flight_that_was_not_over_is_made_after_the_correction(lab, monkeypatch, commits):
    script(monkeypatch, refuse("temperature"))
    run = start(lab, commits, preflight="ask")
    assert run.state == Run.State.PAUSED
    run = correct(lab, run, commits)
    assert (run.state, run.preflight["valid"]) == (Run.State.CHECKED, 20)
    assert "temperature" not in run.params


@pytest.mark.long
def test_calls_given_up_because_every_request_was_refused_are_asked_again(
    lab, monkeypatch, commits
):
    unnamed = CallFailed(Failure.REQUEST, "the endpoint answered 400: bad request", status=400)
    script(monkeypatch, lambda request: unnamed)
    run = start(lab, commits)
    assert run.pause_reason.startswith("request: ")
    assert run.calls.filter(state=Call.State.UNSCORED).exists()
    script(monkeypatch, answer_by_text)
    run = correct(lab, run, commits, Correction(leave_out=("temperature",)))
    assert (run.state, run.calls.filter(state=Call.State.DONE).count()) == (Run.State.DONE, 30)
    assert list(find_violations()) == []


@pytest.mark.long
def test_replies_of_the_corrected_request_are_found_again(lab, monkeypatch, commits):
    client = script(monkeypatch, refuse("temperature"))
    first = start(lab, commits)
    correct(lab, first, commits)
    asked = len(client.requests)
    second = start(lab, commits, reuse=True)
    second = correct(lab, second, commits)
    assert second.reused == 30
    assert [one for one in client.requests[asked:] if "temperature" not in one.params] == []


IMPOSSIBLE = [
    (Correction(), "changes nothing"),
    (Correction(leave_out=("top_p",)), "is not sent"),
    (Correction(values={"max_tokens": 10_000}), "at most"),
    (Correction(values={"max_tokens": True}), "at most"),
    (Correction(values={"top_p": 1}), "is not sent"),
    (Correction(token_parameter="tokens"), "token limit parameter"),
    (Correction(leave_out=("max_tokens",)), "is not sent"),
]


@pytest.mark.long
def test_a_correction_that_cannot_be_is_refused(lab, monkeypatch, commits):
    script(monkeypatch, refuse("max_tokens"))
    run = start(lab, commits)
    for correction, said in IMPOSSIBLE:
        with pytest.raises(RunRefused, match=said):
            correct_run(run=run, actor=lab.researcher, correction=correction)
        run.refresh_from_db()
        assert (run.state, run.amendments) == (Run.State.PAUSED, []), correction
    # Other pauses are no reason to change a plan.
    Run.objects.update(pause_reason="denied: the key")
    run.refresh_from_db()
    with pytest.raises(RunRefused, match="Only a run that is paused because"):
        correct_run(run=run, actor=lab.researcher, correction=Correction(("temperature",)))


def test_runs_send_what_the_probe_found(lab, monkeypatch, commits):
    found = {
        "token_limit": {"works": True, "evidence": "", "parameter": "max_completion_tokens"},
        "temperature": {"works": False, "evidence": "400", "refused": True},
        "seed": {"works": False, "evidence": "ignored", "refused": False},
    }
    Endpoint.objects.filter(pk=lab.endpoint.pk).update(capabilities=found)
    lab.endpoint.refresh_from_db()
    client = script(monkeypatch, refuse("max_tokens", "temperature"))
    params = {"temperature": 0, "max_tokens": 150, "seed": 1}
    run = start(lab, commits, params=params)
    assert run.state == Run.State.DONE
    assert client.requests[0].params == {"max_completion_tokens": 150, "seed": 1}
    assert run.spec["params_left_out"] == {"temperature": 0}


def cut_below(limit):
    """Answers well with room enough; cuts every third argument's reply below it."""

    def answer(request):
        is_third = sum(map(ord, request.messages[-1]["content"])) % 3 == 0
        if is_third and request.params["max_tokens"] < limit:
            return ChatReply(text='{"reason": "It', finish_reason="length")
        return answer_by_text(request)

    return answer


@pytest.mark.long
def test_a_limit_that_cut_replies_is_raised_on_the_page_of_the_run(lab, monkeypatch, commits):
    client = script(monkeypatch, cut_below(1_000))
    run = start(lab, commits)
    cut = run.calls.filter(state=Call.State.UNSCORED, reason="truncated").count()
    assert (run.state, 0 < cut < 30) == (Run.State.DONE, True)
    before = {call.pk: call.reserve_micro for call in run.calls.filter(reason="truncated")}
    browser, here = sign_in(lab.researcher), [lab.study.public_id, run.public_id]
    page = browser.get(reverse("run", args=here)).content.decode()
    assert "Raise the token limit" in page
    assert "The limit is now 200" in page
    assert 'value="800"' in page
    asked = len(client.requests)
    for wrong in ("200", "100001", ""):
        browser.post(reverse("run_correct", args=here), {"limit": wrong})
    run.refresh_from_db()
    assert (run.state, run.amendments, len(client.requests)) == (Run.State.DONE, [], asked)
    with commits(execute=True):
        browser.post(reverse("run_correct", args=here), {"limit": "1000"})
    run.refresh_from_db()
    # Only what was cut is asked again, with the new limit and the money for it.
    assert {one.params["max_tokens"] for one in client.requests[asked:]} == {1_000}
    assert len(client.requests) == asked + cut
    assert run.calls.filter(state=Call.State.DONE).count() == 30
    for call in run.calls.filter(pk__in=before):
        assert call.reserve_micro == before[call.pk] + 800 * 2
    (amendment,) = run.amendments
    assert (amendment["reason"], amendment["done_before"]) == ("truncated", 30 - cut)
    assert run.spec["params"]["max_tokens"] == 200
    page = browser.get(reverse("run", args=here)).content.decode()
    assert "The reply was cut off by the token limit." in page
    assert "Raise the token limit" not in page
    assert list(find_violations()) == []


@pytest.mark.long
def test_a_sample_that_was_cut_is_looked_at_once_more_with_the_higher_limit(
    lab, monkeypatch, commits
):
    script(monkeypatch, cut_below(1_000))
    run = start(lab, commits, preflight="ask")
    assert (run.state, run.preflight["problems"][0]) == (Run.State.CHECKED, "invalid")
    raised = Correction(values={"max_tokens": 1_000})
    for wrong in (
        Correction(),
        Correction(values={"max_tokens": 200}),
        Correction(values={"max_tokens": 1_000_000}),
        Correction(values={"max_tokens": 1_000, "temperature": 1}),
        Correction(("temperature",), values={"max_tokens": 1_000}),
    ):
        with pytest.raises(RunRefused):
            correct_run(run=run, actor=lab.researcher, correction=wrong)
    run = correct(lab, run, commits, raised)
    assert (run.state, run.preflight["valid"]) == (Run.State.CHECKED, 20)
    with pytest.raises(RunRefused, match="Only a run that is paused"):
        correct_run(run=run, actor=lab.researcher, correction=raised)


@pytest.mark.long
def test_the_page_offers_the_correction_and_takes_it(lab, monkeypatch, commits):
    script(monkeypatch, refuse("temperature"))
    run = start(lab, commits)
    client = sign_in(lab.researcher)
    here = [lab.study.public_id, run.public_id]
    page = client.get(reverse("run", args=here)).content.decode()
    assert "Correct and resume" in page
    assert "Or send a different value for “temperature”" in page
    sent = {"token_parameter": "max_tokens", "leave_out": ["temperature"], "value": "one"}
    client.post(reverse("run_correct", args=here), sent)
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    with commits(execute=True):
        client.post(reverse("run_correct", args=here), sent | {"value": ""})
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    page = client.get(reverse("run", args=here)).content.decode()
    assert "Corrections" in page
    assert "30 replies after correction 1" in page
