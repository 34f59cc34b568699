"""Crowd votes and experts' workbooks: every trap of the files in invented rows."""

import csv
from datetime import UTC, datetime

import openpyxl
import pytest

from annotation.imports.methods.votes import (
    CrowdVote,
    ExpertControl,
    ExpertLabel,
    match_key,
    read_expert_workbook,
    read_toloka,
)
from cqa_site.tabular import Problem, UnreadableFile

WORK = ("link", "task_id", "assignment_id", "worker_id", "status", "started")
COLUMNS = ("INPUT:input", "OUTPUT:R-4", "GOLDEN:R-4", "HINT:text")
COLUMNS += tuple(f"ASSIGNMENT:{name}" for name in WORK)

ORDINARY = "*Say how relevant it is from 0 to 3*:"
CONTROL = "*Say how relevant it is from 0 to 3:*"


def shown(sentence, instruction=ORDINARY, pair="**Oak** vs **elm**", end="\r\n"):
    return f"{pair}{end}{end}{instruction}{end}{end}{sentence}"


def record(text, vote="2", golden="", status="APPROVED", started="2024-03-01T10:00:00.250"):
    return (text, vote, golden, "", "https://example.org/1", "t1", "a1", "w1", status, started)


def export(folder, *records, columns=COLUMNS):
    path = folder / "pool.tsv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t").writerows([columns, *records])
    return path


def test_a_row_in_full(tmp_path):
    path = export(tmp_path, record(shown("The  **Oak** is *older*, ** said nobody. ")))
    assert list(read_toloka(path)) == [
        CrowdVote(
            row=2,
            object1="Oak",
            object2="elm",
            text="The  Oak is *older*,  said nobody. ",
            is_blank=False,
            task_id="t1",
            assignment_id="a1",
            worker_id="w1",
            status="APPROVED",
            started=datetime(2024, 3, 1, 10, 0, 0, 250_000, tzinfo=UTC),
            label=2,
            control_label=None,
            link="https://example.org/1",
        )
    ]


def test_both_spellings_control_items_and_zero(tmp_path):
    path = export(
        tmp_path,
        record(shown("One."), vote="0"),
        record(shown("Two.", CONTROL), vote="3", golden="0"),
        record(shown("Three.", end="\n")),
    )
    votes = list(read_toloka(path))
    assert [(vote.row, vote.text, vote.label, vote.control_label) for vote in votes] == [
        *((2, "One.", 0, None), (7, "Two.", 3, 0), (12, "Three.", 2, None))
    ]
    # Expired and blank rows are kept and told apart.
    path = export(
        tmp_path,
        record(shown("Kept."), vote="", status="EXPIRED"),
        record(shown(""), vote="1"),
        record(shown("Refused."), status="REJECTED"),
    )
    expired, blank, rejected = read_toloka(path)
    assert (expired.label, expired.is_counted) == (None, False)
    assert (blank.is_blank, blank.text, blank.is_counted) == (True, "", True)
    assert (rejected.label, rejected.is_counted) == (2, False)
    # Sentences may hold line ends and bold runs, times a zone.
    text, started = shown("One.\r\nTwo **Oak****elm**\n"), "2024-03-01T02:00:00+03:00"
    (vote,) = read_toloka(export(tmp_path, record(text, started=started)))
    assert vote.text == "One.\r\nTwo Oakelm\n"
    assert vote.started == datetime(2024, 2, 29, 23, tzinfo=UTC)


