"""Where tables begin, what one bad row costs, and sheets with far cells."""

import base64
import io
import json
import zlib

import openpyxl
import pytest

from cqa_site.tabular import (
    Limits,
    ReadingLog,
    UnreadableFile,
    open_table,
    open_table_or_lines,
    xlsx_child,
)
from .files import (
    HEADER,
    MAIN,
    OLD_WORKBOOK,
    SECOND,
    cell,
    cells,
    ods,
    packed,
    repeated,
    row,
    saved,
    skipped,
    typed,
    workbook,
    workbook_parts,
)
from .test_hostile import LAST
from .test_opening import book_bytes

STORY = [
    f"{number};{text};{score}"
    for number, text, score in (
        (1, "The lift is slow.", "4"),
        (2, "Lifts are too small.", "2"),
        (3, "Stairs are steep.", "3"),
        (4, "Ramps, please.", "5"),
    )
]


def read(path, name="a.csv", **how):
    log = ReadingLog()
    with open_table_or_lines(path, name=name, log=log, **how) as table:
        return table, [list(row.values.values()) for row in table.rows], log


def test_the_header_is_found_below_titles_and_separator_lines(tmp_path):
    for above, at, words in (
        ([], 1, ""),
        (["Answers of spring, part 1", ""], 3, "1 row above it left out"),
        (["Lifts and stairs", "as of 3 May", ""], 4, "2 rows above it left out"),
        (["About;;", ";;"], 3, "2 rows above it left out"),
        (["sep=;"], 2, ""),
        (['"sep=;"'], 2, ""),
    ):
        path = saved(tmp_path, "\n".join([*above, "no;comment;score", *STORY]))
        table, rows, log = read(path)
        assert (table.columns, table.header_row) == (["no", "comment", "score"], at)
        assert (len(rows), rows[0][1], log.rejected) == (4, "The lift is slow.", [])
        assert words in " ".join(log.notes)


def test_titles_over_groups_and_rows_of_questions_are_no_names(tmp_path):
    lines = ["Person;;Answers", "no;comment;score", *STORY]
    assert read(saved(tmp_path, "\n".join(lines)))[0].columns == ["no", "comment", "score"]
    groups = [["Person", None, "Answers"], ["no", "comment", "score"], [1, "Slow lifts.", 3]]
    path = saved(tmp_path, book_bytes(("One", [*groups, [2, "Steep stairs.", 4]])))
    table, rows, _log = read(path, "a.xlsx")
    assert (table.columns, table.header_row) == (["no", "comment", "score"], 2)
    assert rows == [[1, "Slow lifts.", 3], [2, "Steep stairs.", 4]]
    for below in (
        [";".join(ASKED)],
        [";".join(ASKED), ";".join(f'"{{""ImportId"":""Q{n}""}}"' for n in range(3))],
    ):
        table, rows, log = read(saved(tmp_path, "\n".join(["no;Q7;Q8", *below, *STORY])))
        assert (table.columns, len(rows)) == (["no", "Q7", "Q8"], 4)
        assert table.titles == dict(zip(["no", "Q7", "Q8"], ASKED, strict=True))
        assert "left out" in log.notes[0]


ASKED = ["Number", "What should change in the house?", "How old are you?"]


def test_odd_first_rows_headings_empty_rows_and_repeated_headers(tmp_path):
    lines = ["no;comment;score", "1;Slow lifts.;unknown", *STORY]
    assert len(read(saved(tmp_path, "\n".join(lines)))[1]) == 5
    path = saved(tmp_path, "\n".join(["id. Number;Q1. What should change?;Q2. How old?", *STORY]))
    table, _rows, _log = read(path)
    assert table.titles["Q1. What should change?"] == "What should change?"
    _table, rows, log = read(saved(tmp_path, "no;comment\n1;Slow\n;\n;;\n2;Steep\n;\n"))
    assert (len(rows), log.notes) == (2, ["3 empty rows left out."])
    path = saved(tmp_path, "\n".join(["no;comment;score", *STORY, "no;comment;score", "5;Far;1"]))
    _table, rows, log = read(path)
    assert (len(rows), log.notes) == (5, ["1 row repeats the header, first row 6: left out."])


def test_row_names_get_a_column_empty_cells_at_the_end_are_ignored_and_a_header_can_be_named(
    tmp_path,
):
    table, rows, log = read(saved(tmp_path, 'no,comment\n"a",1,Slow\n"b",2,Steep\n'))
    assert (table.columns, rows[1]) == (["Row name", "no", "comment"], ["b", "2", "Steep"])
    assert "Row name" in log.notes[0]
    table, rows, log = read(saved(tmp_path, "no,comment\n1,Slow,,,\n2,Steep,,\n"))
    assert (table.columns, rows[1], log.rejected) == (["no", "comment"], ["2", "Steep"], [])
    path = saved(tmp_path, "\n".join(["Report;of;May", "no;comment;score", *STORY]))
    assert read(path)[0].header_row == 1
    table, rows, _log = read(path, header_row=2)
    assert (table.columns, len(rows)) == (["no", "comment", "score"], 4)
    with pytest.raises(UnreadableFile, match="row 99: this row cannot be the header"):
        read(path, header_row=99)


