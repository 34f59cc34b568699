"""JSON and JSONL as tables: one record in memory at a time, read twice.

The first pass validates the whole file and collects the columns, because the
keys of later records may differ; the second one streams the rows.
"""

import re
from collections.abc import Callable, Iterator
from typing import TextIO

from .shapes import Limits, Row, UnreadableFile, Value
from .strict_json import StrictJsonError, decode_at, loads

_SPACE = " \t\r\n"
_NOT_SPACE = re.compile(r"[^ \t\r\n]")
Record = dict[str, Value]
Numbered = Iterator[tuple[int, Record]]


class _JsonText:
    """A cursor over a JSON text that keeps at most two rows' worth of it."""

    def __init__(self, stream: TextIO, name: str, limits: Limits) -> None:
        stream.seek(0)
        self._stream = stream
        self._name = name
        self._limits = limits
        self._buffer = ""
        self._at = 0
        self._ended = False
        self.record: int | None = None
        self.lists: list[str | None] = []

    def error(self, reason: str) -> UnreadableFile:
        return UnreadableFile(self._name, reason, row=self.record)

    def peek(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            self._fill()
            found = _NOT_SPACE.search(self._buffer, self._at)
            self._at = found.start() if found else len(self._buffer)
            if found:
                return found.group()
            if self._ended:
                return ""

    def take(self, wanted: str) -> None:
        found = self.peek()
        if found != wanted:
            shown = f"found {found!a}" if found else "the file ends"
            raise self.error(f"not valid JSON: expected {wanted!a} but {shown}")
        self._at += 1

    def value(self) -> Value:
        """Decode the next value, which may take no more than one row's length."""
        self.peek()
        self._fill()
        try:
            value, end = decode_at(self._buffer, self._at, depth=self._limits.json_depth)
        except StrictJsonError as error:
            reason = str(error)
            if not self._ended:
                reason += f" or longer than {self._limits.row_chars:,} characters"
            raise self.error(reason) from None
        if end - self._at > self._limits.row_chars:
            raise self.error(f"longer than {self._limits.row_chars:,} characters")
        self._at = end
        return value

    def _fill(self) -> None:
        most = self._limits.row_chars
        if self._ended or len(self._buffer) - self._at > most:
            return
        piece = self._stream.read(most + 1)
        self._ended = not piece
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0


def _list_items(text: _JsonText, key: str | None) -> Iterator[tuple[str | None, int, Value]]:
    text.lists.append(key)
    text.take("[")
    position = 0
    while text.peek() != "]":
        if position:
            text.take(",")
        position += 1
        text.record = position
        yield key, position, text.value()
    text.take("]")
    text.record = None


def _object_items(text: _JsonText) -> Iterator[tuple[str | None, int, Value]]:
    text.take("{")
    keys: set[str] = set()
    while text.peek() != "}":
        if keys:
            text.take(",")
        key = text.value()
        if not isinstance(key, str) or key in keys:
            raise text.error("not valid JSON: a key is missing or occurs twice")
        keys.add(key)
        text.take(":")
        if text.peek() == "[":
            yield from _list_items(text, key)
        else:
            text.value()
    text.take("}")


def _items(text: _JsonText) -> Iterator[tuple[str | None, int, Value]]:
    if text.peek() == "[":
        yield from _list_items(text, None)
    else:
        yield from _object_items(text)
    if text.peek():
        raise text.error("something follows the end of the JSON value")


def _json_records(stream: TextIO, name: str, limits: Limits) -> Numbered:
    text = _JsonText(stream, name, limits)
    for _, position, item in _items(text):
        if len(text.lists) > 1:
            break
        if not isinstance(item, dict):
            raise text.error("this entry is no object with named values")
        yield position, item
    if len(text.lists) != 1:
        count = "several lists" if text.lists else "no list"
        raise UnreadableFile(name, f"holds {count} of records at its top level; one is expected")


def _jsonl_records(stream: TextIO, name: str, limits: Limits) -> Numbered:
    stream.seek(0)
    number = 0
    while line := stream.readline(limits.row_chars + 1):
        number += 1
        if len(line) > limits.row_chars:
            reason = f"this line is longer than {limits.row_chars:,} characters"
            raise UnreadableFile(name, reason, row=number)
        if line.strip(_SPACE):
            yield number, _line_record(line, number, name, limits)


def _line_record(line: str, number: int, name: str, limits: Limits) -> Record:
    try:
        value = loads(line, max_bytes=limits.row_chars, depth=limits.json_depth)
    except StrictJsonError as error:
        raise UnreadableFile(name, str(error), row=number) from None
    if not isinstance(value, dict):
        raise UnreadableFile(name, "this line is no object with named values", row=number)
    return value


def read_records(
    stream: TextIO, *, name: str, kind: str, limits: Limits
) -> tuple[list[str], Iterator[Row]]:
    """Columns and rows of a JSON list of objects, an object holding one, or JSONL.

    Returns
    -------
    columns, rows
        Columns are all keys in the order first seen; a key that a record does
        not have is None in its row. Nested lists and objects stay values.

    Raises
    ------
    UnreadableFile
        At once, as the whole file is checked before the first row is given.
    """
    source: Callable[[TextIO, str, Limits], Numbered]
    source = _jsonl_records if kind == "jsonl" else _json_records
    columns: dict[str, None] = {}
    for count, (number, record) in enumerate(source(stream, name, limits), start=1):
        _check_record(record, number, name, limits)
        columns.update(dict.fromkeys(record))
        if count > limits.rows or len(columns) > limits.columns:
            most = f"{limits.rows:,} records or {limits.columns} different keys"
            raise UnreadableFile(name, f"has more than {most}", row=number)
    rows = (
        Row(number, {column: record.get(column) for column in columns})
        for number, record in source(stream, name, limits)
    )
    return list(columns), rows


def _check_record(record: Record, number: int, name: str, limits: Limits) -> None:
    for key, value in record.items():
        if isinstance(value, str) and len(value) > limits.cell_chars:
            reason = f"this value is longer than {limits.cell_chars:,} characters"
            raise UnreadableFile(name, reason, row=number, column=key[:80])
