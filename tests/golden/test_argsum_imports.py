"""Files of Debate that studies import: the funnel, halves, and clusterings of other data."""

import shutil
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from argsum.datasets.models import CellArgument, Dataset
from argsum.keypoints.models import SummarySet
from tests.cast import make_study
from tests.golden.places import ARGSUM as FOLDER, needs

PAIRS = FOLDER / "debate" / "dataset_scores.csv"
pytestmark = [*needs(PAIRS), pytest.mark.django_db]


@pytest.fixture(autouse=True)
def study(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_study("Released")


def bring(command, *paths, **options):
    """Run an import command; returns what it said, also where it refuses."""
    out = StringIO()
    try:
        call_command(command, *paths, study="Released", stdout=out, **options)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()


@pytest.mark.long
def test_clusterings_of_other_parts_of_the_data_are_refused(tmp_path):
    def cluster(name, dataset="Debate", **options):
        path = FOLDER / "clusterings" / f"{name}.json"
        return bring("import_summary_scores", path, dataset=dataset, **options)

    mcargsum = "Debate_test_MCArgSum_SBERT_all_mpnet_base"
    bring_debate()
    assert "150 cluster ids, but the dataset keeps" in cluster(mcargsum, order="rows")
    bring_debate("Dev", recipe="published", half="dev")
    assert "cluster ids, but the dataset keeps" in cluster(mcargsum, "Dev", order="rows")
    for part in ("arguments", "key_points", "labels"):
        shutil.copy(FOLDER / "argkp2021" / f"{part}_dev.csv", tmp_path)
    bring("import_argkp", tmp_path, dataset="ArgKP")
    for name, order in (("ArgKP21_USKPM", "key_points"), (mcargsum, "rows")):
        assert "does not have this topic and stance" in cluster(name, "ArgKP", order=order)
    assert not SummarySet.objects.exists()


FUNNEL = "3,228 read → 3,180 unique → {} → {} of one sentence"
USUAL = FUNNEL.format("3,168 with exactly one key point", "2,366")
PUBLISHED_FUNNEL = FUNNEL.format("3,139 with a match in exactly one row", "2,321")


def bring_debate(dataset="Debate", **options):
    return bring("import_arguments", PAIRS, dataset=dataset, **options)


def kept(dataset):
    rows = CellArgument.objects.filter(cell__dataset__name=dataset, left_out="")
    return set(rows.values_list("cell__topic", "cell__stance", "text"))


def test_the_dry_run_has_the_counts_of_every_step_in_both_ways():
    said = bring_debate(dry_run=True)
    assert f"Arguments: {USUAL}\n" in said
    assert "29 arguments are repeated with the same key point and count once." in said
    assert f"As published, by rows: {PUBLISHED_FUNNEL}." in said
    assert not Dataset.objects.exists()


@pytest.mark.long
def test_halves_of_one_seed_share_nothing_and_are_the_whole_together():
    said = bring_debate("Test", recipe="published", half="test")
    assert f"test: {PUBLISHED_FUNNEL} → 1,165 in the chosen half" in said
    assert "0       3,195" in bring_debate("Test", recipe="published", half="test")
    bring_debate("Dev", recipe="published", half="dev")
    bring_debate("Other", recipe="published", half="test", seed="2")
    bring_debate("All", recipe="published")
    test, dev, other, whole = map(kept, ("Test", "Dev", "Other", "All"))
    assert (len(test), len(dev), len(whole), test | dev) == (1165, 1156, 2321, whole)
    assert not test & dev
    assert len(other) == 1165
    assert 400 < len(test & other) < 800
    # Every reason keeps arguments, as in the released half.
    points = CellArgument.objects.filter(cell__dataset__name="Test", left_out="")
    assert len(set(points.values_list("matches__key_point", flat=True))) == 48
