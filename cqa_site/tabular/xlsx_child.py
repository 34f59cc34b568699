"""The process that opens workbooks, so that a hostile one can only kill this process.

Run as ``python -m cqa_site.tabular.xlsx_child '<limits and sheet as JSON>'`` with
the workbook as standard input. It writes one JSON list per line:
``["sheets", [title, ...]]``, ``["sheet", position, width]``, ``["row", number, cells]``
and at last ``["end"]`` or ``["error", row, column, reason]``.

It imports nothing of this package but the escapes, and never writes a file.
"""

import itertools
import json
import math
import os
import resource
import sys
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO

from .sheet_text import from_sheet_text

_LAST_SHEET_ROW = 1_048_576
# A sheet's width is not declared reliably; it is that of its first filled rows.
_ROWS_FOR_WIDTH = 1_000
_EMPTY = (None, "")
_MACROS = "vbaProject.bin"


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
    # openpyxl needs none of these to read, and they take memory and time.
    modules: Any = sys.modules
    modules.update(dict.fromkeys(("numpy", "pandas", "PIL", "lxml")))
    os.environ["OPENPYXL_DEFUSEDXML"] = "True"
    import openpyxl

    if not openpyxl.DEFUSEDXML:
        raise _Refusal("cannot be opened because defusedxml is not installed on this server")
    return openpyxl


def _check_archive(file: BinaryIO, limits: dict[str, Any]) -> None:
    """Judge the archive by its directory; zipfile later enforces the declared sizes."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, UnicodeError, ValueError):
        raise _Refusal("is a damaged ZIP file, not a workbook") from None
    if len(members) > limits["xlsx_members"]:
        raise _Refusal(f"has {len(members):,} parts inside, more than {limits['xlsx_members']}")
    names = {member.filename for member in members}
    if "[Content_Types].xml" not in names or "xl/workbook.xml" not in names:
        raise _Refusal("is a ZIP archive but no .xlsx workbook")
    if any(name.endswith(_MACROS) for name in names):
        raise _Refusal("contains macros; save it as .xlsx without them")
    if len(names) < len(members) or any(member.flag_bits & 1 for member in members):
        raise _Refusal("has repeated or encrypted parts inside")
    _check_sizes(members, limits)


def _check_sizes(members: list[zipfile.ZipInfo], limits: dict[str, Any]) -> None:
    total = sum(member.file_size for member in members)
    if total > limits["xlsx_unpacked_bytes"]:
        most = limits["xlsx_unpacked_bytes"]
        raise _Refusal(f"unpacks to {total:,} bytes, more than {most:,}")
    for member in members:
        if member.file_size > limits["xlsx_ratio"] * max(member.compress_size, 1):
            raise _Refusal(f"is packed more than {limits['xlsx_ratio']} times, as only a bomb is")


def _chosen_sheets(titles: list[str], wanted: str | int | None) -> list[int]:
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


def _rows(sheet: Any, limits: dict[str, Any], letter: Any) -> Iterator[tuple[int, list[Any]]]:
    """Filled rows only; the declared size of the sheet is not believed."""
    sheet.reset_dimensions()
    count = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > _LAST_SHEET_ROW:
            raise _Refusal("has more rows than a sheet can have", number)
        width = next((at for at in range(len(cells), 0, -1) if cells[at - 1] not in _EMPTY), 0)
        if not width:
            continue
        count += 1
        if count > limits["rows"] + 1:
            raise _Refusal(f"has more than {limits['rows']:,} rows", number)
        if width > limits["columns"]:
            raise _Refusal(f"a cell beyond column {limits['columns']}", number, letter(width))
        plain = [_plain(cells[at], number, letter(at + 1)) for at in range(width)]
        _check_lengths(number, plain, limits, letter)
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
    letter = openpyxl.utils.get_column_letter
    _check_archive(file, limits)
    file.seek(0)
    book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    titles = [sheet.title for sheet in book.worksheets]
    chosen = _chosen_sheets(titles, wanted)
    _emit("sheets", titles)
    for position in chosen:
        _emit_sheet(position, _rows(book.worksheets[position], limits, letter))


def _emit_sheet(position: int, rows: Iterator[tuple[int, list[Any]]]) -> None:
    first = list(itertools.islice(rows, _ROWS_FOR_WIDTH))
    _emit("sheet", position, max((len(cells) for _, cells in first), default=0))
    for number, cells in itertools.chain(first, rows):
        _emit("row", number, cells)


def _reason_for(error: Exception) -> str:
    # openpyxl wraps what defusedxml raises.
    for each in (error, error.__cause__, error.__context__):
        if type(each).__name__ in ("EntitiesForbidden", "ExternalReferenceForbidden"):
            return "contains XML entities, which no spreadsheet program writes"
    if isinstance(error, UnicodeError):
        return "contains text that is not valid Unicode"
    return f"is not a readable workbook ({type(error).__name__})"


def _outcome(limits: dict[str, Any], wanted: str | int | None) -> list[Any]:
    """Write the sheets; return the last message, after what they held is freed."""
    try:
        _read(sys.stdin.buffer, limits, wanted)
    except _Refusal as refusal:
        return ["error", refusal.row, refusal.column, str(refusal)]
    except (MemoryError, RecursionError):
        return ["error", None, None, "needs too much memory to open"]
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:  # noqa: BLE001
        # Whatever a hostile workbook makes openpyxl raise, the answer is a reason.
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
