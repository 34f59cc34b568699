"""Released judgements, each read in one way, and two people's own sheets of the same answers."""

import json

import pytest

from benchmark.imports.methods import individual_sheets
from benchmark.imports.methods.score_files import read_judged_file
from benchmark.judges.methods.judgements import JudgementState
from benchmark.rubrics.methods.rubric import COMPQA
from cqa_site.tabular import UnreadableFile
from tests.benchmark.small_rubric import SMALL

GOOD = {"1": 1, "2": 2, "3": 0}


def record(scores, total=3, text="Oak.", **changes):
    made = {"object1": "oak", "object2": "elm", "aspect": "", "comparison": text}
    return made | {"score_dict": scores, "score": total} | changes


def read(folder, *records, name="gpt4_scenario_2.json"):
    path = folder / name
    path.write_text(json.dumps(records))
    return read_judged_file(path, SMALL)


def test_answers_with_their_points_and_every_kind_of_score_dict(tmp_path):
    found = read(tmp_path, record(GOOD), record({**GOOD, "3": 1}, 4, text="Elm."))
    assert (found.name, found.system, found.scenario) == ("gpt4_scenario_2.json", "gpt4", 2)
    assert [each.judgement.total for each in found.answers] == [3, 4]
    assert [(each.answer.position, each.answer.choice) for each in found.answers] == [
        (1, 1),
        (2, 2),
    ]
    assert found.answers[1].answer.text == "Elm."
    assert found.problems == ()
    assert found.counts == {JudgementState.VALID: 2}
    kinds = {
        "renumbered": {"16": 1, "17": 1, "18": 1},
        "missing_keys": {"1": 1, "2": 2},
        "extra_keys": GOOD | {"4": 1},
        "out_of_range": GOOD | {"1": 2},
        "not_a_whole_number": GOOD | {"1": "1.0"},
        "empty": {},
        "not_schema": "no scores",
        "valid": GOOD,
    }
    found = read(tmp_path, *(record(each, None) for each in kinds.values()), record(None, 0))
    assert [each.judgement.reading for each in found.answers] == [*kinds, "empty"]
    assert found.counts == {**dict.fromkeys(kinds, 1), "empty": 2}
    assert [each.judgement.total is not None for each in found.answers] == [
        kind == "valid" for kind in [*kinds, "empty"]
    ]
    places = [(each.file, each.row, each.column) for each in found.problems]
    assert places == [(found.name, row, "score_dict") for row in (1, 2, 3, 4, 5, 6, 7, 9)]
    assert "C16 … C18 instead of C1 … C3" in str(found.problems[0])


def test_parts_wrong_sums_and_bad_records_cost_only_themselves(tmp_path):
    off_scale, partial, renumbered = (GOOD | {"1": 2}, {"1": 1}, {"4": 1, "5": 1, "6": 1})
    found = read(tmp_path, record(off_scale, 4), record(partial, 1), record(renumbered, 3))
    points = [each.paper_points(SMALL) for each in found.answers]
    assert points == [{"C1": 2, "C2": 2, "C3": 0}, None, None]
    found = read(tmp_path, record(GOOD, 3.0), record(GOOD, 5), record(GOOD, "5"))
    (problem,) = found.problems
    assert (problem.row, problem.column) == (2, "score")
    assert "add up to 3" in problem.reason
    assert [each.stated_sum for each in found.answers] == [3, 5, None]
    assert found.counts == {JudgementState.VALID: 3}
    found = read(tmp_path, record(GOOD), record(GOOD, text=" "), record(GOOD))
    assert [each.answer.position for each in found.answers] == [1, 3]
    (problem,) = found.problems
    assert (problem.row, problem.column) == (2, "comparison")
    path = tmp_path / "cam.json"
    path.write_text(json.dumps([{"object1": "a", "object2": "b", "comparison": "c"}]))
    with pytest.raises(UnreadableFile, match="score_dict"):
        read_judged_file(path, SMALL)


COLUMNS = [f"score_dict.{number}" for number in range(1, 16)]
HEAD = ["object1", "object2", "comparison", "filename", *COLUMNS]
ONES = ["1.0"] * 15


def write(path, *rows):
    lines = ["\t".join(HEAD), *("\t".join(["tea", "milk", *row]) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_meet_by_file_pair_and_letters_and_a_cell_that_is_no_number_is_named(tmp_path):
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
    first, second = (individual_sheets.read_own_sheets(path, COMPQA) for path in (one, two))
    assert (first.name, len(first.places), len(second.places)) == ("one", 3, 5)
    points, others, is_whole = individual_sheets.shared_sheets(first, second)
    assert others["C1"].tolist() == [0.5, 1.0, 1.0]
    assert points["C15"].isna().tolist() == [False, True, False]
    # Text C lacks a point, and C1 of text D is worth one.
    assert is_whole.tolist() == [True, False, False]
    path = write(tmp_path / "one.tsv", ["A", "cam", *ONES], ["B", "cam", "good", *ONES[1:]])
    with pytest.raises(UnreadableFile, match=r"one\.tsv.*row 3, C1: 'good' is not a number"):
        individual_sheets.read_own_sheets(path, COMPQA)
    assert individual_sheets.is_own_sheets(path)
    path.write_text("object1\tscore_dict.1\ntea\t1\n")
    with pytest.raises(UnreadableFile, match=r"no column object2.*score_dict\.15"):
        individual_sheets.read_own_sheets(path, COMPQA)
