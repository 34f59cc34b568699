"""Expert labels: invented workbooks with every trap, then the released one."""

from collections import Counter, defaultdict

import krippendorff
import numpy as np
import openpyxl
import pytest

from annotation.imports.methods.expert_workbook import (
    ExpertControl,
    ExpertLabel,
    match_key,
    read_expert_workbook,
)
from annotation.imports.methods.toloka import read_toloka
from cqa_site.tabular import UnreadableFile

from tests.annotation.released import EXPERTS, VOTES, needs

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


def batch_rows():
    return [row for s in read_expert_workbook(EXPERTS) if s.kind == "batch" for row in s.rows]


@needs(EXPERTS)
def test_the_released_workbook():
    sheets = read_expert_workbook(EXPERTS)
    assert [sheet.kind for sheet in sheets] == ["batch"] * 8 + ["control"]
    assert [len(sheet.rows) for sheet in sheets] == [100] * 8 + [30]
    assert not any(sheet.problems for sheet in sheets)
    assert [sheet.position for sheet in sheets if not sheet.is_rated] == [4, 6, 7]
    rows = batch_rows()
    assert all(row.number is not None for row in rows)
    assert sum(row.label is not None for row in rows) == 498
    assert sum(bool(row.comment) for row in rows) == 56
    title_words = {
        word for sheet in openpyxl.load_workbook(EXPERTS).sheetnames for word in sheet.split()
    }
    pseudonyms = " ".join(f"{s.name_pseudonym} {s.raters} {s.problems}" for s in sheets)
    assert not any(word in pseudonyms for word in title_words)


@needs(EXPERTS)
def test_released_control_sheet_gives_the_published_agreement():
    (control,) = [s for s in read_expert_workbook(EXPERTS) if s.kind == "control"]
    scored = [row for row in control.rows if row.is_scored]
    ratings = np.array([row.labels for row in scored], dtype=float)
    assert ratings.shape == (29, 4)
    alpha = krippendorff.alpha(ratings.T, level_of_measurement="ordinal")
    assert alpha == pytest.approx(0.888881, abs=1e-6)
    assert [row.row for row in control.rows if not row.is_scored] == [19]
    assert all(row.control_label is not None for row in control.rows)


@needs(EXPERTS)
def test_released_items_rated_twice():
    labels = defaultdict(list)
    for row in batch_rows():
        if row.label is not None:
            labels[row.object1, row.object2, row.text].append(row.label)
    twice = np.array([pair for pair in labels.values() if len(pair) == 2], dtype=float)
    assert Counter(len(each) for each in labels.values()) == {1: 436, 2: 31}
    assert (twice[:, 0] == twice[:, 1]).sum() == 25
    alpha = krippendorff.alpha(twice.T, level_of_measurement="ordinal")
    assert alpha == pytest.approx(0.7676, abs=5e-5)


@needs(EXPERTS, VOTES)
def test_released_sentences_meet_those_of_the_crowd():
    votes = list(read_toloka(VOTES))
    units = {(vote.object1, vote.object2, vote.text) for vote in votes}
    keys = {(a, b, match_key(text)) for a, b, text in units}
    assert len(keys) == len(units) == 1_719
    rows = batch_rows()
    assert sum((r.object1, r.object2, r.text) in units for r in rows) == 796
    assert sum((r.object1, r.object2, match_key(r.text)) in keys for r in rows) == 800


@needs(EXPERTS, VOTES)
def test_released_control_items_meet_those_of_the_crowd():
    (control,) = [s for s in read_expert_workbook(EXPERTS) if s.kind == "control"]
    items = {
        (v.object1, v.object2, v.text) for v in read_toloka(VOTES) if v.control_label is not None
    }
    exact = {(r.object1, r.object2, r.text) for r in control.rows}
    keys = {(a, b, match_key(text)) for a, b, text in exact}
    assert len(items) == 20
    assert len(items & exact) == 18
    assert len({(a, b, match_key(text)) for a, b, text in items} & keys) == 19
