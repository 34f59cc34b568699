"""The authors' files, in small invented copies with everything that can be wrong."""

import json

import pytest

from argsum.counting.methods.released_counts import numbered_texts, read_counts, sets_of
from argsum.imports.methods import released_scores
from cqa_site.tabular import UnreadableFile

HEADER = "topic,stance,reference,prediction,n_covered,n_unique,coverage,redundancy,file_name\n"
TEXTS = '"1: Buses are safe\n2: Buses help","1: Safety\n2: Work\n3: Work again"'


def counts(tmp_path, *rows, header=HEADER, name="A1.csv"):
    path = tmp_path / name
    path.write_text(header + "".join(row + "\n" for row in rows), encoding="utf-8")
    return path


def row(stance="-1", texts=TEXTS, numbers="1.5,2,0.75,0.25", system="one.csv", topic="Buses"):
    return f"{topic},{stance},{texts},{numbers},{system}"


def test_judgements_of_which_some_are_not_done_or_unsure(tmp_path):
    file = read_counts(counts(tmp_path, row()))
    (found,) = file.sets
    assert (file.rater, file.not_done, file.problems) == ("A1", 0, ())
    assert (found.key, found.row) == (("Buses", "-1", "one"), 2)
    assert found.references == ("Buses are safe", "Buses help")
    assert found.summaries == ("Safety", "Work", "Work again")
    # As written, not 1.5 / 2 and 1 - 2 / 3: one released file lost the halves of its counts.
    figures = (found.covered, found.unique, found.coverage, found.redundancy)
    assert figures == (1.5, 2, 0.75, 0.25)
    rows = [
        row(numbers="-2,-2,-2.0,-2.0"),
        row(numbers="-1,2,-1,0.25", system="two.csv"),
        row(numbers=",,0.5,-1.0", system="three.csv"),
    ]
    file = read_counts(counts(tmp_path, *rows))
    assert file.not_done == 1
    assert [(each.coverage, each.redundancy) for each in file.sets] == [(None, 0.25), (0.5, None)]
    assert [(each.covered, each.unique) for each in file.sets] == [(None, 2), (None, None)]
    # Sets are sorted by topic stance and system and some are left out.
    others = [row(system=f"{name}.csv") for name in ("sep_summetix_it_0", "b", "a")]
    first = read_counts(counts(tmp_path, *[row(stance="1"), *others, row(topic="Arts")]))
    second = read_counts(counts(tmp_path, row(system="c.csv"), name="A2.csv"))
    systems = ("a", "b", "c", "sep_summetix_it_0")
    expected = [("Arts", "-1", "one"), *(("Buses", "-1", name) for name in systems)]
    assert list(sets_of([first, second])) == [*expected, ("Buses", "1", "one")]
    assert [each.is_left_out for each in first.sets] == [False, True, False, False, False]
    # Numbered texts.
    assert numbered_texts("1: a\n2: b") == ("a", "b")
    assert numbered_texts("1: a\nstill a\n2: b") == ("a\nstill a", "b")
    assert numbered_texts("1: a\n7: of ten\n2. b\n3) c") == ("a\n7: of ten", "b", "c")


@pytest.mark.parametrize(
    ("bad", "column", "reason"),
    [
        (row(stance="0"), "stance", "not one of 1, -1"),
        (row(topic=" "), "topic", "is empty"),
        (row(numbers="1,1,much,0"), "coverage", "'much' is not a number"),
        (row(numbers="1,1,1.2,0"), "coverage", "between 0 and 1"),
        (row(numbers="1,1,0.5,-3"), "redundancy", "between 0 and 1"),
        (row(numbers="1,1,-2,0.5"), "redundancy", "only one"),
        (row(numbers="1.2,1,0.5,0"), "n_covered", "half steps from 0 to 2"),
        (row(numbers="1,3.5,0.5,0"), "n_unique", "half steps from 0 to 3"),
        (row(texts='"Buses are safe","1: Safety"'), "reference", "numbered from 1"),
        (row(texts='"1: Buses are safe","2: Safety"'), "prediction", "numbered from 1"),
        (row(system="good.csv"), "file_name", "same set as in row 2"),
    ],
)
def test_a_row_that_cannot_be_read_is_a_problem_and_nothing_else(tmp_path, bad, column, reason):
    file = read_counts(counts(tmp_path, row(system="good.csv"), bad))
    assert [each.system for each in file.sets] == ["good"]
    (problem,) = file.problems
    # Below the header, the first row takes four lines.
    assert (problem.file, problem.row, problem.column) == ("A1.csv", 6, column)
    assert reason in problem.reason
    path = counts(tmp_path, "Buses,1", header="topic,stance\n")
    with pytest.raises(UnreadableFile, match=r"A1\.csv: has no column reference, prediction"):
        read_counts(path)


def stored(tmp_path, content, name="stored.json"):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


SOFT, COUNTS = released_scores.read_soft_scores, released_scores.read_llm_scores
TWO = {"sP": [1], "sR": [1]}