def test_one_bad_row_is_rejected_alone_and_raises_without_a_log(tmp_path):
    for line, words in (
        ("In all: 4 answers", "1 cell but the header has 3"),
        ("5;a;b;c", "4 cells but the header has 3"),
        ('5;"Too "loud;3', "text follows a closing quotation mark"),
        (f"5;{'x' * 228_000};3", "longer than 100,000 characters"),
    ):
        path = saved(tmp_path, "\n".join(["no;comment;score", *STORY[:2], line, *STORY[2:]]))
        _table, rows, log = read(path)
        assert len(rows) == 4
        (problem,) = log.rejected
        assert (problem.row, words in problem.reason) == (4, True)
        with pytest.raises(UnreadableFile, match="row 4"), open_table(path, name="a.csv") as table:
            list(table.rows)


def test_bad_records_and_cells_are_rejected_alone_and_nan_is_missing(tmp_path):
    listed = '[{"a": "x", "n": NaN}, 5, {"a": "\\u0000"}, {"a": "y", "n": -Infinity}]'
    _table, rows, log = read(saved(tmp_path, listed), "a.json")
    assert rows == [["x", None], ["y", None]]
    assert [problem.row for problem in log.rejected] == [2, 3]
    assert log.notes == ["2 values are NaN or infinite, and treated as missing."]
    lines = "\n".join(['{"a": "x"}', "broken", '{"a": 1, "a": 2}', json.dumps({"a": "y"})])
    # Lines of JSON, whatever the file is called.
    for name in ("a.jsonl", "a.json"):
        table, rows, log = read(saved(tmp_path, lines), name)
        assert (table.kind, rows) == ("jsonl", [["x"], ["y"]])
        assert [problem.row for problem in log.rejected] == [2, 3]
    rows = [["no", "comment"], [1, "Slow"], [2**70, "Steep"], [3, "x" * 30_000]]
    content = book_bytes(("One", rows))
    _table, rows, log = read(saved(tmp_path, content), "a.xlsx", limits=Limits(cell_chars=20_000))
    assert rows[0] == [1, "Slow"]
    assert [(problem.row, problem.column) for problem in log.rejected] == [(4, "B")]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "no;comment\n1;Zu eng – „viel“ zu eng\n"),
        ("cp1251", "no;comment\n1;Слишком громко и тесно\n"),
        ("latin-1", "no;comment\n1;Tr\x81s \xe9troit\n"),
    ],
)
def test_another_encoding_is_proposed_with_the_byte_that_shows_it(tmp_path, encoding, text):
    path = saved(tmp_path, text.encode(encoding))
    with pytest.raises(UnreadableFile, match=f"row 2: byte 0x.. .* as {encoding} it reads") as bad:
        read(path)
    assert bad.value.encoding == encoding
    assert read(path, encoding=encoding)[1][0][1] in text


def test_what_archives_and_other_spreadsheets_hold(tmp_path):
    path = saved(
        tmp_path, packed({"Export/Lifts.csv": "no,comment\n1,Slow\n", "__MACOSX/x.csv": ""})
    )
    table, rows, _log = read(path, "lifts.zip")
    assert (table.name, rows) == ("Lifts.csv", [["1", "Slow"]])
    path = saved(tmp_path, packed({"a.csv": "a\n1\n", "b.csv": "a\n1\n"}))
    with pytest.raises(UnreadableFile):
        read(path, "both.zip")
    words = cells("item", "text", "label", "done", "day")
    values = (
        cells("a1", "Salt &amp; light")
        + typed("float", "2", value="2")
        + typed("boolean", "WAHR", boolean="true")
        + typed("date", "02.03.24", date="2024-03-02")
    )
    empty = (
        '<table:table-row table:number-rows-repeated="1048574"><table:table-cell/>'
        "</table:table-row>"
    )
    table, rows, _log = read(saved(tmp_path, ods(row(words) + row(values) + empty)), "book.ods")
    assert table.sheets == ["Data"]
    assert rows == [["a1", "Salt & light", 2, True, "2024-03-02"]]
    path = saved(tmp_path, zlib.decompress(base64.b85decode("".join(OLD_WORKBOOK))))
    table = open_table(path, name="book.xls", sheet="Data")
    assert table.sheets == ["Notes", "Data"]
    rows = [list(each.values.values()) for each in table.rows]
    grill = ["gas grill", "charcoal grill", "Gas heats up faster."]
    assert rows[0] == [*grill, 2, "2024-03-02", True]
    assert rows[1][3:] == [2.5, "2024-03-04", False]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("", "empty"),
        (
            '<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
            'office:value-type="string" table:number-columns-repeated="16384"><text:p>x</text:p>'
            "</table:table-cell></table:table-row>",
            "not a readable workbook|processor time or memory",
        ),
        (
            '<table:table-row><table:table-cell table:number-columns-repeated="16383"/>'
            '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'
            "</table:table-row>",
            "a cell beyond column 200",
        ),
    ],
)
def test_an_opendocument_spreadsheet_can_harm_nobody(tmp_path, rows, reason):
    with pytest.raises(UnreadableFile, match=reason):
        read(saved(tmp_path, ods(rows)), "book.ods")


HEADER_CELLS = {1: "object1", 2: "text"}
SECOND_CELLS = {1: "oak", 2: "grows slowly"}


def at(place: str) -> str:
    """A row of one cell."""
    return f'<row r="{place.lstrip("ABCDEFX")}">{cell(place, "x")}</row>'


def declared(size: str, rows: str) -> bytes:
    """A workbook whose sheet says that it is so large."""
    sheet = f'<dimension ref="{size}"/><sheetData>{rows}</sheetData>'
    return packed(workbook_parts(f'<worksheet xmlns="{MAIN}">{sheet}</worksheet>'))


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
