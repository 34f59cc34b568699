"""Labels, verdicts and prose of a judge: reply schemas and the parsing of replies."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .extraction import ReplyNotUsable, UnscoredReason, extract_json, without_reasoning

# Parsing of a model's reply into labels or prose, or the reason why it has none
#
# A label is read only from a JSON object. Nothing is repaired, guessed or rounded, and a failure
# never becomes a number. The raw reply is stored elsewhere, so a later version of this file can
# read old replies again; `PARSER_VERSION` records the version used.

__all__ = [
    "PARSER_VERSION", "LabelReading", "ReplyNotUsable", "UnscoredReason", "WordReading",
    "YesNoReading", "extract_json", "parse_batch", "parse_choice", "parse_prose", "parse_single",
    "parse_verdict", "validate_label",
]  # fmt: skip

# Increase with every change, here or in extraction.py, that may read a reply differently.
PARSER_VERSION = 2
# Finish reasons for an end by the model, by a limit and by a filter; others are not accepted.
_ENDED = {"stop", "eos", "eos_token", "eosfound", "end_turn", "stop_sequence", "complete"}
_CUT_SHORT = {
    "length", "max_tokens", "max_output_tokens", "max_length", "model_length", "token_limit",
    "context_length", "model_context_window_exceeded",
}  # fmt: skip
_WITHHELD = {
    "content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist", "spii",
    "prohibited_content", "guardrail_intervened",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LabelReading:
    """A label given by a judge; the rationale may be empty."""

    value: int
    rationale: str


@dataclass(frozen=True, slots=True)
class YesNoReading:
    """A judge's yes/no answer; the rationale may be empty."""

    is_true: bool
    rationale: str


@dataclass(frozen=True, slots=True)
class WordReading:
    """A judge's choice among several words; the rationale may be empty."""

    value: str
    rationale: str


def validate_label(value: object, allowed: Collection[int]) -> int:
    """Return the label after checking that it is on the scale.

    Only whole numbers are accepted. A float with zero decimals (2.0) is a whole number, because
    JSON has a single number type; the string "2", true and null are not.

    Raises
    ------
    ReplyNotUsable
        ``wrong_type`` or ``out_of_set``; a label is never rounded or clipped.
    """
    number = _whole_number(value)
    if number is None:
        raise ReplyNotUsable(
            UnscoredReason.WRONG_TYPE, f"{str(value)[:40]!a} is not a whole number"
        )
    if number not in allowed:
        raise ReplyNotUsable(UnscoredReason.OUT_OF_SET, f"{number} is not on the scale")
    return number


def parse_single(
    reply_text: str, finish_reason: str, allowed: Collection[int], *, refusal: str = ""
) -> LabelReading:
    """Read ``{"reason": "…", "label": 2}``; the reason may be missing, but no key may be added.

    Parameters
    ----------
    reply_text, finish_reason, refusal
        Values as the endpoint sent them.
    allowed
        Labels of the scale.

    Raises
    ------
    ReplyNotUsable
        With the reason.
    """
    return _label_of(
        _answer(reply_text, finish_reason, refusal), allowed, known={"label", "reason"}
    )


def parse_batch(
    reply_text: str,
    finish_reason: str,
    expected_ids: Sequence[int],
    allowed: Collection[int],
    *,
    refusal: str = "",
) -> dict[int, LabelReading | UnscoredReason]:
    """Read ``{"labels": [{"id": 1, "reason": "…", "label": 2}, …]}`` in any order.

    Usable entries count even if others are unusable. An entry for an item that was not requested
    invalidates the whole reply, because a model that counts from 0 instead of 1 produces such an
    entry, and all its other entries are off by one.

    Returns
    -------
    dict
        Exactly the expected ids, in order, each with a label or the reason why it has none.
    """
    try:
        entries = _entries_of(_answer(reply_text, finish_reason, refusal), set(expected_ids))
    except ReplyNotUsable as problem:
        return dict.fromkeys(expected_ids, problem.reason)
    return {number: _label_or_reason(entries.get(number, []), allowed) for number in expected_ids}


def parse_prose(reply_text: str, finish_reason: str, *, refusal: str = "") -> str:
    """Read a reply that is a text rather than JSON, and return it unchanged.

    Only the finish reason shows that a text is complete, so a reply without one is unusable.
    Reasoning between its marks is removed, together with the white space after it.

    Raises
    ------
    ReplyNotUsable
        ``empty``, ``truncated``, ``unfinished`` or ``refused``.

    Examples
    --------
    >>> parse_prose("<think>Hm.</think>\\n\\nTea wins.\\n", "stop")
    'Tea wins.\\n'
    """
    _check_whole(finish_reason or "no finish reason", refusal)
    text = without_reasoning(reply_text)
    if not text.strip():
        raise ReplyNotUsable(UnscoredReason.EMPTY)
    return text if text == reply_text else text.lstrip()


def parse_verdict(
    reply_text: str, finish_reason: str, name: str, *, refusal: str = ""
) -> YesNoReading:
    """Read ``{"reason": "…", "<name>": true}``. The reason is optional; other keys are refused.

    Raises
    ------
    ReplyNotUsable
        With the reason; 1, "true" and null are ``wrong_type``.

    Examples
    --------
    >>> parse_verdict('{"reason": "It says so.", "coherent": true}', "stop", "coherent")
    YesNoReading(is_true=True, rationale='It says so.')
    """
    answer = _answer(reply_text, finish_reason, refusal)
    rationale = _rationale_of(answer, name, known={name, "reason"})
    if not isinstance(answer[name], bool):
        detail = f"{str(answer[name])[:40]!a} is neither true nor false"
        raise ReplyNotUsable(UnscoredReason.WRONG_TYPE, detail)
    return YesNoReading(answer[name], rationale)


