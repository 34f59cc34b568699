"""Readers of uploaded files: tables in any format, or lines of plain text."""

import contextlib
import csv
import itertools
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from .binary_formats import WorkbookReader, check_size, read_sheet, single_member
from .detection import binary_family, check_agrees, json_kind, open_text, text_family
from .layout import BEGINNING, begins_below_title, unique_headers
from .shapes import (
    DEFAULT_LIMITS,
    FilePreview,
    Limits,
    ReadingLog,
    Table,
    TableRow,
    UnreadableFile,
    printable_name,
)
from .text_formats import read_delimited, read_records, sniff_delimiter

_HEAD_BYTES = 65_536
_SAMPLE_CHARS = 65_536
_PREVIEW_ROWS = 20


def open_table(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    kind: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    log: ReadingLog | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Table:
    """Open a CSV, TSV, JSON, JSONL or XLSX file as columns and a stream of rows.

    Parameters
    ----------
    path : path
        Path of the upload.
    name : str, optional
        The file name that the user gave, by default the last part of the path. Its ending must
        match the content, and every message starts with it.
    kind : {"csv", "tsv", "json", "jsonl", "xlsx"}, optional
        Overrides the ending of the name, but not the content.
    encoding : str, optional
        One of `detection.ACCEPTED`; by default UTF-8, or UTF-16 if there is a mark.
    sheet : str or int, optional
        Title or position (from 0) of a workbook's sheet; the first by default.
    header_row : int, optional
        The row with the column names, numbered as in `TableRow`; detected by default.
    log : ReadingLog, optional
        Collects notes and unreadable rows, which are left out.
    limits : Limits
        Limits on the file's size and contents.

    Returns
    -------
    Table
        A table with at least one row. Close it, or use it in a `with` block.

    Raises
    ------
    UnreadableFile
        Immediately for errors in the whole file or its header. Without a log, also later,
        during iteration, for a row that cannot be read.
    """
    label = printable_name(name or os.fspath(path))
    how = _TableOptions(kind, encoding, sheet, header_row, log, limits)
    with single_member(path, label, limits) as (unpacked_path, unpacked_name):
        file = _open_regular(unpacked_path, unpacked_name)
        try:
            table = _open_kind(file, unpacked_name, how)
        except BaseException:
            file.close()
            raise
    return _with_first_row(table)


@dataclass(frozen=True)
class _TableOptions:
    """The options given to `open_table`."""

    kind: str | None
    encoding: str | None
    sheet: str | int | None
    header_row: int | None
    log: ReadingLog | None
    limits: Limits

    @property
    def laying(self) -> dict[str, Any]:
        """Return the options for readers of rows that do not name their values."""
        return {"limits": self.limits, "header_row": self.header_row, "log": self.log}


def preview(path: str | os.PathLike[str], *, name: str, **how: Any) -> FilePreview:
    """Return the kind, encoding, separator, sheets, columns and first 20 rows of a file.

    It takes the same arguments and raises the same exceptions as `open_table`;
    unreadable rows are not reported here.
    """
    with open_table(path, name=name, **how | {"log": ReadingLog()}) as table:
        return beginning(table)


def beginning(table: Table) -> FilePreview:
    return FilePreview(
        name=table.name,
        kind=table.kind,
        encoding=table.encoding,
        delimiter=table.delimiter,
        sheets=table.sheets,
        columns=table.columns,
        rows=list(itertools.islice(table.rows, _PREVIEW_ROWS)),
        titles=table.titles,
        header_row=table.header_row,
    )


def open_workbook(
    path: str | os.PathLike[str], *, name: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> WorkbookReader:
    """Open all sheets of a workbook as plain rows, for formats with more than one header."""
    label = printable_name(name or os.fspath(path))
    with _open_regular(path, label) as file:
        if binary_family(file.read(_HEAD_BYTES), label) != "xlsx":
            raise UnreadableFile(label, "is not a workbook")
        check_size(file, label, limits)
        return WorkbookReader(file, name=label, sheet=None, limits=limits)


def _open_regular(path: str | os.PathLike[str], name: str) -> BinaryIO:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UnreadableFile(name, "is not a regular file")
        return Path(path).open("rb")
    except OSError as error:
        raise UnreadableFile(name, f"cannot be opened ({error.strerror})") from None


def _open_kind(file: BinaryIO, name: str, how: _TableOptions) -> Table:
    if binary_family(file.read(_HEAD_BYTES), name) == "xlsx":
        check_agrees("xlsx", name, how.kind)
        return _open_workbook_sheet(file, name, how)
    if how.kind == "xlsx":
        raise UnreadableFile(name, "is not a workbook")
    return _open_text_kind(file, name, how)


def _open_workbook_sheet(file: BinaryIO, name: str, how: _TableOptions) -> Table:
    check_size(file, name, how.limits)
    sheet = 0 if how.sheet is None else how.sheet
    reader = WorkbookReader(file, name=name, sheet=sheet, limits=how.limits)
    # The child now has its own handle on the file.
    file.close()
    with contextlib.ExitStack() as on_error:
        on_error.callback(reader.close)
        try:
            layout, number, rows = read_sheet(reader, name=name, **how.laying)
        except UnreadableFile as error:
            error.sheets = reader.sheets
            raise
        on_error.pop_all()
    table = Table(name, "xlsx", layout.columns, rows, sheets=reader.sheets, close=reader.close)
    table.titles, table.header_row = layout.titles, number
    if how.log is not None and len(reader.sheets) > 1:
        title = reader.sheets[sheet] if isinstance(sheet, int) else sheet
        others = ", ".join(other for other in reader.sheets if other != title)
        how.log.notes.append(f"Read from the sheet “{title}”. Not read: {others}.")
    return table


def _open_text_kind(file: BinaryIO, name: str, how: _TableOptions) -> Table:
    stream = open_text(file, name=name, asked=how.encoding, limits=how.limits)
    sample = stream.read(_SAMPLE_CHARS)
    stream.seek(0)
    family = text_family(sample, name)
    check_agrees(family, name, how.kind)
    encoding = stream.encoding.removesuffix("-sig")
    if family == "json":
        kind = json_kind(sample, name)
        columns, records = read_records(
            stream, name=name, kind=kind, limits=how.limits, log=how.log
        )
        return Table(name, kind, columns, records, encoding, close=stream.close)
    mark = sniff_delimiter(stream, name, how.kind)
    layout, number, rows = read_delimited(stream, name=name, delimiter=mark, **how.laying)
    kind = "tsv" if mark == "\t" else "csv"
    table = Table(name, kind, layout.columns, rows, encoding, mark, close=stream.close)
    table.titles, table.header_row = layout.titles, number
    return table


def _with_first_row(table: Table) -> Table:
    """Reject a table without rows, and report a bad first row immediately."""
    try:
        first = next(table.rows, None)
        if first is None:
            reason = "has a header but no rows below it"
            raise UnreadableFile(table.name, reason, sheets=table.sheets)
    except BaseException:
        table.close()
        raise
    table.rows = _closing(itertools.chain([first], table.rows), table)
    return table


def _closing(rows: Iterator[TableRow], table: Table) -> Iterator[TableRow]:
    try:
        yield from rows
    finally:
        table.close()


# A separator without a space after it, as in tables.
_CLOSE = re.compile(r"[,;|]\S|\t")


def is_lines(
    path: str | os.PathLike[str],
    *,
    name: str,
    encoding: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> bool:
    """Return whether a text file contains one text per line rather than a table.

    This is the case if the first line is prose, in which white space follows every separator, and
    the lines are neither single cells nor evenly split at one separator. For a .txt file, it is
    enough that the first line is prose or that no separator splits the lines evenly.

    Raises
    ------
    UnreadableFile
        For a file that cannot be read as text, as in `open_table`.
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
    """Open the lines of a text file as rows of one column, with the first line as its name.

    Blank lines are left out, and quotation marks around a line are removed. The table's ``kind``
    is ``lines``. Raises UnreadableFile like `open_table`, and also for a file with only one line.
    """
    label = printable_name(name)
    try:
        stream = _text(path, label, encoding, limits)
    except _NoText:
        raise UnreadableFile(label, "is not plain text") from None
    lines = _numbered(stream, label, limits)
    try:
        _number, header = next(lines)
        (column,) = unique_headers([header])
        first = next(lines, None)
    except BaseException:
        stream.close()
        raise
    if first is None:
        stream.close()
        raise UnreadableFile(label, "has a header but no rows below it")
    rows = _rows(first, lines, column)
    shown_encoding = stream.encoding.removesuffix("-sig")
    return Table(label, "lines", [column], rows, shown_encoding, close=stream.close)


def open_table_or_lines(
    path: str | os.PathLike[str],
    *,
    name: str,
    encoding: str | None = None,
    header_row: int | None = None,
    **how: Any,
) -> Table:
    """Open a table as `open_table` does, or the lines of a text as `open_lines` does.

    If a header row is given, the file is read as a table.
    """
    if header_row is None and is_lines(path, name=name, encoding=encoding):
        return open_lines(path, name=name, encoding=encoding)
    return open_table(path, name=name, encoding=encoding, header_row=header_row, **how)


class _NoText(Exception):
    """Raised if the file is a workbook or contains JSON."""


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
    """Return whether one separator splits the first lines evenly, possibly below a title."""
    mark = sniff_delimiter(stream, name, None)
    sample = stream.read(_SAMPLE_CHARS)
    lines = [line for line in sample.splitlines() if line.strip()]
    if len(sample) == _SAMPLE_CHARS and len(lines) > 1:
        # The last line may have been cut.
        lines.pop()
    try:
        rows = list(csv.reader(lines, delimiter=mark, strict=True))
    except csv.Error:
        return False
    widths = {len(row) for row in rows}
    records = [(at, list(row)) for at, row in enumerate(rows[:BEGINNING], start=1)]
    return (len(widths) == 1 and widths != {1}) or begins_below_title(records)


def _is_prose(line: str) -> bool:
    """Return whether a line may be a sentence; column names have no spaces after separators."""
    return not _CLOSE.search(line.strip())


def _is_one_column(stream: TextIO) -> bool:
    """Return whether every record is one cell, quoted or not."""
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


def _rows(
    first: tuple[int, str], rest: Iterator[tuple[int, str]], column: str
) -> Iterator[TableRow]:
    number, text = first
    yield TableRow(number, {column: text})
    for number, text in rest:
        yield TableRow(number, {column: text})
