"""Forms for rubrics: uploaded files, drafts, and the fields on the page."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _, gettext_lazy

from benchmark.rubrics.methods.rubric import (
    HINTS,
    MOST_CRITERIA,
    MOST_POINTS,
    Criterion,
    CriterionGroup,
    Level,
    Rubric,
    RubricError,
    rubric_from_dict,
)
from cqa_site.tabular.cells import StrictJsonError, loads

# Rubric drafts: shown on a page, changed by a person and checked by `Rubric`.

MOST_GROUPS = 12
POINTS = range(MOST_POINTS + 1)
HINT_NAMES = {
    "sentences": gettext_lazy("Sentences"),
    "repeats": gettext_lazy("Repeated phrases"),
    "citations": gettext_lazy("Citations"),
    "words": gettext_lazy("Words"),
}


@dataclass
class CriterionDraft:
    """One criterion as typed, with levels for 0, 1 and 2 points, used or not."""

    name: str = ""
    asks: str = ""
    group: str = ""
    maximum: str = "1"
    counted_by: str = ""
    texts: list[str] = field(default_factory=lambda: [""] * len(POINTS))
    examples: list[str] = field(default_factory=lambda: [""] * len(POINTS))

    @property
    def levels(self) -> list[tuple[int, str, str]]:
        """Points, text and example of each level."""
        return list(zip(POINTS, self.texts, self.examples, strict=True))

    def criterion(self, key: str) -> Criterion:
        """Return the criterion as typed; an invalid maximum stays invalid."""
        most = int(self.maximum) if self.maximum in map(str, POINTS) else 0
        levels = tuple(Level(*level) for level in self.levels[: most + 1])
        counted_by = self.counted_by if self.counted_by in HINTS else None
        return Criterion(key, self.group, self.name, self.asks, most, levels, counted_by)


@dataclass
class RubricDraft:
    """All fields as typed, kept even if they have errors."""

    name: str = ""
    allows_halves: bool = False
    groups: list[tuple[str, str]] = field(default_factory=list)
    criteria: list[CriterionDraft] = field(default_factory=list)
    # Name of a field → its error.
    errors: dict[str, str] = field(default_factory=dict)
    # Position of the criterion that a button has just added or moved.
    opened: int | None = None

    def change(self, do: str) -> None:
        """Add, remove or move a part, as a valid button such as ``remove-3`` requests."""
        verb, _dash, number = do.partition("-")
        if verb == "add" and number == "group" and len(self.groups) < MOST_GROUPS:
            self.groups.append((self._free_key(), ""))
        elif verb == "add" and number == "criterion" and len(self.criteria) < MOST_CRITERIA:
            last = self.criteria[-1].group if self.criteria else self._first_group()
            self.criteria.append(CriterionDraft(group=last))
            self.opened = len(self.criteria) - 1
        elif number.isdecimal() and len(number) < 4:
            self._change_one(verb, int(number))

    def _change_one(self, verb: str, at: int) -> None:
        rows = self.criteria
        if verb == "drop" and at < len(self.groups):
            del self.groups[at]
        elif at >= len(rows):
            return
        elif verb == "remove":
            del rows[at]
        elif verb == "up" and at > 0:
            rows[at - 1], rows[at] = rows[at], rows[at - 1]
            self.opened = at - 1
        elif verb == "down" and at + 1 < len(rows):
            rows[at + 1], rows[at] = rows[at], rows[at + 1]
            self.opened = at + 1

    def _first_group(self) -> str:
        return self.groups[0][0] if self.groups else ""

    def _free_key(self) -> str:
        keys = {key for key, _name in self.groups}
        numbers = range(1, MOST_GROUPS + 2)
        return next(f"group-{number}" for number in numbers if f"group-{number}" not in keys)

    def rubric(self) -> Rubric | None:
        """Return the rubric with computed group maxima; if invalid, return None with `errors`."""
        self.errors = {}
        criteria = tuple(
            draft.criterion(f"C{place}") for place, draft in enumerate(self.criteria, start=1)
        )
        for place, criterion in enumerate(criteria):
            self._check_criterion(place, criterion)
        sums = {key: 0 for key, _name in self.groups}
        for criterion in criteria:
            sums[criterion.group] = sums.get(criterion.group, 0) + criterion.maximum
        for place, (key, name) in enumerate(self.groups):
            if not name.strip():
                self.errors[f"g{place}-name"] = _("is empty")
            elif not sums[key]:
                self.errors[f"g{place}-name"] = _("has no criteria")
        groups = tuple(CriterionGroup(key, name.strip(), sums[key]) for key, name in self.groups)
        try:
            new_rubric = Rubric(self.name.strip(), groups, criteria, self.allows_halves)
        except RubricError as error:
            if error.field == "name" and error.criterion is None:
                self.errors["name"] = error.reason
            elif not self.errors:
                self.errors["rubric"] = f"{error.field}: {error.reason}"
            return None
        return None if self.errors else new_rubric

    def _check_criterion(self, place: int, criterion: Criterion) -> None:
        """Record one error per criterion, so that errors in all criteria are shown at once."""
        if criterion.group not in dict(self.groups):
            self.errors[f"c{place}-group"] = _("choose a group")
            return
        try:
            alone = replace(criterion, key="C1")
            Rubric("-", (CriterionGroup(alone.group, "-", alone.maximum),), (alone,))
        except RubricError as error:
            # Position of the criterion on the page, and its field.
            where, _blank, points = error.field.partition(" ")
            names = {"level": f"text{points}", "example": f"example{points}"}
            self.errors[f"c{place}-{names.get(where, where)}"] = error.reason


def draft_of(rubric: Rubric) -> RubricDraft:
    return RubricDraft(
        name=rubric.name,
        allows_halves=rubric.allows_halves,
        groups=[(group.key, group.name) for group in rubric.groups],
        criteria=[_criterion_draft(criterion) for criterion in rubric.criteria],
    )


def _criterion_draft(criterion: Criterion) -> CriterionDraft:
    missing = [""] * (len(POINTS) - len(criterion.levels))
    return CriterionDraft(
        name=criterion.name,
        asks=criterion.asks,
        group=criterion.group,
        maximum=str(criterion.maximum),
        counted_by=criterion.counted_by or "",
        texts=[level.text for level in criterion.levels] + missing,
        examples=[level.example for level in criterion.levels] + missing,
    )


def read_draft(data: Mapping[str, Any]) -> RubricDraft:
    """Read all submitted fields, valid or not."""
    groups = range(_count(data, "groups", MOST_GROUPS))
    criteria = range(_count(data, "criteria", MOST_CRITERIA))
    return RubricDraft(
        name=_text(data, "name"),
        allows_halves="allows_halves" in data,
        groups=[(_text(data, f"g{at}-key")[:80], _text(data, f"g{at}-name")) for at in groups],
        criteria=[_read_criterion(data, f"c{at}-") for at in criteria],
    )


def _read_criterion(data: Mapping[str, Any], at: str) -> CriterionDraft:
    return CriterionDraft(
        **{
            name: _text(data, at + name)
            for name in ("name", "asks", "group", "maximum", "counted_by")
        },
        texts=[_text(data, f"{at}text{points}") for points in POINTS],
        examples=[_text(data, f"{at}example{points}") for points in POINTS],
    )


def _text(data: Mapping[str, Any], name: str) -> str:
    # Browsers send line breaks as two characters; a rubric uploaded as JSON has one.
    return str(data.get(name, "")).replace("\r\n", "\n").replace("\x00", "").strip()


def _count(data: Mapping[str, Any], name: str, most: int) -> int:
    text = str(data.get(name, "0"))
    is_number = text.isascii() and text.isdecimal() and len(text) < 4
    return min(int(text), most) if is_number else 0


class RubricFileForm(forms.Form):
    """A rubric as JSON, in the format of this site's export."""

    file = forms.FileField(label=gettext_lazy("JSON file"), max_length=255)

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".json"

    def clean_file(self) -> Rubric:
        """Return the rubric in the file; errors name the criterion and the field."""
        file = self.cleaned_data["file"]
        most = min(settings.MAX_UPLOAD_BYTES, 1024 * 1024)
        if file.size > most:
            raise forms.ValidationError(_("Larger than %s.") % filesizeformat(most))
        try:
            return rubric_from_dict(loads(file.read()))
        except (StrictJsonError, RubricError) as error:
            raise forms.ValidationError(str(error)) from error


