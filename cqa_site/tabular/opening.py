"""Open an uploaded file as a table, whatever of the five formats it is."""

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .delimited import read_delimited, sniff_delimiter
from .encodings import open_text
from .kinds import binary_family, check_agrees, json_kind, text_family
from .records import read_records
from .shapes import DEFAULT_LIMITS, Limits, Preview, Row, Table, UnreadableFile, printable_name
from .workbook import WorkbookReader, check_size, read_sheet

_HEAD_BYTES = 65_536
_SAMPLE_CHARS = 65_536
_PREVIEW_ROWS = 20


def open_table(
    path: str | os.PathLike[str],
    *,
    name: str,
    kind: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Table:
    """Open a CSV, TSV, JSON, JSONL or XLSX file as columns and a stream of rows.

    Parameters
    ----------
    path : path
        Where the upload lies.
    name : str
        What the person called the file; its ending must fit the content, and
        every message begins with it.
    kind : {"csv", "tsv", "json", "jsonl", "xlsx"}, optional
        Overrides the ending of the name, not the content.
    encoding : str, optional
        One of `encodings.ACCEPTED`; by default UTF-8, or UTF-16 with a mark.
    sheet : str or int, optional
        Title or position from 0 of a workbook's sheet; the first by default.
    limits : Limits
        What the file may cost.

    Returns
    -------
    Table
        With at least one row. Close it, or use it in a `with` block.

    Raises
    ------
    UnreadableFile
        Here for the file as a whole and its header, later, while iterating,
        for the row that cannot be read.
    """
    shown = printable_name(name)
    file = _open_regular(path, shown)
    try:
        table = _open_kind(file, shown, kind, encoding, sheet, limits)
    except BaseException:
        file.close()
        raise
    return _with_first_row(table)


def preview(
    path: str | os.PathLike[str],
    *,
    name: str,
    kind: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Preview:
    """Kind, encoding, separator, sheets, columns and first 20 rows of a file.

    Takes the arguments of `open_table` and raises what it raises; a row that
    cannot be read later in the file does not show here.
    """
    with open_table(
        path, name=name, kind=kind, encoding=encoding, sheet=sheet, limits=limits
    ) as table:
        return beginning(table)


def beginning(table: Table) -> Preview:
    """The same of a table that is open."""
    return Preview(
        name=table.name,
        kind=table.kind,
        encoding=table.encoding,
        delimiter=table.delimiter,
        sheets=table.sheets,
        columns=table.columns,
        rows=list(itertools.islice(table.rows, _PREVIEW_ROWS)),
    )


def open_workbook(
    path: str | os.PathLike[str], *, name: str, limits: Limits = DEFAULT_LIMITS
) -> WorkbookReader:
    """All sheets of a workbook as bare rows, for formats with more than one header."""
    shown = printable_name(name)
    with _open_regular(path, shown) as file:
        if binary_family(file.read(_HEAD_BYTES), shown) != "xlsx":
            raise UnreadableFile(shown, "is not an .xlsx workbook")
        check_size(file, shown, limits)
        return WorkbookReader(file, name=shown, sheet=None, limits=limits)


def _open_regular(path: str | os.PathLike[str], name: str) -> BinaryIO:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UnreadableFile(name, "is not a regular file")
        return Path(path).open("rb")
    except OSError as error:
        raise UnreadableFile(name, f"cannot be opened ({error.strerror})") from None


def _open_kind(
    file: BinaryIO,
    name: str,
    kind: str | None,
    encoding: str | None,
    sheet: str | int | None,
    limits: Limits,
) -> Table:
    if binary_family(file.read(_HEAD_BYTES), name) == "xlsx":
        check_agrees("xlsx", name, kind)
        return _open_workbook_sheet(file, name, 0 if sheet is None else sheet, limits)
    if kind == "xlsx":
        raise UnreadableFile(name, "is not an .xlsx workbook")
    return _open_text_kind(file, name, kind, encoding, limits)


def _open_workbook_sheet(file: BinaryIO, name: str, sheet: str | int, limits: Limits) -> Table:
    check_size(file, name, limits)
    reader = WorkbookReader(file, name=name, sheet=sheet, limits=limits)
    # The child has its own handle on the file by now.
    file.close()
    with contextlib.ExitStack() as on_error:
        on_error.callback(reader.close)
        columns, rows = read_sheet(reader, name=name)
        on_error.pop_all()
    return Table(name, "xlsx", columns, rows, sheets=reader.sheets, close=reader.close)


def _open_text_kind(
    file: BinaryIO, name: str, kind: str | None, encoding: str | None, limits: Limits
) -> Table:
    stream = open_text(file, name=name, asked=encoding, limits=limits)
    sample = stream.read(_SAMPLE_CHARS)
    stream.seek(0)
    family = text_family(sample, name)
    check_agrees(family, name, kind)
    shown_encoding = stream.encoding.removesuffix("-sig")
    if family == "json":
        found = kind or json_kind(sample, name)
        columns, rows = read_records(stream, name=name, kind=found, limits=limits)
        return Table(name, found, columns, rows, shown_encoding, close=stream.close)
    mark = sniff_delimiter(stream, name, kind)
    columns, rows = read_delimited(stream, name=name, delimiter=mark, limits=limits)
    found = "tsv" if mark == "\t" else "csv"
    return Table(name, found, columns, rows, shown_encoding, mark, close=stream.close)


def _with_first_row(table: Table) -> Table:
    """Refuse a table without rows; a bad first row is then found at once, too."""
    try:
        first = next(table.rows, None)
        if first is None:
            raise UnreadableFile(table.name, "has a header but no rows below it")
    except BaseException:
        table.close()
        raise
    table.rows = _closing(itertools.chain([first], table.rows), table)
    return table


def _closing(rows: Iterator[Row], table: Table) -> Iterator[Row]:
    try:
        yield from rows
    finally:
        table.close()
