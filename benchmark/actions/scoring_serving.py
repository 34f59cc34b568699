"""Which answer a rater scores next.

One answer at a time: examples of the qualification first, then answers in the rater's own random
order, and among them blind repeats. An ordinary answer is reserved by one of its slots; a lease
that ran out (by the clock of the database) counts as open. Slots are taken with ``SKIP LOCKED``
where the database has it; on SQLite the immediate transaction is the lock.

Locks are taken in one order everywhere: the qualification, then the sheet, then slots.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from annotation.actions.slots import FREE, renew_lease, take_free_slot
from annotation.methods.blind_order import choose_repeat, own_order, repeat_due
from annotation.models import Rater
from benchmark.models import Qualification, ScoreSheet, ScoringItem, ScoringRound, ScoringSlot

# So many answers of a rater's order are tried before somebody else's locks count as "held".
TRIES = 5
NEEDED = (
    "answer__question__comparison",
    "scoring_round__study",
    "rubric",
    "rater",
    "slot",
)


@dataclass(frozen=True)
class Work:
    """The sheet to fill in now, or why there is none."""

    sheet: ScoreSheet | None
    reason: str = ""


def qualification_for(*, scoring_round: ScoringRound, rater: Rater) -> Qualification:
    """The rater's place in the round, made at the first visit."""
    found, _created = Qualification.objects.get_or_create(scoring_round=scoring_round, rater=rater)
    return found


@transaction.atomic
def next_sheet(*, scoring_round: ScoringRound, rater: Rater) -> Work:
    """Return the sheet that waits for the rater, beginning a new one where none does.

    Reasons for none: ``not_open``, ``stopped``, ``not_qualified``, ``held`` (others hold the last
    answers), ``finished``.
    """
    place = qualification_for(scoring_round=scoring_round, rater=rater)
    # Two tabs of one rater wait here for each other; the second finds the first one's sheet.
    place = Qualification.objects.select_for_update().get(pk=place.pk)
    place.scoring_round, place.rater = scoring_round, rater
    if place.excluded_at is not None:
        return Work(None, "stopped")
    if scoring_round.state != ScoringRound.State.OPEN:
        return Work(None, "not_open")
    waiting = _own(place).filter(state=ScoreSheet.State.OPEN).order_by("place").first()
    if waiting is not None:
        renew(waiting)
        return Work(waiting)
    if not place.is_passed:
        example = _next_example(place)
        if example is not None:
            return Work(_begin(place, example, is_example=True))
        if not _has_passed(place):
            return Work(None, "not_qualified")
    return _ordinary(place)


def renew(sheet: ScoreSheet) -> None:
    """Prolong the reservation of a sheet that is being worked on."""
    renew_lease(sheet, minutes=sheet.scoring_round.lease_minutes)


def take_slot(item: ScoringItem, *, minutes: int) -> ScoringSlot | None:
    """Reserve a free slot of an answer, taking it from a sheet whose reservation ran out."""
    return take_free_slot(ScoringSlot.objects.filter(item=item), ScoreSheet, minutes=minutes)


def own_sheets(*, scoring_round: ScoringRound, rater: Rater) -> QuerySet[ScoreSheet]:
    """The rater's sheets of a round in the order in which they came."""
    rows = ScoreSheet.objects.filter(scoring_round=scoring_round, rater=rater)
    return rows.select_related(*NEEDED).order_by("place")


def _own(place: Qualification) -> QuerySet[ScoreSheet]:
    return own_sheets(scoring_round=place.scoring_round, rater=place.rater)


def _next_example(place: Qualification) -> ScoringItem | None:
    seen = _own(place).filter(is_example=True).values("answer")
    examples = place.scoring_round.items.filter(key_points__isnull=False)
    return examples.exclude(answer__in=seen).order_by("position").first()


def _has_passed(place: Qualification) -> bool:
    """Whether the rater may go on; without examples everybody may, unless kept out by hand."""
    if place.is_decided_by_person:
        return place.is_passed
    has_examples = place.scoring_round.items.filter(key_points__isnull=False).exists()
    return not has_examples


def _ordinary(place: Qualification) -> Work:
    """A repeat if one is due, else the next answer of the rater's own order."""
    done = _own(place).filter(is_example=False).values_list("answer", "replicate")
    firsts = [answer for answer, replicate in done if replicate == 0]
    repeated = {answer for answer, replicate in done if replicate}
    sheet = (
        _repeat(place, firsts, repeated)
        or _first(place, firsts)
        or _repeat(place, firsts, repeated, is_last=True)
    )
    if sheet is not None:
        return Work(sheet)
    slots = ScoringSlot.objects.filter(scoring_round=place.scoring_round)
    others = slots.exclude(state=ScoringSlot.State.DONE)
    is_held = others.exclude(item__answer__in=firsts).exists()
    return Work(None, "held" if is_held else "finished")


def _first(place: Qualification, firsts: list[int]) -> ScoreSheet | None:
    """A sheet for an answer that the rater has not had, if one of the next few is free."""
    scoring_round = place.scoring_round
    left = _candidates(scoring_round, firsts)
    order = own_order(left, seed=scoring_round.seed, rater=place.rater.pk)[:TRIES]
    items = ScoringItem.objects.in_bulk(order)
    for item in (items[pk] for pk in order):
        slot = take_slot(item, minutes=scoring_round.lease_minutes)
        if slot is not None:
            return _begin(place, item, slot=slot)
    return None


def _repeat(
    place: Qualification, firsts: list[int], repeated: set[int], *, is_last: bool = False
) -> ScoreSheet | None:
    """A sheet for an answer that comes again, if one is due."""
    scoring_round = place.scoring_round
    if not repeat_due(len(firsts), len(repeated), scoring_round.repeat_share, is_last=is_last):
        return None
    again = choose_repeat(firsts, repeated, seed=scoring_round.seed, rater=place.rater.pk)
    if again is None:
        return None
    return _begin(place, scoring_round.items.get(answer=again), replicate=1)


def _candidates(scoring_round: ScoringRound, seen: list[int]) -> list[int]:
    """Keys of the items with a free slot whose answers the rater has not had."""
    free = ScoringSlot.objects.filter(FREE, item=OuterRef("pk"))
    items = scoring_round.items.filter(Exists(free), key_points__isnull=True)
    mine = set(seen)
    return [pk for pk, answer in items.values_list("pk", "answer") if answer not in mine]


def _begin(
    place: Qualification,
    item: ScoringItem,
    *,
    slot: ScoringSlot | None = None,
    replicate: int = 0,
    is_example: bool = False,
) -> ScoreSheet:
    scoring_round = place.scoring_round
    Qualification.objects.filter(pk=place.pk).update(served=F("served") + 1)
    made = ScoreSheet.objects.create(
        study=scoring_round.study,
        answer_id=item.answer_id,
        rubric=scoring_round.rubric,
        rater=place.rater,
        scoring_round=scoring_round,
        replicate=replicate,
        is_example=is_example,
        slot=slot,
        place=place.served + 1,
        maximum=scoring_round.rubric.rubric.maximum,
        served_at=Now(),
    )
    return ScoreSheet.objects.select_related(*NEEDED).get(pk=made.pk)
