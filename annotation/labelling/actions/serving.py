"""Items served to a rater, and the rater's progress."""

import math
import random
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from django.db import transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Now

from annotation.corpus.models import Argument
from annotation.labelling.models import Assignment, Item, LabelRound, Slot
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Membership
from cqa_site.rounds.models import Place
from cqa_site.rounds.onboarding.steps import may_work
from cqa_site.rounds.progress import TaskProgress, pace
from cqa_site.rounds.queue import place_for

# Next items of a rater
#
# Work is claimed in blocks: ordinary items through slots, and control items at seeded random
# positions in each block. A block is reserved as a whole, so neither the order nor the timing of
# items reveals which of them are controls. A claim treats slots with an expired lease (by the
# database clock) as open, so no cleanup job is needed. Slots are locked with ``FOR UPDATE SKIP
# LOCKED`` if the database supports it; on SQLite, the immediate transaction is the lock.
#
# The lock order is always the same: enrolment, assignments, slots, each by key. Code that cannot
# follow this order skips locked rows.

LOW_WATER = 2
# Items reserved ahead, so that work can continue offline; limited to one in SHARE_AHEAD of the
# votes that the round still needs.
AHEAD = 20
SHARE_AHEAD = 5
WINDOW = 4

FREE = Q(state=Slot.State.OPEN) | Q(state=Slot.State.LEASED, lease_until__lt=Now())
DONE = (Assignment.State.ANSWERED, Assignment.State.SKIPPED)
CONTROL = Q(control_label__isnull=False, is_retired=False)
TAKEN = (Assignment.State.SERVED, *DONE)

# Maps items to slots; control items have no slot.
Block = dict[int, int | None]


@dataclass(frozen=True)
class LabelWork:
    """A rater's assignments in serving order, or the reason for having no work."""

    assignments: list[Assignment]
    reason: str = ""


def open_assignments(place: Place) -> QuerySet[Assignment]:
    """Return a rater's served but unanswered items in serving order."""
    return (
        Assignment.objects.filter(
            rater_id=place.rater_id, round_id=place.round_id, state=Assignment.State.SERVED
        )
        .select_related("item__argument__comparison")
        .order_by("block", "position")
    )


def reserved(*, label_round: LabelRound, place: Place) -> list[Assignment]:
    """Return the rater's current reservations in serving order."""
    return list(open_assignments(place)[: label_round.block_size + AHEAD + LOW_WATER])


def next_work(
    *, label_round: LabelRound, place: Place, waiting: list[Assignment] | None = None
) -> LabelWork:
    """Return the rater's reserved items, reserving new blocks if few are left.

    Callers that already know the ``reserved`` items pass them as ``waiting``.

    Reasons for an empty list: ``not_open``, ``stopped``, ``steps`` (steps before the work are
    incomplete), ``share_cap``, ``held`` (others have reserved the last items), ``finished``.
    """
    if waiting is None:
        waiting = reserved(label_round=label_round, place=place)
    if place.is_stopped or place.is_excluded:
        return LabelWork([], "stopped")
    if label_round.state != LabelRound.State.OPEN:
        return LabelWork([], "not_open")
    if not may_work(label_round, place):
        return LabelWork([], "steps")
    if _is_enough(label_round, len(waiting)):
        return LabelWork(waiting)
    reason = claim_blocks(label_round=label_round, place=place)
    if reason:
        return LabelWork(waiting, "" if waiting else reason)
    return LabelWork(reserved(label_round=label_round, place=place))


@transaction.atomic
def renew(*, place: Place) -> int:
    """Renew the rater's leases; return the number of slots."""
    minutes = timedelta(minutes=place.round.lease_minutes)
    held = Slot.objects.filter(
        state=Slot.State.LEASED,
        assignment__rater_id=place.rater_id,
        assignment__round_id=place.round_id,
        assignment__state=Assignment.State.SERVED,
    )
    return Slot.objects.filter(pk__in=lock_slots(held)).update(lease_until=Now() + minutes)


def lock_slots(slots: QuerySet[Slot]) -> list[int]:
    """Lock the slots one by one in key order, and return those that still match."""
    rows = slots.select_for_update(of=("self",)).order_by("pk").only("pk")
    return [slot.pk for slot in rows]


