"""Expert labels: invented workbooks with every trap, then the released one."""

import openpyxl
import pytest

from annotation.imports.methods.expert_workbook import (
    ExpertControl,
    ExpertLabel,
    match_key,
    read_expert_workbook,
)
from cqa_site.tabular import UnreadableFile

BATCH = ("comparison", "arguments", "relevance", None, "how to: see the guideline")
CONTROL = (
    "comparison",
    "arguments",
    "relevance",
    "relevance",
    "var",
    "mean",
    "(supposed) relevance",
)


def workbook(folder, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        page = book.create_sheet(title)
        for row in rows:
            page.append(row)
        page.cell(row=1000, column=2).number_format = "0.00"
    path = folder / "labels.xlsx"
    book.save(path)
    return path


def test_batches(tmp_path):
    path = workbook(
        tmp_path,
        Willow=[
            BATCH,
            ("oak vs elm", "12. 3. Oaks  are taller. ", 3.0, "both"),
            ("oak vs elm", "13. Elms bend", None, None),
            ("oak vs elm", "no number", 0, "one", "two"),
        ],
        Maple=[BATCH, ("a vs b", "1. x", None)],
    )
    rated, unrated = read_expert_workbook(path)
    assert rated.rows == (
        ExpertLabel(2, "oak", "elm", 12, "3. Oaks  are taller. ", 3, "both"),
        ExpertLabel(3, "oak", "elm", 13, "Elms bend", None, ""),
        ExpertLabel(4, "oak", "elm", None, "no number", 0, "one\ntwo"),
    )
    assert (rated.kind, rated.position, rated.name_pseudonym) == ("batch", 1, "Batch 1")
    assert (unrated.position, unrated.name_pseudonym) == (2, "Batch 2")
    assert (rated.is_rated, unrated.is_rated) == (True, False)
    assert rated.problems == unrated.problems == ()


def test_control_sheet(tmp_path):
    path = workbook(
        tmp_path,
        Willow=[
            CONTROL,
            ("oak vs elm", "One.", 2.0, 3.0, 99, 99, 3.0),
            ("oak vs elm", "Cleared.", 2.0, 2.0, None, None, 2.0),
            ("oak vs elm", "2. Two.", 0.0, None, 0.25, 0.5, 0.0, None, "a note beside"),
            ("oak vs elm", "Never filled.", 1.0, 1.0, None, None, 1.0),
        ],
    )
    (sheet,) = read_expert_workbook(path)
    assert (sheet.kind, sheet.name_pseudonym) == ("control", "Control 1")
    assert sheet.raters == ("Expert 1", "Expert 2")
    assert sheet.rows == (
        ExpertControl(2, "oak", "elm", "One.", (2, 3), 3, True),
        ExpertControl(3, "oak", "elm", "Cleared.", (2, 2), 2, False),
        ExpertControl(4, "oak", "elm", "2. Two.", (0, None), 0, True),
        ExpertControl(5, "oak", "elm", "Never filled.", (1, 1), 1, True),
    )


def test_problems_name_row_and_sheet_but_never_its_title(tmp_path):
    path = workbook(
        tmp_path,
        Willow=[
            BATCH,
            ("oak and elm", "1. x", 1),
            ("oak vs elm vs ash", "2. x", 1),
            ("oak vs elm", None, 1),
            ("oak vs elm", "4. x", 7),
            ("oak vs elm", "5. x", 2.5),
            ("oak vs elm", "6. x", 2),
        ],
        Maple=[("something", "else"), (1, 2)],
    )
    sheets = read_expert_workbook(path)
    assert [problem.row for problem in sheets[0].problems] == [2, 3, 4, 5, 6]
    assert [row.row for row in sheets[0].rows] == [7]
    assert sheets[0].problems[0].file == "labels.xlsx, sheet 1"
    assert "first row" in sheets[1].problems[0].reason
    assert "Willow" not in repr(sheets)
    assert "Maple" not in repr(sheets)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "labels.xlsx"
    path.write_text("comparison,arguments,relevance\n")
    with pytest.raises(UnreadableFile, match=r"not an \.xlsx workbook"):
        read_expert_workbook(path)


def test_match_key_undoes_misread_letters_and_spaces_only():
    assert match_key("caf\u00c3\u00a9 \u00c2\u00bb") == match_key("caf\u00e9 \u00bb")
    assert match_key("x\u00c2 y") == match_key("x\u00a0 y") == match_key(" x y ")
    assert match_key("\u00c3\u0178") != match_key("\u00df")
    assert match_key("a .") != match_key("a.")
    assert match_key("Oak") != match_key("oak")
