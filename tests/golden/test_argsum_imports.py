"""Files of the release that studies import: arguments, clusterings, key points, counts."""

import json
import re
import shutil
from collections import defaultdict
from io import StringIO
from statistics import fmean

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import text_key
from argsum.counting.models import CountSheet
from argsum.datasets.models import CellArgument, Dataset, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.reports.board import board_choice, summary_board
from tests.cast import make_study
from tests.golden.places import ARGSUM as FOLDER
from tests.golden.places import needs

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


def bring_argkp(tmp_path, split="test"):
    folder = tmp_path / f"argkp-{split}"
    folder.mkdir()
    for part in ("arguments", "key_points", "labels"):
        shutil.copy(FOLDER / "argkp2021" / f"{part}_{split}.csv", folder)
    bring("import_argkp", folder, dataset="ArgKP")


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
    assert f"test: {PUBLISHED_FUNNEL} → 1,165 in the half" in said
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


MCARGSUM = "Debate_test_MCArgSum_SBERT_all_mpnet_base"


def cluster(name, dataset="Debate", **options):
    path = FOLDER / "clusterings" / f"{name}.json"
    return bring("import_summary_scores", path, dataset=dataset, **options)


@pytest.mark.long
def test_clusterings_of_other_parts_of_the_data_are_refused(tmp_path):
    bring_debate()
    assert "150 cluster ids, but the dataset keeps" in cluster(MCARGSUM, order="rows")
    bring_debate("Dev", recipe="published", half="dev")
    assert "cluster ids, but the dataset keeps" in cluster(MCARGSUM, "Dev", order="rows")
    bring_argkp(tmp_path, "dev")
    for name, order in (("ArgKP21_USKPM", "key_points"), (MCARGSUM, "rows")):
        assert "does not have this topic and stance" in cluster(name, "ArgKP", order=order)
    assert not SummarySet.objects.exists()


@pytest.mark.long
def test_ids_of_released_summaries_are_recognised_and_clustered(study, tmp_path):
    """Clusterings in the layout of summaries: the same index on the board as from clusterings."""
    bring_argkp(tmp_path)
    path = FOLDER / "clusterings" / "ArgKP21_MCArgSum_SBERT_all_mpnet_base.json"
    content = json.loads(path.read_text())
    summaries = defaultdict(lambda: defaultdict(dict))
    for setting, topics in content["clustering"].items():
        for topic, stances in topics.items():
            for stance, leaf in stances.items():
                names = sorted({each for each in leaf["cluster_ids"] if each >= 0})
                sums = {str(each): f"Point {each}" for each in names}
                about = {"sum_ids": leaf["cluster_ids"], "sums": sums}
                summaries[setting][topic][stance] = about
    path = tmp_path / "ArgKP21_Mine.json"
    whole = {"summaries": summaries, "parameter_names": content["parameter_names"]}
    path.write_text(json.dumps(whole))
    bring("import_key_points", path, dataset="ArgKP")
    rows = summary_board(board_choice(study, {"selection": "oracle"})).rows
    row = next(row for row in rows if row.system == "Mine")
    assert row.figures["including"].value == pytest.approx(0.547, abs=6e-4)
    assert row.figures["excluding"].value == pytest.approx(0.594, abs=6e-4)
    assert fmean(each.share for each in row.chosen.values()) > 0.5


def count(name):
    return bring("import_counts", FOLDER / "human" / f"{name}.csv", dataset="ArgKP")


def reword(change):
    for each in ReferenceKeyPoint.objects.filter(cell__dataset__name="ArgKP"):
        each.text = change(each.text)
        each.sha256 = text_key(each.text)
        each.save()


@pytest.mark.long
def test_references_are_found_without_case_or_marks_but_not_those_of_another_topic():
    count("A2")
    texts = list(ReferenceKeyPoint.objects.order_by("pk").values_list("text", flat=True))
    reword(lambda text: re.sub(r"[,.’']", "", text).upper() + " !")
    assert "is matched with" in count("A3")
    assert (CountSheet.objects.count(), Dataset.objects.get().cells.count()) == (288, 6)
    others = iter(texts[7:] + texts[:7])
    reword(lambda _text: f"{next(others)} or so")
    assert "rejected" in count("A4")
    assert CountSheet.objects.count() == 288
