"""Released clusterings are refused by data that they do not belong to."""

import os
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from argsum.keypoints.models import SummarySet
from tests.cast import make_study

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "argsum"
DEBATE = FOLDER / "debate" / "dataset_scores.csv"
MCARGSUM = "Debate_test_MCArgSum_SBERT_all_mpnet_base"
pytestmark = [
    pytest.mark.long,
    pytest.mark.reference,
    pytest.mark.django_db,
    pytest.mark.skipif(not DEBATE.exists(), reason="released data absent: argsum"),
]
OF_DEBATE = (MCARGSUM, "Debate_test_MCArgSum_RoBERTa", "Debate_test_USKPM")


@pytest.fixture(autouse=True)
def study(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_study("Clustered")


def bring(command, *paths, **options):
    """Run an import command; returns what it said, also where it refuses."""
    out = StringIO()
    try:
        call_command(command, *paths, study="Clustered", stdout=out, **options)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()


def cluster(name, dataset="Debate", **options):
    path = FOLDER / "clusterings" / f"{name}.json"
    return bring("import_summary_scores", path, dataset=dataset, **options)


def bring_argkp(tmp_path, split="test"):
    folder = tmp_path / f"argkp-{split}"
    folder.mkdir()
    for part in ("arguments", "key_points", "labels"):
        shutil.copy(FOLDER / "argkp2021" / f"{part}_{split}.csv", folder)
    bring("import_argkp", folder, dataset="ArgKP")


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_half_of_as_many_arguments_is_refused(seed):
    """It has the same number of arguments for every reason, in the same order of reasons."""
    options = {"recipe": "published", "half": "test", "seed": seed}
    bring("import_arguments", DEBATE, dataset="Debate", **options)
    for name in OF_DEBATE:
        assert "The cluster ids" in cluster(name, leave_out_rejected=True)
        said = cluster(name, order="rows", leave_out_rejected=True)
        assert "they seem to stand for other texts" in said
    assert not SummarySet.objects.exists()


def test_other_parts_of_the_data_are_refused(tmp_path):
    bring("import_arguments", DEBATE, dataset="Debate")
    assert "150 cluster ids, and the dataset keeps" in cluster(MCARGSUM, order="rows")
    bring("import_arguments", DEBATE, dataset="Dev", recipe="published", half="dev")
    assert "cluster ids, and the dataset keeps" in cluster(MCARGSUM, "Dev", order="rows")
    bring_argkp(tmp_path, "dev")
    assert "no such topic and stance" in cluster("ArgKP21_USKPM", "ArgKP", order="key_points")
    assert "no such topic and stance" in cluster(MCARGSUM, "ArgKP", order="rows")
    assert not SummarySet.objects.exists()