def test_a_bad_row_is_named_and_the_others_stay(tmp_path):
    for bad, column, words in (
        (record("just a sentence"), "INPUT:input", "five lines"),
        (record(shown("x", pair="Oak vs elm")), "INPUT:input", "first line"),
        (record(shown("x", instruction="rate it")), "INPUT:input", "third line"),
        (record(shown("x"), vote="4"), "OUTPUT:R-4", "not a label"),
        (record(shown("x"), vote="yes"), "OUTPUT:R-4", "not a label"),
        (record(shown("x"), golden="9"), "GOLDEN:R-4", "not a label"),
        (record(shown("x"), vote=""), "OUTPUT:R-4", "without a vote"),
        (record(shown("x"), status=""), "ASSIGNMENT:status", "is empty"),
        (record(shown("x"), started="yesterday"), "ASSIGNMENT:started", "not a date"),
    ):
        path = export(tmp_path, record(shown("Good.")), bad, record(shown("Good.")))
        first, problem, last = read_toloka(path, name="pool.tsv")
        assert [type(each) for each in (first, problem, last)] == [CrowdVote, Problem, CrowdVote]
        assert (problem.file, problem.row, problem.column) == ("pool.tsv", 7, column)
        assert words in problem.reason


def test_other_pools_have_other_field_names(tmp_path):
    columns = tuple(
        name.replace("R-4", "score").replace("INPUT:input", "INPUT:text") for name in COLUMNS
    )
    path = export(tmp_path, record(shown("x"), vote="5", golden="4"), columns=columns)
    (vote,) = read_toloka(path, scale=range(6))
    assert (vote.label, vote.control_label) == (5, 4)
    # Several fields need a choice.
    row = record(shown("x"))
    path = export(tmp_path, (*row, "nice"), columns=(*COLUMNS, "OUTPUT:comment"))
    with pytest.raises(UnreadableFile, match="several OUTPUT columns"):
        list(read_toloka(path))
    (vote,) = read_toloka(path, field="R-4")
    assert vote.label == 2
    # Pools may lack control items, and nothing else.
    columns = tuple(name for name in COLUMNS if not name.startswith("GOLDEN"))
    (vote,) = read_toloka(export(tmp_path, row[:2] + row[3:], columns=columns))
    assert vote.control_label is None
    for lost in ("INPUT:input", "OUTPUT:R-4", "ASSIGNMENT:worker_id"):
        columns = tuple(name.replace(lost, "something") for name in COLUMNS)
        with pytest.raises(UnreadableFile, match="is not a Toloka export: no column"):
            list(read_toloka(export(tmp_path, row, columns=columns)))


BATCH = ("comparison", "arguments", "relevance", None, "how to: see the guideline")
CONTROL_SHEET = (*BATCH[:3], "relevance", "var", "mean", "(supposed) relevance")


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


def test_batch_sheets(tmp_path):
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
            CONTROL_SHEET,
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
    bad = [("oak and elm", "1. x", 1), ("oak vs elm vs ash", "2. x", 1), ("oak vs elm", None, 1)]
    bad += [("oak vs elm", "4. x", 7), ("oak vs elm", "5. x", 2.5)]
    path = workbook(
        tmp_path,
        Willow=[BATCH, *bad, ("oak vs elm", "6. x", 2)],
        Maple=[("something", "else"), (1, 2)],
    )
    sheets = read_expert_workbook(path)
    assert [problem.row for problem in sheets[0].problems] == [2, 3, 4, 5, 6]
    assert [row.row for row in sheets[0].rows] == [7]
    assert sheets[0].problems[0].file == "labels.xlsx, sheet 1"
    assert "first row" in sheets[1].problems[0].reason
    assert "Willow" not in repr(sheets)
    assert "Maple" not in repr(sheets)
    path.write_text("comparison,arguments,relevance\n")
    with pytest.raises(UnreadableFile, match="is not a workbook"):
        read_expert_workbook(path)


def test_match_key_undoes_misread_letters_and_spaces_only():
    assert match_key("caf\u00c3\u00a9 \u00c2\u00bb") == match_key("caf\u00e9 \u00bb")
    assert match_key("x\u00c2 y") == match_key("x\u00a0 y") == match_key(" x y ")
    assert match_key("\u00c3\u0178") != match_key("\u00df")
    assert match_key("a .") != match_key("a.")
    assert match_key("Oak") != match_key("oak")
