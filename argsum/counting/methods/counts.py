"""Counts and scores from people's marks and from replies of language models."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cqa_site.judging.extraction import ReplyNotUsable, is_taken_back
from cqa_site.judging.reply_parsing import parse_prose

# Counts from one person's marks: covered references, and unique statements
#
# Every reference summary is covered (1), partly covered (½) or not covered (0), and lists the
# generated summaries that cover it. Generated summaries that say the same form a group. Each group
# is one unique statement and counts 1, or ½ if it partly repeats another group. A summary that
# says nothing is in no group and adds nothing.
#
# coverage = covered ÷ references        redundancy = 1 − unique ÷ summaries
#
# Both counts have half steps, as in the paper's human evaluation. Its annotators gave only the
# counts; marks are an addition of this site. A typed count replaces the count from the marks. A
# person who is unsure gives no count: files contain -1, which no statistic includes.

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
        Position of a reference → "full", "part" or "none"; a reference without a level is
        undecided.
    by
        Position of a reference → positions of the summaries that cover it, if it is covered. They
        do not affect the count.
    groups
        Positions of summaries that say the same thing, one tuple per statement; a summary is in
        at most one group.
    partly
        Summaries whose group partly repeats another group; ignored for summaries in no group.
    empty
        Summaries that say nothing useful.
    """

    levels: Mapping[int, str] = field(default_factory=dict)
    by: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    groups: tuple[tuple[int, ...], ...] = ()
    partly: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()

    @property
    def grouped(self) -> set[int]:
        """Summaries that are in a group or say nothing."""
        return {place for group in self.groups for place in group} | set(self.empty)


@dataclass(frozen=True)
class CoverageCounts:
    """Both counts and the shares that follow from them; None if a count is missing."""

    covered: float | None
    unique: float | None
    references: int
    summaries: int

    @property
    def coverage(self) -> float | None:
        """Share of covered references, 0–1; None if there are no references."""
        if self.covered is None or not self.references:
            return None
        return self.covered / self.references

    @property
    def redundancy(self) -> float | None:
        """Share of repeated summaries, 0–1; None if there are no summaries."""
        if self.unique is None or not self.summaries:
            return None
        return 1 - self.unique / self.summaries


def check_marks(marks: Marks, references: int, summaries: int) -> None:
    """Raise MarksError unless the marks fit a set of this size."""
    for place, level in marks.levels.items():
        if not 0 <= place < references or level not in POINTS:
            raise MarksError(f"reference {place + 1} has no level {level!r}")
    for place, covering in marks.by.items():
        if not 0 <= place < references or marks.levels.get(place) == NONE:
            raise MarksError(f"reference {place + 1} has summaries, but is not covered")
        _check_places(covering, summaries)
    members = [member for group in marks.groups for member in group] + list(marks.empty)
    _check_places(members, summaries)
    _check_places(marks.partly, summaries)
    if set(marks.partly) & set(marks.empty):
        raise MarksError("a summary that says nothing cannot repeat another")
    if not all(marks.groups):
        raise MarksError("a group has no summaries")


def count_covered(marks: Marks) -> float:
    """Count the covered references, in half steps; undecided references add nothing.

    Examples
    --------
    >>> count_covered(Marks(levels={0: "full", 1: "part", 2: "none"}))
    1.5
    """
    return sum(POINTS[level] for level in marks.levels.values())


def count_unique(marks: Marks) -> float:
    """Count unique statements, in half steps; ungrouped summaries add nothing.

    Examples
    --------
    >>> count_unique(Marks(groups=((0, 3), (1,), (2,)), partly=(2,)))
    2.5
    """
    partly = set(marks.partly)
    return sum(0.5 if partly.intersection(group) else 1.0 for group in marks.groups)


def undecided(marks: Marks, references: int, summaries: int) -> tuple[list[int], list[int]]:
    """Return the references without a level, and the summaries without a group."""
    left = [number for number in range(references) if number not in marks.levels]
    grouped = marks.grouped
    return left, [number for number in range(summaries) if number not in grouped]


def marks_to_json(marks: Marks) -> dict[str, Any]:
    """Return marks in the format that sheets store; see `argsum.counting.models.CountSheet`."""
    references: dict[str, dict[str, Any]] = {}
    for place in sorted({*marks.levels, *marks.by}):
        covering = list(marks.by.get(place, ()))
        references[str(place)] = {"level": marks.levels.get(place, ""), "by": covering}
    if not (references or marks.groups or marks.partly or marks.empty):
        return {}
    return {
        "references": references,
        "groups": [list(group) for group in marks.groups],
        "partly": list(marks.partly),
        "empty": list(marks.empty),
    }


def marks_from_json(stored: Mapping[str, Any]) -> Marks:
    """Read marks written by `marks_to_json`; an empty value means no marks."""
    references = stored.get("references", {})
    return Marks(
        levels={
            int(place): reference["level"]
            for place, reference in references.items()
            if reference["level"]
        },
        by={
            int(place): tuple(reference["by"])
            for place, reference in references.items()
            if reference["by"]
        },
        groups=tuple(tuple(group) for group in stored.get("groups", ())),
        partly=tuple(stored.get("partly", ())),
        empty=tuple(stored.get("empty", ())),
    )


def is_half_step(value: float, most: int) -> bool:
    """Return whether a typed count is a half step from 0 to ``most``."""
    return 0 <= value <= most and float(2 * value).is_integer()


