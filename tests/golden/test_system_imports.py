"""The key points that people judged, as files of other systems: on the board, with metrics."""

import json
import os
import shutil
from collections import defaultdict
from io import StringIO
from pathlib import Path
from statistics import fmean

import pytest
from django.core.management import call_command

from argsum.leaderboard.reports.board import summary_board
from argsum.leaderboard.reports.choice import board_choice
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
