"""Several people scoring, opening a round or bringing parts of a sheet at the same moment."""

import threading
from itertools import count

import pytest
from django.db import connections, transaction

from benchmark.judges.actions.storage import store_ended
from benchmark.judges.methods.judgements import Judgement, JudgementState as Judged
from benchmark.scoring.models import ScoringSlot
from cqa_site.people.models import Rater
from cqa_site.rounds.controls import set_control
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import find_violations, open_round
from cqa_site.rounds.queue import controls_coming, next_sheet
from cqa_site.runs import jobs
from cqa_site.runs.actions.runs import start_run
from cqa_site.runs.kinds import EndedCall, ReplyReading
from cqa_site.runs.models import Run
from cqa_site.runs.planning import write_calls
from tests.annotation.labelling.test_locks import wait_until_somebody_waits
from tests.benchmark.made_race import (
    ON_POSTGRES,
    assert_everything_gets_its_sheets,
    work_until_done,
)
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_member, make_study
from tests.people.at_once import at_once
from tests.rounds.made_work import World
from ..judges.test_scoring_judge import Lab

pytestmark = ON_POSTGRES


@pytest.mark.parametrize("raters", [1, 3])
def test_every_answer_gets_its_sheets(raters):
    assert_everything_gets_its_sheets("score", raters)


def test_items_become_controls_and_ordinary_again_while_people_work():
    """Nobody waits in a circle, and every sheet knows what its item knows."""
    world = World("score", raters=3)
    items = list(world.kind.Item.objects.filter(round=world.round))
    people = [Rater.objects.create(study=world.study, name=f"R{n}") for n in range(4)]

    def turn(known):
        for item in items * 2:
            set_control(round_=world.round, item=item, known=known, actor=world.researcher)

    def act(who):
        return work_until_done(world, who) if isinstance(who, Rater) else turn(who["known"])

    told = at_once(act, [*people, {"known": world.work.missed}, {"known": None}])
    assert told == [None] * len(told)
    world.round.refresh_from_db()
    controls = world.kind.Item.objects.filter(round=world.round, known__isnull=False)
    assert world.round.n_controls == controls.count()
    assert list(find_violations()) == []


@pytest.mark.parametrize("becomes_control", [True, False])
def test_a_newcomer_waits_while_control_items_change(becomes_control):
    """Their first sheet would know another answer than its item; locks could form a circle."""
    world = World("score")
    _first, *others = world.kind.Item.objects.filter(round=world.round)

    def change(known):
        for item in others:
            set_control(round_=world.round, item=item, known=known, actor=world.researcher)

    if not becomes_control:
        change(world.work.missed)
    world.round.refresh_from_db()
    raters = (Rater.objects.create(study=world.study, name=f"R{n}") for n in count())
    # Whose first item is a control item, if there are any.
    newcomer = next(
        r for r in raters if becomes_control or controls_coming(world.round, r.pk, [], 0)
    )

    def come():
        try:
            next_sheet(round_=world.round, rater=newcomer)
        finally:
            connections.close_all()

    coming = threading.Thread(target=come)
    with transaction.atomic():
        change(world.work.missed if becomes_control else None)
        coming.start()
        wait_until_somebody_waits()
    coming.join()
    sheet = world.kind.Sheet.objects.get()
    item = world.kind.Item.objects.get(round=world.round, answer=sheet.answer)
    assert sheet.known == item.known
    assert list(find_violations()) == []


def test_a_round_that_two_open_at_once_is_opened_once():
    study = make_study()
    boss = make_member(study, "researcher")
    make_scored_answers(study, questions=2)
    draft = make_round(study, boss, opens=False)

    def open_it(actor):
        try:
            open_round(round_=draft, actor=actor)
        except RoundNotReady:
            return "refused"
        return "opened"

    said = at_once(open_it, [boss, boss])
    assert sorted(said) == ["opened", "refused"]
    assert ScoringSlot.objects.filter(round=draft).count() == 4


def bring(run_id, call_id, group, meet, errors):
    """Store one group as a turn of a worker would, without the gate that keeps turns apart."""
    try:
        run = Run.objects.select_related("study", "prompt", "endpoint").get(pk=run_id)
        call = run.calls.get(pk=call_id)
        points = {each.key: 1 for each in group}
        judgement = Judgement(points, Judged.VALID, "", {}, points)
        with transaction.atomic():
            meet.wait(10)
            store_ended(run, [EndedCall(call, 1, ReplyReading(value=judgement))])
    except Exception as error:  # noqa: BLE001 the test looks at it
        errors.append(error)
    finally:
        connections.close_all()


def test_the_last_two_parts_make_a_sheet(monkeypatch):
    # Nobody carries the calls: their replies are brought below.
    monkeypatch.setattr(jobs, "ring", lambda: None)
    lab = Lab()
    run = start_run(study=lab.study, actor=lab.researcher, plan=lab.plan(by_group=True))
    write_calls(run)
    rubric = lab.rubric.rubric
    calls = list(run.calls.filter(subject__startswith=f"a{lab.answers[0].pk}-").order_by("pk"))
    assert len(calls) == 3
    for _attempt in range(5):
        run.judgement_parts.all().delete()
        run.score_sheets.all().delete()
        meet, errors = threading.Barrier(3), []
        threads = [
            threading.Thread(
                target=bring,
                daemon=True,
                args=(run.pk, call.pk, rubric.of_group(group.key), meet, errors),
            )
            for call, group in zip(calls, rubric.groups, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert errors == []
        sheet = run.score_sheets.get()
        assert (sheet.total, len(sheet.points)) == (15, 15)
