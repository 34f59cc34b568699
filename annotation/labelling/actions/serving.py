"""Which items a rater gets next.

Work is claimed a block at a time: ordinary items through slots, control items
at seeded random places of the block. One block is one reservation, so neither
order nor timing of single items says which of them are controls. A slot whose
lease ran out (by the clock of the database) counts as open inside the claim;
no sweeper is needed. Slots are taken with ``FOR UPDATE SKIP LOCKED`` where the
database has it; on SQLite the immediate transaction is the lock.

Locks are taken in one order everywhere: the place, then assignments,
then slots, each by key. Who cannot keep to it skips what is locked.
"""

import math
import random
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotation.labelling.models.campaigns import Campaign, Item, Slot
from annotation.labelling.models.votes import Assignment
from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import Membership
from cqa_site.rounds.models import Place
from cqa_site.rounds.serving import place_for

LOW_WATER = 2
WINDOW = 4

FREE = Q(state=Slot.State.OPEN) | Q(state=Slot.State.LEASED, lease_until__lt=Now())
DONE = (Assignment.State.ANSWERED, Assignment.State.SKIPPED)
TAKEN = (Assignment.State.SERVED, *DONE)


@dataclass(frozen=True)
class Work:
    """What a rater may do now: assignments in serving order, or why there are none."""

    assignments: list[Assignment]
    reason: str = ""


def open_assignments(place: Place) -> QuerySet[Assignment]:
    """Items this rater has been served and not answered, in serving order."""
    return (
        Assignment.objects.filter(
            rater_id=place.rater_id,
            campaign_id=place.round_id,
            state=Assignment.State.SERVED,
        )
        .select_related("item__argument__comparison")
        .order_by("block", "position")
    )


def reserved(*, campaign: Campaign, place: Place) -> list[Assignment]:
    """What the rater holds now, in serving order."""
    return list(open_assignments(place)[: campaign.block_size + LOW_WATER])


def next_work(
    *,
    campaign: Campaign,
    place: Place,
    waiting: list[Assignment] | None = None,
) -> Work:
    """Return what is reserved for the rater, reserving a new block when it runs low.

    Who has just looked at what is ``reserved`` hands it over as ``waiting``.

    Reasons for an empty list: ``not_open``, ``stopped``, ``share_cap``,
    ``held`` (others hold the last items), ``finished``.
    """
    if waiting is None:
        waiting = reserved(campaign=campaign, place=place)
    if place.is_stopped or place.is_excluded:
        return Work([], "stopped")
    if campaign.state != Campaign.State.OPEN:
        return Work([], "not_open")
    if len(waiting) >= LOW_WATER:
        return Work(waiting)
    reason = claim_block(campaign=campaign, place=place)
    if reason:
        return Work(waiting, "" if waiting else reason)
    return Work(reserved(campaign=campaign, place=place))


@transaction.atomic
def renew(*, place: Place) -> int:
    """Prolong everything this rater holds; return how many slots that were."""
    minutes = timedelta(minutes=place.round.lease_minutes)
    held = Slot.objects.filter(
        state=Slot.State.LEASED,
        assignment__rater_id=place.rater_id,
        assignment__campaign_id=place.round_id,
        assignment__state=Assignment.State.SERVED,
    )
    return Slot.objects.filter(pk__in=lock_slots(held)).update(lease_until=Now() + minutes)


def lock_slots(slots: QuerySet[Slot]) -> list[int]:
    """Wait for the slots one after the other, by key; return those that still match then."""
    rows = slots.select_for_update(of=("self",)).order_by("pk").only("pk")
    return [slot.pk for slot in rows]


@transaction.atomic
def claim_block(*, campaign: Campaign, place: Place) -> str:
    """Reserve one block; return "" or the reason why nothing could be reserved."""
    # Two tabs of one rater wait here for each other; the second finds the first one's block.
    held = Place.objects.select_for_update().get(pk=place.pk)
    if held.is_stopped or held.is_excluded:
        return "stopped"
    if open_assignments(held).count() >= LOW_WATER:
        return ""
    allowed = _allowed_by_share(campaign, held)
    if allowed <= 0:
        return "share_cap"
    rng = random.Random(f"{campaign.seed}:{held.rater_id}:{held.served}")  # noqa: S311
    controls = _choose_controls(campaign, held, rng)
    wanted = min(campaign.block_size - len(controls), allowed)
    slots = _claim_slots(campaign, held, wanted, rng)
    if not slots:
        return "held" if _others_hold_items(campaign, held) else "finished"
    _serve(
        campaign, held, {slot.item_id: slot.pk for slot in slots} | dict.fromkeys(controls), rng
    )
    return ""


def _allowed_by_share(campaign: Campaign, place: Place) -> int:
    if campaign.share_cap >= 1:
        return campaign.block_size
    items = campaign.items.filter(control_label__isnull=True).count()
    served = Assignment.objects.filter(
        campaign=campaign,
        rater_id=place.rater_id,
        state__in=TAKEN,
        item__control_label__isnull=True,
    ).count()
    return math.ceil(items * campaign.share_cap) - served


