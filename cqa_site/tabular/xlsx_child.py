"""The process that opens workbooks, so that a hostile workbook can harm only this process.

Run as ``python -m cqa_site.tabular.xlsx_child '<limits and sheet as JSON>'`` with the workbook as
standard input. It writes one JSON list per line: ``["sheets", [title, ...]]``, ``["sheet",
position, width]``, ``["row", number, cells]``, ``["bad", number, column, reason]`` for a row that
cannot be read, and finally ``["end"]`` or ``["error", row, column, reason]``.

From this package, it imports only a function for escapes, and it never writes a file.
"""

import itertools
import json
import math
import os
import resource
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO

from .export import from_sheet_text

_LAST_SHEET_ROW = 1_048_576
# The declared width of a sheet is unreliable, so the width of its first filled rows is used.
_ROWS_FOR_WIDTH = 1_000
_EMPTY = (None, "")
_MACROS = "vbaProject.bin"

# The number of a row and its filled cells by column, both from 1. Empty cells before a distant
# cell (up to a million rows of 16,384 columns) are never created.
_SparseRow = tuple[int, dict[int, Any]]
# Titles of the sheets, and a function that returns the rows of the sheet at a position.
_Book = tuple[list[str], Callable[[int], Iterable[_SparseRow]]]


class _Refusal(Exception):
    def __init__(self, reason: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(reason)
        self.row = row
        self.column = column


def _confine(memory_bytes: int, cpu_seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _import_openpyxl() -> Any:
    # openpyxl does not need these for reading, and they take memory and time.
    modules: Any = sys.modules
    modules.update(dict.fromkeys(("numpy", "pandas", "PIL", "lxml")))
    os.environ["OPENPYXL_DEFUSEDXML"] = "True"
    import openpyxl

    if not openpyxl.DEFUSEDXML:
        raise _Refusal("cannot be opened because defusedxml is not installed on this server")
    return openpyxl


def _check_archive(file: BinaryIO, limits: dict[str, Any]) -> bool:
    """Check the archive's directory; return whether it is an OpenDocument spreadsheet.

    Later, zipfile enforces the declared sizes.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, UnicodeError, ValueError):
        raise _Refusal("is a damaged ZIP file, not a workbook") from None
    if len(members) > limits["xlsx_members"]:
        raise _Refusal(f"has {len(members):,} parts inside, more than {limits['xlsx_members']}")
    names = {member.filename for member in members}
    if len(names) < len(members) or any(member.flag_bits & 1 for member in members):
        raise _Refusal("has repeated or encrypted parts inside")
    _check_sizes(members, limits)
    if {"mimetype", "content.xml"} <= names:
        return True
    if "[Content_Types].xml" not in names or "xl/workbook.xml" not in names:
        raise _Refusal("is a ZIP archive but not an .xlsx workbook")
    if any(name.endswith(_MACROS) for name in names):
        raise _Refusal("contains macros; save it as .xlsx without them")
    return False


def _check_sizes(members: list[zipfile.ZipInfo], limits: dict[str, Any]) -> None:
    total = sum(member.file_size for member in members)
    if total > limits["xlsx_unpacked_bytes"]:
        most = limits["xlsx_unpacked_bytes"]
        raise _Refusal(f"unpacks to {total:,} bytes, more than {most:,}")
    for member in members:
        if member.file_size > limits["xlsx_ratio"] * max(member.compress_size, 1):
            raise _Refusal(f"is packed more than {limits['xlsx_ratio']} times, like a ZIP bomb")


def _chosen_sheets(titles: list[str], wanted: str | int | None) -> list[int]:
    if not titles:
        raise _Refusal("has no sheet; save the table as .xlsx or .csv")
    if wanted is None:
        return list(range(len(titles)))
    if isinstance(wanted, str):
        if wanted not in titles:
            raise _Refusal(f"has no sheet named {wanted[:80]!r}")
        return [titles.index(wanted)]
    if not 0 <= wanted < len(titles):
        raise _Refusal(f"has no sheet number {wanted + 1}; it has {len(titles)}")
    return [wanted]


def _plain(value: Any, row: int, column: str) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return from_sheet_text(value) or None
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _Refusal("this number does not fit into 64 bits", row, column)
    if isinstance(value, float) and not math.isfinite(value):
        raise _Refusal("this number is too large", row, column)
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    raise _Refusal("this cell holds an unknown kind of value", row, column)


def _rows(
    rows: Iterable[_SparseRow], limits: dict[str, Any], letter: Any
) -> Iterator[tuple[int, list[Any] | _Refusal]]:
    """Yield filled rows, each as cells or as the reason why it cannot be read."""
    count = 0
    for number, cells in rows:
        if number > _LAST_SHEET_ROW:
            raise _Refusal("has more rows than a sheet can have", number)
        if not cells:
            continue
        width = max(cells)
        count += 1
        if count > limits["rows"] + 1:
            raise _Refusal(f"has more than {limits['rows']:,} rows", number)
        if width > limits["columns"]:
            raise _Refusal(f"a cell beyond column {limits['columns']}", number, letter(width))
        try:
            plain = [_plain(cells.get(at), number, letter(at)) for at in range(1, width + 1)]
            _check_lengths(number, plain, limits, letter)
        except _Refusal as bad:
            yield number, bad
        else:
            yield number, plain


def _check_lengths(number: int, cells: list[Any], limits: dict[str, Any], letter: Any) -> None:
    lengths = [len(cell) if isinstance(cell, str) else 0 for cell in cells]
    longest = max(lengths)
    if longest > limits["cell_chars"]:
        column = letter(lengths.index(longest) + 1)
        most = f"{limits['cell_chars']:,}"
        raise _Refusal(f"this cell is longer than {most} characters", number, column)
    if sum(lengths) > limits["row_chars"]:
        raise _Refusal(f"this row is longer than {limits['row_chars']:,} characters", number)


def _emit(*message: Any) -> None:
    line = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    sys.stdout.buffer.write(line.encode() + b"\n")


def _read(file: BinaryIO, limits: dict[str, Any], wanted: str | int | None) -> None:
    openpyxl = _import_openpyxl()
    is_office = file.read(1) == b"P" and not _check_archive(file, limits)
    file.seek(0)
    titles, rows_of = _office_book(openpyxl, file) if is_office else _other_book(file)
    chosen = _chosen_sheets(titles, wanted)
    _emit("sheets", titles)
    for position in chosen:
        _emit_sheet(position, _rows(rows_of(position), limits, openpyxl.utils.get_column_letter))


def _office_book(openpyxl: Any, file: BinaryIO) -> _Book:
    book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)

    def rows_of(position: int) -> Iterable[_SparseRow]:
        # The sheet's `iter_rows` would fill every gap and rely on the declared size.
        last = 0
        for number, cells in _parsed_rows(book, book.worksheets[position]):
            # Leave out a row that is out of order, as `iter_rows` does.
            if number > last:
                last = number
                yield number, {c["column"]: c["value"] for c in cells if c["value"] not in _EMPTY}

    return [sheet.title for sheet in book.worksheets], rows_of


def _parsed_rows(book: Any, sheet: Any) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    from openpyxl.worksheet._reader import WorkSheetParser

    how = {"data_only": True, "epoch": book.epoch, "date_formats": book._date_formats}
    how |= {"timedelta_formats": book._timedelta_formats}
    with sheet._get_source() as source:
        yield from WorkSheetParser(source, sheet._shared_strings, **how).parse()


def _other_book(file: BinaryIO) -> _Book:
    """Open an OpenDocument workbook or a workbook in the .xls format used before 2007."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(file)

    def rows_of(position: int) -> Iterable[_SparseRow]:
        sheet = book.get_sheet_by_index(position)
        # `iter_rows` starts at row 1, but at the first filled column.
        first = sheet.start[1] + 1 if sheet.start else 1
        for number, row in enumerate(sheet.iter_rows(), start=1):
            # There may be a million empty rows above a distant row.
            if row.count("") < len(row):
                places = enumerate(row, start=first)
                yield number, {at: _without_point(x) for at, x in places if x not in _EMPTY}

    return book.sheet_names, rows_of


def _without_point(value: Any) -> Any:
    """Return whole numbers as ints, because these formats store every number as a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _emit_sheet(position: int, rows: Iterator[tuple[int, list[Any] | _Refusal]]) -> None:
    first = list(itertools.islice(rows, _ROWS_FOR_WIDTH))
    widths = (len(cells) for _, cells in first if isinstance(cells, list))
    _emit("sheet", position, max(widths, default=0))
    for number, cells in itertools.chain(first, rows):
        if isinstance(cells, list):
            _emit("row", number, cells)
        else:
            _emit("bad", number, cells.column, str(cells))


def _reason_for(error: Exception) -> str:
    # openpyxl wraps the exceptions of defusedxml.
    for cause in (error, error.__cause__, error.__context__):
        if type(cause).__name__ in ("EntitiesForbidden", "ExternalReferenceForbidden"):
            return "contains XML entities, which no spreadsheet program writes"
    if isinstance(error, UnicodeError):
        return "contains text that is not valid Unicode"
    return f"is not a readable workbook ({type(error).__name__})"


def _outcome(limits: dict[str, Any], wanted: str | int | None) -> list[Any]:
    """Write the sheets, free their content, and return the last message."""
    try:
        _read(sys.stdin.buffer, limits, wanted)
    except _Refusal as refusal:
        return ["error", refusal.row, refusal.column, str(refusal)]
    except (MemoryError, RecursionError):
        return ["error", None, None, "needs too much memory to open"]
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:  # noqa: BLE001
        # A hostile workbook may cause any exception in openpyxl; each one becomes a reason.
        return ["error", None, None, _reason_for(error)]
    return ["end"]


def main() -> None:
    task = json.loads(sys.argv[1])
    limits = task["limits"]
    _confine(limits["child_memory_bytes"], limits["child_cpu_seconds"])
    _emit(*_outcome(limits, task["sheet"]))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
