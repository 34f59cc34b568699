"""Export of tables as CSV, JSON Lines, XLSX and Parquet."""

import csv
import io
import itertools
import json
import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from html import escape
from typing import Any, BinaryIO

# A leading mark that a spreadsheet program may interpret as a formula or command;
# the last four are full-width forms that some locales accept.
_RISKY = re.compile("^'*[=+\\-@|%\t\r\n\uff1d\uff0b\uff0d\uff20]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
# Characters outside XML's Char production, CR, which XML turns into LF, and an
# underscore that would be read as the start of an escape.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def spreadsheet_safe(value: object) -> object:
    """Put an apostrophe before text that a spreadsheet would interpret as a formula.

    Numbers are unchanged. Text that already has apostrophes before a formula
    gets another one, so that `spreadsheet_unsafe` always restores the original.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe(-1), spreadsheet_safe("'tis")
    ("'=1+1", -1, "'tis")
    """
    if isinstance(value, str) and _RISKY.match(value):
        return "'" + value
    return value


def spreadsheet_unsafe(value: object) -> object:
    """Undo `spreadsheet_safe`.

    Examples
    --------
    >>> spreadsheet_unsafe("'=1+1"), spreadsheet_unsafe("'tis")
    ('=1+1', "'tis")
    """
    if isinstance(value, str) and value.startswith("'") and _RISKY.match(value):
        return value[1:]
    return value


def to_sheet_text(text: str) -> str:
    """Escape characters that are invalid in sheet XML, as Office does (``_x000D_`` for CR)."""
    return _ESCAPED.sub(lambda match: f"_x{ord(match.group()):04X}_", text)


def from_sheet_text(text: str) -> str:
    """Undo `to_sheet_text`; raises UnicodeError if half a surrogate pair results."""
    if "_x" not in text:
        return text
    plain = _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


# Streaming of one worksheet as the XML inside an .xlsx file
#
# Cells are only texts and numbers, and every text is an inline string, so no cell
# can become a formula. Writing the few required parts directly takes a seventh of
# the time that a general library needs.

Cell = str | int | float | None

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_ROWS_AT_ONCE = 500


def write_sheet(file: BinaryIO, rows: Iterable[Sequence[Cell]], *, sheet: str) -> None:
    """Write a workbook with one sheet.

    Parameters
    ----------
    file : binary file object
        Binary file, which is left open.
    rows : iterable of sequences
        Texts must contain only characters that XML allows; None is an empty cell.
    sheet : str
        The name of the sheet.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as parts:
        for name, text in _parts(sheet).items():
            parts.writestr(name, _HEAD + text)
        with parts.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as stream:
            stream.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            waiting: list[str] = []
            for number, row in enumerate(rows, start=1):
                waiting.append(_row(number, row))
                if number % _ROWS_AT_ONCE == 0:
                    stream.write("".join(waiting).encode())
                    waiting.clear()
            stream.write("".join(waiting).encode())
            stream.write(b"</sheetData></worksheet>")


def _row(number: int, row: Sequence[Cell]) -> str:
    cells = [
        _cell(f"{_letters(place)}{number}", value)
        for place, value in enumerate(row)
        if value is not None
    ]
    return f'<row r="{number}">{"".join(cells)}</row>'


def _cell(place: str, value: str | int | float) -> str:
    if isinstance(value, str):
        text = escape(value, quote=False)
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def _letters(place: int) -> str:
    """Return the letters of a column; columns are counted from 0.

    Examples
    --------
    >>> _letters(0), _letters(25), _letters(26), _letters(701), _letters(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(65 + rest) + name
    return name


def _parts(sheet: str) -> dict[str, str]:
    """Return the parts of a workbook other than its sheet."""
    links = f'<Relationships xmlns="{_PACKAGE}/relationships">'
    return {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
            "</Types>"
        ),
        "_rels/.rels": (
            f'{links}<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
            f'<sheet name="{escape(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": (
            f'{links}<Relationship Id="rId1" Type="{_OFFICE}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>'
        ),
    }


# Writing of tables row by row, with memory use independent of the number of rows
#
# Every writer takes a binary file object, the column names and an iterable of
# rows with cells in column order. None is an empty cell (null in JSONL and
# Parquet). Infinite and undefined numbers raise ValueError; use None for a
# missing value.

# Excel's limit, in UTF-16 units; openpyxl would cut longer text silently.
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
        Binary file, which is left open.
    columns : sequence of str
        The header row.
    rows : iterable of sequences
        Rows with as many cells as columns.
    delimiter : str
        A single character.
    for_spreadsheets : bool
        Whether to escape formulas (see `spreadsheet_safe`) and add a byte order
        mark, by which Excel recognizes UTF-8. If False, write the raw values.
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
    """Yield CSV (or TSV) as bytes, several rows at a time."""
    text = io.StringIO("\ufeff" if for_spreadsheets else "", newline="")
    text.seek(0, io.SEEK_END)
    defuse = spreadsheet_safe if for_spreadsheets else lambda value: value
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    for row in itertools.chain([columns], _checked(columns, rows)):
        writer.writerow([defuse(_plain(cell)) for cell in row])
        if text.tell() >= _CSV_PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


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

    Text keeps its exact characters (those that XML does not allow are escaped as
    Office does), and no apostrophes are added.

    Raises
    ------
    ValueError
        If a text is too long for a cell, or if there are too many rows for a sheet.
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
    # A character takes one or two units, so only long texts are counted.
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
        Binary file, which is left open.
    columns : sequence of str
        Field names.
    rows : iterable of sequences
        Rows with as many cells as columns.
    types : mapping of column name to str, int, float, bool or datetime, optional
        A column without a type gets the type of its values in the first 10,000
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
        cell_type = types.get(column)
        kind = known[cell_type] if cell_type else pa.infer_type([row[at] for row in batch])
        fields.append((column, pa.string() if pa.types.is_null(kind) else kind))
    return pa.schema(fields)


def _arrow_table(pa: Any, arrays: list[list[Any]], schema: Any) -> Any:
    try:
        pairs = zip(arrays, schema, strict=True)
        columns = [pa.array(cells, type=field.type) for cells, field in pairs]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"a value does not fit its column: {error}") from None
    return pa.table(columns, schema=schema)
