"""CSV and TSV: one record at a time, with the physical line it starts on."""

import csv
import io
from collections.abc import Iterator
from typing import TextIO

from .headers import unique_headers
from .shapes import Limits, Row, UnreadableFile

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARS = 65_536
_SAMPLE_RECORDS = 20


class _Lines:
    """Physical lines for `csv.reader`, never longer than one row may be."""

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
        """Why a row may have swallowed the lines below it."""
        if self.number == self.start:
            return ""
        return "; a quotation mark opened in it may never be closed"


def sniff_delimiter(stream: TextIO, name: str, kind: str | None) -> str:
    """The separator under which most of the first records are as wide as the header.

    A file in which no separator splits the header has one column.
    """
    if kind == "tsv":
        return "\t"
    sample = stream.read(_SAMPLE_CHARS)
    stream.seek(0)
    favourite = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    best = max(DELIMITERS, key=lambda mark: (*_regularity(sample, mark), mark == favourite))
    return best if _regularity(sample, best) > (0.0, 0) else favourite


def _regularity(sample: str, delimiter: str) -> tuple[float, int]:
    widths = _widths(sample, delimiter)
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (widths.count(widths[0]) / len(widths), widths[0])


def _widths(sample: str, delimiter: str) -> list[int]:
    # Not splitlines(), which also breaks at characters that are no line ends here.
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
    stream: TextIO, *, name: str, delimiter: str, limits: Limits
) -> tuple[list[str], Iterator[Row]]:
    """Read the header now and the rows as they are asked for.

    Parameters
    ----------
    stream : text stream
        Opened without line-end translation, at its start.
    name : str
        Of the file, for messages.
    delimiter : str
        One of `DELIMITERS`.
    limits : Limits
        For rows, columns and lengths.

    Returns
    -------
    columns, rows
        Every row has exactly the columns of the header; lines without any
        character are skipped.

    Raises
    ------
    UnreadableFile
        For rows wider or narrower than the header, quotation marks that do
        not pair up, and anything above the limits.
    """
    if csv.field_size_limit() <= limits.cell_chars:
        csv.field_size_limit(limits.cell_chars + 1)
    lines = _Lines(stream, name, limits)
    records = _records(lines, name, delimiter)
    first = next(records, None)
    if first is None:
        raise UnreadableFile(name, "holds no rows")
    columns = unique_headers(first[1])
    if len(columns) > limits.columns:
        raise UnreadableFile(name, f"has {len(columns)} columns, more than {limits.columns}")
    return columns, _rows(records, columns, name, limits)


def _records(lines: _Lines, name: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.start_record()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            reason = _plain_words(error, lines.hint())
            raise UnreadableFile(name, reason, row=lines.start) from None
        if cells is None:
            return
        if cells:
            yield lines.start, cells


def _rows(
    records: Iterator[tuple[int, list[str]]], columns: list[str], name: str, limits: Limits
) -> Iterator[Row]:
    for count, (line, cells) in enumerate(records, start=1):
        if count > limits.rows:
            raise UnreadableFile(name, f"has more than {limits.rows:,} rows", row=line)
        if len(cells) != len(columns):
            raise UnreadableFile(name, _ragged(cells, columns), row=line)
        for column, cell in zip(columns, cells, strict=True):
            if len(cell) > limits.cell_chars:
                reason = f"this cell is longer than {limits.cell_chars:,} characters"
                raise UnreadableFile(name, reason, row=line, column=column)
        yield Row(line, dict(zip(columns, cells, strict=True)))


def _ragged(cells: list[str], columns: list[str]) -> str:
    return (
        f"this row has {len(cells)} cells but the header has {len(columns)}; "
        "a separator or quotation mark inside a cell may be unquoted"
    )


def _plain_words(error: csv.Error, hint: str) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "a quotation mark opened in this row is never closed"
    if "expected after" in text:
        reason = "text follows a closing quotation mark; double the marks inside a cell"
        return reason + hint
    if "field larger" in text:
        return f"a cell in this row is longer than {csv.field_size_limit():,} characters{hint}"
    return f"this row is not well-formed ({text})"