FIELD_NAMES = {
    "name": gettext_lazy("name"),
    "asks": gettext_lazy("question for the rater"),
    "group": gettext_lazy("group"),
    "maximum": gettext_lazy("maximum points"),
    "text": gettext_lazy("given for points:"),
    "example": gettext_lazy("example for points:"),
    "counted_by": gettext_lazy("automatic count"),
    "rubric": gettext_lazy("the rubric"),
}


@dataclass(frozen=True, slots=True)
class RubricField:
    """One field of the page: its name, typed value and error."""

    name: str
    value: str
    error: str


def cell_of(draft: RubricDraft, name: str, value: str) -> RubricField:
    """Return a field with its error."""
    return RubricField(name, value, draft.errors.get(name, ""))


def shown_errors(draft: RubricDraft) -> list[tuple[str, str, str]]:
    """Return the name, display name and error of each invalid field."""
    return [(name, _called(name), reason) for name, reason in draft.errors.items()]


def group_rows(draft: RubricDraft) -> list[dict[str, Any]]:
    """Return one row per group, with its fixed key and its name."""
    return [
        {"place": place, "key": key, "name": cell_of(draft, f"g{place}-name", name)}
        for place, (key, name) in enumerate(draft.groups)
    ]


def criterion_rows(draft: RubricDraft) -> list[dict[str, Any]]:
    """Return one row per criterion, with its levels and their points."""
    return [
        _criterion_row(draft, place, criterion) for place, criterion in enumerate(draft.criteria)
    ]


def _criterion_row(draft: RubricDraft, place: int, criterion: CriterionDraft) -> dict[str, Any]:
    cells: dict[str, Any] = {
        name: cell_of(draft, f"c{place}-{name}", getattr(criterion, name))
        for name in ("name", "asks", "group", "maximum", "counted_by")
    }
    levels = [
        {
            "points": points,
            "is_used": str(points) <= criterion.maximum,
            "text": cell_of(draft, f"c{place}-text{points}", text),
            "example": cell_of(draft, f"c{place}-example{points}", example),
        }
        for points, text, example in criterion.levels
    ]
    has_error = any(name.startswith(f"c{place}-") for name in draft.errors)
    return cells | {
        "place": place,
        "key": f"C{place + 1}",
        "levels": levels,
        "has_error": has_error,
        "is_open": has_error or place == draft.opened or not criterion.name,
        "is_last": place + 1 == len(draft.criteria),
    }


def _called(name: str) -> str:
    """Return a field's display name, for example “C3, name” for the field ``c2-name``."""
    row, _dash, part = name.partition("-")
    if row[:1] == "c" and row[1:].isdecimal():
        points = part[-1] if part[-1:].isdecimal() else ""
        words = f"{FIELD_NAMES.get(part.rstrip('012'), part)} {points}".strip()
        return f"C{int(row[1:]) + 1}, {words}"
    if part:
        return _("Group %s") % (int(row[1:]) + 1)
    return str(FIELD_NAMES.get(name, name))
