"""Which set a rater judges next.

One set at a time, in the rater's own random order, and among them blind repeats. A set is reserved
by one of its slots; a lease that ran out counts as open.

Locks are taken in one order everywhere: the place, then the sheet, then slots.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from annotation.actions.slots import FREE, renew_lease, take_free_slot
from annotation.methods.blind_order import choose_repeat, own_order, repeat_due
from annotation.models import Rater
from argsum.models import (
    CountingItem,
    CountingPlace,
    CountingRound,
    CountingSlot,
    CountSheet,
    SummarySet,
)

# So many sets of a rater's order are tried before somebody else's locks count as "held".
TRIES = 5
NEEDED = ("summary_set__cell", "counting_round__study", "rater", "slot")


@dataclass(frozen=True)
class Work:
    """The sheet to fill in now, or why there is none."""

    sheet: CountSheet | None
    reason: str = ""


def place_for(*, counting_round: CountingRound, rater: Rater) -> CountingPlace:
    """The rater's place in the round, made at the first visit."""
    found, _created = CountingPlace.objects.get_or_create(
        counting_round=counting_round, rater=rater
    )
    return found


@transaction.atomic
def next_sheet(*, counting_round: CountingRound, rater: Rater) -> Work:
    """Return the sheet that waits for the rater, beginning a new one where none does.

    Reasons for none: ``not_open``, ``stopped``, ``held`` (others hold the last sets),
    ``finished``.
    """
    place = place_for(counting_round=counting_round, rater=rater)
    # Two tabs of one rater wait here for each other; the second finds the first one's sheet.
    place = CountingPlace.objects.select_for_update().get(pk=place.pk)
    place.counting_round, place.rater = counting_round, rater
    if place.excluded_at is not None:
        return Work(None, "stopped")
    if counting_round.state != CountingRound.State.OPEN:
        return Work(None, "not_open")
    waiting = _own(place).filter(state=CountSheet.State.OPEN).order_by("place").first()
    if waiting is not None:
        renew(waiting)
        return Work(waiting)
    return _next(place)


def renew(sheet: CountSheet) -> None:
    """Prolong the reservation of a sheet that is being worked on."""
    if sheet.counting_round is not None:
        renew_lease(sheet, minutes=sheet.counting_round.lease_minutes)


def take_slot(item: CountingItem, *, minutes: int) -> CountingSlot | None:
    """Reserve a free slot of a set, taking it from a sheet whose reservation ran out."""
    return take_free_slot(CountingSlot.objects.filter(item=item), CountSheet, minutes=minutes)


def own_sheets(*, counting_round: CountingRound, rater: Rater) -> QuerySet[CountSheet]:
    """The rater's sheets of a round in the order in which they came."""
    rows = CountSheet.objects.filter(counting_round=counting_round, rater=rater)
    return rows.select_related(*NEEDED).order_by("place")


def _own(place: CountingPlace) -> QuerySet[CountSheet]:
    return own_sheets(counting_round=place.counting_round, rater=place.rater)


def _next(place: CountingPlace) -> Work:
    """A repeat if one is due, else the next set of the rater's own order."""
    done = _own(place).values_list("summary_set", "replicate")
    firsts = [key for key, replicate in done if replicate == 0]
    repeated = {key for key, replicate in done if replicate}
    sheet = (
        _repeat(place, firsts, repeated)
        or _first(place, firsts)
        or _repeat(place, firsts, repeated, is_last=True)
    )
    if sheet is not None:
        return Work(sheet)
    slots = CountingSlot.objects.filter(counting_round=place.counting_round)
    others = slots.exclude(state=CountingSlot.State.DONE)
    is_held = others.exclude(item__summary_set__in=firsts).exists()
    return Work(None, "held" if is_held else "finished")


def _first(place: CountingPlace, firsts: list[int]) -> CountSheet | None:
    """A sheet for a set that the rater has not had, if one of the next few is free."""
    counting_round = place.counting_round
    left = _candidates(counting_round, firsts)
    order = own_order(left, seed=counting_round.seed, rater=place.rater.pk)[:TRIES]
    items = CountingItem.objects.in_bulk(order)
    for item in (items[pk] for pk in order):
        slot = take_slot(item, minutes=counting_round.lease_minutes)
        if slot is not None:
            return _begin(place, item.summary_set_id, slot=slot)
    return None


def _repeat(
    place: CountingPlace, firsts: list[int], repeated: set[int], *, is_last: bool = False
) -> CountSheet | None:
    """A sheet for a set that comes again, if one is due."""
    counting_round = place.counting_round
    if not repeat_due(len(firsts), len(repeated), counting_round.repeat_share, is_last=is_last):
        return None
    again = choose_repeat(firsts, repeated, seed=counting_round.seed, rater=place.rater.pk)
    return None if again is None else _begin(place, again, replicate=1)


def _candidates(counting_round: CountingRound, seen: list[int]) -> list[int]:
    """Keys of the items with a free slot whose sets the rater has not had."""
    free = CountingSlot.objects.filter(FREE, item=OuterRef("pk"))
    items = counting_round.items.filter(Exists(free))
    mine = set(seen)
    return [pk for pk, key in items.values_list("pk", "summary_set") if key not in mine]


def _begin(
    place: CountingPlace, set_id: int, *, slot: CountingSlot | None = None, replicate: int = 0
) -> CountSheet:
    counting_round = place.counting_round
    CountingPlace.objects.filter(pk=place.pk).update(served=F("served") + 1)
    sizes = SummarySet.objects.filter(pk=set_id).values_list(
        Count("summaries", distinct=True), Count("cell__key_points", distinct=True)
    )
    summaries, references = sizes[0]
    made = CountSheet.objects.create(
        study=counting_round.study,
        summary_set_id=set_id,
        rater=place.rater,
        counting_round=counting_round,
        replicate=replicate,
        references=references,
        summaries=summaries,
        slot=slot,
        place=place.served + 1,
        served_at=Now(),
    )
    return CountSheet.objects.select_related(*NEEDED).get(pk=made.pk)
