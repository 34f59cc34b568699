"""Gold files and the files of one system: records, choices, names, problems."""

import json

import pytest

from annotation.imports.methods.gold import GoldComparison, read_gold
from annotation.imports.methods.raw_answers import RawAnswer, propose_origin, read_raw_answers
from cqa_site.tabular import Problem, UnreadableFile


def saved(folder, records):
    path = folder / "answers.json"
    path.write_text(json.dumps(records))
    return path


def raw(text="Oak.", aspect="", **changes):
    return {"object1": "oak", "object2": "elm", "aspect": aspect, "comparison": text} | changes


def gold(**changes):
    made = {
        "object1": "oak",
        "object2": "elm",
        "aspect": None,
        "question": "Oak or elm?",
        "comparison": ["Oak [1].", "Elm [2]."],
    }
    return made | changes


def test_choices_count_consecutive_records_of_one_question(tmp_path):
    records = [raw("1"), raw("2", None), raw("3", "height"), raw("4", "height"), raw("5")]
    found = list(read_raw_answers(saved(tmp_path, records)))
    assert [(each.position, each.aspect, each.choice) for each in found] == [
        (1, None, 1),
        (2, None, 2),
        (3, "height", 1),
        (4, "height", 2),
        (5, None, 1),
    ]


def test_a_bad_record_keeps_the_places_of_the_others(tmp_path):
    records = [raw("1"), raw(""), raw("3") | {"score": 12}]
    first, problem, third = read_raw_answers(saved(tmp_path, records))
    assert isinstance(problem, Problem)
    assert (problem.row, problem.column) == (2, "comparison")
    assert third == RawAnswer(3, "oak", "elm", None, "3", 2)
    assert first.choice == 1


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"object1": " "}, "object1"),
        ({"object2": 4}, "object2"),
        ({"aspect": ["a"]}, "aspect"),
        ({"comparison": None}, "comparison"),
        ({"comparison": ["a"]}, "comparison"),
    ],
)
def test_bad_raw_records_are_named(tmp_path, changes, column):
    (problem,) = read_raw_answers(saved(tmp_path, [raw() | changes]))
    assert (problem.row, problem.column) == (1, column)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt3-5_scenario_1.json", ("gpt3-5", 1)),
        ("llama3-70b_scenario_4.json", ("llama3-70b", 4)),
        ("My model scenario 2.json", ("My model", 2)),
        ("cam.json", ("cam", 0)),
        ("yahoo.json", ("yahoo", 0)),
        ("human.json", ("human", 0)),
        ("human_experts-2.json", ("human", 0)),
        ("scenario_9.json", ("scenario_9", 0)),
        (".json", (".json", 0)),
    ],
)
def test_system_and_scenario_are_proposed_from_the_name(name, expected):
    assert propose_origin(name) == expected


def test_a_gold_comparison_in_full(tmp_path):
    (found,) = read_gold(saved(tmp_path, [gold()]))
    texts = ["Oak [1].", "Elm [2]."]
    assert found == GoldComparison(1, "oak", "elm", None, "Oak or elm?", texts)


def test_the_question_of_a_gold_comparison_may_be_absent(tmp_path):
    record = gold(aspect=" height ")
    del record["question"]
    (found,) = read_gold(saved(tmp_path, [record]))
    assert (found.aspect, found.question) == ("height", None)


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"comparison": "one text"}, "comparison"),
        ({"comparison": ["a", 1]}, "comparison"),
        ({"question": 1}, "question"),
        ({"object1": None}, "object1"),
    ],
)
def test_bad_gold_comparisons_are_named(tmp_path, changes, column):
    good, problem = read_gold(saved(tmp_path, [gold(), gold(**changes)]))
    assert isinstance(good, GoldComparison)
    assert (problem.row, problem.column) == (2, column)


@pytest.mark.parametrize("read", [read_gold, read_raw_answers])
def test_other_files_are_refused_as_a_whole(tmp_path, read):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableFile):
        list(read(path))
