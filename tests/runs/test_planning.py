"""Planning: every prompt written once, the same rows as ever, replies that are too alike."""

import random
from array import array

import pytest
from django.db import connection
from django.utils import timezone

from annotation.judges.actions.relevance_judge import RelevanceKind, chosen_arguments, target_of
from annotation.labelling.models import Item
from cqa_site.judging.endpoints import estimate
from cqa_site.runs import planning
from cqa_site.runs.actions import runs as control
from cqa_site.runs.actions.runs import draft
from cqa_site.runs.kinds import Subject, Subjects
from cqa_site.runs.ledger.gates import prices_of
from cqa_site.runs.ledger.lease import key_of, requests_for
from cqa_site.runs.models import Call, Run
from cqa_site.runs.planning import (
    Dominant,
    alike,
    are_alike,
    dominant,
    dominates,
    estimate_run,
    write_calls,
)
from tests.cast import make_arguments
from tests.runs.judging import Lab
from tests.runs.turns import planned
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


SEEDED = {"temperature": 1, "max_tokens": 200, "seed": 5}


lab = built_once(Lab)


def add_pair(lab: Lab, pair: tuple[str, str], count: int) -> None:
    """More sentences for the round, about other objects."""
    Item.objects.bulk_create(
        Item(round=lab.label_round, argument=one, external_id=str(one.public_id))
        for one in make_arguments(lab.study, count, pair)
    )