def _check_places(places: Iterable[int], summaries: int) -> None:
    seen: set[int] = set()
    for place in places:
        if not 0 <= place < summaries:
            raise MarksError(f"there is no summary {place + 1}")
        if place in seen:
            raise MarksError(f"summary {place + 1} appears twice")
        seen.add(place)


def letters(count: int) -> list[str]:
    """Return the first ``count`` letter names.

    Examples
    --------
    >>> letters(28)[-3:]
    ['Z', 'AA', 'AB']
    """
    return [_letter(number) for number in range(1, count + 1)]


def _letter(number: int) -> str:
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


# Count on the last line of a language model's reply
#
# Source: argument summarization paper, section 3.4 and appendix B. A reply explains first and then
# counts.

# Increase this number with every change that may affect how a reply is read.
READER_VERSION = 2
NO_COUNT, NO_HALF_STEP = "no_count", "no_half_step"
_MARKS = r"[\s*_`#>\"'“”]*"
_LINE = re.compile(
    rf"^(?:[-•]\s)?{_MARKS}count{_MARKS}[:=]{_MARKS}(\d{{1,6}}(?:[.,]\d{{1,4}})?)"
    rf"(?:\s*(?:/|of|out of)\s*\d{{1,6}})?{_MARKS}\.?{_MARKS}$",
    re.IGNORECASE,
)


class NoCount(Exception):
    """A reply without a usable count; ``reason`` is a short name."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def read_count(text: str, finish_reason: str = "stop", *, refusal: str = "") -> float:
    """Return the count at the end of a reply, in half steps; it may be out of range.

    Parameters
    ----------
    text
        Text of the reply, without the marked reasoning.
    finish_reason, refusal
        As returned by the endpoint.

    Returns
    -------
    float
        From the last line of the form ``Count: 2.5``. Emphasis marks, a decimal comma and a
        following ``of 4`` are accepted; later words are ignored unless they withdraw the count.

    Raises
    ------
    NoCount
        ``empty``, ``truncated``, ``refused``, ``no_count``, or ``no_half_step``: a number such
        as 2.3 is not rounded.

    Examples
    --------
    >>> read_count("Two are covered, count: 9 is wrong.\\n**Count: 2,5**")
    2.5
    """
    try:
        prose = parse_prose(text, finish_reason, refusal=refusal)
    except ReplyNotUsable as problem:
        raise NoCount(problem.reason.value) from None
    lines = prose.splitlines()
    matches = [(n, match) for n, line in enumerate(lines, 1) if (match := _LINE.match(line))]
    if not matches:
        raise NoCount(NO_COUNT)
    number, match = matches[-1]
    value = float(match[1].replace(",", "."))
    if is_taken_back("\n".join(lines[number:]), [value]):
        raise NoCount(NO_COUNT)
    if (2 * value) % 1:
        raise NoCount(NO_HALF_STEP)
    return value


# Coverage and redundancy from repeated counts by a language model
#
# Source: argument summarization paper, section 3.4 (LLM-based) and section 4.2.2 (weighted score).

WEIGHT = 2 / 3


@dataclass(frozen=True)
class CountScore:
    """A mean over replies.

    Attributes
    ----------
    value
        0–1; None if no reply was readable.
    n
        Number of readable replies.
    unparsable
        Number of unreadable replies, which no mean includes.
    clipped
        Number of replies with a count above the maximum or below 0.
    """

    value: float | None
    n: int
    unparsable: int
    clipped: int


def mean_coverage(replies: Sequence[float | None], references: int) -> CountScore:
    """Return the mean share of covered references; higher is better.

    Parameters
    ----------
    replies
        Counts of covered references; None for unreadable replies.
    references
        Number of references; counts are clipped to the range from 0 to this number.

    Raises
    ------
    ValueError
        If there are no references.

    Examples
    --------
    >>> mean_coverage([3.5, 5, None], 4)
    CountScore(value=0.9375, n=2, unparsable=1, clipped=1)
    """
    return _mean_share(replies, references)


def mean_redundancy(replies: Sequence[float | None], summaries: int) -> CountScore:
    """Return 1 minus the mean number of unique statements per summary; lower is better.

    Parameters
    ----------
    replies
        Counts of unique statements; None for unreadable replies.
    summaries
        Number of summaries; counts are clipped to the range from 0 to this number.

    Raises
    ------
    ValueError
        If there are no summaries.

    Examples
    --------
    >>> round(mean_redundancy([3, 6, 2.5], 5).value, 2)
    0.3
    """
    unique = _mean_share(replies, summaries)
    value = None if unique.value is None else 1 - unique.value
    return CountScore(value, unique.n, unique.unparsable, unique.clipped)


def weighted_score(coverage: float, redundancy: float, weight: float = WEIGHT) -> float:
    """Return `weight` × coverage + (1 − `weight`) × (1 − redundancy); 0–1, higher is better.

    Raises
    ------
    ValueError
        If the weight is not between 0 and 1.
    """
    if not 0 <= weight <= 1:
        raise ValueError("A weight must be between 0 and 1.")
    return weight * coverage + (1 - weight) * (1 - redundancy)


def _mean_share(replies: Sequence[float | None], most: int) -> CountScore:
    if most < 1:
        raise ValueError("There is nothing to count.")
    read = [reply for reply in replies if reply is not None]
    counts = [min(max(reply, 0.0), float(most)) for reply in read]
    return CountScore(
        value=sum(counts) / len(counts) / most if counts else None,
        n=len(read),
        unparsable=len(replies) - len(read),
        clipped=sum(count != reply for count, reply in zip(counts, read, strict=True)),
    )
