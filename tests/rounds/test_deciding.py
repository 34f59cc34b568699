"""Who may work on a round, and what becomes of the work of somebody who was left out."""

import pytest

from cqa_site.rounds.access import count_examples, decide_rater, held_back
from cqa_site.rounds.drafts import RoundNotOpen
from cqa_site.rounds.lifecycle import find_violations, open_round
from cqa_site.rounds.models import COUNTED, Place
from tests.worlds import built_of
from .made_work import SERVED, World

built, world = built_of(World, SERVED, "score")


def decide(world, decision, person=0, **fields):
    place = world.place(person)
    place.round = world.round
    asked = {"place": place, "actor": world.researcher} | fields
    return decide_rater(decision=decision, **asked)


def counted(world):
    return world.kind.Sheet.objects.filter(COUNTED, round=world.round).count()


def set_examples(world, *keys, pass_mark=0.5):
    """Let the first items of a new round be examples with known answers."""
    world.round = world.make_round(opens=False, name="With practice")
    world.round.pass_mark = pass_mark
    world.round.save()
    for item, key in zip(world.round.items.order_by("position"), keys, strict=False):
        item.key_points = key
        item.save()
    open_round(round_=world.round, actor=world.researcher)
    world.round.refresh_from_db()


def test_examples_come_first_and_the_last_decides(world):
    set_examples(world, world.work.met, world.work.missed)
    assert count_examples(world.round) == 2
    for number in (1, 2):
        sheet = world.take()
        assert (sheet.is_example, sheet.slot) == (True, None)
        world.submit(sheet)
        assert (world.place().score is None) == (number == 1)
    assert (world.place().score, world.place().is_passed) == (0.5, True)
    # The key was seen: this sheet cannot change any more.
    with pytest.raises(RoundNotOpen):
        world.submit(sheet, world.work.changed)
    with pytest.raises(RoundNotOpen):
        world.save(sheet, world.work.changed, 1)
    assert not world.take().is_example
    assert counted(world) == 0
    assert not world.slots(item__key_points__isnull=False).exists()
    assert list(find_violations()) == []


def test_who_does_not_pass_waits_for_a_researcher(world):
    set_examples(world, world.work.met, world.work.missed, pass_mark=0.6)
    world.do()
    assert not world.place().is_passed
    assert world.ask().reason == "not_qualified"
    assert list(held_back(world.study)) == [world.place()]
    decide(world, "pass")
    assert not held_back(world.study).exists()
    assert not world.take().is_example
    decide(world, "fail")
    world.submit(world.take())
    assert world.ask().reason == "not_qualified"


def thing(world, sheet):
    return getattr(sheet, f"{world.kind.subject}_id")


def test_who_is_left_out_leaves_the_places_to_others(world):
    mine = world.do(at_most=3)
    begun = world.take()
    decide(world, "exclude", reason="careless")
    assert world.ask().reason == "stopped"
    assert counted(world) == 0
    assert set(world.slots().values_list("state", flat=True)) == {"open"}
    # What was begun may be finished, and counts for nobody.
    assert world.submit(begun).is_extra
    all_mine = {thing(world, sheet) for sheet in (*mine, begun)}
    taken = set()
    # Which come first depends on their ids: one of these is taken, and the others stay free.
    while taken.isdisjoint(all_mine):
        taken |= {thing(world, sheet) for sheet in world.do(1, at_most=1)}
    decide(world, "reinstate")
    for sheet in map(world.again, (*mine, begun)):
        assert sheet.is_extra == (thing(world, sheet) in taken) == (sheet.slot is None)
    assert counted(world) == len(taken) + 3
    assert list(find_violations()) == []


def test_a_repeat_counts_again_without_a_slot(world):
    world.round = world.make_round(name="Again", repeat_share=0.25)
    world.do()
    assert counted(world) == 10
    decide(world, "exclude")
    assert counted(world) == 0
    decide(world, "reinstate")
    assert counted(world) == 10
    assert list(find_violations()) == []


def test_a_decision_made_twice_is_one_and_is_logged(world):
    world.take()
    assert decide(world, "exclude", reason="Guessed.").is_excluded
    assert decide(world, "exclude", reason="Again.") is None
    assert world.place().exclusion_reason == "Guessed."
    assert not decide(world, "reinstate").is_excluded
    assert decide(world, "reinstate") is None
    person = world.kind.audit.person
    verbs = [event.verb for event in world.study.audit_events.order_by("pk")]
    assert verbs[-2:] == [f"{person}_exclude", f"{person}_reinstate"]


def test_a_rule_stops_somebody_until_a_person_decides(world):
    world.take()
    assert decide(world, "pause", actor=None).is_stopped
    assert world.ask().reason == "stopped"
    decide(world, "reinstate")
    assert world.ask().sheet is not None
    # Nor does a rule pause somebody excluded meanwhile, who would stay paused.
    decide(world, "exclude")
    assert decide(world, "pause", actor=None) is None
    decide(world, "reinstate")
    decide(world, "pass")
    assert decide(world, "pause", actor=None) is None
    assert not Place.objects.get(pk=world.place().pk).is_stopped
