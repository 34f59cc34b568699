"""Invariants of counting, checked in the database; each finding is one sentence."""

from collections.abc import Iterator
from math import isclose

from django.db.models import F, OuterRef, Q, Subquery

from argsum.methods.count_marks import Counts, count_covered, count_unique, marks_from_json
from argsum.models import CountEvent, CountingSlot, CountSheet

FETCH = 1_000
State = CountSheet.State


def find_violations() -> Iterator[str]:
    """Yield every broken invariant; nothing when all is well."""
    yield from _counts_unlike_their_marks()
    yield from _slots_without_their_sheet()
    yield from _sheets_without_their_slot()
    yield from _sheets_unlike_their_history()


def _counts_unlike_their_marks() -> Iterator[str]:
    """A count follows from the marks, is typed, or is missing because somebody is unsure."""
    sheets = CountSheet.objects.filter(state=State.SUBMITTED, counting_round__isnull=False)
    for sheet in sheets.defer("draft").iterator(FETCH):
        marks = marks_from_json(sheet.marks)
        counts = Counts(sheet.covered, sheet.unique, sheet.references, sheet.summaries)
        for name, marked, share, stored in (
            ("covered", count_covered(marks), counts.coverage, sheet.coverage),
            ("unique", count_unique(marks), counts.redundancy, sheet.redundancy),
        ):
            count = getattr(sheet, name)
            if (count is None) != getattr(sheet, f"{name}_is_unsure"):
                yield f"count sheet {sheet.pk}: {name} is {count}, which its unsure mark forbids"
            if count not in (None, marked) and not getattr(sheet, f"{name}_is_typed"):
                yield f"count sheet {sheet.pk} has {name} {count}, its marks give {marked}"
            if (share is None) != (stored is None) or not isclose(share or 0, stored or 0):
                yield f"count sheet {sheet.pk} has a share that is not of its {name} count"


def _slots_without_their_sheet() -> Iterator[str]:
    holds = {
        CountingSlot.State.DONE: Q(sheet__state=State.SUBMITTED),
        CountingSlot.State.LEASED: Q(sheet__state=State.OPEN),
        CountingSlot.State.OPEN: Q(sheet__isnull=True),
    }
    for state, condition in holds.items():
        slots = CountingSlot.objects.filter(state=state).exclude(condition)
        for pk in slots.values_list("pk", flat=True):
            yield f"counting slot {pk} is {state}, but its sheet says otherwise"


def _sheets_without_their_slot() -> Iterator[str]:
    stray = CountSheet.objects.filter(
        state=State.SUBMITTED,
        counting_round__isnull=False,
        slot__isnull=True,
        is_extra=False,
        replicate=0,
    )
    for pk in stray.values_list("pk", flat=True):
        yield f"count sheet {pk} counts but holds no slot"


def _sheets_unlike_their_history() -> Iterator[str]:
    last = CountEvent.objects.filter(sheet=OuterRef("pk")).order_by("-pk")
    rows = CountSheet.objects.filter(state=State.SUBMITTED, counting_round__isnull=False).annotate(
        event=Subquery(last.values("pk")[:1]),
        said_covered=Subquery(last.values("covered")[:1]),
        said_unique=Subquery(last.values("unique")[:1]),
    )
    unlike = Q(event__isnull=True) | _differs("covered") | _differs("unique")
    for pk in rows.filter(unlike).values_list("pk", flat=True):
        yield f"count sheet {pk} has other counts than its last submission"


def _differs(name: str) -> Q:
    said = f"said_{name}"
    both = Q(**{f"{name}__isnull": False, f"{said}__isnull": False})
    one = Q(**{f"{name}__isnull": True, f"{said}__isnull": False}) | Q(
        **{f"{name}__isnull": False, f"{said}__isnull": True}
    )
    return one | (both & ~Q(**{said: F(name)}))
