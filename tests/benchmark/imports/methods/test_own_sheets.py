"""Two people's own sheets: which answers both scored, and which sheets are whole."""

import pytest

from benchmark.imports.methods.own_sheets import is_own_sheets, read_own_sheets, shared_sheets
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from cqa_site.tabular import UnreadableFile

COLUMNS = [f"score_dict.{number}" for number in range(1, 16)]
HEAD = ["object1", "object2", "comparison", "filename", *COLUMNS]
ONES = ["1.0"] * 15


def write(path, *rows):
    lines = ["\t".join(HEAD), *("\t".join(["tea", "milk", *row]) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_meet_by_file_pair_and_letters_of_the_text(tmp_path):
    one = write(
        tmp_path / "one.tsv",
        ["Text A.", "cam", *ONES],
        ["Text B.", "cam", *[""] * 15],
        ["Text C.", "cam", *ONES[1:], ""],
        ["Text D.", "cam", "2.0", *ONES[1:]],
    )
    # Another order, other punctuation.
    two = write(
        tmp_path / "two.tsv",
        ["Text, D!", "cam", *ONES],
        ["Text C.", "cam", *ONES],
        ["Text B.", "cam", *ONES],
        ["text a", "cam", *["0.5"] * 15],
        ["Text A.", "yahoo", *ONES],
    )
    first, second = (read_own_sheets(path, COMPQA) for path in (one, two))
    assert (first.name, len(first.places), len(second.places)) == ("one", 3, 5)
    points, others, is_whole = shared_sheets(first, second)
    assert others["C1"].tolist() == [0.5, 1.0, 1.0]
    assert points["C15"].isna().tolist() == [False, True, False]
    # Text C lacks a point, and C1 of text D is worth one.
    assert is_whole.tolist() == [True, False, False]


def test_nobody_in_common_is_an_empty_table(tmp_path):
    one = read_own_sheets(write(tmp_path / "one.tsv", ["A", "cam", *ONES]), COMPQA)
    two = read_own_sheets(write(tmp_path / "two.tsv", ["B", "cam", *ONES]), COMPQA)
    points, others, is_whole = shared_sheets(one, two)
    assert len(points) == len(others) == len(is_whole) == 0


def test_a_cell_that_is_no_number_is_named(tmp_path):
    path = write(tmp_path / "one.tsv", ["A", "cam", *ONES], ["B", "cam", "good", *ONES[1:]])
    with pytest.raises(UnreadableFile, match=r"one\.tsv.*row 3, C1: 'good' is no number"):
        read_own_sheets(path, COMPQA)
    assert is_own_sheets(path)
    path.write_text("object1\tscore_dict.1\ntea\t1\n")
    with pytest.raises(UnreadableFile, match=r"no column object2.*score_dict\.15"):
        read_own_sheets(path, COMPQA)
