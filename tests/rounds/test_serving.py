"""Which sheet comes to whom: everybody's own order, slots that are never overfilled, repeats."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from cqa_site.rounds.access import shown_sheets
from cqa_site.rounds.lifecycle import close_round, find_violations
from cqa_site.rounds.models import COUNTED
from cqa_site.rounds.progress import how_far
from cqa_site.rounds.queue import own_sheets
from tests.worlds import built_of
from .made_work import ITEMS, SERVED, World

built, world = built_of(World, SERVED, "score")


@pytest.fixture
def wide(world):
    """Another round, in which each item goes to two people."""
    world.round = world.make_round(raters=2, name="Wide")
    return world


def subjects(world, sheets):
    return [getattr(sheet, f"{world.kind.subject}_id") for sheet in sheets]


def counted(world):
    return world.kind.Sheet.objects.filter(COUNTED, round=world.round)


def test_every_item_gets_its_sheets_and_nobody_the_same_twice(wide):
    for _turn in range(ITEMS):
        for person in range(3):
            wide.do(person, at_most=1)
    assert [wide.ask(person).reason for person in range(3)] == ["finished"] * 3
    rows = list(counted(wide).values_list(wide.kind.subject, "rater"))
    assert len(rows) == len(set(rows)) == 2 * ITEMS
    assert set(Counter(thing for thing, _rater in rows).values()) == {2}
    assert set(wide.slots().values_list("state", flat=True)) == {"done"}
    assert list(find_violations()) == []


def test_what_somebody_holds_nobody_else_gets(world):
    held = world.take(0)
    world.do(1)
    assert world.ask(1).reason == "held"
    assert world.take(0) == held, "coming back leads to the same sheet"
    world.submit(held)
    assert world.ask(1).reason == "finished"
    assert counted(world).count() == ITEMS


def test_everybody_has_an_order_of_their_own(world):
    # Two at most check a pair.
    people = 2 if world.name == "audit" else 3
    world.round = world.make_round(raters=people, name="All")
    orders = [tuple(subjects(world, world.do(person))) for person in range(people)]
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(orders[0]))}
    assert len(set(orders[0])) == ITEMS
    assert len({*orders, tuple(sorted(orders[0]))}) == people + 1
    rater = world.raters[0]
    assert tuple(subjects(world, own_sheets(round_=world.round, rater=rater))) == orders[0]


def test_a_reservation_that_ran_out_goes_on_and_the_late_sheet_is_an_extra(world):
    late = world.take(0)
    world.let_leases_end()
    assert len(world.do(1)) == ITEMS
    sheet = world.submit(late)
    assert (sheet.state, sheet.is_extra, sheet.slot) == ("submitted", True, None)
    assert world.kind.submitted(sheet) == world.work.full
    assert counted(world).count() == ITEMS
    assert list(find_violations()) == []


def test_a_reservation_that_ran_out_still_counts_where_nobody_took_it(world):
    late = world.take(0)
    world.let_leases_end()
    sheet = world.submit(late)
    assert (sheet.is_extra, sheet.slot.state) == (False, "done")


def test_a_save_prolongs_the_reservation(world):
    mine = world.take(0)
    world.take(1)
    world.let_leases_end()
    world.save(mine, world.work.full)
    assert list(world.slots(lease_until__gt=Now())) == [world.again(mine).slot]


def test_repeats_come_later_and_earlier_sheets_are_out_of_sight(world):
    world.round = world.make_round(name="Again", repeat_share=0.25)
    rater = world.raters[0]
    sheets = []
    # What comes a second time is one of those left, and no figure says which it was.
    while (sheet := world.take()) is not None:
        far = how_far(world.round, rater)
        assert (far.done, far.all) == (len(sheets), ITEMS + 2)
        sheets.append(world.submit(sheet))
    repeats = [sheet for sheet in sheets if sheet.replicate]
    assert (len(sheets), len(repeats)) == (ITEMS + 2, 2)
    assert len(set(subjects(world, repeats))) == 2
    for again in repeats:
        (first,) = subjects(world, [again])
        earlier = subjects(world, sheets).index(first) + 1
        assert again.place - earlier > 5
    assert {sheet.is_extra for sheet in sheets} == {False}
    shown = list(shown_sheets(world.round, rater))
    assert sheets[-1] in shown
    assert sheets[0] not in shown
    close_round(round_=world.round, actor=world.researcher)
    world.round.refresh_from_db()
    assert sheets[0] in list(shown_sheets(world.round, rater))
    assert list(find_violations()) == []


def test_what_is_left_is_what_is_free_at_the_own_pace(world):
    rater = world.raters[0]
    first, second, *_rest = world.slots().order_by("pk")
    world.slots(pk=first.pk).update(state="done")
    world.slots(pk=second.pk).update(state="leased", lease_until=Now() + timedelta(hours=1))
    for seconds in (60, 600, 120):
        (sheet,) = world.do(at_most=1)
        world.kind.Sheet.objects.filter(pk=sheet.pk).update(active_seconds=seconds)
    far = how_far(world.round, rater)
    assert (far.done, far.left, far.seconds, far.minutes) == (3, ITEMS - 5, 120, 6)
    world.slots(pk=second.pk).update(state="open", lease_until=None)
    assert how_far(world.round, rater).left == ITEMS - 4
    assert how_far(world.round, rater, 4).left == 1
    world.round.state = "closed"
    assert how_far(world.round, rater).left == 0


@pytest.mark.parametrize("state", ["draft", "closed"])
def test_only_an_open_round_serves(world, state):
    draft = world.make_round(name="Draft", opens=False)
    draft.state = state
    draft.save()
    assert world.ask(0, draft).reason == "not_open"


def test_serving_and_saving_take_few_queries(world, django_assert_max_num_queries):
    world.do(at_most=1)
    with django_assert_max_num_queries(16):
        sheet = world.take()
    with django_assert_max_num_queries(7):
        world.save(sheet, world.work.full)
