"""Files of other systems' key points: every form, once, with arguments or matched later."""

import json
import re

import numpy as np
import pytest

from argsum.datasets.models import CellArgument
from argsum.imports.methods.system_files import read_system_file
from argsum.keypoints.actions import sets
from argsum.keypoints.actions.sets import JOB, SOURCE, request_assignment
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.reports.board import board_choice, summary_board
from argsum.metrics.actions.metrics import SetSelection, scorable_sets
from cqa_site.people.models import Rater
from cqa_site.runs.jobs import drain
from cqa_site.runs.models import Job
from cqa_site.tabular import UnreadableFile
from tests.argsum.argument_files import csv_of
from tests.argsum.made_cells import TOPIC, make_count, make_dataset

pytestmark = pytest.mark.django_db
HEADS = ("topic", "stance", "key_point", "system", "setting", "prevalence", "arguments")
SAFE, WORK = "Buses at night are safe", "Shift workers need night buses"


@pytest.fixture
def bring(tmp_path, study, command):
    """Import a file; returns what the command said."""
    make_dataset(study)

    def bring(content, name="Theirs.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return command("import_key_points", path, dataset="Night buses", **options)

    return bring


def table(*rows, heads=HEADS):
    return csv_of(heads, [(*row, *[""] * (len(heads) - len(row))) for row in rows])


def told(system="Theirs"):
    """Key points with their prevalence, in order."""
    made = SummarySet.objects.get(system=system)
    return [(each.text, each.prevalence) for each in made.summaries.all()]


class Scores:
    """A match scorer: a text matches the key point that has more of its words."""

    def matrix(self, rows, columns, *, topic=""):
        words = [set(re.findall(r"\w+", each.lower())) for each in columns]
        given = [set(re.findall(r"\w+", row.lower())) for row in rows]
        return np.array([[len(own & each) / 10 for each in words] for own in given])


def test_a_table_with_arguments_makes_a_set_of_clusters(bring, study):
    rows = [
        (TOPIC, 1, WORK, "Theirs", "t=0.5", "", "arg_4;arg_5"),
        (TOPIC, 1, SAFE, "Theirs", "t=0.5", "", "arg_1; arg_2 ;arg_3"),
    ]
    assert "sets of key points           1" in bring(table(*rows))
    assert told() == [(SAFE, 3), (WORK, 2)]
    made = SummarySet.objects.get()
    assert (made.source, made.setting, made.state) == (SOURCE, "t=0.5", "done")
    assert made.assigned == made.clusters == [0, 0, 0, 1, 1, -1]
    assert not Job.objects.filter(kind=JOB).exists()
    (row,) = summary_board(board_choice(study, {})).rows
    assert row.system == "Theirs"
    assert row.figures["including"].value > 0.5
    assert scorable_sets(study, SetSelection()).count() == 1


def test_rows_that_do_not_fit_are_named(bring):
    for row, reason in (
        ((TOPIC, 1, ""), r"row 2, key_point: is empty"),
        ((TOPIC, 2, SAFE), r"row 2, stance: '2' is not one of"),
        (("Trams", 1, SAFE), r"does not have this topic and stance"),
        ((TOPIC, "", SAFE), r"could belong to any of 2 topics and stances in the dataset"),
        ((TOPIC, 1, SAFE, "A", "", "many"), r"row 2, prevalence: 'many' is not a whole number"),
        ((TOPIC, 1, SAFE, "A", "", "", "arg_9"), r"does not have the argument “arg_9”"),
        ((TOPIC, 1, SAFE, "A" * 121), r"row 2, system: longer than 120"),
    ):
        assert re.search(reason, bring(table(row)))
    rows = [(TOPIC, 1, text, "A", "", "", "arg_1") for text in (SAFE, WORK)]
    assert "is listed under two key points" in bring(table(*rows))
    assert not SummarySet.objects.exists()


def test_prevalence_alone_is_taken_as_it_is(bring):
    bring(table((TOPIC, 1, SAFE, "Theirs", "", 2), (TOPIC, 1, WORK, "Theirs", "", 5)))
    assert told() == [(WORK, 5), (SAFE, 2)]
    # Nobody matches if that is asked.
    bring(table((TOPIC, 1, SAFE)), name="Plain.csv", scorer="none")
    assert not Job.objects.filter(kind=JOB).exists()
    # A topic written otherwise is taken for the one that it is.
    said = bring(table((TOPIC.upper() + ".", 1, SAFE, "Other")), name="Other.csv")
    assert f"Matched with “{TOPIC}”." in said
    assert told("Other") == [(SAFE, None)]


def test_a_bare_list_needs_topic_and_stance(bring):
    content = f"1. {SAFE}\n\n- {WORK}\n".encode()
    assert "2 topics and stances" in bring(content, name="Mine.txt")
    bring(content, name="Mine.txt", topic=TOPIC, stance="pro")
    assert told("Mine") == [(SAFE, None), (WORK, None)]


def test_a_json_object_by_topic_and_stance(bring):
    points = [SAFE, {"key_point": WORK, "arguments": ["arg_4"]}]
    bring({"system": "Theirs", "key_points": {TOPIC: {"1": points, "-1": ["It is loud"]}}})
    rows = SummarySet.objects.order_by("-cell__stance", "summaries__position")
    said = list(rows.values_list("cell__stance", "summaries__text"))
    assert said == [(1, WORK), (1, SAFE), (-1, "It is loud")]


def test_the_layout_of_released_cluster_summaries(bring):
    sums = {"0": [SAFE, f"{SAFE}!"], "1": [WORK, f"{WORK}!"]}
    leaves = {"(0.5,)": {"sums": sums, "runtime": 1.5}, "(0.7,)": {"sums": None, "runtime": None}}
    content = {"summaries": {key: {TOPIC: {"1": {"()": leaf}}} for key, leaf in leaves.items()}}
    content |= {"clu_parameter_names": ["threshold"], "clu_parameter_values": [[0.5, 0.7]]}
    content |= {"sum_parameter_names": []}
    said = bring(content, name="ArgKP21_Theirs.json")
    assert "1 setting has no key points in the file" in said
    rows = SummarySet.objects.order_by("setting").values_list("setting", "state", "seconds")
    assert list(rows) == [
        ("threshold=0.5, attempt=1", "done", 1.5),
        ("threshold=0.5, attempt=2", "done", 1.5),
        ("threshold=0.7", "no_result", None),
    ]
    first = SummarySet.objects.get(setting="threshold=0.5, attempt=2")
    assert first.parameters == {"threshold": 0.5, "attempt": 2}
    texts = [(each.text, each.cluster) for each in first.summaries.all()]
    assert texts == [(f"{SAFE}!", 0), (f"{WORK}!", 1)]


def released(ids, name="sum_ids"):
    """The layout of released classification summaries."""
    leaf = {name: ids, "sums": {"0": SAFE, "1": WORK}, "runtime": 2.0}
    return {"summaries": {"(0.8,)": {TOPIC: {"1": leaf}}}, "parameter_names": ["match"]}


def test_the_layout_of_released_classification_summaries(bring):
    said = bring(released([1, 0, 1, 0, 1, 0]))
    assert "the order cannot be detected" in said
    assert "5 cluster ids" in bring(released([0, 0, 0, 1, 1]), order="rows")
    assert not SummarySet.objects.exists()
    bring(released([1, 0, 1, 0, 1, 0]), name="Aside.json", order="none")
    assert told("Aside") == [(SAFE, None), (WORK, None)]
    said = bring(released([0, 0, 0, 1, 1, 1]), order="rows")
    assert "The file assigns arguments to key points" in said
    assert told() == [(SAFE, 3), (WORK, 3)]
    assert SummarySet.objects.get(system="Theirs").clusters == [0, 0, 0, 1, 1, 1]


def test_other_objects_are_refused_with_their_place(tmp_path, study, command):
    make_dataset(study)
    path = tmp_path / "x.json"
    for content, reason in (
        ({"summaries": {}}, "has no key points"),
        ({"summaries": {"A": {"B": {"1": ["x"]}}}}, "is not by topic and stance"),
        ({"summaries": {"A": {"1": [3]}}}, "is not a text"),
        ({"summaries": {"A": {"1": "x"}}}, "is not a list of key points"),
        ({"summaries": {"A": {"1": {"sums": {"0": "x"}, "sum_ids": [4]}}}}, "not in sums"),
    ):
        path.write_text(json.dumps(content))
        with pytest.raises(UnreadableFile, match=reason):
            read_system_file(path)
    # Key points among stored scores are called what they are.
    for content in (released([0]), {TOPIC: {"1": [SAFE]}}):
        path.write_text(json.dumps(content))
        said = command("import_summary_scores", path, dataset="Night buses")
        assert "has key points by topic and stance" in said


def test_arguments_are_matched_in_the_background(bring, study, monkeypatch):
    monkeypatch.setattr(sets, "match_scorer_of", lambda scorer: Scores())
    content = table((TOPIC, 1, "a car"), (TOPIC, 1, "a bus at night is safer"))
    bring(content, name="Theirs.csv")
    bring(content, name="Counted.csv")
    rater = Rater.objects.create(study=study, kind="person", external_id="A1", name="A1")
    make_count(SummarySet.objects.get(system="Counted"), rater)
    assert drain() >= 1
    assert {job.note for job in Job.objects.filter(kind=JOB)} == {
        "sets with arguments by “Counterpoint match”"
    }
    made = SummarySet.objects.get(system="Theirs")
    assert told()[0][0] == "a bus at night is safer"
    # Key points keep their order once somebody counted.
    assert [text for text, _n in told("Counted")] == ["a car", "a bus at night is safer"]
    assert sum(n for _text, n in told()) == sum(each >= 0 for each in made.assigned)
    assert len(made.arguments) == len(made.assigned) == len(made.scores) == 6
    texts = dict(CellArgument.objects.values_list("pk", "text"))
    by_text = {texts[pk]: place for pk, place in zip(made.arguments, made.assigned, strict=True)}
    assert by_text["A bus at night is safer than a dark street."] == 0
    # Nothing is left to match when it is asked for again.
    request_assignment(dataset=made.cell.dataset, scorer="", actor=None)
    drain()
    assert SummarySet.objects.get(pk=made.pk).assigned == made.assigned


def test_an_import_takes_few_queries(bring, django_assert_max_num_queries):
    rows = [(TOPIC, 1, f"Point {at}", f"S{at % 20}") for at in range(100)]
    bring(table(*rows))
    with django_assert_max_num_queries(60):
        bring(table(*rows))
