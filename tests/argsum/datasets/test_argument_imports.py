"""Files with arguments into datasets: dry run, import, again, more of it, and refusals."""

import pytest

from argsum.datasets.actions import change_recipe
from argsum.datasets.models import CellArgument, Dataset, KeyPointMatch
from argsum.keypoints.models import SummarySet
from cqa_site.files.actions.imports import ImportRefused, import_path
from ..argument_files import ARGUMENTS, LABELS, TOPIC, pairs, triple, zip_of
from ..made_cells import make_system_run

pytestmark = pytest.mark.django_db
NAME = "Lifts"


@pytest.fixture
def bring(study, tmp_path):
    """Import bytes; a dry run with ``write=False``."""

    def run(content, *, dataset=NAME, options=None, **asked):
        path = tmp_path / "file"
        path.write_bytes(content)
        options = {"dataset": dataset} | (options or {})
        usual = {"kind": "argkp", "name": "lifts.zip", "write": True}
        return import_path(study=study, path=path, options=options, **usual | asked)

    return run


@pytest.fixture
def bring_pairs(bring):
    def run(*rows, **asked):
        return bring(pairs(*rows), kind="argument_pairs", name="pairs.csv", **asked)

    return run


def new(outcome):
    """What is new, without what the file has nothing of."""
    return {name: row["new"] for name, row in outcome.counts.items() if row["new"]}


def left_out(dataset):
    rows = CellArgument.objects.filter(cell__dataset=dataset)
    return dict(rows.values_list("name", "left_out"))


def test_an_import_keeps_texts_labels_and_why_arguments_are_left_out(
    bring, django_assert_max_num_queries
):
    content = zip_of(triple())
    for most in (40, 20):
        with django_assert_max_num_queries(most):
            bring(content)
    dataset = Dataset.objects.get(name=NAME)
    reasons = zip(ARGUMENTS, ["", "key_points", "no_key_point", "sentences"], strict=True)
    assert left_out(dataset) == dict(reasons)
    assert dataset.recipe["counts"] == {
        "test": {"read": 4, "unique": 4, "exactly_one_key_point": 2, "one_sentence": 1}
    }
    labels = KeyPointMatch.objects.order_by("argument__position", "key_point__position")
    stored = labels.values_list("argument__name", "key_point__name", "is_match")
    assert list(stored) == [(*names, bool(label)) for *names, label in LABELS]


def test_more_of_it_is_added_behind(bring):
    bring(zip_of(triple()))
    rows = [(key, text, TOPIC, 1) for key, text in ARGUMENTS.items()]
    more = triple(arguments=[*rows, ("a5", "Music wakes babies.", TOPIC, 1)])
    assert new(bring(zip_of(more))) == {"arguments": 1}
    added = CellArgument.objects.get(name="a5")
    assert (added.position, added.left_out) == (5, "no_key_point")
    # The chosen steps stay.
    change_recipe(dataset=Dataset.objects.get(), steps=["one_sentence"], actor=None)
    found = bring(zip_of(triple("dev", topic="Other")))
    assert new(found) == {"arguments": 4, "cells": 1, "key_points": 2, "matches": 5}
    assert found.notes == ["dev: 4 read → 4 unique → 3 of one sentence"]
    recipe = Dataset.objects.get().recipe
    assert recipe["steps"] == ["unique", "one_sentence"]
    assert recipe["counts"]["dev"] == {"read": 4, "unique": 4, "one_sentence": 3}
    cells = Dataset.objects.get().cells.values_list("split", "position")
    assert list(cells) == [("test", 1), ("dev", 2)]


def test_what_differs_in_a_second_file_is_shown_and_kept_unless_asked(bring, bring_pairs):
    bring(zip_of(triple()))
    quality = (TOPIC, ARGUMENTS["a1"], "Silence is restful", 1, 1, "test", 0.75)
    kept = bring_pairs(quality)
    assert kept.counts["arguments"]["changed"] == 1
    assert "a quality score for 1 argument that does not have one yet" in kept.notes[-1]
    assert CellArgument.objects.get(name="a1").quality is None
    bring_pairs(quality, update_changed=True)
    assert CellArgument.objects.get(name="a1").quality == 0.75
    label = (TOPIC, ARGUMENTS["a1"], "Music costs money", 1, 1, "test", "")
    found = bring_pairs(label)
    assert found.counts["matches"]["changed"] == 1
    assert [(flag.row, flag.column) for flag in found.flags] == [(2, "label")]
    assert left_out(Dataset.objects.get())["a1"] == ""
    bring_pairs(label, update_changed=True)
    assert left_out(Dataset.objects.get())["a1"] == "key_points"
    # A topic cannot move to another split.
    moved = (TOPIC, "New.", "Silence is restful", 1, 1, "train", "")
    with pytest.raises(ImportRefused, match="1 row is rejected"):
        bring_pairs(moved)
    found = bring_pairs(moved, write=False)
    assert (found.counts["cells"]["rejected"], new(found)) == (1, {})


