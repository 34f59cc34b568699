"""Shared types of this package: limits, tables, rows and file errors."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TypeAlias, TypeVar

Record = TypeVar("Record")
Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The limits above which an uploaded file is rejected.

    Sizes are in bytes, lengths in characters. `row_chars` limits a row with all
    its cells, so that no reader needs memory for more than one row of that size.
    The `child_*` values limit the process that opens workbooks.
    """

    text_bytes: int = 64 * MEGABYTE
    xlsx_bytes: int = 20 * MEGABYTE
    rows: int = 200_000
    columns: int = 200
    cell_chars: int = 100_000
    row_chars: int = 1_000_000
    json_depth: int = 32
    xlsx_unpacked_bytes: int = 64 * MEGABYTE
    xlsx_members: int = 200
    xlsx_ratio: int = 200
    child_memory_bytes: int = 768 * MEGABYTE
    child_cpu_seconds: int = 20
    child_wait_seconds: float = 25.0


DEFAULT_LIMITS = Limits()


def _describe(file: str, row: int | None, column: str | None, reason: str) -> str:
    place = [file]
    if row is not None:
        place.append(f"row {row}")
    if column is not None:
        place.append(f"column {column}")
    return f"{', '.join(place)}: {reason}"


@dataclass(frozen=True)
class Problem:
    """A problem at a position; `row` and `column` are None if unknown."""

    file: str
    row: int | None
    column: str | None
    reason: str

    def __str__(self) -> str:
        return _describe(self.file, self.row, self.column, self.reason)


class UnreadableFile(Exception):
    """Raised if a file cannot be read any further.

    Parameters
    ----------
    file : str
        The user's name for the file, made printable.
    reason : str
        The problem, and a remedy if there is one.
    row : int or None
        Row number that people see (see `TableRow`).
    column : str or None
        Column header.
    encoding : str
        Encoding in which the file can be read, if a different one was expected.
    sheets : sequence of str
        Sheets of a workbook in which only the current sheet cannot be read.
    """

    def __init__(
        self,
        file: str,
        reason: str,
        *,
        row: int | None = None,
        column: str | None = None,
        encoding: str = "",
        sheets: Sequence[str] = (),
    ) -> None:
        self.file = printable_name(file)
        self.reason = reason
        self.row = row
        self.column = column
        self.encoding = encoding
        self.sheets = list(sheets)
        super().__init__(_describe(self.file, row, column, reason))


@dataclass
class ReadingLog:
    """Rejected rows and notes collected while a table is read.

    Attributes
    ----------
    rejected
        Rows that cannot be read. A reader with a log leaves them out and continues; a reader
        without a log raises `UnreadableFile` at the first such row.
    notes
        Sentences about omitted or changed content.
    unread
        Columns that the reader does not use.
    """

    rejected: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def reject(log: ReadingLog | None, problem: Problem) -> None:
    """Log a row that cannot be read; without a log, raise `UnreadableFile`."""
    if log is None:
        row, column = problem.row, problem.column
        raise UnreadableFile(problem.file, problem.reason, row=row, column=column)
    log.rejected.append(problem)


@dataclass(frozen=True)
class TableRow:
    """One record of a table.

    `number` is the row number that people see: the physical line on which the record starts (CSV,
    TSV, JSONL), the sheet row (XLSX), or the position counted from 1 (JSON). `values` has every
    column of the table as a key; text cells are never trimmed, an absent JSON key and an empty
    sheet cell are None, and an empty CSV cell is "".
    """

    number: int
    values: dict[str, Value]


class BadCell(ValueError):
    """Raised if a row is unusable because of the cell in ``column``; ``reason`` explains why."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"{column}: {reason}")
        self.column = column
        self.reason = reason


def _nothing_to_close() -> None:
    return None


@dataclass
class Table:
    """Columns and a one-way stream of rows; use it in a `with` block.

    Iterating `rows` raises `UnreadableFile` at a row that cannot be read. `close`
    releases the file and ends the child process at any time.
    """

    name: str
    kind: str
    columns: list[str]
    rows: Iterator[TableRow]
    encoding: str | None = None
    delimiter: str | None = None
    sheets: list[str] = field(default_factory=list)
    # The full question by column, for survey exports that have it in addition to a short name.
    titles: dict[str, str] = field(default_factory=dict)
    # The row with the column names; None if the format has no such row.
    header_row: int | None = None
    close: Callable[[], None] = _nothing_to_close

    def records(self, read: Callable[[TableRow], Record]) -> Iterator[Record | Problem]:
        """Yield the result of ``read`` for each row, or a problem if it raises `BadCell`."""
        for row in self.rows:
            try:
                record = read(row)
            except BadCell as bad:
                yield Problem(self.name, row.number, bad.column, bad.reason)
            else:
                yield record

    def require(self, columns: Iterable[str]) -> None:
        """Raise `UnreadableFile` if a required column is missing."""
        if missing := [column for column in columns if column not in self.columns]:
            raise UnreadableFile(self.name, f"has no column {', '.join(missing)}")

    def __enter__(self) -> "Table":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True)
class FilePreview:
    """The start of a file, at most 20 rows, shown on the page for choosing columns."""

    name: str
    kind: str
    encoding: str | None
    delimiter: str | None
    sheets: list[str]
    columns: list[str]
    rows: list[TableRow]
    titles: dict[str, str] = field(default_factory=dict)
    header_row: int | None = None


def counted(number: int, singular: str, many: str) -> str:
    """Return a formatted number with its noun.

    >>> counted(1, "row", "rows"), counted(1200, "row", "rows")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {singular if number == 1 else many}"


def printable_name(name: str, longest: int = 200) -> str:
    """Return the last part of a client's file name, without control or direction marks.

    >>> printable_name("../../etc/votes\\u202evsc.csv")
    'votes?vsc.csv'
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1] or "unnamed file"
    text = "".join("?" if unicodedata.category(c)[0] == "C" else c for c in last)
    return text[:longest]