def _choose_controls(campaign: Campaign, place: Place, rng: random.Random) -> list[int]:
    """Keys of the control items of the next block."""
    if not campaign.controls_per_block:
        return []
    # As with ordinary items, a reservation that ran out does not count: an item that never
    # came back would be known for a control.
    mine = Assignment.objects.filter(item=OuterRef("pk"), rater_id=place.rater_id, state__in=TAKEN)
    fresh = list(
        Item.objects.filter(
            ~Exists(mine), campaign=campaign, control_label__isnull=False, is_retired=False
        )
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    return rng.sample(fresh, min(campaign.controls_per_block, len(fresh)))


def _claim_slots(campaign: Campaign, place: Place, wanted: int, rng: random.Random) -> list[Slot]:
    """Take one free slot of each of ``wanted`` items near the rater's cursor."""
    window = WINDOW * wanted
    ahead = _candidates(campaign, place, Q(order__gt=place.cursor), window)
    if len(ahead) < wanted:
        ahead |= _candidates(campaign, place, Q(), window)
    picked = rng.sample(sorted(ahead.values()), min(wanted, len(ahead)))
    taken = take_slots([pk for _order, pk in picked])
    ids = [slot.pk for slot in taken]
    Slot.objects.filter(pk__in=ids).update(
        state=Slot.State.LEASED, lease_until=Now() + timedelta(minutes=campaign.lease_minutes)
    )
    left = [order for order, pk in ahead.values() if pk not in ids]
    if taken:
        last = taken[-1].order
        place.cursor = min([last, *(order - 1 for order in left if order > 0)])
    return taken


def take_slots(slot_ids: list[int]) -> list[Slot]:
    """Lock those of the free slots that nobody else is busy with, and end their old reservations.

    Answers lock an assignment and then its slot, so holders are locked first here, too; every
    lock is taken with SKIP LOCKED, so two takers and an answer can never wait in a circle.
    """
    held = dict(Assignment.objects.filter(slot_id__in=slot_ids).values_list("slot_id", "pk"))
    mine = set(
        Assignment.objects.filter(pk__in=held.values())
        .select_for_update(skip_locked=True)
        .values_list("slot_id", flat=True)
    )
    taken = list(
        Slot.objects.filter(FREE, pk__in=slot_ids)
        .exclude(pk__in=set(held) - mine)
        .select_for_update(skip_locked=True)
        .order_by("order")
    )
    _expire_blocks([slot.pk for slot in taken if slot.pk in held])
    return taken


def _expire_blocks(slot_ids: list[int]) -> None:
    """Take slots from whom they were leased to, with the rest of the block nobody answered.

    One block is one reservation and ends as one: what a rater found left of a
    block would otherwise be its controls, which hold no slot.
    """
    holders = Assignment.objects.filter(slot_id__in=slot_ids, state=Assignment.State.SERVED)
    for rater, campaign, block in set(holders.values_list("rater_id", "campaign_id", "block")):
        rest = dict(
            Assignment.objects.filter(
                rater_id=rater, campaign_id=campaign, block=block, state=Assignment.State.SERVED
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
    campaign: Campaign, place: Place, where: Q, window: int
) -> dict[int, tuple[int, int]]:
    """Map item → (order, slot) of its first free slot, for up to ``window`` items."""
    mine = Assignment.objects.filter(
        item=OuterRef("item_id"), rater_id=place.rater_id, state__in=TAKEN
    )
    limit = window * campaign.votes_per_item
    found: dict[int, tuple[int, int]] = {}
    # Two queries, because each state has its own partial index.
    for state in (Q(state=Slot.State.OPEN), Q(state=Slot.State.LEASED, lease_until__lt=Now())):
        rows = (
            Slot.objects.filter(where, state, ~Exists(mine), campaign=campaign)
            .order_by("order")
            .values_list("item_id", "order", "pk")[:limit]
        )
        for item, order, pk in rows:
            found.setdefault(item, (order, pk))
    return dict(sorted(found.items(), key=lambda entry: entry[1])[:window])


def _others_hold_items(campaign: Campaign, place: Place) -> bool:
    """Whether slots the rater could still get are leased to others right now."""
    mine = Assignment.objects.filter(
        item=OuterRef("item_id"), rater_id=place.rater_id, state__in=TAKEN
    )
    return Slot.objects.filter(~Exists(mine), campaign=campaign).exclude(state="done").exists()


def _serve(
    campaign: Campaign,
    place: Place,
    chosen: dict[int, int | None],
    rng: random.Random,
) -> None:
    """Write a block, item → slot, in a random order; reuse rows whose reservation ran out."""
    rater, block = place.rater_id, place.served + 1
    expired = {
        row.item_id: row
        for row in Assignment.objects.filter(
            rater_id=rater, item_id__in=chosen, state=Assignment.State.EXPIRED
        )
    }
    order = list(chosen)
    rng.shuffle(order)
    fresh: list[Assignment] = []
    again: list[Assignment] = []
    for position, item in enumerate(order):
        row = expired.get(item) or Assignment(campaign=campaign, item_id=item, rater_id=rater)
        row.slot_id, row.state = chosen[item], Assignment.State.SERVED
        row.block, row.position, row.served_at = block, position, Now()
        (again if item in expired else fresh).append(row)
    Assignment.objects.bulk_create(fresh)
    if again:
        fields = ["slot", "state", "block", "position", "served_at"]
        Assignment.objects.bulk_update(again, fields)
    Place.objects.filter(pk=place.pk).update(cursor=place.cursor, served=F("served") + 1)


def answered_count(place: Place) -> int:
    """How many items this rater has labelled or skipped in the campaign, controls included."""
    return Assignment.objects.filter(
        rater_id=place.rater_id,
        campaign_id=place.round_id,
        state__in=DONE,
    ).count()


def member_place(*, campaign: Campaign, membership: Membership) -> Place:
    """The place of a member in one campaign, which is its ``round``."""
    return place_for(round_=campaign, rater=rater_for(membership=membership))
