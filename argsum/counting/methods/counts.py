"""Counts and scores from people's marks and language models' replies."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cqa_site.judging.extraction import ReplyNotUsable, is_taken_back
from cqa_site.judging.reply_parsing import parse_prose

# Marks of a person on one summary set → how many references it covers, how many it says once.
#
# Every reference summary is covered (1), partly covered (½) or not covered (0), with the generated
# summaries that cover it. The generated summaries are put into groups of those that say the same:
# each group is one unique statement and counts 1, or ½ where it partly repeats another group. A
# summary that says nothing stands in no group and adds nothing.
#
# coverage = covered ÷ references        redundancy = 1 − unique ÷ summaries
#
# Both counts move in half steps, as in the paper's human evaluation, whose annotators gave the
# counts alone; marks are this site's own way to them. A count may also be typed, and then stands
# in the place of the one that the marks give. A person who is unsure gives no count: files write
# that as -1, and it enters no statistic.

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
        """Summaries with a decision."""
        return {place for group in self.groups for place in group} | set(self.empty)


@dataclass(frozen=True)
class CoverageCounts:
    """Both counts and the shares that follow; None without a count."""

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
    """Raise MarksError unless the marks fit a set of this size."""
    for place, level in marks.levels.items():
        if not 0 <= place < references or level not in POINTS:
            raise MarksError(f"reference {place + 1} has no level {level!r}")
    for place, covering in marks.by.items():
        if not 0 <= place < references or marks.levels.get(place) == NONE:
            raise MarksError(f"reference {place + 1} is covered by summaries, but not covered")
        _check_places(covering, summaries)
    members = [member for group in marks.groups for member in group] + list(marks.empty)
    _check_places(members, summaries)
    _check_places(marks.partly, summaries)
    if set(marks.partly) & set(marks.empty):
        raise MarksError("a summary that says nothing cannot repeat another")
    if not all(marks.groups):
        raise MarksError("a group without summaries")


def count_covered(marks: Marks) -> float:
    """Count the covered references, in half steps; undecided ones add nothing.

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
    """Return references without a level, and summaries without a group."""
    left = [number for number in range(references) if number not in marks.levels]
    grouped = marks.grouped
    return left, [number for number in range(summaries) if number not in grouped]


def marks_to_json(marks: Marks) -> dict[str, Any]:
    """Return marks in the form that sheets store; see `argsum.counting.models.CountSheet`."""
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
    """Whether a typed count is a half step from 0 to ``most``."""
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


# The count on the last line of a language model's reply.
#
# Source: argument summarization paper, section 3.4 and appendix B: a reply explains, then counts.

# Increased with every change that may read a reply differently.
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
    """Return the count at the end of a reply, in half steps; not clipped to a possible range.

    Parameters
    ----------
    text
        Text of the reply, without the reasoning between its marks.
    finish_reason, refusal
        As the endpoint gave them.

    Returns
    -------
    float
        From the last line of the form ``Count: 2.5``. Marks of emphasis around it, a decimal
        comma and ``of 4`` behind it are read; words behind it are not, unless they take it back.

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


# Coverage and redundancy from counts that a language model replied several times.
#
# Source: argument summarization paper, section 3.4 (LLM-based) and section 4.2.2 (weighted score).

WEIGHT = 2 / 3


@dataclass(frozen=True)
class CountScore:
    """A mean over replies.

    Attributes
    ----------
    value
        0–1; None where no reply could be read.
    n
        Replies that were read.
    unparsable
        Replies that were not; they are in no mean.
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
        Counts of covered references; None is a reply that could not be read.
    references
        Their number; counts are clipped to 0 … this.

    Raises
    ------
    ValueError
        Without references.

    Examples
    --------
    >>> mean_coverage([3.5, 5, None], 4)
    CountScore(value=0.9375, n=2, unparsable=1, clipped=1)
    """
    return _mean_share(replies, references)


def mean_redundancy(replies: Sequence[float | None], summaries: int) -> CountScore:
    """Return 1 − the mean share of summaries with a unique statement; lower is better.

    Parameters
    ----------
    replies
        Counts of unique statements; None is a reply that could not be read.
    summaries
        Their number; counts are clipped to 0 … this.

    Raises
    ------
    ValueError
        Without summaries.

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
        If the weight does not lie between 0 and 1.
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