class Watched:
    """Notes what the kind is asked for, and whether a transaction was open."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[list[Subject]] = []
        self.depths: list[int] = []
        self.before = len(connection.savepoint_ids)
        write = RelevanceKind.questions

        def questions(kind, run, subjects):
            self.asked.append(list(subjects))
            self.depths.append(len(connection.savepoint_ids))
            return write(kind, run, subjects)

        monkeypatch.setattr(RelevanceKind, "questions", questions)


def test_every_prompt_is_written_once_however_many_replicates(lab, monkeypatch):
    monkeypatch.setattr(planning, "AT_ONCE", 7)
    run = lab.start(replicates=3, params=SEEDED)
    watched = Watched(monkeypatch)
    assert write_calls(run) == 90
    asked = [subject for block in watched.asked for subject in block]
    assert len(asked) == len(set(asked)) == 30
    assert max(map(len, watched.asked)) == 7
    # Before the transaction begins: on SQLite it would keep everybody else from writing.
    assert set(watched.depths) == {watched.before}


def test_a_run_cancelled_while_its_prompts_are_written_gets_no_calls(lab, monkeypatch):
    run = lab.start()
    write = RelevanceKind.questions

    def questions(kind, run, subjects):
        control.cancel_run(run=Run.objects.get(pk=run.pk), actor=lab.researcher)
        return write(kind, run, subjects)

    monkeypatch.setattr(RelevanceKind, "questions", questions)
    assert write_calls(run) == 0
    assert not run.calls.exists()
    assert Run.objects.get(pk=run.pk).state == Run.State.CANCELLED


@pytest.mark.parametrize("form", ["single", "batch"])
def test_keys_and_estimates_are_those_of_the_requests_as_they_leave(lab, form):
    add_pair(lab, ("oak", "pine"), 5)
    values = {"replicates": 2, "params": SEEDED, "prompt": getattr(lab, form)}
    run = planned(lab, target=target_of(lab.label_round, batch_size=4), **values)
    calls = list(run.calls.order_by("position"))
    requests = requests_for(run, calls)
    singles = [estimate([request], **prices_of(run)) for request in requests]
    assert [call.content_key for call in calls] == [
        key_of(run, *pair) for pair in zip(calls, requests, strict=True)
    ]
    assert len({call.content_key for call in calls}) == len(calls) == run.planned
    assert [(call.tokens_estimated, call.reserve_micro) for call in calls] == [
        (one.tokens_in + one.tokens_out, one.cost_micro) for one in singles
    ]
    assert run.estimate == {
        name: sum(getattr(one, name) for one in singles)
        for name in ("requests", "tokens_in", "tokens_out", "cost_micro", "most_micro")
    }
    assert estimate_run(run)[0].requests == run.planned


def test_calls_stand_in_their_order_and_are_otherwise_like_one_made_by_itself(lab):
    run = planned(lab, replicates=2, params=SEEDED)
    keys, _comparisons = chosen_arguments(lab.study, run.spec["target"], 1)
    rows = run.calls.order_by("position").values_list("position", "subject", "replicate")
    wanted = [(f"a{pk}", replicate) for pk in keys for replicate in (0, 1)]
    assert list(rows) == [(place, *one) for place, one in enumerate(wanted)]
    own = {"subject": "by itself", "subject_ids": [], "position": 1_000, "content_key": "0" * 64}
    fresh = Call.objects.create(run=run, **own)
    fresh.refresh_from_db()
    its_own = {"id", "run_after", *planning.COLUMNS}
    for call in run.calls.exclude(pk=fresh.pk):
        for field in Call._meta.concrete_fields:
            if field.name not in its_own:
                assert getattr(call, field.attname) == getattr(fresh, field.attname), field.name
        assert abs((call.run_after - timezone.now()).total_seconds()) < 60
    assert run.calls.values("public_id").distinct().count() == 61


def test_the_seed_chooses_the_canaries_by_name(lab):
    run = planned(lab, preflight="ask", seed=3, replicates=2, params=SEEDED)
    names = list(run.calls.filter(replicate=0).order_by("position").values_list("subject"))
    wanted = {name for (name,) in random.Random(3).sample(names, planning.CANARIES)}
    chosen = run.calls.filter(is_canary=True)
    assert {(call.subject, call.replicate) for call in chosen} == {(name, 0) for name in wanted}
    assert run.state == Run.State.CHECKING
    # All of a small run.
    target = target_of(lab.label_round, choice="sample", sample=4)
    small = planned(lab, preflight="ask", replicates=2, params=SEEDED, target=target)
    assert small.calls.filter(is_canary=True).count() == 4


def test_subjects_are_read_like_a_list():
    subjects = Subjects("b", array("q", [3, 5, 8, 9, 12]), array("q", [0, 2, 3]))
    every = [Subject("b3", (3, 5)), Subject("b8", (8,)), Subject("b9", (9, 12))]
    assert list(subjects) == every
    assert subjects[1:] == every[1:]
    assert subjects[-1] == every[-1]
    assert bool(subjects)
    assert not Subjects("a", array("q"), range(0))
    with pytest.raises(IndexError):
        subjects[3]


def test_requests_for_several_keep_to_one_comparison_and_a_sample_to_its_seed(lab):
    add_pair(lab, ("oak", "pine"), 5)
    target = target_of(lab.label_round, batch_size=4)
    run = draft(lab.plan(prompt=lab.batch, target=target), lab.study)
    subjects = RelevanceKind().subjects(run)
    assert [len(subject.ids) for subject in subjects] == [*[4] * 7, 2, 4, 1]
    ids = [pk for subject in subjects for pk in subject.ids]
    assert ids == list(chosen_arguments(lab.study, target, 1)[0])
    every = zip(*chosen_arguments(lab.study, target_of(lab.label_round), 9), strict=True)
    target = target_of(lab.label_round, choice="sample", sample=25)
    wanted = sorted(random.Random(9).sample(list(every), 25), key=lambda pair: pair[::-1])
    found = chosen_arguments(lab.study, target, 9)
    assert list(zip(*found, strict=True)) == wanted


@pytest.mark.parametrize(
    ("values", "is_too_much"),
    [
        ({"1": 19, "2": 1}, True), ({"1": 16, "2": 4}, True), ({"1": 15, "2": 5}, False),
        # Eight of nine are too few to say anything.
        ({"1": 8, "2": 1}, False), ({"1": 8, "2": 2}, True), ({}, False),
    ],
)  # fmt: skip
def test_four_in_five_of_at_least_ten(values, is_too_much):
    assert dominates(dominant(values)) is is_too_much


def test_each_scale_is_judged_by_itself_and_a_kind_may_ask_for_more():
    values = {"structure: 7": 10, "relevance: 5": 4, "relevance: 4": 6}
    assert dominant(values) == Dominant("structure: 7", 10, 10)
    assert not dominates(dominant({"coherent": 18, "not coherent": 2}), 0.95)


def test_texts_are_alike_by_their_words_not_by_their_lengths():
    same = "Both are fine, it depends on what you like to do with it."
    other = [f"word{n} " * 12 + str(n) for n in range(20)]
    assert are_alike([same] * 16 + other[:4])
    assert are_alike([same, same.upper(), same + "!", same.replace("fine", "good"), same])
    assert not are_alike(other)
    assert not are_alike([same] * 4)
    assert alike([]) == 0
