"""Debate as released becomes a dataset: the counts of every step, and halves drawn by a seed."""

import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from argsum.datasets.actions.datasets import change_recipe
from argsum.datasets.methods.halves import Half
from argsum.datasets.methods.preprocessing import PUBLISHED
from argsum.datasets.models import CellArgument, Dataset
from tests.cast import make_study

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FILE = DATA / "argsum" / "debate" / "dataset_scores.csv"
pytestmark = [
    pytest.mark.reference,
    pytest.mark.django_db,
    pytest.mark.skipif(not FILE.exists(), reason="released data absent: argsum"),
]
FUNNEL = "3,228 read → 3,180 unique → {} → {} of one sentence"
USUAL = FUNNEL.format("3,168 with exactly one key point", "2,366")
PUBLISHED_FUNNEL = FUNNEL.format("3,139 with a match in exactly one row", "2,321")


@pytest.fixture(autouse=True)
def study(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_study("Debates")


def bring(dataset="Debate", **options):
    out = StringIO()
    call_command("import_arguments", FILE, study="Debates", dataset=dataset, stdout=out, **options)
    return out.getvalue()


def kept(dataset):
    rows = CellArgument.objects.filter(cell__dataset__name=dataset, left_out="")
    return set(rows.values_list("cell__topic", "cell__stance", "text"))


def test_the_dry_run_has_the_counts_of_every_step_in_both_ways():
    said = bring(dry_run=True)
    assert f"Arguments: {USUAL}\n" in said
    assert "29 arguments come again with the same key point, which counts once." in said
    assert f"As published, by rows: {PUBLISHED_FUNNEL}." in said
    assert not Dataset.objects.exists()


@pytest.mark.long
def test_the_published_recipe_with_a_seeded_half():
    said = bring(recipe="published", half="test", seed="5")
    assert f"test: {PUBLISHED_FUNNEL} → 1,165 in the half" in said
    assert Dataset.objects.get().recipe["counts"] == {
        "test": {
            "read": 3228,
            "unique": 3180,
            "one_row": 3139,
            "published_sentence": 2321,
            "half": 1165,
        }
    }
    assert "0       3,195" in bring(recipe="published", half="test", seed="5")


@pytest.mark.long
def test_halves_of_one_seed_share_nothing_and_are_the_whole_together():
    bring("Test", recipe="published", half="test")
    bring("Dev", recipe="published", half="dev")
    bring("Other", recipe="published", half="test", seed="2")
    bring("All", recipe="published")
    test, dev, other, whole = map(kept, ("Test", "Dev", "Other", "All"))
    assert (len(test), len(dev), len(whole)) == (1165, 1156, 2321)
    assert test | dev == whole
    assert not test & dev
    assert len(other) == 1165
    assert 400 < len(test & other) < 800
    # Every reason keeps arguments, as in the released half.
    points = CellArgument.objects.filter(cell__dataset__name="Test", left_out="")
    assert len(set(points.values_list("matches__key_point", flat=True))) == 48


@pytest.mark.long
def test_a_dataset_gets_the_same_half_by_changing_its_recipe():
    bring("Later")
    bring("At once", recipe="published", half="test")
    dataset = Dataset.objects.get(name="Later")
    steps = (*PUBLISHED, "half")
    change_recipe(dataset=dataset, steps=steps, half=Half("test", 1), actor=None)
    assert kept("Later") == kept("At once")
