"""Rubrics: criteria with levels, in groups, and their JSON, hash and text."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Rubrics: criteria with levels, in groups; the groups and the rubric have a maximum.
#
# More points are better. A rubric is data, so that labs can write their own;
# `rubric_sha256` identifies it.
#
# Source: CompQA paper, section 2.1 and figure 3: 15 criteria worth 1 or 2 points, three groups, 19
# points in total. The paper's texts are not included here.

# Names of the counts in `score_hints`; a criterion can refer to one of them.
HINTS = ("sentences", "repeats", "citations", "words")
# Maximum for a criterion, as in the paper; the form has one key for each level.
MOST_POINTS = 2
MOST_CRITERIA = 40
LONGEST_NAME, LONGEST_TEXT = 80, 1000
# Column names that group keys must not use, because tables have both.
_COLUMNS = (
    "sheet answer answer_id question question_id object1 object2 aspect system system_id "
    "system_kind model scenario choice dataset characters rater rater_id rater_kind rater_name "
    "off_scale_points condition_id condition is_plain round run source replicate state reason "
    "total people probability cost_micro seconds answer_cost_micro answer_seconds"
)
RESERVED = frozenset(_COLUMNS.split())
_KEY = re.compile(r"[\w-]+")


class RubricError(ValueError):
    """Raised for an invalid rubric or invalid points.

    Parameters
    ----------
    criterion
        Key of the criterion; None for the whole rubric.
    field
        Field with the error.
    reason
        Description of the error.
    """

    def __init__(self, criterion: str | None, field: str, reason: str) -> None:
        super().__init__(": ".join(part for part in (criterion, field, reason) if part))
        self.criterion = criterion
        self.field = field
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Level:
    """Condition for ``points``, with an optional example."""

    points: int
    text: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question to ask about an answer.

    Attributes
    ----------
    key : str
        "C1", "C2", … by position in the rubric.
    group : str
        Key of a `CriterionGroup`.
    asks : str
        Question for the rater.
    maximum : int
        1 or 2 points.
    levels : tuple of Level
        One level for each of 0 … maximum points, in that order.
    counted_by : str or None
        Automatic count for the criterion, one of `HINTS`.
    """

    key: str
    group: str
    name: str
    asks: str
    maximum: int
    levels: tuple[Level, ...]
    counted_by: str | None = None


@dataclass(frozen=True, slots=True)
class CriterionGroup:
    """Criteria shown and added up together; ``maximum`` is the sum of their maxima."""

    key: str
    name: str
    maximum: int


@dataclass(frozen=True, slots=True)
class Rubric:
    """Criteria with their groups; an invalid combination raises `RubricError`.

    Attributes
    ----------
    allows_halves : bool
        Whether 0.5 and 1.5 are valid points, as in the mean of two sheets.
    """

    name: str
    groups: tuple[CriterionGroup, ...]
    criteria: tuple[Criterion, ...]
    allows_halves: bool = False

    def __post_init__(self) -> None:
        _check_rubric(self)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(criterion.key for criterion in self.criteria)

    @property
    def maximum(self) -> int:
        return sum(criterion.maximum for criterion in self.criteria)

    def of_group(self, group: str | None) -> tuple[Criterion, ...]:
        """Return the criteria in a group, or all criteria if None.

        Raise KeyError if the group is unknown.
        """
        if group is not None and group not in {candidate.key for candidate in self.groups}:
            raise KeyError(group)
        return tuple(criterion for criterion in self.criteria if group in (None, criterion.group))

    def check_points(self, key: str, points: object) -> float:
        """Return the points as a number if the criterion allows them.

        Raises
        ------
        RubricError
            If the key is unknown, or the points are not a number from 0 to the maximum in whole
            (or, if allowed, half) steps. Nothing is rounded or clipped.
        """
        criterion = next((candidate for candidate in self.criteria if candidate.key == key), None)
        if criterion is None:
            raise RubricError(key[:LONGEST_NAME], "key", "is not a criterion of this rubric")
        if isinstance(points, bool) or not isinstance(points, int | float):
            raise RubricError(key, "points", f"{str(points)[:20]!a} is not a number")
        steps = points * (2 if self.allows_halves else 1)
        if not (math.isfinite(points) and 0 <= points <= criterion.maximum and steps % 1 == 0):
            unit = "whole or half" if self.allows_halves else "whole"
            scale = f"{unit} points from 0 to {criterion.maximum}"
            raise RubricError(key, "points", f"{str(points)[:20]} is not on the scale: {scale}")
        return float(points)

    def total(self, points: Mapping[str, float | None], group: str | None = None) -> float | None:
        """Return the sum over the rubric or one group.

        Return None if any criterion lacks points.

        Raises
        ------
        RubricError
            See `check_points`; criteria in other groups are checked as well.
        """
        values = {
            key: self.check_points(key, point)
            for key, point in points.items()
            if point is not None
        }
        wanted = [criterion.key for criterion in self.of_group(group)]
        return sum(values[key] for key in wanted) if values.keys() >= set(wanted) else None

    def group_totals(self, points: Mapping[str, float | None]) -> dict[str, float | None]:
        """Map each group to the sum of its criteria; None if one of them lacks points."""
        return {group.key: self.total(points, group.key) for group in self.groups}


