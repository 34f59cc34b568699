"""Runs that write answers, from the plan to the stored text, with a scripted endpoint."""

import itertools
import json
import re

import pytest
from django.db import IntegrityError, transaction

from annotation.answers.actions import system_of
from annotation.answers.models import Answer, System
from annotation.consensus.models import FinalLabel
from annotation.corpus.models import Argument, ArgumentList
from annotation.generation.actions.answer_runs import AnswersKind, WrittenAnswer
from cqa_site.judging.chat import ChatReply
from cqa_site.runs.actions import runs as control
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.kinds import EndedCall, ReplyReading, kind_named
from cqa_site.runs.ledger.lease import requests_for
from cqa_site.runs.models import Call, Reply, Run
from cqa_site.runs.planning import estimate_run, write_calls
from tests.annotation.generation_lab import GenerationLab
from tests.annotation.made_generations import write_by_text
from tests.runs.judging import script
from tests.runs.made_runs import make_endpoint
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(GenerationLab)


@pytest.fixture
def carry(django_capture_on_commit_callbacks):
    """Start a run and let the work it asked for be done."""

    def run_to_end(lab: GenerationLab, **chosen) -> Run:
        with django_capture_on_commit_callbacks(execute=True):
            run = lab.start(**chosen)
        run.refresh_from_db()
        assert list(find_violations()) == []
        return run

    return run_to_end


def echo(request) -> ChatReply:
    """A text in which a test finds its request again."""
    return ChatReply(
        text=f"{request.params.get('seed')} {request.messages[-1]['content']}",
        finish_reason="stop",
        model="stub-1-2026",
    )


def test_every_choice_of_every_question_becomes_one_answer(lab, carry, monkeypatch):
    client = script(monkeypatch, echo)
    run = carry(lab, replicates=3)
    assert (run.state, len(client.requests)) == (Run.State.DONE, 12)
    answers = Answer.objects.filter(run=run).select_related("call__reply", "question__comparison")
    found = {(answer.question_id, answer.choice) for answer in answers}
    assert found == {(question.pk, n) for question in lab.questions for n in (1, 2, 3)}
    for answer in answers:
        assert answer.text == answer.call.reply.text
        assert answer.question.comparison.object1 in answer.text
        assert answer.text.startswith(str(answer.choice))
        made = (answer.scenario, answer.model, answer.prompt_id, answer.source)
        assert made == (Answer.Scenario.FULL, "stub-1-2026", run.prompt_id, "")
    # One system stands for an endpoint's model, whatever it is called.
    system = System.objects.get()
    assert (system.name, system.kind, system.model) == ("stub-1", "model", "stub-1")
    System.objects.update(name="Our model")
    assert carry(lab, number=3).generation.system == run.generation.system == system
    assert System.objects.count() == 1
    assert set(Answer.objects.values_list("system", flat=True)) == {system.pk}


def test_an_answer_knows_its_arguments_by_the_numbers_that_the_model_saw(lab, carry, monkeypatch):
    script(monkeypatch, echo)
    # Scenarios without arguments keep no list.
    for number in (1, 3):
        run = carry(lab, number=number)
        assert {answer.scenario for answer in run.answers.all()} == {number}
    assert not Answer.objects.exclude(argument_list=None).exists()
    assert not ArgumentList.objects.exists()
    run = carry(lab, replicates=2)
    for answer in run.answers.select_related("argument_list"):
        lines = [line for line in answer.text.splitlines() if line.startswith('{"id"')]
        shown = {row["id"]: row["sentence"] for row in map(json.loads, lines)}
        assert shown == dict(answer.argument_list.entries.values_list("number", "argument__text"))
        assert len(shown) == 8
    assert ArgumentList.objects.count() == 4


def test_labels_that_change_after_the_plan_change_no_request(lab, monkeypatch):
    script(monkeypatch, echo)
    target = {"relevance": "2-3"}
    run = lab.start(target=target)
    write_calls(run)

    def messages():
        return [request.messages for request in requests_for(run, list(run.calls.all()))]

    planned = messages()
    FinalLabel.objects.update(label=0)
    assert messages() == planned
    assert estimate_run(control.draft(lab.plan(target=target), lab.study))[0].requests == 0


