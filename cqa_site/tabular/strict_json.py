"""JSON without the parts that break databases, screens or memory.

Refused: more than one value, nesting beyond a depth, duplicate keys, NaN and
infinities, integers beyond 64 bits, NUL characters and lone surrogates in keys
or values, and documents above a size, which is checked before parsing.
"""

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from .shapes import MEGABYTE, Value

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_MOST_DIGITS, _SURE_DIGITS = 20, 19


class StrictJsonError(ValueError):
    """The text is JSON that is not accepted here, or no JSON at all."""


def _refuse_constant(text: str) -> NoReturn:
    raise StrictJsonError(f"{text} is not a JSON number")


def _parse_int(text: str) -> int:
    if len(text) < _SURE_DIGITS:
        return int(text)
    # The length is checked first: converting thousands of digits is slow.
    if len(text) > _MOST_DIGITS or not _SMALLEST <= int(text) <= _LARGEST:
        raise StrictJsonError(f"the integer {text[:12]}… does not fit into 64 bits")
    return int(text)


def _parse_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise StrictJsonError(f"the number {text[:12]} is too large")
    return number


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise StrictJsonError(f"the key {twice[:80]!a} occurs twice in one object")
    return result


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_pairs,
    parse_int=_parse_int,
    parse_float=_parse_float,
    parse_constant=_refuse_constant,
)


def decode_at(text: str, position: int, *, depth: int = 32) -> tuple[Value, int]:
    """Decode the one value that starts at `position`.

    Returns
    -------
    value, end
        The value and the position just after it.

    Raises
    ------
    StrictJsonError
        With a reason fit for the person who made the file.
    """
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"not valid JSON ({error.msg})") from None
    except RecursionError:
        raise StrictJsonError(f"nested deeper than {depth} levels") from None
    if _nests_deeper(value, depth):
        raise StrictJsonError(f"nested deeper than {depth} levels")
    if _may_hold_unstorable(text, position, end):
        _check_texts(value)
    return value, end


def loads(document: str | bytes, *, max_bytes: int = MEGABYTE, depth: int = 32) -> Value:
    """Parse one whole document; a UTF-8 byte order mark is accepted.

    Examples
    --------
    >>> loads('{"a": [1, null]}')
    {'a': [1, None]}
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    cqa_site.tabular.strict_json.StrictJsonError: the key 'a' occurs twice in one object
    """
    if len(document) > max_bytes:
        raise StrictJsonError(f"larger than {max_bytes:,} bytes")
    text = _text_of(document)
    start = len(text) - len(text.lstrip(" \t\r\n"))
    value, end = decode_at(text, start, depth=depth)
    if text[end:].strip(" \t\r\n"):
        raise StrictJsonError("something follows the end of the JSON value")
    return value


def _text_of(document: str | bytes) -> str:
    if isinstance(document, str):
        return document.removeprefix("\ufeff")
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"byte {error.start} is not UTF-8") from None


def _nests_deeper(value: Value, depth: int) -> bool:
    level = [value] if isinstance(value, (list, dict)) else []
    for _ in range(depth):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, (list, dict))
        ]
    return bool(level)


def _may_hold_unstorable(text: str, start: int, end: int) -> bool:
    """Whether the source of a value says so; most do not, and looking at each text takes long."""
    if text.find("\\u", start, end) >= 0:
        return True
    return not text.isascii() and _SURROGATE.search(text, start, end) is not None


def _check_texts(value: Value) -> None:
    left = [value]
    while left:
        current = left.pop()
        if isinstance(current, str):
            _check_text(current)
        elif isinstance(current, list):
            left.extend(current)
        elif isinstance(current, dict):
            left.extend(current)
            left.extend(current.values())


def _check_text(text: str) -> None:
    found = _UNSTORABLE.search(text)
    if found and found.group() == "\x00":
        raise StrictJsonError("a text contains a NUL character")
    if found:
        raise StrictJsonError("a text contains half of a surrogate pair")