def _check_rubric(rubric: Rubric) -> None:
    _check_text(rubric.name, None, "name", LONGEST_NAME)
    if not 1 <= len(rubric.criteria) <= MOST_CRITERIA:
        raise RubricError(None, "criteria", f"a rubric must have 1 to {MOST_CRITERIA}")
    groups = [group.key for group in rubric.groups]
    if len(set(groups)) < len(groups):
        raise RubricError(None, "groups", "two groups have the same key")
    for place, criterion in enumerate(rubric.criteria, start=1):
        # Positions and numbers agree, so that wrong numbering by a judge is noticed.
        if criterion.key != f"C{place}":
            raise RubricError(f"C{place}", "key", f"is {criterion.key[:20]!a}")
        if criterion.group not in groups:
            raise RubricError(criterion.key, "group", f"there is no {criterion.group[:80]!a}")
        _check_criterion(criterion)
    _check_groups(rubric)


def _check_criterion(criterion: Criterion) -> None:
    key = criterion.key
    _check_text(criterion.name, key, "name", LONGEST_NAME)
    _check_text(criterion.asks, key, "asks", LONGEST_TEXT)
    if not 1 <= criterion.maximum <= MOST_POINTS:
        raise RubricError(key, "maximum", f"is not 1 to {MOST_POINTS}")
    if [grade.points for grade in criterion.levels] != list(range(criterion.maximum + 1)):
        raise RubricError(key, "levels", f"must be one each for 0 to {criterion.maximum} points")
    for level in criterion.levels:
        _check_text(level.text, key, f"level {level.points}", LONGEST_TEXT)
        if len(level.example) > LONGEST_TEXT:
            raise RubricError(key, f"example {level.points}", _too_long(LONGEST_TEXT))
    if criterion.counted_by not in (None, *HINTS):
        raise RubricError(key, "counted_by", f"is not one of {', '.join(HINTS)}")


def _check_groups(rubric: Rubric) -> None:
    sums: Counter[str] = Counter()
    for criterion in rubric.criteria:
        sums[criterion.group] += criterion.maximum
    for group in rubric.groups:
        _check_text(group.key, None, "groups", LONGEST_NAME)
        if not _KEY.fullmatch(group.key) or group.key in RESERVED.union(rubric.keys):
            raise RubricError(None, f"group {group.key[:80]!a}", "this key cannot be used")
        _check_text(group.name, None, f"group {group.key}", LONGEST_NAME)
        if group.maximum != sums[group.key] or not sums[group.key]:
            reason = f"maximum is {group.maximum}, but its criteria add up to {sums[group.key]}"
            raise RubricError(None, f"group {group.key}", reason)


def _check_text(text: str, criterion: str | None, field: str, longest: int) -> None:
    if not text.strip():
        raise RubricError(criterion, field, "is empty")
    if len(text) > longest:
        raise RubricError(criterion, field, _too_long(longest))


def _too_long(longest: int) -> str:
    return f"is longer than {longest:,} characters"


# Rubrics as plain values, canonical JSON and hashes.
#
# Two sheets were scored by the same rubric if and only if the hashes are equal. Every text and
# example counts, because raters and judges saw it.

_RUBRIC = {"name": str, "groups": list, "criteria": list}
_GROUP = {"key": str, "name": str, "maximum": int}
_CRITERION = {"key": str, "group": str, "name": str, "asks": str, "maximum": int, "levels": list}
_LEVEL = {"points": int, "text": str}
_WORDS = {str: "text", int: "a whole number", list: "a list", bool: "true or false"}


def rubric_to_dict(rubric: Rubric) -> dict[str, Any]:
    """Return plain values in rubric order, readable by `rubric_from_dict`."""
    return {
        "name": rubric.name,
        "allows_halves": rubric.allows_halves,
        "maximum": rubric.maximum,
        "groups": [
            {"key": group.key, "name": group.name, "maximum": group.maximum}
            for group in rubric.groups
        ],
        "criteria": [_criterion_dict(criterion) for criterion in rubric.criteria],
    }


