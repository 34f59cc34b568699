"""What each honest format gives: kind, columns, rows and the numbers people see."""

import io
import itertools
from datetime import datetime

import openpyxl
import pytest

from cqa_site.tabular import Limits, UnreadableFile, open_table, preview
from .files import HEADER, SECOND, FinishedChild, cell, saved, workbook


@pytest.fixture(autouse=True)
def _child_here(request, monkeypatch):
    """One process for all but the tests that ask for the child."""
    if "child" not in request.fixturenames:
        monkeypatch.setattr("cqa_site.tabular.binary_formats._start_child", FinishedChild)


@pytest.fixture
def child():
    """A workbook is read by a process of its own."""


def read(path, name, **options):
    with open_table(path, name=name, **options) as table:
        return table.columns, [(row.number, list(row.values.values())) for row in table.rows]


def refused(path, name, **options):
    with pytest.raises(UnreadableFile) as caught:
        read(path, name, **options)
    return caught.value


def book_bytes(*sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        page = book.create_sheet(title)
        for row in rows:
            page.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_what_a_text_holds(tmp_path):
    for text, name, columns, rows in (
        # Rows are numbered by the line they start on.
        (
            'a,b\r\n1,"two\r\nlines, one cell"\r\n\r\n3,4\r\n',
            "a.csv",
            ["a", "b"],
            [(2, ["1", "two\r\nlines, one cell"]), (5, ["3", "4"])],
        ),
        # White space and quotation marks in cells stay.
        ('a\tb\n  x \t""" said"\n', "a.tsv", ["a", "b"], [(2, ["  x ", '" said'])]),
        # Line separators of other alphabets are no line ends.
        ("a\nx\u2028y\x85z\x0c\n1\n", "a.csv", ["a"], [(2, ["x\u2028y\x85z\x0c"]), (3, ["1"])]),
        # One column needs no separator.
        ("text\nshort and plain\n", "a.csv", ["text"], [(2, ["short and plain"])]),
        # Repeated and empty headers get visible names.
        (
            "Label,Label, ,Label\n1,2,3,4\n",
            "a.csv",
            ["Label", "Label (2)", "Column 3", "Label (3)"],
            [(2, ["1", "2", "3", "4"])],
        ),
    ):
        assert read(saved(tmp_path, text), name) == (columns, rows)


def test_the_separator_is_found_and_a_preview_stops_after_twenty_rows(tmp_path):
    for mark in ",;\t|":
        text = f"object1{mark}text\noak{mark}{'plain' if mark in ',;' else 'one, two; three'}\n"
        shown = preview(saved(tmp_path, text), name="a.csv")
        assert (shown.delimiter, shown.columns) == (mark, ["object1", "text"])
        assert shown.kind == ("tsv" if mark == "\t" else "csv")
    shown = preview(saved(tmp_path, "a,b\n" + "1,2\n" * 50 + "broken\n"), name="a.csv")
    assert [row.number for row in shown.rows] == list(range(2, 22))


def test_byte_order_marks_and_encodings_are_used_and_a_wrong_byte_is_named(tmp_path):
    text = "größe,b\n1,€\n"
    for encoding in ("utf-8-sig", "utf-16"):
        path = saved(tmp_path, text.encode(encoding))
        assert read(path, "a.csv") == (["größe", "b"], [(2, ["1", "€"])])
    path = saved(tmp_path, "größe,b\n1,2\n".encode("latin-1"))
    assert read(path, "a.csv", encoding="latin-1")[0] == ["größe", "b"]
    error = refused(saved(tmp_path, b"a,b\n1,2\n3,caf\xe9\n"), "a.csv")
    assert error.row == 3
    assert "byte 0xE9 at offset 13 is not UTF-8" in error.reason
    # Also across the pieces that are read.
    before = b"a,b\n" + b"1,2\n" * 262_143
    assert len(before) == 1024 * 1024
    error = refused(saved(tmp_path, before[:-1] + b"\xc3" + b"(\n"), "a.csv")
    assert f"offset {len(before) - 1} " in error.reason


def test_json_list_object_and_lines_agree_and_long_ones_are_streamed(tmp_path):
    expected = (["a", "b"], [["x", None], ["y", [1, {"c": None}]]])
    listed = '[{"a": "x"}, {"a": "y", "b": [1, {"c": null}]}]'
    lined = '{"a": "x"}\n\n{"a": "y", "b": [1, {"c": null}]}\n'
    held = '{"version": {"n": 1}, "items": ' + listed + ', "more": "text"}'
    for content, name, numbers in (
        (listed, "a.json", [1, 2]),
        (held, "a.json", [1, 2]),
        (lined, "a.jsonl", [1, 3]),
        (lined, "a.json", [1, 3]),
        ("\ufeff" + listed, "a.json", [1, 2]),
    ):
        columns, rows = read(saved(tmp_path, content), name)
        assert (columns, [values for _, values in rows]) == expected
        assert [number for number, _ in rows] == numbers
    records = ",\n".join(f'{{"n": {n}, "t": "{"x" * 50}"}}' for n in range(1000))
    limits = Limits(row_chars=100)
    _, rows = read(saved(tmp_path, f"[{records}]"), "a.json", limits=limits)
    assert [values[0] for _, values in rows] == list(range(1000))


def test_sheet_rows_are_numbered_as_in_the_sheet_and_values_beside_the_header_kept(tmp_path):
    rows = f'{HEADER}<row r="5">{cell("B5", "five")}</row><row r="1000"><c r="A1000" s="0"/></row>'
    columns, read_rows = read(saved(tmp_path, workbook(rows)), "a.xlsx")
    assert columns == ["object1", "text"]
    assert read_rows == [(5, [None, "five"])]
    content = book_bytes(("One", [["a"], [1, None, "note"]]))
    columns, rows = read(saved(tmp_path, content), "a.xlsx")
    assert columns == ["a", "Column 2", "Column 3"]
    assert rows == [(2, [1, None, "note"])]
    row = '<row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row>'
    assert read(saved(tmp_path, workbook(HEADER + row)), "a.xlsx")[1] == [(2, [2, None])]


def test_sheet_can_be_chosen_by_title_and_place(tmp_path):
    content = book_bytes(("One", [["a"], [1]]), ("Two", [["b"], [2.5]]))
    path = saved(tmp_path, content)
    assert read(path, "a.xlsx") == (["a"], [(2, [1])])
    assert read(path, "a.xlsx", sheet="Two") == read(path, "a.xlsx", sheet=1)
    assert read(path, "a.xlsx", sheet=1) == (["b"], [(2, [2.5])])
    assert preview(path, name="a.xlsx").sheets == ["One", "Two"]
    assert "no sheet named" in refused(path, "a.xlsx", sheet="Three").reason
    assert "no sheet number 3" in refused(path, "a.xlsx", sheet=2).reason


def test_dates_become_text_and_rows_can_be_left_half_read(tmp_path, child):
    moment = datetime(2024, 2, 4, 19, 13)
    content = book_bytes(("One", [["a"], [moment], *([n] for n in range(5000))]))
    with open_table(saved(tmp_path, content), name="a.xlsx") as table:
        values = [row.values["a"] for row in itertools.islice(table.rows, 2)]
    assert values == ["2024-02-04T19:13:00", 0]


def test_limits_are_counted_exactly_and_a_kind_overrides_the_name(tmp_path):
    assert Limits().rows == 200_000
    path = saved(tmp_path, "a,b\n1,2\n3,4\n")
    assert len(read(path, "a.csv", limits=Limits(rows=2, columns=2, cell_chars=1))[1]) == 2
    assert "more than 1 rows" in refused(path, "a.csv", limits=Limits(rows=1)).reason
    assert "2 columns" in refused(path, "a.csv", limits=Limits(columns=1)).reason
    error = refused(saved(tmp_path, "a,b\n1,222\n"), "a.csv", limits=Limits(cell_chars=2))
    assert (error.row, error.column) == (2, "b")
    error = refused(saved(tmp_path, 'a,b\n1,"x\n2,y\n3,z\n'), "a.csv")
    assert str(error).startswith("a.csv, row 2: ")
    assert "never closed" in error.reason
    for content, name in (('[{"a":1},{"a":2}]', "a.json"), ('{"a":1}\n{"a":2}', "a.jsonl")):
        error = refused(saved(tmp_path, content), name, limits=Limits(rows=1))
        assert "more than 1" in error.reason
    book = saved(tmp_path, workbook(HEADER + SECOND + SECOND.replace("2", "3")))
    assert len(read(book, "a.xlsx", limits=Limits(rows=2))[1]) == 2
    assert "more than 1 rows" in refused(book, "a.xlsx", limits=Limits(rows=1)).reason
    path = saved(tmp_path, "a,b\n1,2\n")
    assert read(path, "upload.dat", kind="csv")[1] == [(2, ["1", "2"])]
    assert "only files named .csv" in refused(path, "upload.dat").reason
    assert "read as json but holds plain text" in refused(path, "a.csv", kind="json").reason
    assert "is not a workbook" in refused(path, "a.csv", kind="xlsx").reason
