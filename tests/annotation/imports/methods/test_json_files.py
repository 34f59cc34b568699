"""Gold and silver files, those of one system, final labels: what is in them, their problems."""

import json

import pytest

from annotation.imports.methods.releases import (
    NumberedArgument,
    RawAnswer,
    ReleasedComparison,
    ReleasedLabel,
    propose_origin,
    read_final_labels,
    read_gold,
    read_raw_answers,
    read_silver,
)
from cqa_site.tabular import Problem, UnreadableFile


def file_of(folder, records):
    path = folder / "file.json"
    path.write_text(json.dumps(records))
    return path


def raw(text="Oak.", aspect="", **changes):
    return {"object1": "oak", "object2": "elm", "aspect": aspect, "comparison": text} | changes


def gold(**changes):
    return raw(["Oak [1].", "Elm [2]."], aspect=None, question="Oak or elm?") | changes


def test_choices_count_consecutive_records_of_one_question(tmp_path):
    records = [raw("1"), raw("2", None), raw("3", "height"), raw("4", "height"), raw("5")]
    found = list(read_raw_answers(file_of(tmp_path, records)))
    assert [(each.position, each.aspect, each.choice) for each in found] == [
        *((1, None, 1), (2, None, 2), (3, "height", 1), (4, "height", 2), (5, None, 1))
    ]
    # A bad record keeps the places of the others.
    records = [raw("1"), raw(""), raw("3") | {"score": 12}]
    first, problem, third = read_raw_answers(file_of(tmp_path, records))
    assert isinstance(problem, Problem)
    assert (problem.row, problem.column) == (2, "comparison")
    assert third == RawAnswer(3, "oak", "elm", None, "3", 2)
    assert first.choice == 1


def test_system_and_scenario_are_proposed_from_the_name():
    for name, expected in {
        "gpt3-5_scenario_1.json": ("gpt3-5", 1),
        "llama3-70b_scenario_4.json": ("llama3-70b", 4),
        "My model scenario 2.json": ("My model", 2),
        "cam.json": ("cam", 0),
        "yahoo.json": ("yahoo", 0),
        "human.json": ("human", 0),
        "human_experts-2.json": ("human", 0),
        "scenario_9.json": ("scenario_9", 0),
        ".json": (".json", 0),
    }.items():
        assert propose_origin(name) == expected


def silver(**changes):
    made = {"object1": "oak", "object2": "elm", "aspect": "", "prompt": "compare"}
    made |= {"arguments": ["1. 2) Oaks last.", "2.  Elms\nbend. "]}
    return made | {"gpt_answers": ["Oak [1].", "Elm [2]."]} | changes


def test_a_silver_comparison_in_full(tmp_path):
    path = file_of(tmp_path, [silver(), silver(aspect="strength"), silver(aspect=None)])
    first, second, third = read_silver(path)
    arguments = [NumberedArgument(1, "2) Oaks last."), NumberedArgument(2, " Elms\nbend. ")]
    texts = ["Oak [1].", "Elm [2]."]
    assert first == ReleasedComparison(1, "oak", "elm", None, texts, arguments=arguments)
    assert (second.aspect, third.aspect, third.position) == ("strength", None, 3)
    (found,) = read_gold(file_of(tmp_path, [gold()]))
    assert found == ReleasedComparison(1, "oak", "elm", None, texts, question="Oak or elm?")


def test_bad_records_are_named(tmp_path):
    for (read, made), cases in BAD.items():
        for changes in cases:
            good, problem = read(file_of(tmp_path, [made(), made() | changes]))
            assert (good.object1, type(problem)) == ("oak", Problem)
            assert (problem.row, problem.column) == (2, *changes)
    for bad, column in (
        (argument("7", "x"), "index"),
        (argument(True, "x"), "index"),
        (argument(1, 5), "argument"),
        (argument(1, "x", 4), "relevance"),
        (argument(1, "x", 2, "high"), "relevance_gpt"),
        ("x", "arguments"),
    ):
        comparison = {"obj1": "oak", "obj2": "elm", "arguments": [argument(1, "x"), bad]}
        _, problem = read_final_labels(file_of(tmp_path, [comparison]))
        assert isinstance(problem, Problem)
        assert (problem.file, problem.row, problem.column) == ("file.json", 2, column)
    # Other files are refused as a whole.
    path = tmp_path / "file.json"
    for read in (read_gold, read_raw_answers):
        path.write_text("a,b\n1,2\n")
        with pytest.raises(UnreadableFile):
            list(read(path))
    path.write_text('[{"obj1": "oak", "obj1": "elm"}]')
    with pytest.raises(UnreadableFile, match="occurs twice"):
        list(read_final_labels(path))


BAD = {
    (read_raw_answers, raw): (
        *({"object1": " "}, {"object2": 4}, {"aspect": ["a"]}, {"comparison": None}),
        {"comparison": ["a"]},
    ),
    (read_gold, gold): (
        *({"comparison": "one text"}, {"comparison": ["a", 1]}, {"question": 1}),
        {"object1": None},
    ),
    (read_silver, silver): (
        *({"object1": ""}, {"object2": None}, {"aspect": 3}, {"arguments": "1. x"}),
        *({"arguments": ["x"]}, {"arguments": ["1. x", "1. y"]}, {"gpt_answers": ["x", None]}),
    ),
}


def argument(index, text, label=2, model="3"):
    return {"index": index, "argument": text, "relevance": label, "relevance_gpt": model}


def test_positions_run_through_the_whole_file(tmp_path):
    first, second = [argument(7, " a "), argument(8, None, 1)], [argument(9, "a", 0, "0")]
    pairs = [{"obj1": "oak", "obj2": "elm", "arguments": first}]
    pairs.append({"obj1": "Oak", "obj2": "elm", "arguments": second})
    records = list(read_final_labels(file_of(tmp_path, pairs)))
    assert records == [
        ReleasedLabel(1, "oak", "elm", 7, " a ", 2, 3),
        ReleasedLabel(2, "oak", "elm", 8, None, 1, 3),
        ReleasedLabel(3, "Oak", "elm", 9, "a", 0, 0),
    ]
    units = [("oak", "elm", " a "), None, ("Oak", "elm", "a")]
    assert [record.unit for record in records] == units