def test_a_sample_and_chosen_comparisons(lab):
    some = lab.study.comparisons.order_by("-pk")[:2]
    ids = [one.public_id for one in some]
    run = lab.start(target={"questions": "comparisons", "comparisons": ids})
    write_calls(run)
    asked = {call.subject_ids[0] for call in run.calls.all()}
    assert asked == {question.pk for question in lab.questions if question.comparison in some}
    samples = []
    for seed in (1, 1, 2, 3, 4):
        plan = lab.plan(number=1, seed=seed, target={"questions": "sample", "sample": 2})
        draft = control.draft(plan, lab.study)
        samples.append(tuple(subject.name for subject in AnswersKind().subjects(draft)))
    assert samples[0] == samples[1]
    assert len(set(samples)) > 1
    assert set(map(len, samples)) == {2}


@pytest.mark.long
def test_a_sample_is_drawn_from_questions_that_can_be_asked(lab, carry, monkeypatch):
    script(monkeypatch, echo)
    without = Argument.objects.filter(comparison__in=[q.comparison for q in lab.questions[:3]])
    FinalLabel.objects.filter(argument__in=without).delete()
    without.delete()
    for seed in (1, 2, 3):
        params = {"max_tokens": 900, "seed": seed}
        target = {"questions": "sample", "sample": 1}
        run = carry(lab, target=target, seed=seed, params=params)
        assert [answer.question for answer in run.answers.all()] == [lab.questions[3]]
        assert run.generation.left_out == {"questions": 3}


KEPT = "  Tea\twins.\r\n\r\n<b>Really</b> \n"
# What is replied about a thing → why that is no answer, and how often it is asked for.
NO_ANSWERS = (
    (ChatReply(text="Tea is", finish_reason="length"), "truncated", 2),
    (ChatReply(text="", finish_reason="stop"), "empty", 3),
    (ChatReply(text="  \n", finish_reason="stop"), "empty", 3),
    (ChatReply(text="<think>Hm, tea.</think>\n", finish_reason="stop"), "empty", 3),
    (ChatReply(text="<think>Hm, tea", finish_reason="stop"), "truncated", 2),
    (ChatReply(text="Tea.", finish_reason="content_filter"), "refused", 1),
    (ChatReply(text="", refusal="No.", finish_reason="stop"), "refused", 1),
)


def test_a_reply_without_a_whole_text_is_unscored_and_never_an_answer(carry, monkeypatch):
    lab = GenerationLab(questions=len(NO_ANSWERS) + 2, arguments=0)
    replies = [reply for reply, _reason, _asked in NO_ANSWERS]
    replies += [ChatReply(f"{said}{KEPT}", "stop") for said in ("", "<think>Coffee?</think>\n\n")]

    def answer(request):
        return replies[int(re.search(r"thing (\d)", request.messages[-1]["content"])[1])]

    client = script(monkeypatch, answer)
    run = carry(lab, number=1)
    calls = {call.subject_ids[0]: call for call in run.calls.all()}
    for question, (reply, reason, asked) in zip(lab.questions, NO_ANSWERS, strict=False):
        call = calls[question.pk]
        assert (call.state, call.reason) == (Call.State.UNSCORED, reason), reply
        assert call.attempts.count() == asked
    # Reasoning stays in the reply, and the text is kept to the letter.
    assert {answer.text for answer in run.answers.all()} == {KEPT, KEPT.lstrip()}
    assert Reply.objects.filter(text__startswith="<think>Coffee?").count() == 1
    assert Reply.objects.count() == len(client.requests) == 15 + 2


def test_nothing_to_answer_is_refused_and_an_estimate_keeps_nothing(lab):
    FinalLabel.objects.all().delete()
    lab.study.arguments.filter(comparison=lab.questions[0].comparison).delete()
    assert estimate_run(control.draft(lab.plan(replicates=2), lab.study))[0].requests == 6
    with pytest.raises(control.RunRefused, match="Nothing matches"):
        lab.start(target={"favoured": "object2"})
    for model in (ArgumentList, System, Run):
        assert not model.objects.exists()
    assert write_calls(lab.start(number=3)) == 4


def test_another_endpoint_or_model_is_another_system(lab):
    System.objects.create(study=lab.study, name="stub-1", kind="imported")
    assert lab.start().generation.system.name == "stub-1 · Stub"
    other = make_endpoint(lab.study, lab.researcher, "Other")
    assert lab.start(endpoint=other).generation.system.name == "stub-1 · Other"
    for model, name in (("stub-2", "stub-2"), ("m" * 200, "m" * 120)):
        lab.endpoint.model = model
        lab.endpoint.save()
        run = lab.start()
        assert (run.generation.system.name, run.generation.system.model) == (name, model)
        assert system_of(run) == run.generation.system


