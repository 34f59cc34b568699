"""A JSON parser for the API that refuses what databases and readers later choke on."""

import json
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

MAX_BYTES = 1_048_576
MAX_DEPTH = 32
MAX_INTEGER = 2**63 - 1


class StrictJSONParser(BaseParser):
    """UTF-8 JSON up to 1 MB and 32 levels: no NaN, NUL, lone surrogate or repeated key."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: dict[str, Any] | None = None,
    ) -> Any:
        """Parse one request body; raises ``ParseError`` (400) with the reason."""
        body = stream.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise ParseError("The body is larger than 1 MB.")
        try:
            return loads(body)
        except (ValueError, RecursionError) as error:
            raise ParseError(f"Not acceptable JSON: {error}") from error


def loads(body: bytes) -> Any:
    """Parse strictly; raises ``ValueError`` in plain words."""
    text = body.decode("utf-8")
    if _depth(text) > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    value = json.loads(
        text, parse_constant=_refuse_constant, parse_int=_bounded, object_pairs_hook=_unique_keys
    )
    _check_strings(value)
    return value


def _depth(text: str) -> int:
    """Count brackets, wherever they stand: an upper bound that needs no recursion."""
    depth = deepest = 0
    in_string = escaped = False
    for char in text:
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _bounded(digits: str) -> int:
    if len(digits) > 20 or abs(int(digits)) > MAX_INTEGER:
        raise ValueError("an integer is out of range")
    return int(digits)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object repeats a key")
    return result


def _check_strings(value: Any) -> None:
    if isinstance(value, str):
        if "\x00" in value or any(0xD800 <= ord(char) <= 0xDFFF for char in value):
            raise ValueError("a string holds a NUL or a lone surrogate")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_strings(key)
            _check_strings(item)
    elif isinstance(value, list):
        for item in value:
            _check_strings(item)
