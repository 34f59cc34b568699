"""Extraction of the single JSON object from a reply, or of the reason for its absence."""

import json
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from cqa_site.tabular.cells import StrictJsonError, decode_at, loads

LONGEST_REPLY = 1_000_000
DEEPEST = 8
MOST_OBJECTS = 8
# Marks of reasoning: tags in any spelling, the channels of some models with or without their own
# marks, fences and sentences.
_MARKS = re.compile(
    r"(?P<channel><\|channel\|?>\s*(?P<role>\w+)(?:[^<>{\n]{0,60}<\|message\|>)?)"
    r"|(?P<end><channel\|>|<unused95>|(?-i:assistantfinal)"
    r"|^\W{0,4}(?:(?:done|finished|end(?: of)?) |/)(?:thinking|thoughts?|reasoning)\W{0,4}$)"
    r"|(?P<line>^[({](?:thinking|thoughts?|reasoning)[)}]$)"
    r"|(?P<line_end>^[({](?:final )?answer[)}]$)"
    r"|(?P<start><unused94>(?:thought)?|(?-i:\Aanalysis(?=[A-Z\n])))"
    r"|(?P<details><details\b[^<>]{0,80}\breasoning\b[^<>]{0,80}>)|(?P<details_end></details>)"
    r"|(?P<tag>(?:[<\[◁⟨〈＜«‹⟪【]|&lt;)[/|\\\s]{0,3}"
    r"(?P<name>(?:(?:begin|start|end|stop|close) (?:of )?)?[\w:.-]{2,40})"
    r"(?:\s+\w+\s*=[^<>\]▷]{0,80})?[/|\s]{0,3}(?:[>\]▷⟩〉＞»›⟫】]|&gt;))"
    r"|(?P<fence>^(?:`{3,}|~{3,})[ \t]*(?:think|thought|reason|analy|draft|scratch)\w*)"
    r"|(?P<fence_end>^(?:`{3,}|~{3,})[ \t]*$)"
    r"|(?P<sentence>^\W{0,4}here(?:['’]s| is) my (?:thought process|thinking|reasoning)\b)"
    r"|(?P<sentence_end>^\W{0,4}here(?:['’]s| is) my (?:final )?(?:response|answer)\b[:* ]{0,4})",
    re.IGNORECASE | re.MULTILINE,
)
_REASONS = re.compile(
    r"(?:deep|re)?think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|scratch(?:pad)?|analysis"
    r"|cot|monologue|deliberation|rationale|draft|plan(?:ning)?|思考|推理|思维"
)
_CLOSES = {"end", "close", "stop"}
_ANSWERS = ("final", "answer", "response")
# An object is a draft if it follows the first group of words or precedes the second.
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|(?:may|could|would|should|ought to) (?:be|have)"
    r"|drafts?|guess|tentative\w*|initial\w*|first thought|example|not)\b"
    r"|^\W*(?:thinking|thoughts?(?: process)?|reasoning|analysis|scratchpad)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|hmm+|on (?:second|further|closer) \w+|correction|reconsider\w*|revis\w+"
    r"|instead|scratch that|chang\w+ my mind|mistake\w*|let me (?:re\w+|think|check|double)"
    r"|(?:should|ought to|must)(?:n['’]t| not| rather| really)? (?:be|have)"
    r"|(?:is|was) (?:wrong|incorrect))\b",
    re.IGNORECASE,
)
_VALUE = r"(\d{1,9}(?:\.\d{1,4})?(?!\w)|(?-i:[A-D])(?![\w'’]))"
_NAMED = re.compile(
    r"\b(?:label|answer|rating|score|verdict|choice|value|points?|grade|count|it|that|this)\b"
    r"(?:[^.\w\n]{0,4}[:=→]|(?:\W{1,3}|['’])(?:is|was|s|becomes?|would be|has to be)\b)"
    rf"\W{{0,4}}(?:\w+\s){{0,2}}?\W{{0,3}}{_VALUE}"
    rf"|^\W{{0,4}}(?:(?:no|or|so|thus|hence|therefore|finally)\b)?\W{{0,4}}{_VALUE}\W{{0,4}}$",
    re.IGNORECASE | re.MULTILINE,
)
_NO_THANKS = re.compile(
    r"\W*(?:i['’]?m (?:sorry|unable|not able)|i am (?:sorry|unable|not able)|sorry"
    r"|i apologi[sz]e|i (?:can(?:['’]?t|not)|won['’]?t|will not|must decline)"
    r"|as an ai)\b",
    re.IGNORECASE,
)


