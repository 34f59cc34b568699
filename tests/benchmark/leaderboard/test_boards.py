"""Snapshots of boards: rows, staleness, freezing, what moved, checking."""

import gzip
import hashlib
import zipfile
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from benchmark.leaderboard.actions import BOARDS, compute_board, request_board, request_slice
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import (
    Filters,
    board_marker,
    board_table,
    pack_rows,
    read_rows,
)
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.models import ScoreSheet, ScoringRound, ScoringRun
from cqa_site.people.models import Rater
from cqa_site.results import snapshots
from cqa_site.results.snapshots import check_snapshot
from cqa_site.rounds.models import Place
from cqa_site.runs.models import Attempt
from tests.benchmark.made_judges import make_scoring_run as make_judging
from tests.benchmark.made_scores import (
    as_earlier_version,
    make_rater,
    make_scored_answers,
    make_sheets,
)
from tests.cast import make_label_round, make_member, make_study
from tests.runs.made_runs import make_endpoint, make_run

pytestmark = pytest.mark.django_db


def scored_study():
    """Sheets of two people and a judge for all answers, and their board."""
    study = make_study()
    answers = make_scored_answers(study, questions=6, scenarios=(1, 2), aspect='price, "new"\n')
    people = [make_rater(study, "Ada"), make_rater(study, "Bo")]
    judge = make_rater(study, "Judge", Rater.Kind.MODEL)
    sheets = make_sheets(study, answers, [*people, judge])
    rubric = default_rubric(study)
    live = snapshots.refresh(BOARDS, rubric)
    return SimpleNamespace(study=study, sheets=sheets, rubric=rubric, live=live)


@pytest.fixture
def lab(built, db):
    return built.copy()


def test_the_rows_are_the_same_bytes_and_come_back_as_they_were(
    lab, django_assert_max_num_queries
):
    with django_assert_max_num_queries(6):
        table, _draws = board_table(lab.rubric)
    packed, sha256 = pack_rows(table)
    assert pack_rows(board_table(lab.rubric)[0]) == (packed, sha256)
    content = gzip.decompress(packed)
    assert hashlib.sha256(content).hexdigest() == sha256
    read = read_rows(packed)
    assert list(read.columns) == list(table.columns)
    assert (read["aspect"] == table["aspect"]).all()
    assert read["total"].equals(table["total"])
    assert read["probability"].isna().all()
    assert pack_rows(read) == (packed, sha256)
    # People stand there under pseudonyms.
    assert "Ada" not in content.decode().replace("Ada-0.csv", "")
    assert "Judge" in content.decode()


@pytest.mark.parametrize("change", ["state", "trust", "excluded", "control", "new"])
def test_the_marker_sees_what_changes_the_figures(lab, change, django_assert_num_queries):
    study, rubric, sheets = lab.study, lab.rubric, lab.sheets
    scoring_round = ScoringRound.objects.create(study=study, name="R", rubric=rubric)
    place = Place.objects.create(round=scoring_round, rater=sheets[0].rater)
    with django_assert_num_queries(5):
        before = board_marker(rubric)
    if change == "state":
        ScoreSheet.objects.filter(pk=sheets[0].pk).update(state="void")
    elif change == "trust":
        boss = make_member(study, "admin")
        run = make_run(make_label_round(study), make_endpoint(study, boss), boss)
        ScoringRun.objects.create(run=run, rubric=rubric, rater=sheets[2].rater)
    elif change == "excluded":
        Place.objects.filter(pk=place.pk).update(excluded_at="2026-01-01T00:00Z")
    elif change == "control":
        ScoringRound.objects.filter(pk=scoring_round.pk).update(n_controls=1)
        scoring_round.items.create(answer=sheets[0].answer, position=1, known={"C1": 1})
    else:
        make_sheets(study, [sheets[0].answer], [make_rater(study, "Cy")])
    assert board_marker(rubric) != before


