"""The leaderboard of the whole release in a study, by both recipes, against the printed tables."""

import os
from pathlib import Path

import pytest
from django.db import transaction

from annotation.management.throwaway import throwaway_database
from benchmark.leaderboard.actions import BOARDS
from benchmark.papers.reports.published_cells import CELLS, JUDGES_5
from benchmark.rubrics.actions import default_rubric
from cqa_site.files.actions.files import store_upload
from cqa_site.files.actions.running import apply_import
from cqa_site.people.models import Study

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "compqa"
HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGES = ("gpt4", "gpt3-5")
PEOPLE = ""
NEAR = 0.01 + 1e-9

pytestmark = [
    pytest.mark.long,
    pytest.mark.reference,
    pytest.mark.skipif(
        not (HUMAN.exists() and (FOLDER / "judged_gpt3-5").exists()),
        reason="released data absent: compqa (set COUNTERPOINT_REFERENCE_DATA)",
    ),
]


@pytest.fixture(scope="module")
def figures(django_db_setup, django_db_blocker, tmp_path_factory):
    from django.conf import settings

    media, settings.MEDIA_ROOT = settings.MEDIA_ROOT, tmp_path_factory.mktemp("media")
    with django_db_blocker.unblock(), throwaway_database():
        study = Study.objects.create(name="CompQA")
        # Never committed: otherwise a leaderboard follows every file.
        with transaction.atomic():
            for judge in JUDGES:
                for path in sorted((FOLDER / f"judged_{judge}").glob("*.json")):
                    take(study, "judged", path, rater=judge)
            take(study, "human_scores", HUMAN)
            yield BOARDS.compute(default_rubric(study)).figures
            transaction.set_rollback(True)
    settings.MEDIA_ROOT = media


def take(study, kind, path, **options):
    record = store_upload(
        study=study,
        kind=kind,
        name=path.name,
        chunks=[path.read_bytes()],
        actor=None,
        options=options,
    )
    assert apply_import(import_file=record, leave_out_rejected=True) is not None


@pytest.fixture(scope="module")
def board(figures):
    return figures["board"]


@pytest.fixture(scope="module")
def cells(board):
    """(name of the judge, system, scenario) → a cell by the paper's recipe."""
    judges = {each["key"]: each["name"] for each in board["judges"]}
    names = [each["name"] for each in board["systems"]]
    return {
        (judges[each["judge"]], names[each["system"]], each["scenario"]): each
        for each in board["paper"]["cells"]
    }


def printed(judge):
    """(judge, system, scenario) → the printed mean."""
    column = JUDGES_5.index(judge or "people")
    found = {}
    for line in CELLS.strip().splitlines():
        system, scenario, *figures = line.split()
        found[judge, system, int(scenario)] = float(figures[column].split("±")[0])
    return found


@pytest.mark.parametrize(("judge", "n"), [(PEOPLE, 27), ("gpt4", 27), ("gpt3-5", 27)])
def test_cells_are_the_printed_ones(cells, judge, n):
    wanted = printed(judge)
    assert len(wanted) == 27
    near = [key for key, mean in wanted.items() if abs(cells[key]["mean"] - mean) <= NEAR]
    assert len(near) == n


def test_the_row_of_people_writing_is_over_sheets(cells):
    found = cells[PEOPLE, "human", 0]
    assert (found["mean"], found["n"]) == (16.6875, 16)
    assert found["sd"] == pytest.approx(1.7595, abs=5e-5)


def test_unscored_points_count_only_in_the_papers_recipe(board, cells):
    judges = {each["name"]: each for each in board["judges"]}
    off = {judge: sum(c["off_scale"] for key, c in cells.items() if key[0] == judge)
           for judge in (PEOPLE, *JUDGES)}  # fmt: skip
    # 14 off the scale, and one with an entry that nobody asked for.
    assert off == {PEOPLE: 0, "gpt4": 1, "gpt3-5": 15}
    assert (judges["gpt4"]["answers"], judges["gpt3-5"]["answers"]) == (2_157, 2_093)


def test_what_is_thin_on_it_is_in_no_mean(board):
    people = {each["key"]: each["name"] for each in board["judges"]}
    thin = [each for each in board["cells"] if each["is_thin"]]
    names = [each["name"] for each in board["systems"]]
    assert [(people[each["judge"]], names[each["system"]]) for each in thin] == [(PEOPLE, "yahoo")]
    bare = [each for each in board["rows"] if each["low"] is None]
    assert [names[each["system"]] for each in bare] == ["yahoo"]
    assert bare[0]["mean"] is None


def test_ranked_means_differ_by_what_the_pairs_say(board):
    for ranking in board["rankings"]:
        own = {
            each["system"]: each["mean"]
            for each in board["rows"]
            if each["judge"] == ranking["judge"]
        }
        pairs = ranking["pairs"]
        for a, b, mean in zip(pairs["first"], pairs["second"], pairs["mean"], strict=True):
            assert own[a] - own[b] == pytest.approx(mean, abs=1e-8)
