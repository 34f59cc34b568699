"""Blocks, leases, late answers: the promises of serving and answering."""

from collections import Counter
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotation.labelling.actions import serving, votes
from annotation.labelling.models import Assignment, Slot, VoteEvent
from annotation.labelling.reports import label_violations
from annotation.quality import actions as quality
from cqa_site.rounds.lifecycle import close_round, pause_round
from tests.annotation.voting import label, label_all, newcomer, opened, work
from tests.cast import make_member

pytestmark = pytest.mark.django_db


def expire_everything():
    Slot.objects.filter(state="leased").update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_block_holds_its_share_of_controls_at_varying_places(study):
    label_round = opened(study, ordinary=200, controls=10)
    places = Counter()
    for _ in range(40):
        block = [row for row in work(newcomer(label_round)).assignments if row.block == 1]
        assert len(block) == 5
        controls = [row.position for row in block if row.item.is_control]
        assert len(controls) == 1
        places[controls[0]] += 1
    assert set(places) == {0, 1, 2, 3, 4}


@pytest.mark.long
def test_where_a_round_has_plenty_twenty_items_are_held_ahead_in_whole_blocks(study):
    """So long somebody can go on without a connection; near the end others are left theirs."""
    label_round = opened(study, ordinary=80, controls=30, votes_per_item=3)
    place = newcomer(label_round)
    ahead = []
    for _ in range(85):
        todo = work(place).assignments
        blocks = [[row for row in todo if row.block == n] for n in {row.block for row in todo}]
        assert all(sum(row.item.is_control for row in rows) <= 1 for rows in blocks)
        assert {len(rows) for rows in blocks if rows[0].position == 0} <= {5}
        label(place, todo[0])
        ahead.append(len(todo) - 1)
    free = label_round.slots.filter(state="open").count()
    assert min(ahead[:20]) >= 15
    assert max(ahead) <= 26
    assert free == 240 - 68 - sum(not row.item.is_control for row in work(place).assignments)
    assert list(label_violations()) == []


@pytest.mark.parametrize(("ordinary", "people"), [(12, 3), (60, 8), (200, 12)])
def test_whoever_holds_much_ahead_leaves_others_enough(study, ordinary, people):
    """Of one vote an item: all who come at once get a block, in a small round just one."""
    label_round = opened(study, ordinary=ordinary, controls=70, votes_per_item=1)
    for _person in range(people):
        free = label_round.slots.filter(state="open").count()
        todo = work(newcomer(label_round)).assignments
        ordinary_ones = sum(not row.item.is_control for row in todo)
        assert len(todo) >= 5
        assert ordinary_ones <= max(4, free / serving.SHARE_AHEAD)


def test_everybody_together_fills_every_slot_exactly_once(study):
    label_round = opened(study, ordinary=7, controls=2, votes_per_item=3)
    # One slot for each vote that is wanted, and none for controls.
    assert label_round.slots.count() == 21
    assert not Slot.objects.filter(item__control_label__isnull=False).exists()
    people = [newcomer(label_round) for _ in range(5)]
    for _ in range(12):
        for place in people:
            if todo := work(place).assignments:
                label(place, todo[0])
    for place in people:
        assert work(place).reason == "finished"
    counted = Assignment.objects.filter(slot__isnull=False, state="answered")
    assert Counter(counted.values_list("item", flat=True)) == dict.fromkeys(
        label_round.items.filter(control_label=None).values_list("pk", flat=True), 3
    )
    assert not label_round.slots.exclude(state="done").exists()
    # Nobody gets an item twice, and the database refuses it.
    items = list(people[0].rater.assignments.values_list("item", flat=True))
    assert len(items) == len(set(items)) > 4
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(round=label_round, item_id=items[0], rater=people[0].rater)


def test_expired_slot_goes_to_somebody_else_and_the_late_answer_is_an_extra(study):
    label_round = opened(study, ordinary=4, controls=1, votes_per_item=1)
    slow, quick = newcomer(label_round), newcomer(label_round)
    free, late, *_ = (row for row in work(slow).assignments if not row.item.is_control)
    assert work(quick).reason == "held"
    expire_everything()
    # While the slot is still free, a late answer counts.
    assert label(slow, free).is_extra is False
    label_all(quick)
    kept = label(slow, late)
    assert kept.is_extra
    assert kept.state == "answered"
    assert kept.slot_id is None


def test_a_change_keeps_the_history_and_the_same_key_again_is_none(study, researcher):
    label_round = opened(study)
    place = newcomer(label_round)
    row, on_screen = work(place).assignments[:2]
    for value in (-1, 4, 9, 20):
        with pytest.raises(votes.AnswerNotValid):
            label(place, row, value)
    for _time in range(2):
        label(place, row, 1, key="same")
    with pytest.raises(votes.KeyReused):
        label(place, row, 3, key="same")
    row.refresh_from_db()
    assert row.label == 1
    label(place, row, 3)
    assert list(row.events.values_list("kind", "label")) == [("answer", 1), ("change", 3)]
    # Paused, it serves nothing, but takes what is on screens.
    pause_round(round_=label_round, actor=researcher)
    assert work(place).reason == "not_open"
    assert label(place, on_screen).is_extra is False


def test_skipping_gives_the_slot_back_and_can_be_taken_back(study):
    label_round = opened(study, ordinary=4, controls=0, controls_per_block=0, votes_per_item=1)
    place = newcomer(label_round)
    row = work(place).assignments[0]
    given = votes.SubmittedLabel(client_key="skip", skip_reason="unclear")
    votes.answer(rater=place.rater, assignment=row, given=given)
    assert Slot.objects.filter(item=row.item, state="open").exists()
    assert label(place, row, 2).is_extra is False
    assert not Slot.objects.filter(item=row.item, state="open").exists()