def test_a_large_board_rests_and_verify_refuses_what_is_no_archive(lab, tmp_path):
    large = lab.live.recipe | {"sheets": 100_000}
    BoardSnapshot.objects.filter(pk=lab.live.pk).update(recipe=large)
    assert request_board(study=lab.study, rubric=lab.rubric) is None
    assert compute_board(study=lab.study, rubric=lab.rubric) is not None
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "x")
    for name in (str(path), "0000", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(CommandError):
            call_command("verify_snapshot", name)


def test_freezing_says_what_moved_and_why(lab):
    study, rubric, sheets = lab.study, lab.rubric, lab.sheets
    boss = make_member(study, "researcher")
    snapshots.freeze(BOARDS, owner=study, number=1, note="", actor=boss)
    ScoreSheet.objects.filter(pk=sheets[2].pk).update(state="void")
    changed = sheets[5]
    ScoreSheet.objects.filter(pk=changed.pk).update(
        points=dict.fromkeys(changed.points, 0), total=0
    )
    snapshots.store_live(BOARDS, rubric, BOARDS.compute(rubric))
    changes = snapshots.freeze(BOARDS, owner=study, number=2, note="", actor=boss).changes
    assert changes["against"] == 1
    assert changes["sheets"] == {"added": 0, "gone": 1, "changed": 1}
    assert changes["why_gone"] == {"void": 1}
    assert {each["judge"] for each in changes["moved"]} == {"Judge"}


def test_a_slice_is_computed_from_the_snapshots_own_rows(lab, inline):
    ScoreSheet.objects.all().update(state="void", total=None)
    filters = Filters(column="C3", scenario="2", aspect="with")
    with inline():
        job = request_slice(snapshot=lab.live, filters=filters)
    job.refresh_from_db()
    assert job.state == "done", job.error
    found = lab.live.slices.get(key="aspect=with&column=C3&scenario=2")
    board = found.figures
    assert board["scenarios"] == [2]
    assert board["options"]["maximum"] == 2
    assert all(each["aspect"] for each in board["questions"])
    assert board["counts"]["sheets"] == 72 // 4
    assert Filters.from_key(found.key) == filters


def test_of_a_board_of_an_earlier_version_values_are_compared_but_not_intervals(lab):
    live = lab.live
    assert (live.recipe["version"], live.recipe["least_questions"]) == (3, 5)
    assert live.figures["board"]["options"]["least_questions"] == 5
    live = as_earlier_version(live)
    assert check_snapshot(BOARDS, live) == []
    board = live.figures["board"]
    # So little is no other mean, but no longer what was frozen.
    board["rows"][0]["mean"] += 1e-8
    assert not any("board.rows" in each for each in check_snapshot(BOARDS, live))
    assert check_snapshot(BOARDS, live)
    board["rows"][0]["mean"] += 0.1
    assert any("board.rows[0].mean" in each for each in check_snapshot(BOARDS, live))
    # Of today's version intervals are compared, too.
    live.recipe["version"] = 3
    assert any("board.parts" in each for each in check_snapshot(BOARDS, live))


def test_what_a_judgement_cost_stands_in_its_row(lab):
    boss = make_member(lab.study, "admin")
    run = make_judging(lab.study, make_endpoint(lab.study, boss), boss)
    attempts = Attempt.objects.filter(call__run=run)
    attempts.filter(outcome="replied").update(cost_micro=40, milliseconds=1_500)
    lost = attempts.filter(outcome="replied").first()
    Attempt.objects.filter(pk=lost.pk).update(outcome="reused")
    table, _draws = board_table(lab.rubric)
    judged = table[table["run"] == run.pk]
    assert len(judged) == run.score_sheets.count() > 1
    assert table[table["run"] == 0]["cost_micro"].isna().all()
    known = judged.dropna(subset="cost_micro")
    assert set(known["cost_micro"] % 40) == {0.0}
    assert set(known["seconds"] % 1.5) == {0.0}
    is_of_sheet = run.score_sheets.filter(call=lost.call).exists()
    assert len(judged) - len(known) == int(is_of_sheet)
