"""Sheets with far cells: what is made is what stands in the file, not the area it spans."""

import io

import openpyxl
import pytest

from cqa_site.tabular import UnreadableFile, open_table, xlsx_child

from .files import HEADER, MAIN, SECOND, FinishedChild, cell, packed, saved, workbook
from .files import workbook_parts as parts
from .other_workbooks import cells, ods, row

LAST = 1_048_576
HEADER_CELLS = {1: "object1", 2: "text"}
SECOND_CELLS = {1: "oak", 2: "grows slowly"}


def at(place: str) -> str:
    """A row of one cell."""
    return f'<row r="{place.lstrip("ABCDEFX")}">{cell(place, "x")}</row>'


def declared(size: str, rows: str) -> bytes:
    """A workbook whose sheet says that it is so large."""
    sheet = f'<dimension ref="{size}"/><sheetData>{rows}</sheetData>'
    return packed(parts(f'<worksheet xmlns="{MAIN}">{sheet}</worksheet>'))


def repeated(rows: int, content: str = "<table:table-cell/>") -> str:
    return f'<table:table-row table:number-rows-repeated="{rows}">{content}</table:table-row>'


def skipped(columns: int) -> str:
    return f'<table:table-cell table:number-columns-repeated="{columns}"/>'


EMPTY_FAR = '<row r="3"><c r="XFD3"/></row>' + at("A4")
# name of the case: (content, the rows that are made of it)
OFFICE = {
    "far cell": (workbook(at(f"XFD{LAST}")), [(LAST, {16384: "x"})]),
    "far row": (workbook(HEADER + at(f"A{LAST}")), [(1, HEADER_CELLS), (LAST, {1: "x"})]),
    "far column": (workbook(HEADER + at("XFD2")), [(1, HEADER_CELLS), (2, {16384: "x"})]),
    "far empty cell": (workbook(HEADER + EMPTY_FAR), [(1, HEADER_CELLS), (3, {}), (4, {1: "x"})]),
    "large declared": (
        declared(f"A1:XFD{LAST}", HEADER + SECOND),
        [(1, HEADER_CELLS), (2, SECOND_CELLS)],
    ),
    "small declared": (declared("A1", HEADER + SECOND), [(1, HEADER_CELLS), (2, SECOND_CELLS)]),
    "rows out of order": (workbook(at("A5") + at("A2") + at("A5")), [(5, {1: "x"})]),
    "row beyond the last": (workbook(at(f"A{10**12}")), [(10**12, {1: "x"})]),
}
OTHERS = {
    "far cell": (
        ods(repeated(LAST - 1) + row(skipped(16383) + cells("x"))),
        [(LAST, {16384: "x"})],
    ),
    "far row": (
        ods(row(cells("a", "b")) + repeated(LAST - 2) + row(cells("x"))),
        [(1, {1: "a", 2: "b"}), (LAST, {1: "x"})],
    ),
    "empty rows below": (
        ods(row(cells("a")) + repeated(LAST - 1, skipped(16384))),
        [(1, {1: "a"})],
    ),
    "first row and column empty": (
        ods(repeated(2) + row(skipped(1) + cells("a")) + row(skipped(2) + cells("b"))),
        [(3, {2: "a"}), (4, {3: "b"})],
    ),
}


@pytest.mark.parametrize("case", OFFICE)
def test_an_office_sheet_makes_the_cells_that_stand_in_it(case):
    content, rows = OFFICE[case]
    _titles, rows_of = xlsx_child._office_book(openpyxl, io.BytesIO(content))
    assert list(rows_of(0)) == rows


@pytest.mark.parametrize("case", OTHERS)
def test_another_sheet_makes_its_filled_rows(case):
    content, rows = OTHERS[case]
    _titles, rows_of = xlsx_child._other_book(io.BytesIO(content))
    assert list(rows_of(0)) == rows


def test_repeated_rows_end_at_the_limit():
    """Rows that are filled and repeated are rows: no more are made than a file may have."""
    content = ods(row(cells("a")) + repeated(4_000_000_000, cells("x")))
    _titles, rows_of = xlsx_child._other_book(io.BytesIO(content))
    made = []

    def counted(sparse):
        made.append(sparse[0])
        return sparse

    limits = {"rows": 50, "columns": 5, "cell_chars": 9, "row_chars": 9}
    with pytest.raises(xlsx_child._Refusal, match="more than 50 rows"):
        list(xlsx_child._rows(map(counted, rows_of(0)), limits, str))
    assert len(made) == 52


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xlsx", OFFICE["far cell"][0], "row 1048576, column XFD: a cell beyond column 200"),
        ("a.ods", OTHERS["far cell"][0], "row 1048576, column XFD: a cell beyond column 200"),
        ("a.xlsx", OFFICE["row beyond the last"][0], "more rows than a sheet can have"),
    ],
)
def test_a_far_cell_is_named(tmp_path, monkeypatch, name, content, words):
    monkeypatch.setattr("cqa_site.tabular.binary_formats._start_child", FinishedChild)
    with pytest.raises(UnreadableFile, match=words):
        open_table(saved(tmp_path, content), name=name)
