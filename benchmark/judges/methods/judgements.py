"""Judgements: the rubric shown to a judge, and the schema and reading of its reply."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from benchmark.rubrics.methods.rubric import Criterion, Rubric
from cqa_site.judging.extraction import ReplyNotUsable, UnscoredReason, extract_json
from cqa_site.judging.reply_parsing import (
    LONGEST_REASON,
    closed_object,
    parse_prose,
    validate_label,
)

# Rubric text for a judge: criteria, format of the reply, and points as examples
#
# People and judges see the same text in the same order, taken from the rubric.


def criteria_text(rubric: Rubric, group: str | None = None) -> str:
    """Return the criteria of a rubric or of one group, with the points for each level.

    Raises KeyError for an unknown group.
    """
    names = {section.key: section.name for section in rubric.groups}
    lines: list[str] = []
    heading = ""
    for criterion in rubric.of_group(group):
        if criterion.group != heading:
            heading = criterion.group
            lines += ([""] if lines else []) + [f"## {names[heading]}"]
        lines.append(f"{criterion.key} ({criterion.name}): {criterion.asks}")
        lines += [_level(level.points, level.text, level.example) for level in criterion.levels]
    return "\n".join(lines)


def format_text(criteria: Sequence[Criterion], *, reasons: bool) -> str:
    """Return the expected format of the reply, with the range of every criterion."""
    entries = []
    for criterion in criteria:
        allowed = " or ".join(str(points) for points in range(criterion.maximum + 1))
        if criterion.maximum > 1:
            allowed = f"0 to {criterion.maximum}"
        value = f'{{"reason": "<one short sentence>", "points": <{allowed}>}}'
        entries.append(f'"{criterion.key}": {value if reasons else f"<{allowed}>"}')
    return "{" + ",\n ".join(entries) + "}"


def points_text(
    points: Mapping[str, float],
    notes: Mapping[str, str],
    criteria: Sequence[Criterion],
    *,
    reasons: bool,
) -> str:
    """Return the points of an example in the format of a reply.

    If reasons are wanted but missing for some criterion, the points are in a plain list instead,
    because an example with empty reasons would teach a judge to omit them.
    """
    scores = {criterion.key: int(points[criterion.key]) for criterion in criteria}
    if not reasons:
        return json.dumps(scores)
    if all(notes.get(criterion.key, "").strip() for criterion in criteria):
        full = {key: {"reason": notes[key], "points": value} for key, value in scores.items()}
        return json.dumps(full, ensure_ascii=False)
    return "Points: " + ", ".join(f"{key} {value}" for key, value in scores.items())


def _level(points: int, text: str, example: str) -> str:
    more = f" For example: {example}" if example else ""
    return f"  {points}: {text}{more}"


# JSON schemas of a judge's replies by a rubric, for endpoints that enforce a schema
#
# The order of properties matters and must be preserved in storage (PostgreSQL's jsonb does not).


def judgement_schema(
    rubric: Rubric, *, group: str | None = None, with_reasons: bool = False
) -> dict[str, Any]:
    """Return a schema with exactly the criteria of the rubric or group.

    Each criterion has its own range of points.

    With reasons, each value is ``{"reason": "…", "points": 1}``. The reason is first, because a
    model's points cannot depend on later text. Raises KeyError for an unknown group.

    Examples
    --------
    >>> from benchmark.rubrics.methods.rubric import COMPQA
    >>> judgement_schema(COMPQA, group="relevance")["required"]
    ['C8', 'C9', 'C10']
    """
    fields: dict[str, Any] = {}
    for criterion in rubric.of_group(group):
        points = {"type": "integer", "enum": list(range(criterion.maximum + 1))}
        reason = {"type": "string", "maxLength": LONGEST_REASON}
        entry = closed_object({"reason": reason, "points": points}) if with_reasons else points
        fields[criterion.key] = entry
    return closed_object(fields)


# Comparison of a judgement's keys with the requested criteria; "7" and "C7" are the seventh
#
# Wrong keys are reported, not corrected. If a judge was shown 15 criteria and answers 16 … 30, it
# probably continued some other list, but its 16 may not be criterion 1.

_NUMBER = re.compile(r"[Cc]?(0|[1-9][0-9]{0,3})")
_MOST_SHOWN = 5


class JudgementState(StrEnum):
    """Result of reading a judgement; every state except `VALID` means "unscored"."""

    VALID = "valid"
    EMPTY = "empty"  # no text, reasoning only, or an object without keys
    TRUNCATED = "truncated"
    REFUSED = "refused"
    NO_JSON = "no_json"  # prose, or no object that strict JSON accepts
    AMBIGUOUS = "ambiguous"  # two different objects
    NOT_SCHEMA = "not_schema"  # another structure: no object, no key with a number, odd entries
    DUPLICATE_KEYS = "duplicate_keys"  # a key twice, or both "1" and "C1"
    RENUMBERED = "renumbered"  # other numbers, such as 16 … 30
    MISSING_KEYS = "missing_keys"
    EXTRA_KEYS = "extra_keys"
    NOT_A_WHOLE_NUMBER = "not_a_whole_number"  # 0.5, "1.0", "1", true, null
    OUT_OF_RANGE = "out_of_range"  # a whole number outside the criterion's range


class Unusable(Exception):
    """Raised for a judgement, or one of its entries, without points."""

    def __init__(self, reading: JudgementState, detail: str) -> None:
        super().__init__(f"{reading}: {detail}")
        self.reading = reading
        self.detail = detail


def entries_by_criterion(reply: object, wanted: Sequence[str]) -> dict[str, object]:
    """Return the entries for exactly the requested criteria, in the requested order.

    Parameters
    ----------
    reply : object
        Any output of a JSON decoder.
    wanted : sequence of str
        Keys of the criteria: "C1", "C2", …

    Raises
    ------
    Unusable
        With the first of `EMPTY`, `NOT_SCHEMA`, `DUPLICATE_KEYS`, `RENUMBERED`, `MISSING_KEYS`
        and `EXTRA_KEYS` that applies.
    """
    if reply is None or reply == {}:
        raise Unusable(JudgementState.EMPTY, "no scores")
    if not isinstance(reply, Mapping):
        raise Unusable(JudgementState.NOT_SCHEMA, "not an object of criteria with their points")
    entries = _named(reply)
    missing = [key for key in wanted if key not in entries]
    extra = [key for key in entries if key not in wanted]
    if missing and not any(map(is_criterion, entries)):
        raise Unusable(JudgementState.NOT_SCHEMA, f"{_shown(extra)}: not a criterion number")
    if missing and _is_another_row(entries, wanted):
        raise Unusable(JudgementState.RENUMBERED, f"{_span(entries)} instead of {_span(wanted)}")
    if missing:
        detail = f"{_shown(missing)} missing"
        more = f"; {_shown(extra)} not asked for" if extra else ""
        raise Unusable(JudgementState.MISSING_KEYS, detail + more)
    if extra:
        raise Unusable(JudgementState.EXTRA_KEYS, f"{_shown(extra)} not asked for")
    return {key: entries[key] for key in wanted}


def without_extras(reply: object, wanted: Sequence[str]) -> object:
    """Return only the requested entries of an object; other values are returned unchanged."""
    if not isinstance(reply, Mapping):
        return reply
    return {key: entry for key, entry in reply.items() if _name(key) in wanted}


def is_criterion(key: str) -> bool:
    """Whether a key looks like the number of a criterion in some rubric."""
    return _NUMBER.fullmatch(key) is not None


def _named(reply: Mapping[object, object]) -> dict[str, object]:
    entries: dict[str, object] = {}
    for key, entry in reply.items():
        name = _name(key)
        if name in entries:
            raise Unusable(JudgementState.DUPLICATE_KEYS, f"{name} occurs twice")
        entries[name] = entry
    return entries


def _name(key: object) -> str:
    match = _NUMBER.fullmatch(str(key))
    return f"C{match[1]}" if match else str(key)


def _is_another_row(names: Iterable[str], wanted: Sequence[str]) -> bool:
    """Whether all keys are numbers, either all shifted by a constant or all unwanted."""
    keys = list(names)
    if not all(map(is_criterion, keys)):
        return False
    is_apart = not set(keys) & set(wanted)
    steps = {have - want for have, want in zip(_numbers(keys), _numbers(wanted), strict=False)}
    return is_apart or (len(keys) == len(wanted) and len(steps) == 1)


def _numbers(keys: Iterable[str]) -> list[int]:
    return sorted(int(key[1:]) for key in keys)


def _span(keys: Iterable[str]) -> str:
    numbers = _numbers(keys)
    return f"C{numbers[0]} … C{numbers[-1]}"


def _shown(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _MOST_SHOWN} more" if len(keys) > _MOST_SHOWN else ""
    return ", ".join(key[:40] for key in keys[:_MOST_SHOWN]) + more


# Reading of a judge's reply: points for every criterion, or the reason for their absence
#
# A judge replies ``{"1": 1, "2": 0, …}``, by number or by key ("C1"). Each value is either points
# or ``{"reason": "…", "points": 1}``. A judgement without one of its criteria does not count,
# because its total would be incomplete. Nothing is repaired, rounded or clipped.
#
# Source: CompQA paper, section 2.1 and figure 5 (numbers of criteria as keys, no total).
# Departure: the paper does not describe the treatment of replies in other formats.

# Increase this with every change that may change the reading of a reply.
READER_VERSION = 1
# Part of the strict JSON error for a repeated key, which `extract_json` passes on.
_TWICE = "occurs twice in one object"
_ANY_NUMBER = range(-(2**63), 2**63)
_SEVERITY = list(JudgementState)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's points for one answer.

    Attributes
    ----------
    points : dict of str to int
        Criterion → points, for all requested criteria in their order; empty unless `is_scored`.
    reading : JudgementState
        `VALID`, or the reason for missing points; keys are checked before values.
    detail : str
        Description of the error, for people.
    rationales : dict of str to str
        Criterion → the judge's reason, if it gave one.
    given : dict of str to int
        Criterion → whole number from the reply, even outside the scale. Only the paper's
        recipe averages values outside the scale.
    """

    points: dict[str, int]
    reading: JudgementState
    detail: str = ""
    rationales: dict[str, str] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)

    @property
    def is_scored(self) -> bool:
        return self.reading is JudgementState.VALID

    @property
    def total(self) -> int | None:
        """Sum over the requested criteria; None if unscored."""
        return sum(self.points.values()) if self.is_scored else None