def canonical_json(rubric: Rubric) -> str:
    """Return one canonical text per rubric: sorted keys, no spaces between values, no escapes."""
    values = rubric_to_dict(rubric)
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def rubric_sha256(rubric: Rubric) -> str:
    """Return the hash of the canonical JSON in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(rubric).encode()).hexdigest()


def rubric_from_dict(stored: object) -> Rubric:
    """Read the result of `rubric_to_dict`, or a hand-written file in this format.

    ``allows_halves``, ``maximum``, ``counted_by`` and examples can be missing; a given maximum
    must be correct.

    Raises
    ------
    RubricError
        If a field is invalid or unknown; the message names the criterion and field.
    """
    fields = _fields(stored, None, _RUBRIC, {"allows_halves": bool, "maximum": int})
    rubric = Rubric(
        name=fields["name"],
        groups=tuple(CriterionGroup(**_fields(group, None, _GROUP)) for group in fields["groups"]),
        criteria=tuple(
            _criterion_from(criterion, f"C{place}")
            for place, criterion in enumerate(fields["criteria"], start=1)
        ),
        allows_halves=fields.get("allows_halves", False),
    )
    if fields.get("maximum", rubric.maximum) != rubric.maximum:
        raise RubricError(None, "maximum", f"the criteria add up to {rubric.maximum}")
    return rubric


def _criterion_dict(criterion: Criterion) -> dict[str, Any]:
    return {
        "key": criterion.key,
        "group": criterion.group,
        "name": criterion.name,
        "asks": criterion.asks,
        "maximum": criterion.maximum,
        "levels": [
            {"points": level.points, "text": level.text, "example": level.example}
            for level in criterion.levels
        ],
        "counted_by": criterion.counted_by,
    }


def _criterion_from(stored: object, key: str) -> Criterion:
    # In JSON, null means the same as a missing field.
    values = {
        name: value
        for name, value in (stored.items() if isinstance(stored, Mapping) else ())
        if (name, value) != ("counted_by", None)
    }
    is_object = isinstance(stored, Mapping)
    fields = _fields(values if is_object else stored, key, _CRITERION, {"counted_by": str})
    levels = tuple(
        Level(**_fields(level, key, _LEVEL, {"example": str})) for level in fields.pop("levels")
    )
    return Criterion(levels=levels, **fields)


def _fields(
    stored: object,
    criterion: str | None,
    needed: Mapping[str, type],
    optional: Mapping[str, type] | None = None,
) -> dict[str, Any]:
    """Return the fields of an object after checking their names and types."""
    if not isinstance(stored, Mapping):
        raise RubricError(criterion, "", "is not an object with named fields")
    known = {**needed, **(optional or {})}
    for name in stored:
        if name not in known:
            raise RubricError(criterion, str(name)[:80], "is not a known field")
    for name, kind in known.items():
        if name not in stored and name in needed:
            raise RubricError(criterion, name, "is missing")
        # The exact type, because true is not a whole number.
        if name in stored and type(stored[name]) is not kind:
            raise RubricError(criterion, name, f"is not {_WORDS[kind]}")
    return dict(stored)


def rubric_text(rubric: Rubric) -> str:
    """Return all text that raters and judges see, one statement per line, in rubric order.

    Examples
    --------
    >>> rubric_text(COMPQA).splitlines()[:2]
    ['CompQA: 15 criteria, 19 points', 'Structure: 7 points']
    """
    halves = ", half points allowed" if rubric.allows_halves else ""
    lines = [f"{rubric.name}: {len(rubric.criteria)} criteria, {rubric.maximum} points{halves}"]
    names = {group.key: group.name for group in rubric.groups}
    lines += [f"{group.name}: {group.maximum} points" for group in rubric.groups]
    for criterion in rubric.criteria:
        counted = f", counted: {criterion.counted_by}" if criterion.counted_by else ""
        lines.append(
            f"{criterion.key} {criterion.name} "
            f"({names[criterion.group]}, 0 to {criterion.maximum}{counted})"
        )
        lines.append(_one_line(criterion.asks))
        for level in criterion.levels:
            lines.append(f"{level.points}: {_one_line(level.text)}")
            lines += [f"{level.points}, for example: {_one_line(level.example)}"] * bool(
                level.example
            )
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# Limits in the length criterion, whose sentences are counted by code.
FEWEST_SENTENCES, MOST_SENTENCES = 12, 20
COMPQA = rubric_from_dict(json.loads(Path(__file__).with_name("compqa.json").read_text("utf-8")))
