"""A rubric on its way as its page shows it: fields with what was typed and what is wrong."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from .drafts import CriterionDraft, RubricDraft

FIELD_NAMES = {
    "name": gettext_lazy("name"),
    "asks": gettext_lazy("what the rater looks at"),
    "group": gettext_lazy("group"),
    "maximum": gettext_lazy("most points"),
    "text": gettext_lazy("given for points:"),
    "example": gettext_lazy("example for points:"),
    "counted_by": gettext_lazy("code can count"),
    "rubric": gettext_lazy("the rubric"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of the page: its name, what was typed, and what is wrong with it."""

    name: str
    value: str
    error: str


def cell_of(draft: RubricDraft, name: str, value: str) -> Cell:
    """A field with its error."""
    return Cell(name, value, draft.errors.get(name, ""))


def shown_errors(draft: RubricDraft) -> list[tuple[str, str, str]]:
    """Field, what a person calls it, and what is wrong."""
    return [(name, _called(name), reason) for name, reason in draft.errors.items()]


def group_rows(draft: RubricDraft) -> list[dict[str, Any]]:
    """One row for each group: its key, which stays, and its name."""
    return [
        {"place": place, "key": key, "name": cell_of(draft, f"g{place}-name", name)}
        for place, (key, name) in enumerate(draft.groups)
    ]


def criterion_rows(draft: RubricDraft) -> list[dict[str, Any]]:
    """One row for each criterion, its levels with the points they stand for."""
    return [_criterion_row(draft, place, each) for place, each in enumerate(draft.criteria)]


def _criterion_row(draft: RubricDraft, place: int, each: CriterionDraft) -> dict[str, Any]:
    cells: dict[str, Any] = {
        name: cell_of(draft, f"c{place}-{name}", getattr(each, name))
        for name in ("name", "asks", "group", "maximum", "counted_by")
    }
    levels = [
        {
            "points": points,
            "is_used": str(points) <= each.maximum,
            "text": cell_of(draft, f"c{place}-text{points}", text),
            "example": cell_of(draft, f"c{place}-example{points}", example),
        }
        for points, text, example in each.levels
    ]
    has_error = any(name.startswith(f"c{place}-") for name in draft.errors)
    return cells | {
        "place": place,
        "key": f"C{place + 1}",
        "levels": levels,
        "has_error": has_error,
        "is_open": has_error or place == draft.opened or not each.name,
        "is_last": place + 1 == len(draft.criteria),
    }


def _called(name: str) -> str:
    """For example “C3, name” for the field ``c2-name``."""
    row, _dash, part = name.partition("-")
    if row[:1] == "c" and row[1:].isdecimal():
        points = part[-1] if part[-1:].isdecimal() else ""
        words = f"{FIELD_NAMES.get(part.rstrip('012'), part)} {points}".strip()
        return f"C{int(row[1:]) + 1}, {words}"
    if part:
        return _("Group %s") % (int(row[1:]) + 1)
    return str(FIELD_NAMES.get(name, name))
