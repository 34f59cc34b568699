"""Silver summaries: numbers are taken off the arguments once, texts stay."""

import json

import pytest

from annotation.imports.methods.silver import NumberedArgument, SilverComparison, read_silver
from cqa_site.tabular import Problem
from tests.annotation.released import SILVER_50, SILVER_112, needs


def comparison(**changes):
    made = {
        "object1": "oak",
        "object2": "elm",
        "aspect": "",
        "arguments": ["1. 2) Oaks last.", "2.  Elms\nbend. "],
        "prompt": "compare",
        "gpt_answers": ["Oak [1].", "Elm [2]."],
    }
    return {**made, **changes}


def saved(folder, comparisons):
    path = folder / "silver.json"
    path.write_text(json.dumps(comparisons))
    return path


def test_a_comparison_in_full(tmp_path):
    path = saved(tmp_path, [comparison(), comparison(aspect="strength"), comparison(aspect=None)])
    first, second, third = read_silver(path)
    arguments = [NumberedArgument(1, "2) Oaks last."), NumberedArgument(2, " Elms\nbend. ")]
    assert first == SilverComparison(1, "oak", "elm", None, arguments, ["Oak [1].", "Elm [2]."])
    assert (second.aspect, third.aspect, third.position) == ("strength", None, 3)


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"object1": ""}, "object1"),
        ({"object2": None}, "object2"),
        ({"aspect": 3}, "aspect"),
        ({"arguments": "1. x"}, "arguments"),
        ({"arguments": ["x"]}, "arguments"),
        ({"arguments": ["1. x", "1. y"]}, "arguments"),
        ({"gpt_answers": ["x", None]}, "gpt_answers"),
    ],
)
def test_bad_comparisons_are_named(tmp_path, changes, column):
    good, problem = read_silver(saved(tmp_path, [comparison(), comparison(**changes)]))
    assert isinstance(good, SilverComparison)
    assert isinstance(problem, Problem)
    assert (problem.row, problem.column) == (2, column)


@needs(SILVER_112, SILVER_50)
def test_the_released_summaries():
    large, small = list(read_silver(SILVER_112)), list(read_silver(SILVER_50))
    assert [len(large), len(small)] == [112, 50]
    assert {len(each.answers) for each in large + small} == {3}
    assert [sum(len(each.arguments) for each in some) for some in (large, small)] == [828, 492]
    assert [sum(each.aspect is None for each in some) for some in (large, small)] == [62, 30]
    for each in large + small:
        assert [a.number for a in each.arguments] == list(range(1, len(each.arguments) + 1))

    def content(each):
        return (each.object1, each.object2, each.aspect, *each.arguments, *each.answers)

    assert {content(each) for each in small} <= {content(each) for each in large}
