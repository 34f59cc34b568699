"""Invariants of scoring, checked in the database; each finding is one sentence."""

import gzip
import hashlib
from collections.abc import Iterator

from django.db.models import F, OuterRef, Q, Subquery

from benchmark.methods.rubric_json import rubric_sha256
from benchmark.models import BoardSnapshot, RubricVersion, ScoreSheet, ScoringSlot, SheetEvent

FETCH = 1_000


def find_violations() -> Iterator[str]:
    """Yield every broken invariant; nothing when all is well."""
    yield from _changed_rubrics()
    yield from _wrong_totals()
    yield from _slots_without_their_sheet()
    yield from _sheets_without_their_slot()
    yield from _sheets_unlike_their_history()
    yield from _changed_boards()


def _changed_rubrics() -> Iterator[str]:
    for version in RubricVersion.objects.iterator(FETCH):
        if rubric_sha256(version.rubric) != version.sha256:
            yield f"rubric version {version.pk} no longer matches its hash"


def _wrong_totals() -> Iterator[str]:
    """A total is the sum of the points of all criteria, and there is none for fewer."""
    rubrics = {version.pk: version.rubric for version in RubricVersion.objects.all()}
    rows = ScoreSheet.objects.values_list("pk", "rubric", "state", "points", "total", "maximum")
    for pk, key, state, points, total, maximum in rows.iterator(FETCH):
        rubric = rubrics[key]
        is_complete = state in ("submitted", "void") and points.keys() >= set(rubric.keys)
        wanted = sum(points[name] for name in rubric.keys) if is_complete else None
        if total != wanted:
            yield f"sheet {pk} has the total {total}, its points give {wanted}"
        if maximum != rubric.maximum:
            yield f"sheet {pk} has another maximum than its rubric"


def _slots_without_their_sheet() -> Iterator[str]:
    holds = {
        ScoringSlot.State.DONE: Q(sheet__state=ScoreSheet.State.SUBMITTED),
        ScoringSlot.State.LEASED: Q(sheet__state=ScoreSheet.State.OPEN),
        ScoringSlot.State.OPEN: Q(sheet__isnull=True),
    }
    for state, condition in holds.items():
        slots = ScoringSlot.objects.filter(state=state).exclude(condition)
        for pk in slots.values_list("pk", flat=True):
            yield f"scoring slot {pk} is {state}, but its sheet says otherwise"


def _sheets_without_their_slot() -> Iterator[str]:
    stray = ScoreSheet.objects.filter(
        state=ScoreSheet.State.SUBMITTED,
        scoring_round__isnull=False,
        slot__isnull=True,
        is_extra=False,
        is_example=False,
        replicate=0,
    )
    for pk in stray.values_list("pk", flat=True):
        yield f"sheet {pk} counts but holds no slot"


def _sheets_unlike_their_history() -> Iterator[str]:
    last = SheetEvent.objects.filter(sheet=OuterRef("pk")).order_by("-pk")
    rows = ScoreSheet.objects.filter(
        state=ScoreSheet.State.SUBMITTED, scoring_round__isnull=False
    ).annotate(event=Subquery(last.values("pk")[:1]), said=Subquery(last.values("total")[:1]))
    unlike = (
        Q(event__isnull=True)
        | Q(said__isnull=True, total__isnull=False)
        | Q(said__isnull=False, total__isnull=True)
        | ~Q(said=F("total"))
    )
    for pk in rows.filter(unlike).values_list("pk", flat=True):
        yield f"sheet {pk} has another total than its last submission"


def _changed_boards() -> Iterator[str]:
    for snapshot in BoardSnapshot.objects.filter(frozen_at__isnull=False).iterator(10):
        plain = gzip.decompress(bytes(snapshot.rows))
        if hashlib.sha256(plain).hexdigest() != snapshot.sha256:
            yield f"board snapshot {snapshot.pk} no longer matches its hash"
