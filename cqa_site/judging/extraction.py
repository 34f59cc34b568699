"""The one JSON object of a reply, or the reason why there is none."""

import json
import re
from enum import StrEnum
from typing import Any

from cqa_site.tabular.strict_json import StrictJsonError, decode_at, loads

LONGEST_REPLY = 1_000_000
DEEPEST = 8
MOST_OBJECTS = 8
_REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]", re.IGNORECASE)
_NO_THANKS = re.compile(
    r"\W*(?:i['’]?m (?:sorry|unable|not able)|i am (?:sorry|unable|not able)|sorry"
    r"|i apologi[sz]e|i (?:can(?:['’]?t|not)|won['’]?t|will not|must decline)"
    r"|as an ai)\b",
    re.IGNORECASE,
)


class Unscored(StrEnum):
    """Why a reply, or its part about one item, holds no usable label."""

    EMPTY = "empty"  # no text, or reasoning only
    TRUNCATED = "truncated"  # cut by the token limit, or a brace never closed
    REFUSED = "refused"  # the model or a filter declined
    NO_JSON = "no_json"  # no object that strict JSON accepts
    AMBIGUOUS = "ambiguous"  # two different objects
    NOT_SCHEMA = "not_schema"  # JSON of another shape
    OUT_OF_SET = "out_of_set"  # a whole number that is no label of the scale
    MISSING_ITEM = "missing_item"  # a batch without an entry for this item
    EXTRA_ITEM = "extra_item"  # a batch with an entry for an item nobody asked about
    DUPLICATE_ITEM = "duplicate_item"  # a batch with two entries for this item
    WRONG_TYPE = "wrong_type"  # a label that is no whole number


class ReplyNotUsable(Exception):
    """A reply without a label.

    Parameters
    ----------
    reason
        One of `Unscored`.
    detail
        For people; holds nothing of the reply but short excerpts.
    """

    def __init__(self, reason: Unscored, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail


def extract_json(text: str) -> Any:
    """The one JSON object of a reply.

    The whole reply is tried first. Otherwise reasoning blocks are cut away unread, and one
    object may stand in a Markdown fence or among prose, on lines of its own. Repeated
    equal objects count as one. An object inside a sentence or a list is a quotation, not an
    answer. Objects that strict JSON refuses (duplicate keys, NaN, infinities, trailing
    commas, too deep) stay refused, and nothing is searched for inside them.

    Returns
    -------
    dict
        The object.

    Raises
    ------
    ReplyNotUsable
        ``empty``, ``truncated``, ``no_json``, ``ambiguous`` or ``not_schema`` (JSON, but no
        object).

    Examples
    --------
    >>> extract_json('Here you are:\\n```json\\n{"label": 2}\\n```')
    {'label': 2}
    """
    if len(text) > LONGEST_REPLY:
        raise ReplyNotUsable(Unscored.NO_JSON, f"longer than {LONGEST_REPLY:,} characters")
    try:
        whole = loads(text, max_bytes=LONGEST_REPLY, depth=DEEPEST)
    except StrictJsonError:
        return _object_among_prose(without_reasoning(text))
    if not isinstance(whole, dict):
        raise ReplyNotUsable(Unscored.NOT_SCHEMA, "JSON, but no object")
    return whole


def without_reasoning(text: str) -> str:
    """What stands behind the last mark of reasoning; the whole text where there is none.

    Raises
    ------
    ReplyNotUsable
        ``truncated`` if reasoning begins and never ends.
    """
    # Up to the last closing mark, because the reasoning may quote one, and because some
    # servers swallow the opening mark. An answer that quotes a mark is lost with it and is
    # asked for again; reasoning is never taken for an answer.
    marks = list(_REASONING.finditer(text))
    closing = [mark for mark in marks if any(mark.groups())]
    start = closing[-1].end() if closing else 0
    if any(mark.start() >= start for mark in marks):
        raise ReplyNotUsable(Unscored.TRUNCATED, "the reasoning never ends")
    return text[start:]


def _object_among_prose(text: str) -> Any:
    found: dict[str, Any] = {}
    position = count = 0
    while (start := text.find("{", position)) >= 0:
        value, end = _decode(text, start)
        count += 1
        _check_outside(text, position, start)
        if _is_quotation(text, start, end):
            raise ReplyNotUsable(Unscored.NO_JSON, "an object inside a sentence or a list")
        found[json.dumps(value, sort_keys=True)] = value
        if len(found) > 1 or count > MOST_OBJECTS:
            raise ReplyNotUsable(Unscored.AMBIGUOUS, "several objects")
        position = end
    if not found:
        raise ReplyNotUsable(*_why_no_object(text))
    _check_outside(text, position, len(text))
    return next(iter(found.values()))


def _decode(text: str, start: int) -> tuple[Any, int]:
    try:
        return decode_at(text, start, depth=DEEPEST)
    except StrictJsonError as problem:
        if _never_closes(text, start):
            raise ReplyNotUsable(Unscored.TRUNCATED, "a brace is never closed") from None
        raise ReplyNotUsable(Unscored.NO_JSON, str(problem)) from None


def _never_closes(text: str, start: int) -> bool:
    """Whether a text ends inside the object that opens at ``start``."""
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*("?)|[{}]', text[start:], re.DOTALL):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
        elif not match.group(1):
            return True
        if depth == 0:
            return False
    return True


def _check_outside(text: str, start: int, end: int) -> None:
    if "}" in text[start:end]:
        raise ReplyNotUsable(Unscored.NO_JSON, "a brace that was never opened")


def _is_quotation(text: str, start: int, end: int) -> bool:
    if text[:start].rstrip().endswith("[") or text[end:].lstrip().startswith("]"):
        return True
    before = text[text.rfind("\n", 0, start) + 1 : start].strip(" \t\r`")
    line_end = text.find("\n", end)
    after = text[end : line_end if line_end >= 0 else len(text)].strip(" \t\r`")
    return before.lower() not in ("", "json") and after != ""


def _why_no_object(text: str) -> tuple[Unscored, str]:
    if not text.strip():
        return Unscored.EMPTY, ""
    if _NO_THANKS.match(text):
        return Unscored.REFUSED, text.strip()[:200]
    return Unscored.NO_JSON, "no object"
