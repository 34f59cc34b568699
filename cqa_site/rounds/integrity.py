"""Invariants of people's work, checked in the database; each finding is one sentence."""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import F, OuterRef, Q, Subquery

from .kind import SheetKind, kinds
from .models import ParticipantLink, Sheet
from .slots import DONE, LEASED, OPEN

FETCH = 1_000


def find_violations() -> Iterator[str]:
    """Yield every broken invariant of every kind; nothing when all is well."""
    for kind in kinds():
        yield from kind.check_work()
        yield from kind.check()
    yield from _links_into_other_studies()


def sheet_violations(kind: SheetKind) -> Iterator[str]:
    """What sheets, slots and submissions of a kind say against each other."""
    yield from _slots_without_their_sheet(kind)
    yield from _sheets_without_their_slot(kind)
    yield from _sheets_unlike_their_history(kind)


def _links_into_other_studies() -> Iterator[str]:
    for pk in ParticipantLink.objects.exclude(study=F("round__study")).values_list(
        "pk", flat=True
    ):
        yield f"crowd link {pk} leads into a round of another study"


def _slots_without_their_sheet(kind: SheetKind) -> Iterator[str]:
    holds = {
        DONE: Q(sheet__state=Sheet.State.SUBMITTED),
        LEASED: Q(sheet__state=Sheet.State.OPEN),
        OPEN: Q(sheet__isnull=True),
    }
    for state, condition in holds.items():
        slots = kind.Slot._default_manager.filter(state=state).exclude(condition)
        for pk in slots.values_list("pk", flat=True):
            yield f"{kind.name} slot {pk} is {state}, but its sheet says otherwise"


def _submitted(kind: SheetKind) -> Any:
    return kind.sheets().filter(state=Sheet.State.SUBMITTED, round__isnull=False)


def _sheets_without_their_slot(kind: SheetKind) -> Iterator[str]:
    stray = _submitted(kind).filter(
        slot__isnull=True, is_extra=False, is_example=False, replicate=0
    )
    for pk in stray.values_list("pk", flat=True):
        yield f"{kind.name} sheet {pk} counts but holds no slot"


def _sheets_unlike_their_history(kind: SheetKind) -> Iterator[str]:
    last = kind.Event._default_manager.filter(sheet=OuterRef("pk")).order_by("-pk")
    rows = _submitted(kind).annotate(
        event=Subquery(last.values("pk")[:1]), said=Subquery(last.values("content")[:1])
    )
    for sheet in rows.iterator(FETCH):
        unlike = ["event"] if sheet.event is None else _unlike(kind, sheet, _read(sheet.said))
        if unlike:
            names = ", ".join(unlike)
            yield f"{kind.name} sheet {sheet.pk} has other {names} than its last submission"


def _unlike(kind: SheetKind, sheet: Any, said: dict[str, Any]) -> list[str]:
    """Fields that would be others if the last submission were settled once more."""
    stored = {name: getattr(sheet, name) for name in kind.settled}
    kind.settle(sheet, kind.Content(**said))
    return [name for name, value in stored.items() if getattr(sheet, name) != value]


def _read(said: Any) -> dict[str, Any]:
    """A subquery of a JSON column comes as text on SQLite."""
    read: dict[str, Any] = json.loads(said) if isinstance(said, str) else said
    return read