@pytest.mark.parametrize(
    ("reader", "content", "reason"),
    [
        (SOFT, "[1]", "not a JSON object"),
        (SOFT, "{", "not valid JSON"),
        (SOFT, '{"a": {"sP": [NaN]}}', "not a JSON number"),
        (SOFT, {"a": [1]}, "column a: is not a JSON object"),
        (SOFT, {"a": TWO}, "column a: sF1 is not a list of numbers"),
        (SOFT, {"a": TWO | {"sF1": [True]}}, "column a: sF1 is not a list of numbers"),
        (SOFT, {"a": TWO | {"sF1": [1, 2]}}, "differ in length"),
        (SOFT, {}, "differ in length"),
        (COUNTS, {"llm_coverage": [1]}, "column llm_coverage: is not a JSON object"),
        (COUNTS, {"llm_coverage": {"1.0": ["1"]}}, "temperature 1.0: is not a list of numbers"),
        (COUNTS, {"llm_coverage": {"1.0": [1], "0.2": [1, 2]}}, "differ in length"),
        (COUNTS, {"source": "invented"}, "differ in length"),
    ],
)
def test_scores_and_counts_that_are_none(tmp_path, reader, content, reason):
    with pytest.raises(UnreadableFile, match=rf"stored\.json.*{reason}"):
        reader(stored(tmp_path, content))


EVALUATION = {
    "parameter_names": ["share", "threshold"],
    "scores": {
        "Buses": {
            "1": {"(0.1, 0.75)": {"llm_coverage": 0.5, "runtime": 2}, "(0.1, 0.8)": {}},
            "-1": {"(0.1, 0.75)": {"llm_coverage": 1}},
        }
    },
}


def test_evaluations(tmp_path):
    runs = released_scores.read_evaluations(stored(tmp_path, EVALUATION))
    first = {"share": 0.1, "threshold": 0.75}
    assert runs == (
        released_scores.StoredRun("Buses", 1, first, scores={"llm_coverage": 0.5}, seconds=2.0),
        released_scores.StoredRun("Buses", 1, {"share": 0.1, "threshold": 0.8}),
        released_scores.StoredRun("Buses", -1, first, scores={"llm_coverage": 1.0}),
    )
    assert runs[0].setting == "share=0.1, threshold=0.75"
    sizes = [(cell, len(of)) for cell, of in released_scores.iter_cells(runs)]
    assert sizes == [("Buses (1)", 2), ("Buses (-1)", 1)]
    text = json.dumps(EVALUATION).replace('"llm_coverage": 1}', '"llm_coverage": "1"}')
    with pytest.raises(UnreadableFile, match=r"Buses \(-1\), \(0\.1, 0\.75\).*llm_coverage"):
        released_scores.read_evaluations(stored(tmp_path, text))
    with pytest.raises(UnreadableFile, match="cannot be opened"):
        released_scores.read_evaluations(tmp_path / "nowhere.json")
    # Clusterings may name their arguments.
    path = stored(tmp_path, CLUSTERING)
    (run,) = released_scores.read_clusterings(path)
    assert (run.cell, run.setting, run.seconds) == ("Buses (1)", "threshold=0.5", 0.5)
    assert run.cluster_ids == (0, -1, 0)
    assert released_scores.read_clusterings(path, part="iterative_clustering") == ()
    named = CLUSTERING | {"arguments": {"Buses": {"1": ["a", "b", "c"]}}}
    (run,) = released_scores.read_clusterings(stored(tmp_path, named))
    assert run.texts == ("a", "b", "c")
    for texts, reason in ((["a", "a"], "names an argument twice"), ([1], "not a list of texts")):
        broken = CLUSTERING | {"arguments": {"Buses": {"1": texts}}}
        with pytest.raises(UnreadableFile, match=reason):
            released_scores.read_clusterings(stored(tmp_path, broken))
    # Counts of a language model.
    content = {"llm_coverage": {"0.2": [0.5, 1], "1.0": [1, 0]}, "llm_redundancy": {"1.0": [0, 0]}}
    assert released_scores.read_llm_scores(stored(tmp_path, content | {"source": "invented"})) == {
        "0.2": {"llm_coverage": [0.5, 1.0]},
        "1.0": {"llm_coverage": [1.0, 0.0], "llm_redundancy": [0.0, 0.0]},
    }


CLUSTERING = {
    "parameter_names": ["threshold"],
    "clustering": {"(0.5,)": {"Buses": {"1": {"runtime": 0.5, "cluster_ids": [0, -1, 0]}}}},
}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"1"', '"2"', "stance '2'"),
        ("(0.5,)", "(0.5, 1)", "lacks threshold"),
        ("(0.5,)", "0.5.5", "lacks threshold"),
        ("[0, -1, 0]", "[0, -2, 0]", "whole numbers"),
        ("[0, -1, 0]", "[true]", "whole numbers"),
        ('["threshold"]', '"threshold"', "list of names"),
        ('{"Buses"', '[{"Buses"', "not valid JSON"),
    ],
)
def test_clusterings_that_are_none(tmp_path, old, new, reason):
    text = json.dumps(CLUSTERING)
    assert old in text
    with pytest.raises(UnreadableFile, match=reason):
        released_scores.read_clusterings(stored(tmp_path, text.replace(old, new)))
