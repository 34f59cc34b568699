"""Crowd votes: every trap of the export in invented rows, then the released file."""

import csv
from datetime import UTC, datetime

import pytest

from annotation.imports.methods.toloka import CrowdVote, read_toloka
from cqa_site.tabular import Problem, UnreadableFile

COLUMNS = (
    "INPUT:input",
    "OUTPUT:R-4",
    "GOLDEN:R-4",
    "HINT:text",
    "ASSIGNMENT:link",
    "ASSIGNMENT:task_id",
    "ASSIGNMENT:assignment_id",
    "ASSIGNMENT:worker_id",
    "ASSIGNMENT:status",
    "ASSIGNMENT:started",
)
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
        (2, "One.", 0, None),
        (7, "Two.", 3, 0),
        (12, "Three.", 2, None),
    ]


def test_expired_and_blank_rows_are_kept_and_told_apart(tmp_path):
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


def test_sentences_may_hold_line_ends_and_bold_runs(tmp_path):
    (vote,) = read_toloka(export(tmp_path, record(shown("One.\r\nTwo **Oak****elm**\n"))))
    assert vote.text == "One.\r\nTwo Oakelm\n"


def test_times_with_a_zone_are_converted(tmp_path):
    (vote,) = read_toloka(
        export(tmp_path, record(shown("x"), started="2024-03-01T02:00:00+03:00"))
    )
    assert vote.started == datetime(2024, 2, 29, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("bad", "column", "words"),
    [
        (record("just a sentence"), "INPUT:input", "five lines"),
        (record(shown("x", pair="Oak vs elm")), "INPUT:input", "first line"),
        (record(shown("x", instruction="rate it")), "INPUT:input", "third line"),
        (record(shown("x"), vote="4"), "OUTPUT:R-4", "not a label"),
        (record(shown("x"), vote="yes"), "OUTPUT:R-4", "not a label"),
        (record(shown("x"), golden="9"), "GOLDEN:R-4", "not a label"),
        (record(shown("x"), vote=""), "OUTPUT:R-4", "without a vote"),
        (record(shown("x"), status=""), "ASSIGNMENT:status", "is empty"),
        (record(shown("x"), started="yesterday"), "ASSIGNMENT:started", "no date"),
    ],
)
def test_a_bad_row_is_named_and_the_others_stay(tmp_path, bad, column, words):
    path = export(tmp_path, record(shown("Good.")), bad, record(shown("Good.")))
    first, problem, last = read_toloka(path, name="pool.tsv")
    assert isinstance(first, CrowdVote)
    assert isinstance(last, CrowdVote)
    assert isinstance(problem, Problem)
    assert (problem.file, problem.row, problem.column) == ("pool.tsv", 7, column)
    assert words in problem.reason


def test_other_pools_have_other_field_names(tmp_path):
    columns = tuple(
        name.replace("R-4", "score").replace("INPUT:input", "INPUT:text") for name in COLUMNS
    )
    path = export(tmp_path, record(shown("x"), vote="5", golden="4"), columns=columns)
    (vote,) = read_toloka(path, scale=range(6))
    assert (vote.label, vote.control_label) == (5, 4)


def test_several_fields_need_a_choice(tmp_path):
    columns = (*COLUMNS, "OUTPUT:comment")
    path = export(tmp_path, (*record(shown("x")), "nice"), columns=columns)
    with pytest.raises(UnreadableFile, match="several OUTPUT columns"):
        list(read_toloka(path))
    (vote,) = read_toloka(path, field="R-4")
    assert vote.label == 2


def test_pools_without_control_items(tmp_path):
    columns = tuple(name for name in COLUMNS if not name.startswith("GOLDEN"))
    row = record(shown("x"))
    (vote,) = read_toloka(export(tmp_path, row[:2] + row[3:], columns=columns))
    assert vote.control_label is None


@pytest.mark.parametrize("lost", ["INPUT:input", "OUTPUT:R-4", "ASSIGNMENT:worker_id"])
def test_a_table_of_another_kind_is_refused(tmp_path, lost):
    columns = tuple(name.replace(lost, "something") for name in COLUMNS)
    with pytest.raises(UnreadableFile, match="is no Toloka export: no column"):
        list(read_toloka(export(tmp_path, record(shown("x")), columns=columns)))