def _is_enough(label_round: LabelRound, waiting: int) -> bool:
    """Whether enough items are reserved; checked once per block to save queries."""
    if waiting < LOW_WATER:
        return False
    return waiting > AHEAD + 1 or waiting % label_round.block_size != 1


def _blocks_wanted(label_round: LabelRound, waiting: int) -> int:
    """Return one block if few items are left, or more if enough remain for other raters."""
    wanted = math.ceil((AHEAD + LOW_WATER - waiting) / label_round.block_size)
    if wanted > 1 or waiting >= LOW_WATER:
        free = Slot.objects.filter(FREE, round=label_round).count()
        wanted = min(wanted, (free // SHARE_AHEAD - waiting) // label_round.block_size)
    return max(wanted, 1 if waiting < LOW_WATER else 0)


@transaction.atomic(savepoint=False)
def claim_blocks(*, label_round: LabelRound, place: Place) -> str:
    """Reserve one or more blocks; return "" or the reason why nothing could be reserved."""
    # Two tabs of the same rater wait for each other here; the second finds the first tab's block.
    held = Place.objects.select_for_update().get(pk=place.pk)
    if held.is_stopped or held.is_excluded:
        return "stopped"
    blocks = _blocks_wanted(label_round, open_assignments(held).count())
    if not blocks:
        return ""
    allowed = _allowed_by_share(label_round, held)
    if allowed <= 0:
        return "share_cap"
    rng = random.Random(f"{label_round.seed}:{held.rater_id}:{held.served}")  # noqa: S311
    controls = _choose_controls(label_round, held, blocks, rng)
    wanted = min(blocks * label_round.block_size - len(controls), allowed)
    slots = _claim_slots(label_round, held, wanted, rng)
    if not slots:
        return "held" if _others_hold_items(label_round, held) else "finished"
    _serve(label_round, held, _deal(label_round, slots, controls), rng)
    return ""


def _deal(label_round: LabelRound, slots: list[Slot], controls: list[int]) -> list[Block]:
    """Divide claimed slots into blocks with their control items; the last block may be shorter."""
    dealt = []
    while slots:
        mixed, controls = (
            controls[: label_round.controls_per_block],
            controls[label_round.controls_per_block :],
        )
        ordinary = label_round.block_size - len(mixed)
        dealt.append({slot.item_id: slot.pk for slot in slots[:ordinary]} | dict.fromkeys(mixed))
        slots = slots[ordinary:]
    return dealt


def _allowed_by_share(label_round: LabelRound, place: Place) -> int:
    if label_round.share_cap >= 1:
        return AHEAD + label_round.block_size
    items = label_round.items.filter(Item.ORDINARY).count()
    served = Assignment.objects.filter(
        round=label_round,
        rater_id=place.rater_id,
        state__in=TAKEN,
        item__control_label__isnull=True,
    ).count()
    return math.ceil(items * label_round.share_cap) - served


def _choose_controls(
    label_round: LabelRound, place: Place, blocks: int, rng: random.Random
) -> list[int]:
    """Choose the control items of the next blocks; return their keys."""
    if not label_round.controls_per_block:
        return []
    # As with ordinary items, expired reservations do not count, because an item that never came
    # back would be recognisable as a control.
    mine = Assignment.objects.filter(item=OuterRef("pk"), rater_id=place.rater_id, state__in=TAKEN)
    items = Item.objects.filter(CONTROL, ~Exists(mine), ~_had_elsewhere(place), round=label_round)
    fresh = list(items.order_by("pk").values_list("pk", flat=True))
    return rng.sample(fresh, min(blocks * label_round.controls_per_block, len(fresh)))


def _had_elsewhere(place: Place) -> Exists:
    """Select control items whose known label the rater may have influenced.

    These are the arguments that the rater saw in another round or whose label the rater decided.
    """
    arguments = Argument.objects.filter(pk=OuterRef("argument"))
    got = Assignment.objects.filter(item__argument=OuterRef("pk"), rater_id=place.rater_id)
    got = got.exclude(round=place.round_id)
    return Exists(arguments.filter(Exists(got) | Q(adjudications__rater=place.rater_id)))


def _claim_slots(
    label_round: LabelRound, place: Place, wanted: int, rng: random.Random
) -> list[Slot]:
    """Take one free slot from each of ``wanted`` items near the rater's cursor."""
    window = WINDOW * wanted
    ahead = _candidates(label_round, place, Q(order__gt=place.cursor), window)
    if len(ahead) < wanted:
        ahead |= _candidates(label_round, place, Q(), window)
    picked = rng.sample(sorted(ahead.values()), min(wanted, len(ahead)))
    slots = take_slots([pk for _order, pk in picked])
    ids = [slot.pk for slot in slots]
    Slot.objects.filter(pk__in=ids).update(
        state=Slot.State.LEASED, lease_until=Now() + timedelta(minutes=label_round.lease_minutes)
    )
    left = [order for order, pk in ahead.values() if pk not in ids]
    if slots:
        last = slots[-1].order
        place.cursor = min([last, *(order - 1 for order in left if order > 0)])
    return slots


def take_slots(slot_ids: list[int]) -> list[Slot]:
    """Lock free slots that no other transaction holds, and end their old reservations.

    Answers lock an assignment before its slot, so here, too, the assignments that hold the slots
    are locked first. All locks use SKIP LOCKED, so two claims and an answer can never deadlock.
    """
    held = dict(Assignment.objects.filter(slot_id__in=slot_ids).values_list("slot_id", "pk"))
    mine = set(
        Assignment.objects.filter(pk__in=held.values())
        .select_for_update(skip_locked=True)
        .values_list("slot_id", flat=True)
    )
    slots = list(
        Slot.objects.filter(FREE, pk__in=slot_ids)
        .exclude(pk__in=set(held) - mine)
        .select_for_update(skip_locked=True)
        .order_by("order")
    )
    _expire_blocks([slot.pk for slot in slots if slot.pk in held])
    return slots


def _expire_blocks(slot_ids: list[int]) -> None:
    """End the leases of slots, and those of the unanswered items in their blocks.

    A block expires as a whole. Otherwise only its control items would remain, because they have no
    slot.
    """
    holders = Assignment.objects.filter(slot_id__in=slot_ids, state=Assignment.State.SERVED)
    for rater, label_round, block in set(holders.values_list("rater_id", "round_id", "block")):
        rest = dict(
            Assignment.objects.filter(
                rater_id=rater, round_id=label_round, block=block, state=Assignment.State.SERVED
            )
            .select_for_update(skip_locked=True)
            .values_list("pk", "slot_id")
        )
        free = set(
            Slot.objects.filter(FREE, pk__in=[pk for pk in rest.values() if pk])
            .select_for_update(skip_locked=True)
            .values_list("pk", flat=True)
        )
        over = [pk for pk, slot in rest.items() if slot is None or slot in free]
        Assignment.objects.filter(pk__in=over).update(slot=None, state=Assignment.State.EXPIRED)
        Slot.objects.filter(pk__in=free).update(state=Slot.State.OPEN, lease_until=None)


def _candidates(
    label_round: LabelRound, place: Place, where: Q, window: int
) -> dict[int, tuple[int, int]]:
    """Map items to (order, slot) of their first free slot, for up to ``window`` items."""
    mine = Assignment.objects.filter(
        item=OuterRef("item_id"), rater_id=place.rater_id, state__in=TAKEN
    )
    limit = window * label_round.votes_per_item
    slots: dict[int, tuple[int, int]] = {}
    # Use two queries, because each state has its own partial index.
    for state in (Q(state=Slot.State.OPEN), Q(state=Slot.State.LEASED, lease_until__lt=Now())):
        rows = (
            Slot.objects.filter(where, state, ~Exists(mine), round=label_round)
            .order_by("order")
            .values_list("item_id", "order", "pk")[:limit]
        )
        for item, order, pk in rows:
            slots.setdefault(item, (order, pk))
    return dict(sorted(slots.items(), key=lambda entry: entry[1])[:window])


def _others_hold_items(label_round: LabelRound, place: Place) -> bool:
    """Whether slots that the rater could still get are currently leased to others."""
    mine = Assignment.objects.filter(
        item=OuterRef("item_id"), rater_id=place.rater_id, state__in=TAKEN
    )
    return Slot.objects.filter(~Exists(mine), round=label_round).exclude(state="done").exists()


def _serve(label_round: LabelRound, place: Place, blocks: list[Block], rng: random.Random) -> None:
    """Store blocks, each in random order, reusing rows of expired reservations."""
    expired = {
        row.item_id: row
        for row in Assignment.objects.filter(
            rater_id=place.rater_id,
            item_id__in=[item for block in blocks for item in block],
            state=Assignment.State.EXPIRED,
        )
    }
    fresh: list[Assignment] = []
    again: list[Assignment] = []
    for number, chosen in enumerate(blocks, start=place.served + 1):
        order = list(chosen)
        rng.shuffle(order)
        for position, item in enumerate(order):
            row = expired.get(item) or Assignment(
                round=label_round, item_id=item, rater_id=place.rater_id
            )
            row.slot_id, row.state = chosen[item], Assignment.State.SERVED
            row.block, row.position, row.served_at = number, position, Now()
            (again if item in expired else fresh).append(row)
    Assignment.objects.bulk_create(fresh)
    if again:
        fields = ["slot", "state", "block", "position", "served_at"]
        Assignment.objects.bulk_update(again, fields)
    served = F("served") + len(blocks)
    Place.objects.filter(pk=place.pk).update(cursor=place.cursor, served=served)


def answered_count(place: Place) -> int:
    """Count the items that the rater labelled or skipped in the round, including controls."""
    return Assignment.objects.filter(
        rater_id=place.rater_id, round_id=place.round_id, state__in=DONE
    ).count()


def member_place(*, label_round: LabelRound, membership: Membership) -> Place:
    """Return a member's enrolment in a label round, with ``round`` set to that round."""
    return place_for(round_=label_round, rater=rater_for(membership=membership))


# Progress of one person in a round; control items count like any other item


def times_of(place: Place) -> list[int | None]:
    """Return the active milliseconds of each item labelled or skipped, including controls."""
    rows = Assignment.objects.filter(
        rater_id=place.rater_id, round_id=place.round_id, state__in=DONE
    )
    return list(rows.values_list("active_ms", flat=True))


def how_far(
    *,
    label_round: LabelRound,
    place: Place,
    times: list[int | None],
    served: int,
    wanted: int | None = None,
) -> TaskProgress:
    """Return the numbers of completed, served and available items, with one query.

    The number of future control items is derived from the number of future blocks, so the total is
    the same whether an ordinary item or a control item was answered.
    """
    is_open = label_round.state == LabelRound.State.OPEN and not (
        place.is_stopped or place.is_excluded
    )
    coming = _coming(label_round, place) if is_open else 0
    planned = label_round.expected_seconds
    # Pages without JavaScript report no time; the planned time is used for their answers.
    own = [
        milliseconds / 1000 if milliseconds else planned
        for milliseconds in times
        if milliseconds or planned
    ]
    seconds = pace(own, planned)
    return TaskProgress(len(times), served + coming, seconds).at_most(wanted)


def _coming(label_round: LabelRound, place: Place) -> int:
    mine = Assignment.objects.filter(item=OuterRef("pk"), rater_id=place.rater_id, state__in=TAKEN)
    free = Slot.objects.filter(FREE, item=OuterRef("pk"))
    # Used only for control items; it would be slow for thousands of ordinary items.
    can_come = Case(When(CONTROL, then=~_had_elsewhere(place)), default=Value(False))
    items = label_round.items.annotate(
        is_mine=Exists(mine), is_free=Exists(free), can_come=can_come
    ).aggregate(
        all=Count("pk", filter=Item.ORDINARY),
        mine=Count("pk", filter=Item.ORDINARY & Q(is_mine=True)),
        free=Count("pk", filter=Item.ORDINARY & Q(is_mine=False, is_free=True)),
        controls=Count("pk", filter=Q(can_come=True, is_mine=False)),
    )
    allowed = ceil(items["all"] * label_round.share_cap) - items["mine"]
    ordinary = max(0, min(items["free"], allowed))
    blocks = ceil(ordinary / (label_round.block_size - label_round.controls_per_block))
    return ordinary + min(items["controls"], blocks * label_round.controls_per_block)
