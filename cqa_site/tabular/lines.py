"""Plain text as a table of one column: a line is a row."""

import csv
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from .delimited import sniff_delimiter
from .encodings import open_text
from .headers import unique_headers
from .kinds import binary_family, text_family
from .opening import open_table
from .shapes import DEFAULT_LIMITS, Limits, Row, Table, UnreadableFile, printable_name

_HEAD_BYTES = 65_536
_SAMPLE_CHARS = 65_536
# A separator as tables have it.
_CLOSE = re.compile(r"[,;|]\S|\t")


def is_lines(
    path: str | os.PathLike[str],
    *,
    name: str,
    encoding: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> bool:
    """Whether a text file is one text a line rather than a table.

    It is where its first line is prose, in which white space follows every separator, and its
    lines are neither one cell each nor split alike by one separator. Of a file called .txt either
    is enough.

    Raises
    ------
    UnreadableFile
        As `open_table`, for a file that cannot be read as text.
    """
    try:
        stream = _text(path, printable_name(name), encoding, limits)
    except _NoText:
        return False
    with stream:
        if name.lower().endswith((".tsv", ".tab")) or _is_one_column(stream):
            return False
        stream.seek(0)
        first = stream.readline(limits.row_chars)
        stream.seek(0)
        is_prose = _is_prose(first)
        if name.lower().endswith(".txt"):
            return is_prose or not _is_even(stream, name)
        return is_prose and not _is_even(stream, name)


def open_lines(
    path: str | os.PathLike[str],
    *,
    name: str,
    encoding: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Table:
    """Lines of a text file as rows of one column, which the first line names.

    Blank lines are left out; a line in quotation marks loses them. ``kind`` of the table is
    ``lines``. Raises UnreadableFile as `open_table` does, also for a file of one line.
    """
    shown = printable_name(name)
    try:
        stream = _text(path, shown, encoding, limits)
    except _NoText:
        raise UnreadableFile(shown, "is no plain text") from None
    found = _numbered(stream, shown, limits)
    try:
        _number, header = next(found)
        (column,) = unique_headers([header])
        first = next(found, None)
    except BaseException:
        stream.close()
        raise
    if first is None:
        stream.close()
        raise UnreadableFile(shown, "has a header but no rows below it")
    rows = _rows(first, found, column)
    shown_encoding = stream.encoding.removesuffix("-sig")
    return Table(shown, "lines", [column], rows, shown_encoding, close=stream.close)


def open_table_or_lines(
    path: str | os.PathLike[str],
    *,
    name: str,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Table:
    """A table as `open_table` opens it, or the lines of a text that is none."""
    if is_lines(path, name=name, encoding=encoding):
        return open_lines(path, name=name, encoding=encoding)
    return open_table(path, name=name, encoding=encoding, sheet=sheet)


class _NoText(Exception):
    """The file is a workbook or holds JSON."""


def _text(path: str | os.PathLike[str], name: str, encoding: str | None, limits: Limits) -> TextIO:
    file = Path(path).open("rb")  # noqa: SIM115  closed with the stream around it
    try:
        if binary_family(file.read(_HEAD_BYTES), name) != "text":
            raise _NoText
        file.seek(0)
        stream = open_text(file, name=name, asked=encoding, limits=limits)
        if text_family(stream.read(_SAMPLE_CHARS), name) != "text":
            raise _NoText
    except BaseException:
        file.close()
        raise
    stream.seek(0)
    return stream


def _is_even(stream: TextIO, name: str) -> bool:
    """Whether one separator splits all lines of the beginning into as many cells as the first."""
    mark = sniff_delimiter(stream, name, None)
    sample = stream.read(_SAMPLE_CHARS)
    lines = [line for line in sample.splitlines() if line.strip()]
    if len(sample) == _SAMPLE_CHARS and len(lines) > 1:
        # The last one may have been cut.
        lines.pop()
    try:
        rows = list(csv.reader(lines, delimiter=mark, strict=True))
    except csv.Error:
        return False
    widths = {len(row) for row in rows}
    return len(widths) == 1 and widths != {1}


def _is_prose(line: str) -> bool:
    """Whether a line may be a sentence; names of columns stand close together."""
    return not _CLOSE.search(line.strip())


def _is_one_column(stream: TextIO) -> bool:
    """Whether every record is one cell, however it is quoted."""
    try:
        return all(len(row) <= 1 for row in csv.reader(stream, strict=True))
    except csv.Error:
        return False


def _numbered(stream: TextIO, name: str, limits: Limits) -> Iterator[tuple[int, str]]:
    number = 0
    while line := stream.readline(limits.cell_chars + 2):
        number += 1
        text = line.rstrip("\r\n")
        if len(text) > limits.cell_chars:
            reason = f"this line is longer than {limits.cell_chars:,} characters"
            raise UnreadableFile(name, reason, row=number)
        if number > limits.rows + 1:
            raise UnreadableFile(name, f"has more than {limits.rows:,} rows", row=number)
        if text.strip():
            yield number, _unquoted(text)


def _unquoted(text: str) -> str:
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        return bare[1:-1].replace('""', '"')
    return text


def _rows(first: tuple[int, str], rest: Iterator[tuple[int, str]], column: str) -> Iterator[Row]:
    number, text = first
    yield Row(number, {column: text})
    for number, text in rest:
        yield Row(number, {column: text})
