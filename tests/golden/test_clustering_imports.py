"""Released clusterings find their arguments by themselves, and are refused by all others."""

import os
import shutil
from collections import defaultdict
from io import StringIO
from pathlib import Path
from statistics import fmean

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from argsum.datasets.actions.datasets import change_recipe
from argsum.datasets.models import Dataset, KeyPointMatch
from argsum.keypoints.models import SummarySet
from argsum.scorers.methods.cluster_figures import adjusted_rand
from cqa_site.files.models import ImportFile
from tests.cast import make_member, make_study, sign_in

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "argsum"
DEBATE = FOLDER / "debate" / "dataset_scores.csv"
DEBATE_HALF = FOLDER / "debate" / "dataset_scores_processed_test.csv"
MCARGSUM = "Debate_test_MCArgSum_SBERT_all_mpnet_base"
pytestmark = [
    pytest.mark.reference,
    pytest.mark.django_db,
    pytest.mark.skipif(not DEBATE.exists(), reason="released data absent: argsum"),
]
# Adjusted Rand index including unclustered arguments, best setting per cell, mean over cells.
ARGKP = {
    "ArgKP21_MCArgSum_SBERT_all_mpnet_base": {"": 0.547},
    "ArgKP21_MCArgSum_RoBERTa": {"": 0.640},
    "ArgKP21_MCArgSum_SBERT_RoBERTa": {"": 0.639},
    "ArgKP21_USKPM": {"": 0.253, " (iterative)": 0.268},
}
OF_DEBATE = {
    MCARGSUM: {"": 0.315},
    "Debate_test_MCArgSum_RoBERTa": {"": 0.311},
    "Debate_test_USKPM": {"": 0.232, " (iterative)": 0.262},
}


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


def indexes():
    """System → mean over cells of the best index of its stored clusterings."""
    matches = KeyPointMatch.objects.filter(is_match=True)
    points = dict(matches.values_list("argument", "key_point"))
    found = defaultdict(lambda: defaultdict(list))
    rows = SummarySet.objects.values_list("system", "cell", "arguments", "clusters")
    for system, cell, arguments, clusters in rows:
        index = adjusted_rand([points[each] for each in arguments], clusters)
        found[system][cell].append(index or 0.0)
    return {
        system: fmean(max(values) for values in cells.values()) for system, cells in found.items()
    }


def expected(name, figures):
    stem = name.removeprefix("ArgKP21_").removeprefix("Debate_test_")
    return {f"{stem}{suffix}": pytest.approx(value, abs=6e-4) for suffix, value in figures.items()}


def test_clusterings_of_argkp_come_to_the_published_index(alone, tmp_path):
    bring_argkp(tmp_path)
    for name, figures in ARGKP.items():
        with alone(name):
            cluster(name, "ArgKP")
            assert indexes() == expected(name, figures)


def test_clusterings_of_debate_are_recognised_to_follow_the_rows(alone):
    bring("import_arguments", DEBATE_HALF, dataset="Debate")
    for name, figures in OF_DEBATE.items():
        with alone(name):
            said = cluster(name)
            assert "The ids follow the arguments as the rows of the imported file stand" in said
            assert indexes() == expected(name, figures)


@pytest.mark.parametrize("seed", ["1", pytest.param("2", marks=pytest.mark.long)])
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


def test_another_recipe_is_refused_or_leaves_the_same_arguments(tmp_path):
    bring_argkp(tmp_path)
    dataset = Dataset.objects.get()
    name = "ArgKP21_MCArgSum_SBERT_all_mpnet_base"
    for steps in ([], ["exactly_one_key_point"], ["one_sentence"]):
        change_recipe(dataset=dataset, steps=steps, actor=None)
        assert "cluster ids, and the dataset keeps" in cluster(name, "ArgKP", order="key_points")
    assert not SummarySet.objects.exists()
    change_recipe(dataset=dataset, steps=["one_row", "published_sentence"], actor=None)
    cluster(name, "ArgKP")
    assert indexes() == expected(name, ARGKP[name])


def test_the_upload_recognises_them_too(study, django_capture_on_commit_callbacks):
    bring("import_arguments", DEBATE_HALF, dataset="Debate")
    path = FOLDER / "clusterings" / f"{MCARGSUM}.json"
    client = sign_in(make_member(study, "researcher"))
    upload = SimpleUploadedFile(path.name, path.read_bytes())
    client.post(reverse("import_upload", args=[study.public_id]), {"kind": "", "file": upload})
    file = ImportFile.objects.get(kind="metric_scores")
    page = reverse("import_summary_scores", args=[study.public_id, file.public_id])
    with django_capture_on_commit_callbacks(execute=True):
        client.post(page, {"dataset": "Debate", "system": "MCArgSum"})
    shown = client.get(reverse("import_file", args=[study.public_id, file.public_id]))
    assert "The ids follow the arguments as the rows" in shown.content.decode()
    file.refresh_from_db()
    assert file.counts["sets"]["new"] == 296