def read_judgement(
    reply_text: str,
    finish_reason: str,
    rubric: Rubric,
    *,
    group: str | None = None,
    refusal: str = "",
) -> Judgement:
    """Read one reply, which may contain any text.

    Parameters
    ----------
    reply_text, finish_reason, refusal : str
        Values sent by the endpoint. Prose or a Markdown fence around one object is allowed.
    rubric : Rubric
        Rubric shown to the judge.
    group : str, optional
        The group whose criteria were requested; an unknown group raises KeyError.
    """
    try:
        # A finish reason is not needed, because the end of a JSON object is known.
        reply = extract_json(parse_prose(reply_text, finish_reason or "stop", refusal=refusal))
    except ReplyNotUsable as problem:
        return Judgement({}, _reading_of(problem), problem.detail)
    return read_scores(reply, rubric, group=group)


def read_scores(reply: object, rubric: Rubric, *, group: str | None = None) -> Judgement:
    """Read the JSON of a reply, or a score dict from a file.

    Examples
    --------
    >>> from benchmark.rubrics.methods.rubric import COMPQA
    >>> read_scores({str(number): 1 for number in range(1, 16)}, COMPQA).total
    15
    >>> found = read_scores({str(number): 1 for number in range(16, 31)}, COMPQA)
    >>> found.reading.value, found.total
    ('renumbered', None)
    """
    wanted = rubric.of_group(group)
    try:
        entries = entries_by_criterion(
            reply, [rubric_criterion.key for rubric_criterion in wanted]
        )
    except Unusable as problem:
        return Judgement({}, problem.reading, problem.detail)
    points: dict[str, int] = {}
    rationales: dict[str, str] = {}
    problems: list[Unusable] = []
    for criterion in wanted:
        try:
            value, rationale = _parts_of(entries[criterion.key], criterion.key)
            rationales |= {criterion.key: rationale} if rationale else {}
            points[criterion.key] = _number(value, criterion, _ANY_NUMBER)
            _number(value, criterion, range(criterion.maximum + 1))
        except Unusable as problem:
            problems.append(problem)
    if not problems:
        return Judgement(dict(points), JudgementState.VALID, "", rationales, points)
    first = min(problems, key=lambda unusable: _SEVERITY.index(unusable.reading))
    return Judgement({}, first.reading, first.detail, rationales, points)


