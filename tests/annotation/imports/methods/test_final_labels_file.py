"""Final labels: copies, conflicts and missing texts are given, not tidied away."""

import json
from collections import Counter

import pytest

from annotation.imports.methods.final_labels import FinalLabel, find_conflicts, read_final_labels
from cqa_site.tabular import Problem, UnreadableFile
from tests.annotation.released import FINAL, needs


def argument(index, text, label=2, model="3"):
    return {"index": index, "argument": text, "relevance": label, "relevance_gpt": model}


def saved(folder, comparisons):
    path = folder / "final.json"
    path.write_text(json.dumps(comparisons))
    return path


def test_positions_run_through_the_whole_file(tmp_path):
    path = saved(
        tmp_path,
        [
            {
                "obj1": "oak",
                "obj2": "elm",
                "arguments": [argument(7, " a "), argument(8, None, 1)],
            },
            {"obj1": "Oak", "obj2": "elm", "arguments": [argument(9, "a", 0, "0")]},
        ],
    )
    records = list(read_final_labels(path))
    assert records == [
        FinalLabel(1, "oak", "elm", 7, " a ", 2, 3),
        FinalLabel(2, "oak", "elm", 8, None, 1, 3),
        FinalLabel(3, "Oak", "elm", 9, "a", 0, 0),
    ]
    assert [record.unit for record in records] == [
        ("oak", "elm", " a "),
        None,
        ("Oak", "elm", "a"),
    ]


def test_conflicts_are_between_copies_of_one_unit_only():
    records = [
        FinalLabel(1, "oak", "elm", 0, "x", 2, 1),
        FinalLabel(2, "oak", "elm", 1, "x", 2, 3),
        FinalLabel(3, "oak", "elm", 2, "y", 1, 3),
        FinalLabel(4, "elm", "oak", 3, "y", 2, 3),
        FinalLabel(5, "oak", "elm", 4, "y", 3, 3),
        FinalLabel(6, "oak", "elm", 5, None, 0, 0),
        FinalLabel(7, "oak", "elm", 6, None, 1, 0),
    ]
    (conflict,) = find_conflicts(records)
    assert conflict.unit == ("oak", "elm", "y")
    assert (conflict.rows, conflict.labels) == ((3, 5), (1, 3))


@pytest.mark.parametrize(
    ("bad", "column"),
    [
        (argument("7", "x"), "index"),
        (argument(True, "x"), "index"),
        (argument(1, 5), "argument"),
        (argument(1, "x", 4), "relevance"),
        (argument(1, "x", 2, "high"), "relevance_gpt"),
        ("x", "arguments"),
    ],
)
def test_bad_entries_are_named(tmp_path, bad, column):
    comparison = {"obj1": "oak", "obj2": "elm", "arguments": [argument(1, "x"), bad]}
    _, problem = read_final_labels(saved(tmp_path, [comparison]))
    assert isinstance(problem, Problem)
    assert (problem.file, problem.row, problem.column) == ("final.json", 2, column)


def test_a_comparison_without_objects_is_named(tmp_path):
    comparisons = [{"obj1": "oak", "arguments": []}, {"obj1": "a", "obj2": "b", "arguments": None}]
    problems = list(read_final_labels(saved(tmp_path, comparisons)))
    assert [problem.reason.split()[1] for problem in problems] == ["1", "2"]


def test_broken_json_is_refused(tmp_path):
    path = tmp_path / "final.json"
    path.write_text('[{"obj1": "oak", "obj1": "elm"}]')
    with pytest.raises(UnreadableFile, match="occurs twice"):
        list(read_final_labels(path))


@needs(FINAL)
def test_the_released_labels():
    records = list(read_final_labels(FINAL))
    assert all(isinstance(record, FinalLabel) for record in records)
    assert len(records) == 1_770
    assert len({(record.object1, record.object2) for record in records}) == 112
    nulls = [record for record in records if record.text is None]
    assert len(nulls) == 31
    assert {record.model_label for record in nulls} == {0}
    units = Counter(record.unit for record in records if record.unit is not None)
    assert sum(units.values()) - len(units) == 51
    assert len(units) == 1_688
    assert len(find_conflicts(records)) == 8
