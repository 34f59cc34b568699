"""Findings from votes on items, and invariants of labelling."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery

from annotation.labelling.models import Assignment, Item, LabelRound, Slot, VoteEvent

# A single person may have misread a sentence, but two skips without any label are no accident.
LEAST_SKIPS = 2


class KnownLabel(NamedTuple):
    """A label that people agreed on, or that experts chose where people disagreed.

    ``people`` is the number of people who agreed or decided; ``label`` is None if experts chose
    different labels.
    """

    argument: int
    label: int | None
    people: int
    is_settled: bool = False


def skipped_by_all(label_round: LabelRound) -> QuerySet[Item]:
    """Return active items that at least two people skipped and nobody labelled."""
    rows = Assignment.objects.filter(round=label_round).order_by()
    skips = rows.filter(state=Assignment.State.SKIPPED).values("item")
    often = skips.annotate(number=Count("pk")).filter(number__gte=LEAST_SKIPS).values("item")
    labelled = rows.filter(state=Assignment.State.ANSWERED).values("item")
    return label_round.items.filter(pk__in=often, is_retired=False).exclude(pk__in=labelled)


def label_violations() -> Iterator[str]:
    """Yield every broken invariant of labelling, for the rounds engine."""
    yield from _slots_without_their_answer()
    yield from _answers_without_their_slot()
    yield from _items_over_their_votes()
    yield from _labels_unlike_their_history()


def _slots_without_their_answer() -> Iterator[str]:
    holds = {
        Slot.State.DONE: Q(assignment__state=Assignment.State.ANSWERED),
        Slot.State.LEASED: Q(assignment__state=Assignment.State.SERVED),
        Slot.State.OPEN: Q(assignment__isnull=True),
    }
    for state, condition in holds.items():
        for pk in Slot.objects.filter(state=state).exclude(condition).values_list("pk", flat=True):
            yield f"slot {pk} is {state}, which does not match its assignment"


def _answers_without_their_slot() -> Iterator[str]:
    stray = Assignment.objects.filter(
        state=Assignment.State.ANSWERED,
        slot__isnull=True,
        is_extra=False,
        round__origin="live",
        item__control_label__isnull=True,
    )
    for pk in stray.values_list("pk", flat=True):
        yield f"assignment {pk} counts but has no slot"


def _items_over_their_votes() -> Iterator[str]:
    counted = Q(assignments__state="answered", assignments__slot__isnull=False)
    over = (
        Item.objects.filter(round__origin="live")
        .annotate(votes=Count("assignments", filter=counted))
        .filter(votes__gt=F("round__votes_per_item"))
    )
    for pk in over.values_list("pk", flat=True):
        yield f"item {pk} has more counted votes than wanted"


def _labels_unlike_their_history() -> Iterator[str]:
    last = VoteEvent.objects.filter(assignment=OuterRef("pk")).order_by("-pk")
    rows = Assignment.objects.filter(state="answered", round__origin="live").annotate(
        said=Subquery(last.values("label")[:1])
    )
    unlike = Q(said__isnull=True) | ~Q(said=F("label"))
    for pk in rows.filter(unlike).values_list("pk", flat=True):
        yield f"assignment {pk} differs in its label from its last event"
