"""Strict JSON; cells as text, numbers, booleans or dates; hash keys for texts."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NoReturn

from .shapes import MEGABYTE, Value

# Strict JSON, without values that cause problems in databases, on screens or in memory
#
# The following are refused: more than one value, nesting beyond a maximum depth,
# duplicate keys, NaN and infinities, integers beyond 64 bits, NUL characters and
# unpaired surrogates in keys or values, and documents above a maximum size. The size is
# checked before parsing.

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Control characters other than tab and line breaks.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_MOST_DIGITS, _SURE_DIGITS = 20, 19


class StrictJsonError(ValueError):
    """Raised if a text is not JSON, or is JSON that is not accepted here.

    ``end`` is the position after a value that is refused as a whole, if known.
    """

    end: int | None = None


def _refuse_constant(text: str) -> NoReturn:
    raise StrictJsonError(f"{text} is not a JSON number")


class LenientNumbers:
    """A JSON decoder that counts NaN and infinities, and reads them as missing values.

    Many programs write such values.
    """

    def __init__(self) -> None:
        self.count = 0
        self.decoder = _decoder(self._missing)

    def _missing(self, _text: str) -> None:
        self.count += 1


def _parse_int(text: str) -> int:
    if len(text) < _SURE_DIGITS:
        return int(text)
    # The length is checked first because converting thousands of digits is slow.
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


def _decoder(parse_constant: Callable[[str], Any], *, strict: bool = True) -> json.JSONDecoder:
    return json.JSONDecoder(
        strict=strict,
        object_pairs_hook=_unique_pairs,
        parse_int=_parse_int,
        parse_float=_parse_float,
        parse_constant=parse_constant,
    )


_DECODER = _decoder(_refuse_constant)
_LINES_DECODER = _decoder(_refuse_constant, strict=False)


def decode_at(
    text: str,
    position: int,
    *,
    depth: int = 32,
    numbers: LenientNumbers | None = None,
    raw_lines: bool = False,
) -> tuple[Value, int]:
    """Decode the value that starts at `position`.

    ``raw_lines`` accepts unescaped line breaks and tabs inside texts.

    Returns
    -------
    value, end
        The value and the position just after it.

    Raises
    ------
    StrictJsonError
        With a reason written for the file's author.
    """
    try:
        decoder = _LINES_DECODER if raw_lines else _DECODER
        value, end = (numbers.decoder if numbers else decoder).raw_decode(text, position)
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"not valid JSON ({error.msg})") from None
    except RecursionError:
        raise StrictJsonError(f"nested deeper than {depth} levels") from None
    try:
        if _nests_deeper(value, depth):
            raise StrictJsonError(f"nested deeper than {depth} levels")
        if raw_lines and _CONTROL.search(text, position, end):
            raise StrictJsonError("a text contains a control character")
        if _may_hold_unstorable(text, position, end):
            _check_texts(value)
    except StrictJsonError as error:
        error.end = end
        raise
    return value, end


def loads(
    document: str | bytes,
    *,
    max_bytes: int = MEGABYTE,
    depth: int = 32,
    numbers: LenientNumbers | None = None,
    raw_lines: bool = False,
) -> Value:
    """Parse a whole document; a UTF-8 byte order mark is accepted.

    Examples
    --------
    >>> loads('{"a": [1, null]}')
    {'a': [1, None]}
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    cqa_site.tabular.cells.StrictJsonError: the key 'a' occurs twice in one object
    """
    if len(document) > max_bytes:
        raise StrictJsonError(f"larger than {max_bytes:,} bytes")
    text = _text_of(document)
    start = len(text) - len(text.lstrip(" \t\r\n"))
    value, end = decode_at(text, start, depth=depth, numbers=numbers, raw_lines=raw_lines)
    if text[end:].strip(" \t\r\n"):
        raise StrictJsonError("text follows the end of the JSON value")
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
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (list, dict))
        ]
    return bool(level)


def _may_hold_unstorable(text: str, start: int, end: int) -> bool:
    """Return whether the source may contain unstorable characters, as a quick first test."""
    if text.find("\\u", start, end) >= 0:
        return True
    return not text.isascii() and _SURROGATE.search(text, start, end) is not None


def _check_texts(value: Value) -> None:
    left = [value]
    while left:
        current = left.pop()
        if isinstance(current, str):
            match = _UNSTORABLE.search(current)
            if match and match.group() == "\x00":
                raise StrictJsonError("a text contains a NUL character")
            if match:
                raise StrictJsonError("a text contains half of a surrogate pair")
        elif isinstance(current, list):
            left.extend(current)
        elif isinstance(current, dict):
            left.extend(current)
            left.extend(current.values())


# Conversion of a cell from any format to text, a number, a boolean or a time
#
# A cell that cannot be converted raises ValueError with the reason.

# Maximum length of a value in a column that is not one of our fields, and their maximum number.
LONGEST_VALUE = 200
MOST_ATTRIBUTES = 50
# Words that programs write for missing values.
MISSING_WORDS = frozenset(
    "na n/a n.a. nan null none nil <na> #n/a #null! #value! #ref! - – — . .. ?".split()  # noqa: SIM905
)
# Invisible characters other than white space, which includes no-break spaces.
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_TRUE = frozenset(
    "true 1 yes wahr ja vrai oui verdadero si sí vero verdadeiro sim waar".split()  # noqa: SIM905
)
_FALSE = frozenset("false 0 no falsch nein faux non falso não nao onwaar nee".split())  # noqa: SIM905
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?")
_COMMA = re.compile(r"[+-]?[0-9]{1,15},[0-9]{1,40}")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
# Full-width digits of East Asian keyboards, and the typographic minus sign.
_FULL_WIDTH = {0xFF10 + digit: str(digit) for digit in range(10)} | {0x2212: "-"}
# "Mon Mar 02 09:00:20 PST 2026": strptime cannot read the time zone abbreviation.
_ZONED = re.compile(r"(.*\d) ?([A-Z]{1,4})((?: \d{4})?)")
_ZONES = {"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
_ZONES |= {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
_MOMENTS = (
    "%a %b %d %H:%M:%S %Y", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M", "%d.%m.%Y, %H:%M:%S", "%d.%m.%Y, %H:%M", "%d.%m.%Y",
)  # fmt: skip
# Keys under which annotation tools store a single choice.
_CHOSEN = ("choices", "rating", "number", "value", "label")


def trimmed(text: str) -> str:
    """Return a text without surrounding white space, no-break spaces and invisible characters.

    >>> trimmed("\\ufeffAnna\\xa0 ")
    'Anna'
    """
    return text.strip().strip(_INVISIBLE).strip()


def is_missing(value: Value) -> bool:
    """Return whether a cell is empty, an empty list, or a word such as NA, NaN or null.

    >>> is_missing(" N/A "), is_missing([]), is_missing(0)
    (True, True, False)
    """
    if isinstance(value, str):
        text = trimmed(value).lower()
        return not text or text in MISSING_WORDS
    return value is None or value == [] or value == {}


def single(value: Value) -> Value:
    """Return the only value of a list, or an annotation tool's only choice.

    JSON text is parsed.

    >>> single(["2"]), single('{"choices": ["0"]}'), single([])
    ('2', '0', None)
    """
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        with suppress(StrictJsonError):
            return single(loads(value))
    if isinstance(value, list):
        if len(value) > 1:
            raise ValueError(f"holds {len(value)} values; one is expected")
        return single(value[0]) if value else None
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in _CHOSEN:
        return single(next(iter(value.values())))
    return value


def as_text(value: Value) -> str | None:
    """Return text unchanged, a whole number as digits, and None for an empty cell or list."""
    if isinstance(value, list):
        value = single(value)
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise ValueError("is neither text nor a number")


def as_words(value: Value) -> str:
    """Return a cell as text: "" for an empty cell, JSON for a list or an object."""
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def as_name(value: Value) -> str | None:
    """Return the trimmed text, or None for a missing value."""
    if is_missing(value):
        return None
    text = as_text(value)
    return None if text is None else trimmed(text) or None


def as_number(value: Value) -> float | None:
    """Return a number, or None for a missing value.

    A comma is read as the decimal point unless it can be a thousands separator.

    Examples
    --------
    >>> as_number("2.0"), as_number("0,05"), as_number("+2"), as_number("２"), as_number("NA")
    (2.0, 0.05, 2.0, 2.0, None)
    """
    if is_missing(value):
        return None
    number = math.nan
    if isinstance(value, str):
        text = trimmed(value).translate(_FULL_WIDTH)
        if _COMMA.fullmatch(text) and not _THOUSANDS.fullmatch(text):
            text = text.replace(",", ".")
        if _NUMBER.fullmatch(text):
            number = float(text)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{str(value)[:40]!a} is not a number")
    return number


def as_whole(value: Value) -> int | None:
    """Return a whole number, even if written as 2.0, or None for a missing value."""
    number = as_number(value)
    if number is not None and not number.is_integer():
        raise ValueError(f"{str(value)[:40]!a} is not a whole number")
    return None if number is None else int(number)


def as_flag(value: Value) -> bool | None:
    """Return a boolean, or None; words from spreadsheets in other languages are also recognized.

    >>> as_flag("FALSCH"), as_flag("VRAI"), as_flag(1), as_flag("n/a")
    (False, True, True, None)
    """
    if isinstance(value, bool) or is_missing(value):
        return value if isinstance(value, bool) else None
    word = (as_name(value) or "").casefold()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(f"{str(value)[:40]!a} is neither true nor false")


def as_moment(value: Value) -> datetime | None:
    """Return a time in UTC (assumed if no zone is given), or None for a missing value.

    Examples
    --------
    >>> as_moment("Mon Mar 02 09:00:20 PST 2026")
    datetime.datetime(2026, 3, 2, 17, 0, 20, tzinfo=datetime.timezone.utc)
    """
    stamp = as_name(value)
    if stamp is None:
        return None
    text, zone = stamp, UTC
    if (match := _ZONED.fullmatch(stamp)) and match[2] in _ZONES:
        text, zone = match[1] + match[3], timezone(timedelta(hours=_ZONES[match[2]]))
    for form in ("", *_MOMENTS):
        with suppress(ValueError, OverflowError):
            moment = _read_moment(text, form)
            moment = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment
            return moment.astimezone(UTC)
    raise ValueError(f"{stamp[:40]!a} is not a date and time (write 2024-01-31T14:05)")


def _read_moment(text: str, form: str) -> datetime:
    """Parse a time in a strptime format or as ISO 8601; the result may have no time zone."""
    if not form:
        return datetime.fromisoformat(text)
    return datetime.strptime(text, form)


def text_key(text: str) -> str:
    """Return the SHA-256 of the unchanged text; white space and case matter."""
    return hashlib.sha256(text.encode()).hexdigest()
