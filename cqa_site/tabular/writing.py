"""Tables into files, row by row, in memory that does not grow with the rows.

Every writer takes a binary file object, the column names and an iterable of
tuples in that order. None is an empty cell (null in JSONL and Parquet).
Infinite and undefined numbers raise ValueError: a missing value is None.
"""

import csv
import io
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, BinaryIO

from .sheet_text import spreadsheet_safe, to_sheet_text
from .sheet_xml import Cell, write_sheet

# Excel's own bound, in UTF-16 units; openpyxl would cut longer text silently.
_LONGEST_CELL = 32_767
_MOST_SHEET_ROWS = 1_048_576
_PARQUET_BATCH = 10_000
_CSV_PIECE = 1 << 16

Cells = Sequence[Any]


def _checked(columns: Sequence[str], rows: Iterable[Cells]) -> Iterator[Cells]:
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(f"row {number} has {len(row)} cells for {len(columns)} columns")
        for column, cell in zip(columns, row, strict=True):
            if isinstance(cell, float) and not math.isfinite(cell):
                raise ValueError(f"row {number}, column {column}: {cell} is not a number")
        yield row


def _plain(cell: Any) -> Any:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, (datetime, date)):
        return cell.isoformat()
    return cell


def write_csv(
    file: BinaryIO,
    columns: Sequence[str],
    rows: Iterable[Cells],
    *,
    delimiter: str = ",",
    for_spreadsheets: bool = True,
) -> None:
    """Write CSV (or TSV) in UTF-8.

    Parameters
    ----------
    file : binary file object
        Left open.
    columns : sequence of str
        The header row.
    rows : iterable of sequences
        As many cells as columns.
    delimiter : str
        One character.
    for_spreadsheets : bool
        True: formulas are defused (see `spreadsheet_safe`) and a byte order
        mark lets Excel see that the text is UTF-8. False: the raw values.
    """
    pieces = csv_pieces(columns, rows, delimiter=delimiter, for_spreadsheets=for_spreadsheets)
    for piece in pieces:
        file.write(piece)


def csv_pieces(
    columns: Sequence[str],
    rows: Iterable[Cells],
    *,
    delimiter: str = ",",
    for_spreadsheets: bool = True,
) -> Iterator[bytes]:
    """Yield the same as bytes, some rows at a time."""
    text = io.StringIO("\ufeff" if for_spreadsheets else "", newline="")
    text.seek(0, io.SEEK_END)
    defuse = spreadsheet_safe if for_spreadsheets else _same
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    for row in itertools.chain([columns], _checked(columns, rows)):
        writer.writerow([defuse(_plain(cell)) for cell in row])
        if text.tell() >= _CSV_PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _same(value: object) -> object:
    return value


def write_jsonl(file: BinaryIO, columns: Sequence[str], rows: Iterable[Cells]) -> None:
    """Write one JSON object per line in UTF-8; lists and objects stay nested."""
    for row in _checked(columns, rows):
        record = dict(zip(columns, row, strict=True))
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, default=_iso)
        file.write(line.encode() + b"\n")


def _iso(value: Any) -> str:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def write_xlsx(
    file: BinaryIO, columns: Sequence[str], rows: Iterable[Cells], *, sheet: str = "Data"
) -> None:
    """Write one sheet in which every cell is a text or a number, never a formula.

    Text keeps its exact characters (what XML cannot hold is escaped the way
    Office does it), so no apostrophes are added here.

    Raises
    ------
    ValueError
        For text longer than a cell, and more rows than a sheet, can hold.
    """
    lines = enumerate(itertools.chain([columns], _checked(columns, rows)))
    write_sheet(file, (_sheet_row(columns, row, number) for number, row in lines), sheet=sheet)


def _sheet_row(columns: Sequence[str], row: Cells, number: int) -> list[Cell]:
    if number >= _MOST_SHEET_ROWS:
        raise ValueError(f"a sheet holds no more than {_MOST_SHEET_ROWS:,} rows")
    pairs = zip(columns, row, strict=True)
    return [_sheet_cell(cell, number, column) for column, cell in pairs]


def _sheet_cell(cell: Any, number: int, column: str) -> Cell:
    value = _plain(cell)
    if value is None or isinstance(value, (int, float)):
        return value
    if value == "":
        return None
    text = to_sheet_text(str(value))
    # A character takes one or two units, so only long text needs counting.
    if 2 * len(text) > _LONGEST_CELL and len(text.encode("utf-16-le")) > 2 * _LONGEST_CELL:
        most = f"{_LONGEST_CELL:,}"
        raise ValueError(f"row {number}, column {column}: longer than {most} characters")
    return text


def write_parquet(
    file: BinaryIO,
    columns: Sequence[str],
    rows: Iterable[Cells],
    *,
    types: Mapping[str, type] | None = None,
) -> None:
    """Write Parquet in batches.

    Parameters
    ----------
    file : binary file object
        Left open.
    columns : sequence of str
        Field names.
    rows : iterable of sequences
        As many cells as columns.
    types : mapping of column name to str, int, float, bool or datetime, optional
        Columns without a type take that of their values in the first 10,000
        rows (text if all are None).

    Raises
    ------
    ValueError
        If a later value does not fit its column's type.
    """
    import pyarrow as pa
    from pyarrow import parquet

    checked = _checked(columns, rows)
    batch = list(itertools.islice(checked, _PARQUET_BATCH))
    schema = _schema(pa, columns, batch, types or {})
    with parquet.ParquetWriter(file, schema) as writer:
        while batch:
            arrays = [[row[at] for row in batch] for at in range(len(columns))]
            writer.write_table(_arrow_table(pa, arrays, schema))
            batch = list(itertools.islice(checked, _PARQUET_BATCH))


def _schema(pa: Any, columns: Sequence[str], batch: list[Cells], types: Mapping[str, type]) -> Any:
    known = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        datetime: pa.timestamp("us", tz="UTC"),
    }
    fields = []
    for at, column in enumerate(columns):
        given = types.get(column)
        found = known[given] if given else pa.infer_type([row[at] for row in batch])
        fields.append((column, pa.string() if pa.types.is_null(found) else found))
    return pa.schema(fields)


def _arrow_table(pa: Any, arrays: list[list[Any]], schema: Any) -> Any:
    try:
        pairs = zip(arrays, schema, strict=True)
        made = [pa.array(cells, type=field.type) for cells, field in pairs]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"a value does not fit its column: {error}") from None
    return pa.table(made, schema=schema)
