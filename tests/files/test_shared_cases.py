"""The small files as other tools write them, where they lie beside the reference data."""

import os
from pathlib import Path

import pytest

from cqa_site.tabular import ReadingLog, UnreadableFile, open_table_or_lines

DATA = os.environ.get("COUNTERPOINT_REFERENCE_DATA", "")
CASES = Path(DATA).parent / "cases" if DATA else Path("nowhere")
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no cases beside the reference data")


def read(name, **how):
    log = ReadingLog()
    with open_table_or_lines(CASES / name, name=name, log=log, **how) as table:
        return table, list(table.rows), log


def test_what_is_read_of_each():
    for name, columns, rows, rejected in (
        *((f"qualtrics.{end}", 12, 6, 0) for end in ("csv", "tsv", "zip")),
        ("limesurvey.csv", 5, 6, 0),
        ("title_rows.csv", 3, 6, 0),
        ("footer.csv", 3, 6, 1),
        ("r_rownames.csv", 3, 6, 0),
        ("trailing_seps.csv", 2, 6, 0),
        ("nan.json", 3, 2, 0),
        ("wide.csv", 6, 6, 0),
        ("quality_comma.csv", 4, 4, 0),
        ("mturk.csv", 19, 18, 0),
    ):
        table, found, log = read(name)
        read_as = (len(table.columns), len(found), len(log.rejected))
        assert read_as == (columns, rows, rejected), name


def test_what_is_refused_says_how_it_can_be_read():
    for name, words, how, rows in (
        ("cp1252.csv", "as cp1252 it reads", {"encoding": "cp1252"}, 2),
        ("two_sheets.xlsx", "no rows below it", {"sheet": "Data"}, 6),
        ("workbook.ods", "has no sheet; save the table as", {}, 0),
    ):
        with pytest.raises(UnreadableFile, match=words):
            read(name)
        if how:
            assert len(read(name, **how)[1]) == rows