class UnscoredReason(StrEnum):
    """Reason why a reply, or its entry for one item, has no usable label."""

    EMPTY = "empty"  # no text, or reasoning only
    TRUNCATED = "truncated"  # cut by the token limit, or a brace was never closed
    UNFINISHED = "unfinished"  # the endpoint does not report that the model finished
    REFUSED = "refused"  # the model or a filter declined
    NO_JSON = "no_json"  # no object in strict JSON
    AMBIGUOUS = "ambiguous"  # two different objects
    NOT_SCHEMA = "not_schema"  # JSON with a different structure
    OUT_OF_SET = "out_of_set"  # a whole number that is not a label of the scale
    MISSING_ITEM = "missing_item"  # a batch without an entry for this item
    EXTRA_ITEM = "extra_item"  # a batch with an entry for an item that was not requested
    DUPLICATE_ITEM = "duplicate_item"  # a batch with two entries for this item
    WRONG_TYPE = "wrong_type"  # a label that is not a whole number


class ReplyNotUsable(Exception):
    """Raised for a reply without a label.

    Parameters
    ----------
    reason
        A member of `UnscoredReason`.
    detail
        Explanation for people, with at most short excerpts of the reply.
    """

    def __init__(self, reason: UnscoredReason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail


def extract_json(text: str) -> Any:
    """Return the single JSON object of a reply.

    The whole reply is tried first. If it is not JSON, reasoning blocks are ignored, and the
    object may be in a Markdown fence or in prose, on its own lines. Identical objects count
    as one. An object inside a sentence or a list is a quotation, not an answer. An object is a
    draft if the words before it call it a guess or the words after it withdraw it. Line breaks in
    strings need not be escaped. Objects that are not strict JSON (duplicate keys, NaN, infinities,
    trailing commas, too deep) are refused, and their contents are not searched.

    Returns
    -------
    dict
        The object.

    Raises
    ------
    ReplyNotUsable
        ``empty``, ``truncated``, ``no_json``, ``ambiguous`` or ``not_schema`` (JSON, but not an
        object).

    Examples
    --------
    >>> extract_json('Here you are:\\n```json\\n{"label": 2}\\n```')
    {'label': 2}
    """
    if len(text) > LONGEST_REPLY:
        raise ReplyNotUsable(UnscoredReason.NO_JSON, f"longer than {LONGEST_REPLY:,} characters")
    try:
        whole = loads(text, max_bytes=LONGEST_REPLY, depth=DEEPEST, raw_lines=True)
    except StrictJsonError:
        return _object_among_prose(without_reasoning(text))
    if not isinstance(whole, dict):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "JSON, but not an object")
    return whole


def without_reasoning(text: str) -> str:
    """Return the text after the last reasoning mark, or the whole text if it has no such mark.

    Raises
    ------
    ReplyNotUsable
        ``truncated`` if reasoning begins and never ends.
    """
    # Everything up to the last closing mark is removed, because the reasoning may quote a mark
    # and some servers drop the opening mark. An answer that quotes a mark is lost and requested
    # again, but reasoning is never mistaken for an answer.
    start, opened = 0, ""
    for mark in _MARKS.finditer(text):
        kind, is_end = _kind_of(mark, opened)
        if is_end:
            start, opened = mark.end(), ""
        else:
            opened = opened or kind
    if opened:
        raise ReplyNotUsable(UnscoredReason.TRUNCATED, "the reasoning never ends")
    return text[start:].removesuffix("<|return|>").removesuffix("<|end|>") if start else text