def _reading_of(problem: ReplyNotUsable) -> JudgementState:
    if problem.reason is UnscoredReason.NO_JSON and problem.detail.endswith(_TWICE):
        return JudgementState.DUPLICATE_KEYS
    return JudgementState(problem.reason.value)


def _parts_of(entry: object, key: str) -> tuple[object, str]:
    """Return the points entry and the rationale."""
    if not isinstance(entry, Mapping):
        return entry, ""
    if "points" not in entry or not entry.keys() <= {"points", "reason"}:
        raise Unusable(
            JudgementState.NOT_SCHEMA, f"{key} has neither points nor points with a reason"
        )
    rationale = entry.get("reason", "")
    if not isinstance(rationale, str):
        raise Unusable(JudgementState.NOT_SCHEMA, f"the reason for {key} is not text")
    return entry["points"], rationale


def _number(value: object, criterion: Criterion, allowed: range) -> int:
    try:
        return validate_label(value, allowed)
    except ReplyNotUsable as problem:
        if problem.reason is UnscoredReason.WRONG_TYPE:
            detail = f"{criterion.key}: {problem.detail}"
            raise Unusable(JudgementState.NOT_A_WHOLE_NUMBER, detail) from None
        detail = f"{criterion.key} is {value}, outside 0 to {criterion.maximum}"
        raise Unusable(JudgementState.OUT_OF_RANGE, detail) from None
