"""From a judge's reply to points for every criterion, or to the one reason why there are none.

A judge answers ``{"1": 1, "2": 0, …}``, by number or by key ("C1"), each value being points or
``{"reason": "…", "points": 1}``. A judgement counts as a whole or not at all: a total without one
of its criteria is no total. Nothing is repaired, rounded or clipped.

Source: CompQA paper, section 2.1 and figure 5 (numbers of criteria as keys, no total asked for).
Departure: the paper does not say what becomes of replies of another shape.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmark.rubrics.methods.rubric import Criterion, Rubric
from cqa_site.judging.extraction import ReplyNotUsable, Unscored, extract_json
from cqa_site.judging.parsing import parse_prose, validate_label

from .judgement_keys import Reading, Unusable, entries_by_criterion

# Increased with every change that may read a reply differently, here or in judgement_keys.
READER_VERSION = 1
# How strict JSON words it when an object has a key twice; `extract_json` passes it on.
_TWICE = "occurs twice in one object"
_ANY_NUMBER = range(-(2**63), 2**63)
_SEVERITY = list(Reading)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's points for one answer.

    Attributes
    ----------
    points : dict of str to int
        Criterion → points: all that were asked for, in their order. Empty unless `is_scored`.
    reading : Reading
        `VALID`, or the one reason why there are no points; keys are looked at before values.
    detail : str
        What is wrong, for people.
    rationales : dict of str to str
        Criterion → the judge's words, where there are some.
    given : dict of str to int
        Whole numbers under the right keys, on the scale or not. Evidence, no points: only the
        paper's own recipe averages what lies off the scale.
    """

    points: dict[str, int]
    reading: Reading
    detail: str = ""
    rationales: dict[str, str] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)

    @property
    def is_scored(self) -> bool:
        return self.reading is Reading.VALID

    @property
    def total(self) -> int | None:
        """Sum over the criteria asked for; None if unscored."""
        return sum(self.points.values()) if self.is_scored else None


def read_judgement(
    reply_text: str,
    finish_reason: str,
    rubric: Rubric,
    *,
    group: str | None = None,
    refusal: str = "",
) -> Judgement:
    """Read one reply, whatever stands in it.

    Parameters
    ----------
    reply_text, finish_reason, refusal : str
        As the endpoint sent them. Prose or a Markdown fence around one object is fine.
    rubric : Rubric
        What the judge was given.
    group : str, optional
        Only the criteria of this group were asked for; KeyError for an unknown one.
    """
    try:
        said = extract_json(parse_prose(reply_text, finish_reason, refusal=refusal))
    except ReplyNotUsable as problem:
        return Judgement({}, _reading_of(problem), problem.detail)
    return read_scores(said, rubric, group=group)


def read_scores(said: object, rubric: Rubric, *, group: str | None = None) -> Judgement:
    """Read the JSON of a reply, or a score dict from a file.

    Examples
    --------
    >>> from .compqa_rubric import COMPQA
    >>> read_scores({str(number): 1 for number in range(1, 16)}, COMPQA).total
    15
    >>> found = read_scores({str(number): 1 for number in range(16, 31)}, COMPQA)
    >>> found.reading.value, found.total
    ('renumbered', None)
    """
    wanted = rubric.of_group(group)
    try:
        entries = entries_by_criterion(said, [each.key for each in wanted])
    except Unusable as problem:
        return Judgement({}, problem.reading, problem.detail)
    given: dict[str, int] = {}
    rationales: dict[str, str] = {}
    problems: list[Unusable] = []
    for criterion in wanted:
        try:
            value, rationale = _parts_of(entries[criterion.key], criterion.key)
            rationales |= {criterion.key: rationale} if rationale else {}
            given[criterion.key] = _number(value, criterion, _ANY_NUMBER)
            _number(value, criterion, range(criterion.maximum + 1))
        except Unusable as problem:
            problems.append(problem)
    return _judgement(given, rationales, problems)


def _judgement(
    given: dict[str, int], rationales: dict[str, str], problems: Sequence[Unusable]
) -> Judgement:
    if not problems:
        return Judgement(dict(given), Reading.VALID, "", rationales, given)
    first = min(problems, key=lambda each: _SEVERITY.index(each.reading))
    return Judgement({}, first.reading, first.detail, rationales, given)


def _reading_of(problem: ReplyNotUsable) -> Reading:
    if problem.reason is Unscored.NO_JSON and problem.detail.endswith(_TWICE):
        return Reading.DUPLICATE_KEYS
    return Reading(problem.reason.value)


def _parts_of(entry: object, key: str) -> tuple[object, str]:
    """What stands for the points, and the rationale."""
    if not isinstance(entry, Mapping):
        return entry, ""
    if "points" not in entry or not entry.keys() <= {"points", "reason"}:
        raise Unusable(Reading.NOT_SCHEMA, f"{key} is neither points nor points with a reason")
    rationale = entry.get("reason", "")
    if not isinstance(rationale, str):
        raise Unusable(Reading.NOT_SCHEMA, f"the reason of {key} is no text")
    return entry["points"], rationale


def _number(value: object, criterion: Criterion, allowed: range) -> int:
    try:
        return validate_label(value, allowed)
    except ReplyNotUsable as problem:
        if problem.reason is Unscored.WRONG_TYPE:
            detail = f"{criterion.key}: {problem.detail}"
            raise Unusable(Reading.NOT_A_WHOLE_NUMBER, detail) from None
        detail = f"{criterion.key} is {value}, not one of 0 to {criterion.maximum}"
        raise Unusable(Reading.OUT_OF_RANGE, detail) from None