def _kind_of(mark: re.Match[str], opened: str) -> tuple[str, bool]:
    """Return the kind of reasoning that a mark begins (or ""), and whether it ends reasoning."""
    kind = mark.lastgroup or ""
    if mark["tag"]:
        words = re.findall(r"[a-z]+|[一-龥]+", mark["name"].lower())
        is_mark = any(_REASONS.fullmatch(word) for word in words)
        return "tag" * is_mark, is_mark and ("/" in mark["tag"] or not _CLOSES.isdisjoint(words))
    if mark["channel"]:
        return "channel", mark["role"].lower().startswith(_ANSWERS)
    if kind.endswith("_end"):
        return "", opened == kind.removesuffix("_end")
    return kind, kind == "end"


def is_taken_back(behind: str, values: Iterable[object]) -> bool:
    """Return whether the words after an answer withdraw it or give a different answer.

    Parameters
    ----------
    behind
        Text after the answer.
    values
        Values of the answer; repeating one of them does not contradict the answer.

    Examples
    --------
    >>> is_taken_back("The label should be 2.", [3]), is_taken_back("The label is 3.", [3])
    (True, False)
    """
    texts = {str(float(v) if isinstance(v, int | float) else v) for v in values}
    words = [mark[1] or mark[2] for mark in _NAMED.finditer(behind)]
    named = [float(word) if word[0].isdigit() else word for word in words]
    return bool(_TAKEN_BACK.search(behind)) or any(str(name) not in texts for name in named)


def _object_among_prose(text: str) -> Any:
    objects: dict[str, Any] = {}
    position = count = 0
    while (start := text.find("{", position)) >= 0:
        value, end = _decode(text, start)
        count += 1
        _check_outside(text, position, start)
        if _is_quotation(text, start, end):
            raise ReplyNotUsable(UnscoredReason.NO_JSON, "an object inside a sentence or a list")
        lead = text[position:start].rstrip(" \t\r\n`").removesuffix("json").rstrip(" \t\r\n`")
        if _HEDGED.search(lead, lead.rfind("\n") + 1):
            raise ReplyNotUsable(UnscoredReason.NO_JSON, "an object that is called a guess")
        objects[json.dumps(value, sort_keys=True)] = value
        if len(objects) > 1 or count > MOST_OBJECTS:
            raise ReplyNotUsable(UnscoredReason.AMBIGUOUS, "several objects")
        position = end
    if not objects:
        raise ReplyNotUsable(*_why_no_object(text))
    _check_outside(text, position, len(text))
    answer = next(iter(objects.values()))
    if is_taken_back(text[position:], _leaves(answer)):
        raise ReplyNotUsable(UnscoredReason.AMBIGUOUS, "the words after the object contradict it")
    return answer


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and texts in a value."""
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _leaves(child)
    else:
        yield value


def _decode(text: str, start: int) -> tuple[Any, int]:
    try:
        return decode_at(text, start, depth=DEEPEST, raw_lines=True)
    except StrictJsonError as problem:
        if _never_closes(text, start):
            raise ReplyNotUsable(UnscoredReason.TRUNCATED, "a brace is never closed") from None
        raise ReplyNotUsable(UnscoredReason.NO_JSON, str(problem)) from None


def _never_closes(text: str, start: int) -> bool:
    """Return whether a text ends inside the object that opens at ``start``."""
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
        raise ReplyNotUsable(UnscoredReason.NO_JSON, "a brace that was never opened")


def _is_quotation(text: str, start: int, end: int) -> bool:
    if text[:start].rstrip().endswith("[") or text[end:].lstrip().startswith("]"):
        return True
    before = text[text.rfind("\n", 0, start) + 1 : start].strip(" \t\r`*_")
    line_end = text.find("\n", end)
    after = text[end : line_end if line_end >= 0 else len(text)].strip(" \t\r`")
    is_alone = before.lower() in ("", "json") or (before.endswith(":") and not after)
    return not is_alone


def _why_no_object(text: str) -> tuple[UnscoredReason, str]:
    if not text.strip():
        return UnscoredReason.EMPTY, ""
    if _NO_THANKS.match(text):
        return UnscoredReason.REFUSED, text.strip()[:200]
    return UnscoredReason.NO_JSON, "no object"
