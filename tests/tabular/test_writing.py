"""What is written comes back, and no spreadsheet runs it."""

import csv
import io
import itertools
import json
from datetime import UTC, datetime

import openpyxl
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

from cqa_site.tabular import (
    open_table,
    spreadsheet_safe,
    spreadsheet_unsafe,
    write_csv,
    write_jsonl,
    write_parquet,
    write_xlsx,
)
from cqa_site.tabular.export import from_sheet_text, to_sheet_text
from .test_hostile import MEGABYTE, reset_peak, resident_peak

RISKY = st.sampled_from(
    ["=1+1", "'=1", "''@x", "+x", "-1", "@a", "|b", "%c", "\tq", "\rq", "_x000D_"]
)
XML_TEXT = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"
    )
    | st.sampled_from("\t\n\r=+-@|%'")
)
TEXTS = RISKY | XML_TEXT | st.tuples(RISKY, XML_TEXT).map("".join)


def written(writer, columns, rows, **options):
    buffer = io.BytesIO()
    writer(buffer, columns, rows, **options)
    return buffer.getvalue()


@given(TEXTS | st.text())
def test_the_apostrophe_can_always_be_taken_back(text):
    safe = spreadsheet_safe(text)
    assert safe[:1] not in set("=+-@|%\t\r")
    assert spreadsheet_unsafe(safe) == text


@given(st.text())
def test_sheet_escapes_can_always_be_taken_back(text):
    assert from_sheet_text(to_sheet_text(text)) == text


@given(st.lists(TEXTS.filter(lambda text: len(text) < 5_000), min_size=1, max_size=30))
def test_sheets_hold_no_formula_and_give_back_the_text(texts):
    rows = [(number, text, spreadsheet_safe(text)) for number, text in enumerate(texts)]
    book = openpyxl.load_workbook(io.BytesIO(written(write_xlsx, ["n", "=raw", "safe"], rows)))
    cells = list(book.active.iter_rows())
    assert {cell.data_type for row in cells for cell in row} <= {"s", "n"}
    assert cells[0][1].value == "=raw"
    for (number, raw, safe), text in zip(cells[1:], texts, strict=True):
        assert number.value in texts or isinstance(number.value, int)
        assert from_sheet_text(raw.value or "") == text
        assert spreadsheet_unsafe(from_sheet_text(safe.value or "")) == text


@given(st.lists(TEXTS, min_size=1, max_size=30))
def test_safe_csv_gives_back_the_text(texts):
    content = written(write_csv, ["text", "n"], [(text, -1) for text in texts]).decode("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(content, newline=""))
    assert header == ["text", "n"]
    assert [spreadsheet_unsafe(text) for text, _ in rows] == texts
    assert {number for _, number in rows} == {"-1"}
    assert not any(text[:1] in set("=+-@|%\t\r") for text, _ in rows if text)


def test_files_written_can_be_opened_again(tmp_path):
    columns, rows = ["object1", "text"], [("oak", "=1\r\n\u2028x"), ("elm", "_x000D_ \ud7ff")]
    for writer, name, options in (
        (write_csv, "a.csv", {"for_spreadsheets": False}),
        (write_csv, "a.tsv", {"for_spreadsheets": False, "delimiter": "\t"}),
        (write_jsonl, "a.jsonl", {}),
        (write_xlsx, "a.xlsx", {}),
    ):
        path = tmp_path / name
        path.write_bytes(written(writer, columns, rows, **options))
        with open_table(path, name=name) as table:
            assert [tuple(row.values.values()) for row in table.rows] == rows, name


def test_numbers_stay_and_error_words_missing_values_and_long_texts_have_rules():
    rows = [("#N/A", None), (True, 1.5)]
    book = openpyxl.load_workbook(io.BytesIO(written(write_xlsx, ["a", "b"], rows)))
    (_, _), (error, missing), (yes, number) = book.active.iter_rows()
    assert (error.value, error.data_type) == ("#N/A", "s")
    assert missing.value is None
    assert (yes.value, number.value) == ("true", 1.5)
    # Refused, not cut.
    fits, too_long = "x" * 32_767, "😀" * 16_384
    assert written(write_xlsx, ["a"], [(fits,)])
    with pytest.raises(ValueError, match="row 2, column a: longer than 32,767"):
        written(write_xlsx, ["a"], [(fits,), (too_long,)])
    assert [spreadsheet_safe(value) for value in (-1, 2.5, None, True)] == [-1, 2.5, None, True]
    assert spreadsheet_safe("-1") == "'-1"
    assert spreadsheet_safe("don't") == "don't"


@pytest.mark.parametrize("writer", [write_csv, write_jsonl, write_xlsx, write_parquet])
def test_shape_and_undefined_numbers_are_checked(writer):
    with pytest.raises(ValueError, match="row 2 has 1 cells for 2 columns"):
        written(writer, ["a", "b"], [(1, 2), (1,)])
    with pytest.raises(ValueError, match="row 1, column b: nan"):
        written(writer, ["a", "b"], [(1, float("nan"))])


def test_parquet_types_and_json_lines_keep_nesting_and_times():
    moment = datetime(2024, 2, 4, tzinfo=UTC)
    rows = [("=1", None, None, moment)] + [("x", 1, None, moment)] * 10_001
    content = written(
        write_parquet, ["t", "n", "none", "at"], rows, types={"n": int, "at": datetime}
    )
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    assert table.num_rows == 10_002
    types = [str(field.type) for field in table.schema]
    assert types == ["string", "int64", "string", "timestamp[us, tz=UTC]"]
    assert table.slice(0, 1).to_pylist() == [{"t": "=1", "n": None, "none": None, "at": moment}]
    with pytest.raises(ValueError, match="does not fit"):
        written(write_parquet, ["n"], [(1,)] * 10_000 + [("x",)])
    content = written(write_jsonl, ["a", "b", "c"], [([1, {"x": None}], "ü=", moment)])
    assert json.loads(content) == {"a": [1, {"x": None}], "b": "ü=", "c": moment.isoformat()}
    assert "ü".encode() in content


# Parquet is written 10,000 rows at a time.
def test_memory_does_not_grow_with_the_rows(tmp_path):
    for writer, length, n in (
        *((write_csv, 2_000, 15_000), (write_jsonl, 2_000, 15_000)),
        *((write_parquet, 200, 150_000), (write_xlsx, 200, 20_000)),
    ):
        with (tmp_path / "out").open("wb") as file:
            writer(file, ["text", "n"], itertools.repeat(("x" * length, 1), n // 15))
            before = reset_peak()
            writer(file, ["text", "n"], itertools.repeat(("x" * length, 1), n))
        assert resident_peak() - before <= 20 * MEGABYTE