MATCHES = ("topic", "argument", "summary", "stance", "ibm_pro_deb_qs")


def test_pairs_without_a_label_column_come_in_as_matches(bring):
    rows = [
        (TOPIC, "Silence is restful.", "Silence is restful", 1, 0.75),
        (TOPIC, "Music wakes babies.", "Silence is restful", 1, 0.5),
        (TOPIC, "Music wakes babies.", "Music costs money", 1, 0.5),
        (TOPIC, "Silence is restful.", "Silence is restful", 1, 0.75),
    ]
    content = pairs(*rows, columns=MATCHES)
    asked = {"kind": "argument_pairs", "name": "debate.csv"}
    looked = bring(content, write=False, **asked)
    assert looked.notes[0].startswith("The file has no label column. Every row counts")
    assert looked.notes[1] == (
        "Arguments: 4 read → 2 unique → 1 with exactly one key point → 1 of one sentence"
    )
    counts = {"arguments": 2, "cells": 1, "key_points": 2, "matches": 3}
    assert new(bring(content, **asked)) == counts
    assert set(KeyPointMatch.objects.values_list("is_match", flat=True)) == {True}


def test_the_published_recipe_counts_rows_and_a_half_is_drawn(bring):
    said = ("Silence is restful.", "Music wakes babies.", "Nobody sings.", "It is dull.")
    rows = [(TOPIC, text, "Silence is restful", 1, 0.5) for text in said]
    rows += [(TOPIC, "It hums.", "Music costs money", 1, 0.5), rows[0]]
    content = pairs(*rows, columns=MATCHES)
    asked = {"kind": "argument_pairs", "name": "debate.csv"}
    usual = bring(content, write=False, **asked).notes
    assert "6 read → 5 unique → 5 with exactly one key point → 5 of one sentence" in usual[1]
    assert usual[2].startswith("1 argument is repeated with the same key point")
    made = bring(content, options={"recipe": "published", "half": "test", "seed": "3"}, **asked)
    assert made.notes[1] == (
        "test: 6 read → 5 unique → 4 with a match in exactly one row → 4 of one sentence → "
        "3 in the chosen half"
    )
    assert Dataset.objects.get().recipe["half"] == {"part": "test", "seed": 3}
    reasons = list(CellArgument.objects.order_by("position").values_list("left_out", flat=True))
    assert (reasons[0], sorted(reasons[1:4])) == ("rows", ["", "", "other_half"])
    # The only argument of its key point is kept.
    assert reasons[4] == ""
    other = bring(content, options={"half": "test"}, **asked)
    assert (other.added, other.notes[-1][:35]) == (0, "The dataset keeps its own recipe. Y")


def test_unknown_recipes_halves_and_seeds_are_refused(bring):
    asked = {"kind": "argument_pairs", "name": "pairs.csv"}
    for options, reason in (
        ({"half": "third"}, "half must be test or dev"),
        ({"half": "dev", "seed": "-1"}, "not a whole number"),
        ({"recipe": "mine"}, "no recipe named “mine”"),
    ):
        with pytest.raises(ImportRefused, match=reason):
            bring(pairs((TOPIC, "A.", "B", 1, 0.5), columns=MATCHES), options=options, **asked)
    # A column that may be the label is pointed out.
    columns = ("topic", "argument", "key_point", "stance", "relevant")
    looked = bring(pairs((TOPIC, "A.", "B", 1, 0), columns=columns), write=False, **asked)
    said = "Columns not read: relevant. If one of them is the label, rename it to label."
    assert said in looked.notes


def test_a_dataset_that_was_summarized_stays_as_it_is(bring, study):
    bring(zip_of(triple()))
    cell = Dataset.objects.get().cells.get()
    made = SummarySet.objects.create(study=study, cell=cell, system="Theirs", source="a.csv")
    with pytest.raises(ImportRefused):
        bring(zip_of(triple("dev", topic="Other")))
    made.delete()
    make_system_run(Dataset.objects.get())
    assert bring(zip_of(triple())).added == 0
    more = triple(labels=[("a1", "k1", 1), ("a3", "k1", 0)])
    for write in (False, True):
        with pytest.raises(ImportRefused, match="Import the file under another name"):
            bring(zip_of(more), write=write)
    assert KeyPointMatch.objects.count() == 5
    assert bring(zip_of(more), dataset="Lifts, again").added == 9


def test_repeats_are_counted_once_however_often_a_file_comes_and_grows(bring):
    rows = [("a1", "Same.", TOPIC, 1), ("a2", "Same.", TOPIC, 1), ("a3", "Other.", TOPIC, 1)]
    for some in (rows[:2], rows, rows):
        bring(zip_of(triple(arguments=some, labels=[("a1", "k1", 1)])))
        counts = Dataset.objects.get().recipe["counts"]["test"]
        assert (counts["read"], counts["unique"]) == (len(some), len(some) - 1)
