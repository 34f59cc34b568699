"""Marks of a person on one summary set → how many references it covers, how many it says once.

Every reference summary is covered (1), partly covered (½) or not covered (0), with the generated
summaries that cover it. The generated summaries are put into groups of those that say the same:
each group is one unique statement and counts 1, or ½ where it partly repeats another group. A
summary that says nothing stands in no group and adds nothing.

    coverage = covered ÷ references        redundancy = 1 − unique ÷ summaries

Both counts move in half steps, as in the paper's human evaluation, whose annotators gave the
counts alone; marks are this site's own way to them. A count may also be typed, and then stands in
the place of the one that the marks give. A person who is unsure gives no count: files write that
as -1, and it enters no statistic.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

FULL, PART, NONE = "full", "part", "none"
POINTS = {FULL: 1.0, PART: 0.5, NONE: 0.0}


class MarksError(ValueError):
    """Marks that do not fit the set."""


@dataclass(frozen=True)
class Marks:
    """Marks on one set; positions count from 0.

    Parameters
    ----------
    levels
        Position of a reference → "full", "part" or "none"; a reference without one is undecided.
    by
        Position of a reference → positions of the summaries that cover it; none where it is
        not covered. It adds nothing to the count.
    groups
        Positions of summaries that say the same, one tuple a statement; a summary is in one group
        at most.
    partly
        Summaries whose group partly repeats another group; of no effect outside a group.
    empty
        Summaries that say nothing that can be used.
    """

    levels: Mapping[int, str] = field(default_factory=dict)
    by: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    groups: tuple[tuple[int, ...], ...] = ()
    partly: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()

    @property
    def grouped(self) -> set[int]:
        """Summaries that are decided about."""
        return {each for group in self.groups for each in group} | set(self.empty)


@dataclass(frozen=True)
class Counts:
    """The two counts and the shares that follow; None where there is no count."""

    covered: float | None
    unique: float | None
    references: int
    summaries: int

    @property
    def coverage(self) -> float | None:
        """Share of the references that are covered, 0–1; None without references."""
        if self.covered is None or not self.references:
            return None
        return self.covered / self.references

    @property
    def redundancy(self) -> float | None:
        """Share of the summaries that repeat others, 0–1; None without summaries."""
        if self.unique is None or not self.summaries:
            return None
        return 1 - self.unique / self.summaries


def check_marks(marks: Marks, references: int, summaries: int) -> None:
    """Raise MarksError unless the marks fit a set of that size."""
    for place, level in marks.levels.items():
        if not 0 <= place < references or level not in POINTS:
            raise MarksError(f"reference {place + 1} has no level {level!r}")
    for place, covering in marks.by.items():
        if not 0 <= place < references or marks.levels.get(place) == NONE:
            raise MarksError(f"reference {place + 1} is covered by summaries, but not covered")
        _check_places(covering, summaries)
    members = [each for group in marks.groups for each in group] + list(marks.empty)
    _check_places(members, summaries)
    _check_places(marks.partly, summaries)
    if set(marks.partly) & set(marks.empty):
        raise MarksError("a summary that says nothing repeats nothing")
    if not all(marks.groups):
        raise MarksError("a group without summaries")


def count_covered(marks: Marks) -> float:
    """References covered, in half steps; undecided ones add nothing.

    Examples
    --------
    >>> count_covered(Marks(levels={0: "full", 1: "part", 2: "none"}))
    1.5
    """
    return sum(POINTS[level] for level in marks.levels.values())


def count_unique(marks: Marks) -> float:
    """Unique statements, in half steps; ungrouped summaries add nothing.

    Examples
    --------
    >>> count_unique(Marks(groups=((0, 3), (1,), (2,)), partly=(2,)))
    2.5
    """
    partly = set(marks.partly)
    return sum(0.5 if partly.intersection(group) else 1.0 for group in marks.groups)


def undecided(marks: Marks, references: int, summaries: int) -> tuple[list[int], list[int]]:
    """References without a level, and summaries without a group."""
    left = [each for each in range(references) if each not in marks.levels]
    grouped = marks.grouped
    return left, [each for each in range(summaries) if each not in grouped]


def marks_to_json(marks: Marks) -> dict[str, Any]:
    """As a sheet stores them; see `argsum.counting.models.CountSheet`."""
    shown: dict[str, dict[str, Any]] = {}
    for place in sorted({*marks.levels, *marks.by}):
        covering = list(marks.by.get(place, ()))
        shown[str(place)] = {"level": marks.levels.get(place, ""), "by": covering}
    if not (shown or marks.groups or marks.partly or marks.empty):
        return {}
    return {
        "references": shown,
        "groups": [list(group) for group in marks.groups],
        "partly": list(marks.partly),
        "empty": list(marks.empty),
    }


def marks_from_json(stored: Mapping[str, Any]) -> Marks:
    """What `marks_to_json` wrote; nothing stored is no marks."""
    references = stored.get("references", {})
    return Marks(
        levels={int(place): said["level"] for place, said in references.items() if said["level"]},
        by={int(place): tuple(said["by"]) for place, said in references.items() if said["by"]},
        groups=tuple(tuple(group) for group in stored.get("groups", ())),
        partly=tuple(stored.get("partly", ())),
        empty=tuple(stored.get("empty", ())),
    )


def is_half_step(value: float, most: int) -> bool:
    """Whether a typed count is a half step from 0 to the number there are."""
    return 0 <= value <= most and float(2 * value).is_integer()


def _check_places(places: Iterable[int], summaries: int) -> None:
    seen: set[int] = set()
    for place in places:
        if not 0 <= place < summaries:
            raise MarksError(f"there is no summary {place + 1}")
        if place in seen:
            raise MarksError(f"summary {place + 1} stands twice")
        seen.add(place)
