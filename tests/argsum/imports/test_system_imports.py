"""Files of other systems' key points and of stored scores: every form, once, or refused."""

import json
import random
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
from argsum.metrics.models import MetricScore
from cqa_site.people.models import Rater
from cqa_site.runs.jobs import drain
from cqa_site.runs.models import Job
from cqa_site.tabular import UnreadableFile
from tests.argsum.argument_files import csv_of, pairs
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
        ({"summaries": {"A": {"B": {"1": ["x"]}}}}, "is not grouped by topic and stance"),
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
        "sets with arguments matched by “Counterpoint match”"
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


@pytest.fixture
def run(tmp_path, study, command):
    """Import one evaluation of one cell; returns what the command said."""
    for name in ("First", "Second"):
        make_dataset(study, name=name)

    def run(*, setting="(0.5,)", value=0.25, **options):
        scores = {TOPIC: {"1": {setting: {"llm_coverage": value, "runtime": 1.0}}}}
        path = tmp_path / "ArgKP21_Mine.json"
        path.write_text(json.dumps({"parameter_names": ["t"], "scores": scores}))
        return command("import_summary_scores", path, **{"dataset": "First"} | options)

    return run


def test_a_file_of_the_same_name_with_other_sets_is_refused(run):
    run()
    for changed, other in (
        ({"dataset": "Second"}, "another dataset, topic or stance"),
        ({"system": "Yours"}, "another system (Mine)"),
        ({"setting": "(0.7,)"}, "another setting (t=0.5)"),
    ):
        for dry_run in (True, False):
            said = run(value=0.75, update_changed=True, dry_run=dry_run, **changed)
            assert f"A set with {other} was imported from position 1 in a file with" in said
    assert list(MetricScore.objects.values_list("value", flat=True)) == [0.25]


REASONS = ("It costs money", "It keeps people safe", "It wakes people")


def ids_of(rows):
    """Right ids for most of some rows, in their order."""
    return [-1 if at % 9 == 0 else REASONS.index(reason) for at, (_, reason) in enumerate(rows)]


@pytest.fixture
def rows(command, tmp_path):
    """A dataset of one cell, from pairs without labels whose rows follow no order."""
    draw = random.Random(3)
    numbers = draw.sample(range(100, 160), 60)
    made = [(f"Argument number {number}.", draw.choice(REASONS)) for number in numbers]
    path = tmp_path / "pairs.csv"
    table = [(TOPIC, text, reason, 1) for text, reason in made]
    path.write_bytes(pairs(*table, columns=("topic", "argument", "summary", "stance")))
    command("import_arguments", path, dataset="Pairs")
    return made


@pytest.fixture
def cluster(tmp_path, command, rows):
    """Import one clustering of that cell; returns what the command said."""

    def cluster(ids, *, texts=None, **options):
        leaf = {TOPIC: {"1": {"runtime": 1.0, "cluster_ids": ids}}}
        content = {"parameter_names": ["threshold"], "clustering": {"(0.5,)": leaf}}
        if texts is not None:
            content["arguments"] = {TOPIC: {"1": texts}}
        path = tmp_path / "Debate_test_Mine.json"
        path.write_text(json.dumps(content))
        return command("import_summary_scores", path, dataset="Pairs", **options)

    return cluster


def placed():
    """Text → cluster id, as stored."""
    made = SummarySet.objects.get()
    texts = dict(CellArgument.objects.values_list("pk", "text"))
    assert made.system == "Mine"
    return {texts[pk]: one for pk, one in zip(made.arguments, made.clusters, strict=True)}


def texts_of(rows):
    return [text for text, _reason in rows]


def test_ids_in_the_order_of_the_rows_are_not_matched_to_another(cluster, rows):
    for asked in ({}, {"order": "key_points"}, {"order": "texts"}):
        for dry_run in (True, False):
            said = cluster(ids_of(rows), dry_run=dry_run, leave_out_rejected=True, **asked)
            assert "The cluster ids do not fit the arguments sorted by" in said
            assert "choose “rows”" in said
    assert not SummarySet.objects.exists()
    for _twice in range(2):
        cluster(ids_of(rows), order="rows")
        assert placed() == dict(zip(texts_of(rows), ids_of(rows), strict=True))


def test_ids_that_show_no_order_are_refused_until_one_is_named(cluster, rows):
    ids = [at % 2 for at in range(60)]
    assert "the order cannot be detected" in cluster(ids)
    assert not SummarySet.objects.exists()
    assert "Check that the order of the arguments is right." in cluster(ids, order="rows")
    assert placed() == dict(zip(texts_of(rows), ids, strict=True))
    assert "clusters of arguments in another order" in cluster(ids, order="texts")


def test_named_arguments_need_no_order(cluster, rows):
    mixed = random.Random(7).sample(rows, 60)
    said = cluster(ids_of(mixed), texts=[*texts_of(mixed)[:-1], "Nobody said this."])
    assert "The dataset does not have the argument “Nobody said this.”" in said
    assert "59 arguments" in cluster(ids_of(mixed), texts=texts_of(mixed)[:-1])
    assert not SummarySet.objects.exists()
    cluster(ids_of(mixed), texts=texts_of(mixed))
    assert placed() == dict(zip(texts_of(mixed), ids_of(mixed), strict=True))


def test_ids_for_all_arguments_stand_for_those_that_are_left_out_too(cluster, rows):
    first = CellArgument.objects.get(text=rows[0][0], cell__dataset__name="Pairs")
    first.left_out = CellArgument.LeftOut.SENTENCES
    first.save()
    assert "59 of 60 arguments" in cluster(ids_of(rows)[:58], order="rows")
    assert "including those left out by preprocessing" in cluster(ids_of(rows), order="rows")
    assert len(placed()) == 60