def parse_choice(
    reply_text: str, finish_reason: str, name: str, allowed: Collection[str], *, refusal: str = ""
) -> WordReading:
    """Read ``{"reason": "…", "<name>": "A"}``. The reason is optional; other keys are refused.

    Raises
    ------
    ReplyNotUsable
        With the reason; a word that was not offered, or a missing word, is ``out_of_set``.

    Examples
    --------
    >>> parse_choice('{"reason": "It is shorter.", "verdict": "B"}', "stop", "verdict", "AB")
    WordReading(value='B', rationale='It is shorter.')
    """
    answer = _answer(reply_text, finish_reason, refusal)
    rationale = _rationale_of(answer, name, known={name, "reason"})
    value = answer[name]
    if not isinstance(value, str) or value not in allowed:
        raise ReplyNotUsable(UnscoredReason.OUT_OF_SET, f"{str(value)[:40]!a} was not offered")
    return WordReading(value, rationale)


def _answer(text: str, finish_reason: str, refusal: str) -> Mapping[str, Any]:
    _check_whole(finish_reason, refusal)
    answer: Mapping[str, Any] = extract_json(text)
    return answer


def _check_whole(finish_reason: str, refusal: str) -> None:
    # The finish reason is checked first, because a reply cut by the token limit may look complete.
    word = finish_reason.strip().lower()
    if refusal.strip() or word in _WITHHELD:
        raise ReplyNotUsable(UnscoredReason.REFUSED, refusal.strip()[:200] or finish_reason)
    if word in _CUT_SHORT:
        raise ReplyNotUsable(UnscoredReason.TRUNCATED, f"the endpoint says {finish_reason}")
    # A closed JSON object is complete, so a missing finish reason is accepted.
    if word and word not in _ENDED:
        raise ReplyNotUsable(UnscoredReason.UNFINISHED, f"the endpoint says {finish_reason[:40]}")


def _label_of(entry: object, allowed: Collection[int], known: set[str]) -> LabelReading:
    if not isinstance(entry, dict):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "no label")
    rationale = _rationale_of(entry, "label", known)
    return LabelReading(validate_label(entry["label"], allowed), rationale)


def _rationale_of(entry: Mapping[str, Any], name: str, known: set[str]) -> str:
    """Return the reason in an entry that has ``name`` and no unknown fields."""
    if name not in entry:
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, f"no {name}")
    extra = sorted(set(entry) - known)
    if extra:
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, f"{extra[0][:40]!a} was not requested")
    rationale = entry.get("reason", "")
    if not isinstance(rationale, str):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "the reason is not text")
    return rationale


def _entries_of(answer: Mapping[str, Any], expected: set[int]) -> dict[int, list[object]]:
    entries = answer.get("labels")
    if set(answer) != {"labels"} or not isinstance(entries, list):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not one list of labels")
    by_id: dict[int, list[object]] = {}
    for entry in entries:
        number = _whole_number(entry.get("id")) if isinstance(entry, dict) else None
        if number is None:
            raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "an entry without a number")
        if number not in expected:
            raise ReplyNotUsable(UnscoredReason.EXTRA_ITEM, f"item {number} was not requested")
        by_id.setdefault(number, []).append(entry)
    return by_id


def _label_or_reason(
    entries: list[object], allowed: Collection[int]
) -> LabelReading | UnscoredReason:
    if not entries:
        return UnscoredReason.MISSING_ITEM
    if len(entries) > 1:
        return UnscoredReason.DUPLICATE_ITEM
    try:
        return _label_of(entries[0], allowed, known={"id", "label", "reason"})
    except ReplyNotUsable as problem:
        return problem.reason


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


# JSON schemas of a judge's answers
#
# Every text and every list has a maximum length, because a constrained model may otherwise write
# until its tokens run out. The reason precedes the label because a model writes from left to right
# and an explanation after the label cannot influence it; explained ratings agree better with
# people than unexplained ratings (Chiang & Lee 2023, arXiv 2310.05657). The order of properties is
# part of the schema: preserve it when storing a schema (PostgreSQL's jsonb does not).

LONGEST_REASON = 300


def label_schema(allowed: Sequence[int]) -> dict[str, Any]:
    """Return the schema of ``{"reason": "…", "label": 2}``.

    Parameters
    ----------
    allowed
        Labels of the scale.
    """
    return closed_object(_reason_and_label(allowed))


def verdict_schema(name: str) -> dict[str, Any]:
    """Return the schema of ``{"reason": "…", "<name>": true}``."""
    reason = {"type": "string", "maxLength": LONGEST_REASON}
    return closed_object({"reason": reason, name: {"type": "boolean"}})


def batch_schema(ids: Sequence[int], allowed: Sequence[int]) -> dict[str, Any]:
    """Return the schema of ``{"labels": [{"id": 1, "reason": "…", "label": 2}, …]}``.

    Parameters
    ----------
    ids
        Numbers of the items, all different; the reply has one entry for each.
    allowed
        Labels of the scale.
    """
    entry = closed_object(
        {"id": {"type": "integer", "enum": list(ids)}, **_reason_and_label(allowed)}
    )
    labels = {"type": "array", "items": entry, "minItems": len(ids), "maxItems": len(ids)}
    return closed_object({"labels": labels})


def _reason_and_label(allowed: Sequence[int]) -> dict[str, Any]:
    return {
        "reason": {"type": "string", "maxLength": LONGEST_REASON},
        "label": {"type": "integer", "enum": list(allowed)},
    }


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