@pytest.mark.parametrize("is_reserved", [True, False])
def test_closed_keeps_first_answers_as_extras_and_refuses_changes(study, researcher, is_reserved):
    label_round = opened(study, ordinary=5, controls=1)
    place = newcomer(label_round)
    rows = list(work(place).assignments)
    done = next(row for row in rows if not row.item.is_control)
    rows.remove(done)
    label(place, done)
    if not is_reserved:
        expire_everything()
    close_round(round_=label_round, actor=researcher)
    with pytest.raises(votes.RoundClosed):
        label(place, done, 0)
    kept = [label(place, row) for row in rows]
    assert {row.state for row in kept} == {"answered"}
    assert {row.is_extra for row in kept if not row.item.is_control} == {True}
    assert not any(row.slot_id for row in kept)
    assert label_round.slots.get(state="done").pk == Assignment.objects.get(pk=done.pk).slot_id
    assert list(label_violations()) == []


def test_share_cap_bounds_what_one_rater_gets(study):
    label_round = opened(study, ordinary=20, controls=5, votes_per_item=2, share_cap=0.25)
    place = newcomer(label_round)
    label_all(place)
    ordinary = place.rater.assignments.filter(item__control_label=None)
    assert ordinary.count() == 5
    assert work(place).reason == "share_cap"


def test_renewing_prolongs_only_own_slots(study):
    label_round = opened(study)
    mine, other = newcomer(label_round), newcomer(label_round)
    work(mine)
    work(other)
    expire_everything()
    assert serving.renew(place=mine) == 4
    assert Slot.objects.filter(state="leased", lease_until__gt=Now()).count() == 4


def test_late_answer_of_an_excluded_rater_leaves_the_slot_to_others(study):
    label_round = opened(study, ordinary=4, controls=1, votes_per_item=1)
    place, looking = newcomer(label_round), newcomer(label_round)
    late = next(row for row in work(place).assignments if not row.item.is_control)
    expire_everything()
    Slot.objects.filter(state="leased").update(state="open", lease_until=None)
    Assignment.objects.filter(pk=late.pk).update(slot=None, state="expired")
    decision = {"reason": "guessing", "actor": make_member(study, "admin")}
    for excluded in (place, looking):
        quality.exclude_rater(label_round=label_round, rater=excluded.rater, **decision)
    assert label(place, late).is_extra
    # Excluded between look and claim: nothing is served.
    assert serving.claim_blocks(label_round=label_round, place=looking) == "stopped"
    assert not looking.rater.assignments.exists()


def test_a_block_that_ran_out_goes_as_a_whole_and_comes_back_as_a_whole(study):
    """Otherwise what is left of it, or what never comes back, would be its controls."""
    label_round = opened(study, ordinary=8, controls=1, votes_per_item=1)
    slow, quick = newcomer(label_round), newcomer(label_round)
    held = {row.item_id for row in work(slow).assignments}
    expire_everything()
    done = {label(quick, row).item_id for row in work(quick).assignments}
    waiting = {row.item_id for row in work(slow).assignments}
    left = Assignment.objects.filter(rater=slow.rater, item_id__in=held - waiting)
    assert {row.state for row in left} <= {"expired"}
    ordinary = set(label_round.items.filter(control_label=None).values_list("pk", flat=True))
    label_all(slow)
    rows = Assignment.objects.filter(rater=slow.rater, state="answered")
    answered = set(rows.values_list("item", flat=True))
    controls = set(label_round.items.exclude(control_label=None).values_list("pk", flat=True))
    assert held & controls <= answered
    assert answered & ordinary == ordinary - done
    assert list(label_violations()) == []


@pytest.mark.parametrize("controls", [10, 60])
def test_serving_costs_the_same_queries_whatever_comes_next(
    study, controls, django_assert_num_queries, django_assert_max_num_queries
):
    label_round = opened(study, ordinary=40, controls=controls)
    place = newcomer(label_round)
    for _ in range(3):
        todo = work(place).assignments
        with django_assert_num_queries(1):
            serving.next_work(label_round=label_round, place=place)
        label(place, todo[0])
    held = Assignment.objects.filter(rater=place.rater, state="served")
    held.update(state="skipped", slot=None)
    with django_assert_max_num_queries(20):
        assert len(serving.next_work(label_round=label_round, place=place).assignments) == 20


def test_integrity_finds_a_slot_reopened_behind_the_vote_and_a_label_behind_its_history(study):
    place = newcomer(opened(study))
    row = next(row for row in work(place).assignments if not row.item.is_control)
    answered = label(place, row)
    assert list(label_violations()) == []
    call_command("check_integrity")
    Slot.objects.filter(pk=answered.slot_id).update(state="open")
    assert list(label_violations()) == [
        f"slot {answered.slot_id} is open, which does not match its assignment"
    ]
    with pytest.raises(CommandError):
        call_command("check_integrity")
    Assignment.objects.filter(pk=answered.pk).update(slot=None)
    assert "counts but has no slot" in " ".join(label_violations())
    Assignment.objects.filter(pk=answered.pk).update(label=0)
    assert "differs in its label from its last event" in " ".join(label_violations())
    Assignment.objects.filter(pk=answered.pk).update(label=answered.label)
    assert "differs in its label from its last event" not in " ".join(label_violations())
    VoteEvent.objects.filter(assignment=answered).delete()
    assert "differs in its label from its last event" in " ".join(label_violations())
