"""Text formats of tables: CSV, TSV, JSON and JSON Lines."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from .cells import LenientNumbers, StrictJsonError, decode_at, loads
from .layout import FileLayout, lay_out, too_long
from .shapes import Limits, Problem, ReadingLog, TableRow, UnreadableFile, Value, counted, reject

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARS = 65_536
_SAMPLE_RECORDS = 40
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


class _Lines:
    """Physical lines for `csv.reader`, never longer than the row limit."""

    def __init__(self, stream: TextIO, name: str, limits: Limits) -> None:
        self._stream = stream
        self._name = name
        self._most = limits.row_chars
        self._chars = 0
        self.number = 0
        self.start = 1

    def start_record(self) -> None:
        self.start = self.number + 1
        self._chars = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(self._most + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._chars += len(line)
        if self._chars > self._most:
            reason = f"this row is longer than {self._most:,} characters{self.hint()}"
            raise UnreadableFile(self._name, reason, row=self.start)
        return line

    def hint(self) -> str:
        """Return a hint about an unclosed quotation mark if the row spans several lines."""
        if self.number == self.start:
            return ""
        return "; it may contain an unclosed quotation mark"


def sniff_delimiter(stream: TextIO, name: str, kind: str | None) -> str:
    """Return the separator that splits most of the first records into equal widths.

    A file in which no separator splits most records has one column. A first line such as ``sep=;``
    takes precedence.
    """
    if kind == "tsv":
        return "\t"
    sample = stream.read(_SAMPLE_CHARS)
    stream.seek(0)
    if (match := _SEPARATOR_LINE.match(sample)) and match[1] in DELIMITERS:
        return match[1]
    favourite = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    best = max(DELIMITERS, key=lambda mark: (*_regularity(sample, mark), mark == favourite))
    return best if _regularity(sample, best) > (0.0, 0) else favourite


def _regularity(sample: str, delimiter: str) -> tuple[float, int]:
    widths = _widths(sample, delimiter)
    common = max(widths, key=lambda width: (widths.count(width), width), default=0)
    if common < 2:
        return (0.0, 0)
    return (widths.count(common) / len(widths), common)


def _widths(sample: str, delimiter: str) -> list[int]:
    # splitlines() would also break at characters that are not line ends here.
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    widths: list[int] = []
    try:
        for cells in reader:
            if cells:
                widths.append(len(cells))
            if len(widths) > _SAMPLE_RECORDS:
                break
    except csv.Error:
        pass
    # The last record may have been cut by the end of the sample.
    return widths[:-1] if len(widths) > 1 and len(sample) == _SAMPLE_CHARS else widths


def read_delimited(
    stream: TextIO,
    *,
    name: str,
    delimiter: str,
    limits: Limits,
    header_row: int | None = None,
    log: ReadingLog | None = None,
) -> tuple[FileLayout, int, Iterator[TableRow]]:
    """Read the header, and return the rows as an iterator.

    Parameters
    ----------
    stream : text stream
        Stream at its start, opened without line-end translation.
    name : str
        Name of the file, for messages.
    delimiter : str
        One of `DELIMITERS`.
    limits : Limits
        Limits for rows, columns and lengths.
    header_row, log
        As in `layout.lay_out`.

    Returns
    -------
    layout, number, rows
        As in `layout.lay_out`; every row has exactly the columns of the header. Empty lines are
        skipped, and empty cells after the last column are ignored.

    Raises
    ------
    UnreadableFile
        For unclosed quotation marks, for overlong rows, and as in `layout.lay_out`. Without a log,
        also for rows wider or narrower than the header and for other errors in a single row.
    """
    if csv.field_size_limit() <= limits.row_chars:
        csv.field_size_limit(limits.row_chars + 1)
    records = _records(_Lines(stream, name, limits), name, delimiter, log)
    return lay_out(records, name=name, limits=limits, header_row=header_row, log=log)


def _records(
    lines: _Lines, name: str, delimiter: str, log: ReadingLog | None
) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.start_record()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = Problem(name, lines.start, None, _plain_words(error, lines.hint()))
            # An unclosed quotation mark has swallowed all rows below it.
            reject(None if "unexpected end" in str(error) else log, problem)
            continue
        if cells is None:
            return
        if cells and not (lines.start == 1 and is_separator_line(cells)):
            yield lines.start, cells


def is_separator_line(cells: Sequence[str]) -> bool:
    """Return whether a first line only gives the separator, like ``sep=;`` for spreadsheets."""
    return cells[0].lower() == "sep=" or bool(_SEPARATOR_LINE.fullmatch(",".join(cells)))


def _plain_words(error: csv.Error, hint: str) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "a quotation mark in this row is never closed"
    if "expected after" in text:
        reason = "text follows a closing quotation mark; double the marks inside a cell"
        return reason + hint
    return f"this row is not well-formed ({text})"


# JSON and JSONL as tables, read in two passes with one record in memory at a time
#
# The first pass validates the whole file and collects the columns, because the
# keys of later records may differ; the second pass streams the rows.

_SPACE = " \t\r\n"
_NOT_SPACE = re.compile(r"[^ \t\r\n]")
Record = dict[str, Value]


class _BadRecord(Exception):
    """Raised if one record is unusable although the following records can be read."""


# A record, or the error in it.
Numbered = Iterator[tuple[int, Record | _BadRecord]]
Item = tuple[str | None, int, "Value | _BadRecord"]


class _JsonText:
    """A cursor over JSON text that keeps at most two rows of it in memory."""

    def __init__(self, stream: TextIO, name: str, limits: Limits, numbers: LenientNumbers) -> None:
        stream.seek(0)
        self._numbers = numbers
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
        """Return the next character that is not white space, or "" at the end."""
        while True:
            self._fill()
            match = _NOT_SPACE.search(self._buffer, self._at)
            self._at = match.start() if match else len(self._buffer)
            if match:
                return match.group()
            if self._ended:
                return ""

    def take(self, wanted: str) -> None:
        peek = self.peek()
        if peek != wanted:
            reason = f"found {peek!a}" if peek else "the file ends"
            raise self.error(f"not valid JSON: expected {wanted!a} but {reason}")
        self._at += 1

    def value(self) -> Value:
        """Decode the next value, which must not be longer than one row."""
        self.peek()
        self._fill()
        try:
            value, end = decode_at(
                self._buffer, self._at, depth=self._limits.json_depth, numbers=self._numbers
            )
        except StrictJsonError as error:
            if error.end is not None:
                self._at = error.end
                raise _BadRecord(str(error)) from None
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


def _list_items(text: _JsonText, key: str | None) -> Iterator[Item]:
    text.lists.append(key)
    text.take("[")
    position = 0
    while text.peek() != "]":
        if position:
            text.take(",")
        position += 1
        text.record = position
        try:
            value = text.value()
        except _BadRecord as bad:
            yield key, position, bad
        else:
            yield key, position, value
    text.take("]")
    text.record = None


def _object_items(text: _JsonText) -> Iterator[Item]:
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


def _items(text: _JsonText) -> Iterator[Item]:
    if text.peek() == "[":
        yield from _list_items(text, None)
    else:
        yield from _object_items(text)
    if text.peek():
        raise text.error("text follows the end of the JSON value")


def _json_records(stream: TextIO, name: str, limits: Limits, numbers: LenientNumbers) -> Numbered:
    text = _JsonText(stream, name, limits, numbers)
    for _, position, item in _items(text):
        if len(text.lists) > 1:
            break
        if isinstance(item, dict | _BadRecord):
            yield position, item
        else:
            yield position, _BadRecord("this entry is not an object with named values")
    if len(text.lists) != 1:
        count = "several lists" if text.lists else "no list"
        raise UnreadableFile(name, f"holds {count} of records at its top level; one is expected")


def _jsonl_records(stream: TextIO, name: str, limits: Limits, numbers: LenientNumbers) -> Numbered:
    stream.seek(0)
    number = 0
    while line := stream.readline(limits.row_chars + 1):
        number += 1
        if len(line) > limits.row_chars:
            reason = f"this line is longer than {limits.row_chars:,} characters"
            raise UnreadableFile(name, reason, row=number)
        if line.strip(_SPACE):
            yield number, _line_record(line, limits, numbers)


def _line_record(line: str, limits: Limits, numbers: LenientNumbers) -> Record | _BadRecord:
    try:
        value = loads(line, max_bytes=limits.row_chars, depth=limits.json_depth, numbers=numbers)
    except StrictJsonError as error:
        return _BadRecord(str(error))
    if not isinstance(value, dict):
        return _BadRecord("this line is not an object with named values")
    return value


def read_records(
    stream: TextIO, *, name: str, kind: str, limits: Limits, log: ReadingLog | None = None
) -> tuple[list[str], Iterator[TableRow]]:
    """Read columns and rows of a JSON list of objects, an object with one such list, or JSONL.

    NaN and infinities are missing values.

    Returns
    -------
    columns, rows
        Columns are all keys in the order of their first occurrence; the value of
        a key that a record lacks is None. Nested lists and objects stay nested.

    Raises
    ------
    UnreadableFile
        Immediately, because the whole file is checked before the first row is returned. Without a
        log, also for a record that cannot be read.
    """
    source: Callable[[TextIO, str, Limits, LenientNumbers], Numbered]
    source = _jsonl_records if kind == "jsonl" else _json_records
    columns: dict[str, None] = {}
    bad: set[int] = set()
    numbers = LenientNumbers()
    for count, (number, record) in enumerate(source(stream, name, limits, numbers), start=1):
        if problem := _problem(record, number, name, limits):
            reject(log, problem)
            bad.add(number)
        elif isinstance(record, dict):
            columns.update(dict.fromkeys(record))
        if count > limits.rows or len(columns) > limits.columns:
            most = f"{limits.rows:,} records or {limits.columns} different keys"
            raise UnreadableFile(name, f"has more than {most}", row=number)
    if log is not None and numbers.count:
        values = counted(numbers.count, "value is", "values are")
        log.notes.append(f"{values} NaN or infinite, and treated as missing.")
    rows = (
        TableRow(number, {column: record.get(column) for column in columns})
        for number, record in source(stream, name, limits, numbers)
        if isinstance(record, dict) and number not in bad
    )
    return list(columns), rows


def _problem(
    record: Record | _BadRecord, number: int, name: str, limits: Limits
) -> Problem | None:
    if isinstance(record, _BadRecord):
        return Problem(name, number, None, str(record))
    return too_long(list(record.values()), list(record), name, number, limits)
