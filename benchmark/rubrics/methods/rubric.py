"""A rubric: criteria with levels, in groups, each group and the whole with a maximum.

More points are better. A rubric is data, so that a laboratory can make its own; `rubric_json`
stores it and knows it by its hash.

Source: CompQA paper, section 2.1 and figure 3: 15 criteria worth 1 or 2 points, three groups,
19 points in all. No text of the paper is here.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

# Names of what `score_hints` counts; a criterion may point to one.
HINTS = ("sentences", "repeats", "citations", "words")
# As in the paper; the form has one key for each level.
MOST_POINTS = 2
MOST_CRITERIA = 40
LONGEST_NAME, LONGEST_TEXT = 80, 1000
# A group's key names a column of tables that have these columns, too.
_COLUMNS = (
    "sheet answer answer_id question question_id object1 object2 aspect system system_id "
    "system_kind model scenario choice dataset characters rater rater_id rater_kind rater_name "
    "off_scale_points condition_id condition is_plain "
    "round run source replicate state reason total people probability cost_micro seconds "
    "answer_cost_micro answer_seconds"
)
RESERVED = frozenset(_COLUMNS.split())
_KEY = re.compile(r"[\w-]+")


class RubricError(ValueError):
    """Something that a rubric, or points given by it, cannot be.

    Parameters
    ----------
    criterion
        Key of the criterion meant; None for the rubric as a whole.
    field
        Which of its fields.
    reason
        What is wrong with it.
    """

    def __init__(self, criterion: str | None, field: str, reason: str) -> None:
        super().__init__(": ".join(each for each in (criterion, field, reason) if each))
        self.criterion = criterion
        self.field = field
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Level:
    """What earns ``points``, with an example that may be empty."""

    points: int
    text: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question put to an answer.

    Attributes
    ----------
    key : str
        "C1", "C2", … by place in the rubric.
    group : str
        Key of a `Group`.
    asks : str
        What the rater looks at.
    maximum : int
        1 or 2 points.
    levels : tuple of Level
        One for each of 0 … maximum, in that order.
    counted_by : str or None
        One of `HINTS`: what code can count for it.
    """

    key: str
    group: str
    name: str
    asks: str
    maximum: int
    levels: tuple[Level, ...]
    counted_by: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Criteria shown and summed together; ``maximum`` is the sum of theirs."""

    key: str
    name: str
    maximum: int


@dataclass(frozen=True, slots=True)
class Rubric:
    """Criteria and groups that fit together; making one that does not raises `RubricError`.

    Attributes
    ----------
    allows_halves : bool
        Whether 0.5 and 1.5 are points, as in the mean of two sheets.
    """

    name: str
    groups: tuple[Group, ...]
    criteria: tuple[Criterion, ...]
    allows_halves: bool = False

    def __post_init__(self) -> None:
        _check_rubric(self)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(each.key for each in self.criteria)

    @property
    def maximum(self) -> int:
        return sum(each.maximum for each in self.criteria)

    def of_group(self, group: str | None) -> tuple[Criterion, ...]:
        """Criteria of a group, all of them for None; KeyError for an unknown group."""
        if group is not None and group not in {each.key for each in self.groups}:
            raise KeyError(group)
        return tuple(each for each in self.criteria if group in (None, each.group))

    def check_points(self, key: str, points: object) -> float:
        """The points as a number, if the criterion can give them.

        Raises
        ------
        RubricError
            For an unknown key, and for anything but a number from 0 to the maximum in whole
            (where allowed, half) steps. Nothing is rounded or clipped.
        """
        criterion = next((each for each in self.criteria if each.key == key), None)
        if criterion is None:
            raise RubricError(key[:LONGEST_NAME], "key", "is no criterion of this rubric")
        if isinstance(points, bool) or not isinstance(points, int | float):
            raise RubricError(key, "points", f"{str(points)[:20]!a} is no number")
        steps = points * (2 if self.allows_halves else 1)
        if not (math.isfinite(points) and 0 <= points <= criterion.maximum and steps % 1 == 0):
            unit = "whole or half" if self.allows_halves else "whole"
            scale = f"{unit} points from 0 to {criterion.maximum}"
            raise RubricError(key, "points", f"{str(points)[:20]} is not on the scale: {scale}")
        return float(points)

    def total(self, points: Mapping[str, float | None], group: str | None = None) -> float | None:
        """Sum over the rubric or one group; None as soon as one criterion has no points.

        Raises
        ------
        RubricError
            As `check_points` does, also for criteria of other groups.
        """
        given = {
            key: self.check_points(key, each) for key, each in points.items() if each is not None
        }
        wanted = [each.key for each in self.of_group(group)]
        return sum(given[key] for key in wanted) if given.keys() >= set(wanted) else None

    def group_totals(self, points: Mapping[str, float | None]) -> dict[str, float | None]:
        """Group → sum of its criteria, None where one of them has no points."""
        return {each.key: self.total(points, each.key) for each in self.groups}


def _check_rubric(rubric: Rubric) -> None:
    _check_text(rubric.name, None, "name", LONGEST_NAME)
    if not 1 <= len(rubric.criteria) <= MOST_CRITERIA:
        raise RubricError(None, "criteria", f"a rubric has 1 to {MOST_CRITERIA} of them")
    groups = [each.key for each in rubric.groups]
    if len(set(groups)) < len(groups):
        raise RubricError(None, "groups", "two groups have the same key")
    for place, criterion in enumerate(rubric.criteria, start=1):
        # Places and numbers agree, so that a judge that counts on its own is found out.
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
    if [each.points for each in criterion.levels] != list(range(criterion.maximum + 1)):
        raise RubricError(key, "levels", f"are not one each for 0 to {criterion.maximum} points")
    for level in criterion.levels:
        _check_text(level.text, key, f"level {level.points}", LONGEST_TEXT)
        if len(level.example) > LONGEST_TEXT:
            raise RubricError(key, f"example {level.points}", _too_long(LONGEST_TEXT))
    if criterion.counted_by not in (None, *HINTS):
        raise RubricError(key, "counted_by", f"is none of {', '.join(HINTS)}")


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
            reason = f"maximum is {group.maximum}, its criteria add up to {sums[group.key]}"
            raise RubricError(None, f"group {group.key}", reason)


def _check_text(text: str, criterion: str | None, field: str, longest: int) -> None:
    if not text.strip():
        raise RubricError(criterion, field, "is empty")
    if len(text) > longest:
        raise RubricError(criterion, field, _too_long(longest))


def _too_long(longest: int) -> str:
    return f"is longer than {longest:,} characters"
