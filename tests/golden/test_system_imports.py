"""The key points that people judged, as files of other systems: on the board, with metrics."""

import csv
import json
import os
import shutil
from collections import defaultdict
from io import StringIO
from pathlib import Path
from statistics import fmean

import pytest
from django.core.management import call_command

from argsum.keypoints.models import SummarySet
from argsum.leaderboard.reports.board import summary_board
from argsum.leaderboard.reports.choice import board_choice
from argsum.metrics.actions.making import Choice, request_metrics
from argsum.metrics.actions.similarities import MetricPlan
from argsum.metrics.models import MetricScore
from cqa_site.runs.jobs import drain
from tests.cast import make_study

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "argsum"
CLUSTERS = FOLDER / "clusterings" / "ArgKP21_MCArgSum_SBERT_all_mpnet_base.json"
pytestmark = [
    pytest.mark.reference,
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.exists(), reason="released data absent: argsum"),
]


@pytest.fixture(autouse=True)
def study(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    made = make_study("Others")
    folder = tmp_path / "argkp"
    folder.mkdir()
    for part in ("arguments", "key_points", "labels"):
        shutil.copy(FOLDER / "argkp2021" / f"{part}_test.csv", folder)
    call_command("import_argkp", folder, study="Others", dataset="ArgKP", stdout=StringIO())
    return made


def bring(path, command="import_key_points", **options):
    out = StringIO()
    call_command(command, path, study="Others", dataset="ArgKP", stdout=out, **options)
    return out.getvalue()


def counted():
    """System → topic → stance → key points, as a person's file has them."""
    found = defaultdict(lambda: defaultdict(dict))
    with (FOLDER / "human" / "A2.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            texts = [line.partition(":")[2].strip() for line in row["prediction"].split("\n")]
            found[Path(row["file_name"]).stem][row["topic"]][row["stance"]] = texts
    return found


@pytest.mark.long
def test_all_systems_that_people_judged_come_in_from_files(study, tmp_path):
    systems = counted()
    for name, topics in systems.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"system": name, "key_points": topics}))
        bring(path, scorer="none")
        assert "sets of key points           0           6" in bring(path, scorer="none")
    assert SummarySet.objects.count() == 144
    request_metrics(study=study, plan=MetricPlan(("rouge_1",)), choice=Choice(), actor=None)
    drain()
    assert MetricScore.objects.filter(metric="rouge_1:recall", value__isnull=False).count() == 144
    found = summary_board(board_choice(study, {"coverage": "rouge_1:recall|"}))
    assert {row.system for row in found.rows} == set(systems)


def test_ids_of_released_summaries_are_recognised_and_clustered(study, tmp_path):
    """Clusterings in the layout of summaries: the same index on the board as from clusterings."""
    content = json.loads(CLUSTERS.read_text())
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
    bring(path)
    row = oracle(study, "Mine")
    assert row.figures["including"].value == pytest.approx(0.547, abs=6e-4)
    assert row.figures["excluding"].value == pytest.approx(0.594, abs=6e-4)
    assert fmean(each.share for each in row.chosen.values()) > 0.5


def oracle(study, system):
    query = {"selection": "oracle"}
    return next(
        row for row in summary_board(board_choice(study, query)).rows if row.system == system
    )
