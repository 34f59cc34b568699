"""Files of stored scores: a set is the one that came from its place, or the file is refused."""

import json
import random

import pytest

from argsum.datasets.models import CellArgument
from argsum.keypoints.models import SummarySet
from argsum.metrics.models import MetricScore
from tests.argsum.argument_files import pairs
from tests.argsum.made_cells import TOPIC, make_dataset

pytestmark = pytest.mark.django_db


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
            assert f"A set with {other} came from position 1 in a file with this name" in said
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
            assert "The cluster ids do not follow the arguments sorted by" in said
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