@pytest.mark.long
def test_equal_texts_are_a_reason_to_warn_and_equal_lengths_are_none(carry, monkeypatch):
    lab = GenerationLab(questions=22, arguments=0)
    fresh = (f"word{number}" for number in itertools.count())
    script(monkeypatch, lambda request: " ".join(itertools.islice(fresh, 12)))
    run = carry(lab, number=1, preflight="auto")
    assert run.preflight["values"] == {"0–24": 20}
    assert (run.state, run.preflight["problems"]) == (Run.State.DONE, [])
    script(monkeypatch, lambda request: "The same.")
    run = carry(lab, number=1, preflight="auto", reuse=False)
    assert (run.state, run.preflight["problems"]) == (Run.State.CHECKED, ["alike"])


def numbers(lab, run):
    rows = run.answers.filter(question=lab.questions[0]).order_by("call__replicate")
    return list(rows.values_list("choice", flat=True))


@pytest.mark.long
def test_a_second_run_counts_on_where_the_first_ended(lab, carry, monkeypatch):
    script(monkeypatch, echo)
    runs = [carry(lab, replicates=n, reuse=False) for n in (2, 1, 3)]
    assert [numbers(lab, run) for run in runs] == [[1, 2], [3], [4, 5, 6]]
    assert Answer.objects.values("question", "choice").distinct().count() == 4 * 6
    # Another condition, and another system, count for themselves.
    assert numbers(lab, carry(lab, target={"relevance": "2-3"})) == [1]
    other = make_endpoint(lab.study, lab.researcher, name="Elsewhere")
    assert numbers(lab, carry(lab, endpoint=other)) == [1]
    assert numbers(lab, carry(lab, reuse=False)) == [7]
    # It counts on behind an imported answer, which stays as it is.
    first = runs[0].answers.filter(question=lab.questions[0]).first()
    named = ("study", "question", "system", "condition", "scenario")
    about = {name: getattr(first, name) for name in named}
    kept = Answer.objects.create(**about, text="Kept.", source="a.json", position=1, choice=9)
    assert numbers(lab, carry(lab, reuse=False, replicates=2)) == [10, 11]
    kept.refresh_from_db()
    assert kept.choice == 9


def test_runs_whose_replies_come_in_turns_never_share_a_number(lab):
    kind = AnswersKind()
    params = {"max_tokens": 900, "seed": 1}
    runs = [lab.start(number=1, replicates=n, params=params) for n in (2, 3)]
    for run in runs:
        write_calls(run)
    calls = [run.calls.filter(subject=f"q{lab.questions[0].pk}") for run in runs]
    first, second = (list(rows.order_by("replicate")) for rows in calls)

    def store(call):
        ended = EndedCall(call, call.fence, ReplyReading(value=WrittenAnswer("Text.", "m")))
        kind.store(runs[call in second], [ended])

    # The last of the first run, the middle of the second, then the others; one reply is missing.
    for call in (first[1], second[1], second[2], first[0], second[0]):
        store(call)
    assert [numbers(lab, run) for run in runs] == [[1, 2], [3, 4, 5]]
    with pytest.raises(IntegrityError), transaction.atomic():
        store(second[0])
    assert numbers(lab, runs[1]) == [3, 4, 5]


def test_what_contradicts_the_ledger_is_found(lab, carry, monkeypatch):
    script(monkeypatch, write_by_text)
    run = carry(lab, replicates=2)
    check = kind_named("answers").check
    assert check(run) == []
    first, second, third, fourth, *_ = run.answers.order_by("pk")
    Answer.objects.filter(pk=first.pk).update(text="Changed.")
    Answer.objects.filter(pk=second.pk).update(choice=7)
    third.delete()
    Call.objects.filter(pk=fourth.call_id).update(state=Call.State.UNSCORED, reason="empty")
    assert sorted(check(run)) == [
        f"answer {first.pk} does not match its hash",
        f"answer {second.pk} is not in its run's order",
        f"call {third.call_id} has 0 answers",
        f"call {fourth.call_id} has an answer but is not done",
    ]
    Reply.objects.filter(pk=fourth.call.reply_id).update(text="Something else.")
    assert f"answer {fourth.pk} differs from its reply" in check(run)
    Answer.objects.filter(pk=first.pk).update(question=fourth.question, text=first.text)
    assert f"answer {first.pk} does not match its call" in check(run)
    Answer.objects.filter(pk=second.pk).update(call=None, source="elsewhere.csv")
    assert f"answer {second.pk} has no call" in check(run)
