"""Snapshots of boards: rows, staleness, freezing, what moved, checking."""

import gzip
import hashlib
import zipfile
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from benchmark.leaderboard.actions import BOARDS, compute_board, request_board, request_slice
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.filters import Filters
from benchmark.leaderboard.reports.markers import board_marker
from benchmark.leaderboard.reports.rows import board_table, pack_rows, read_rows
from benchmark.rubrics.actions import default_rubric
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import AuditEvent, Rater
from cqa_site.results import keeping
from cqa_site.results.checking import archive_of, check_snapshot
from cqa_site.rounds.models import Place
from cqa_site.runs.models import Attempt
from tests.benchmark.made_judges import make_scoring_run as make_judging
from tests.benchmark.made_scores import (
    as_first_version,
    make_rater,
    make_scored_answers,
    make_sheets,
)
from tests.cast import make_member, make_study
from tests.runs.made_runs import make_endpoint

pytestmark = pytest.mark.django_db


def scored_study():
    """Sheets of two people and a judge for all answers, and their board."""
    study = make_study()
    answers = make_scored_answers(study, questions=6, scenarios=(1, 2), aspect='price, "new"\n')
    people = [make_rater(study, "Ada"), make_rater(study, "Bo")]
    judge = make_rater(study, "Judge", Rater.Kind.MODEL)
    sheets = make_sheets(study, answers, [*people, judge])
    live = keeping.refresh(BOARDS, default_rubric(study))
    return SimpleNamespace(study=study, sheets=sheets, live=live)


@pytest.fixture(scope="module")
def built(brief_rubric, build_once):
    return build_once(scored_study)


@pytest.fixture
def lab(built, db):
    return built.copy()


@pytest.fixture
def study(lab):
    return lab.study


@pytest.fixture
def sheets(lab):
    return lab.sheets


@pytest.fixture
def rubric(lab):
    """With the board that its sheets make."""
    return default_rubric(lab.study)


@pytest.fixture
def live(lab):
    return lab.live


def test_the_rows_are_the_same_bytes_and_come_back_as_they_were(rubric):
    table, _draws = board_table(rubric)
    packed, sha256 = pack_rows(table)
    assert pack_rows(board_table(rubric)[0]) == (packed, sha256)
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() == sha256
    read = read_rows(packed)
    assert list(read.columns) == list(table.columns)
    assert (read["aspect"] == table["aspect"]).all()
    assert read["total"].equals(table["total"])
    assert read["probability"].isna().all()
    assert pack_rows(read) == (packed, sha256)


def test_people_stand_in_the_rows_under_pseudonyms(rubric):
    content = gzip.decompress(pack_rows(board_table(rubric)[0])[0]).decode()
    assert "Ada" not in content.replace("Ada-0.csv", "")
    assert "Judge" in content


def test_the_table_takes_few_queries(rubric, django_assert_max_num_queries):
    with django_assert_max_num_queries(6):
        board_table(rubric)


def test_a_board_is_computed_once_for_the_same_sheets(rubric, live):
    first = live
    assert keeping.refresh(BOARDS, rubric).computed_at == first.computed_at
    assert first.figures["board"]["counts"]["sheets"] == 72
    assert [each["name"] for each in first.figures["board"]["judges"]] == ["", "Judge"]


@pytest.mark.parametrize("change", ["state", "trust", "excluded", "new"])
def test_the_marker_sees_what_changes_the_figures(study, rubric, sheets, change):
    from benchmark.scoring.models.rounds import ScoringRound

    scoring_round = ScoringRound.objects.create(study=study, name="R", rubric=rubric)
    place = Place.objects.create(round=scoring_round, rater=sheets[0].rater)
    before = board_marker(rubric)
    if change == "state":
        ScoreSheet.objects.filter(pk=sheets[0].pk).update(state="void")
    elif change == "trust":
        made_scoring_run(study, rubric, sheets)
    elif change == "excluded":
        Place.objects.filter(pk=place.pk).update(excluded_at="2026-01-01T00:00Z")
    else:
        make_sheets(study, [sheets[0].answer], [make_rater(study, "Cy")])
    assert board_marker(rubric) != before


def made_scoring_run(study, rubric, sheets):
    from benchmark.scoring.models.runs import ScoringRun
    from tests.cast import make_campaign
    from tests.runs.made_runs import make_endpoint, make_run

    boss = make_member(study, "admin")
    run = make_run(make_campaign(study), make_endpoint(study, boss), boss)
    return ScoringRun.objects.create(run=run, rubric=rubric, rater=sheets[2].rater)


def test_the_marker_takes_four_queries(rubric, django_assert_num_queries):
    with django_assert_num_queries(4):
        board_marker(rubric)


def test_asking_for_a_board_makes_it(study, rubric, django_capture_on_commit_callbacks):
    rubric.snapshots.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        job = request_board(study=study, rubric=rubric)
    job.refresh_from_db()
    assert job.state == "done", job.error
    assert rubric.snapshots.get().number == 1


def test_a_large_board_rests(study, rubric, live):
    BoardSnapshot.objects.filter(pk=live.pk).update(recipe=live.recipe | {"sheets": 100_000})
    assert request_board(study=study, rubric=rubric) is None
    assert compute_board(study=study, rubric=rubric) is not None


def test_a_frozen_board_never_changes_and_the_next_gets_the_next_number(
    study, rubric, sheets, live
):
    boss = make_member(study, "researcher")
    frozen = keeping.freeze(BOARDS, owner=study, number=live.number, note="Table 2", actor=boss)
    ScoreSheet.objects.filter(pk=sheets[0].pk).update(state="void")
    after = keeping.refresh(BOARDS, rubric)
    assert (frozen.number, after.number) == (1, 2)
    frozen.refresh_from_db()
    assert frozen.figures["board"]["counts"]["sheets"] == 72
    assert after.figures["board"]["counts"]["sheets"] == 71
    with pytest.raises(keeping.SnapshotNotReady):
        keeping.freeze(BOARDS, owner=study, number=1, note="", actor=boss)
    assert AuditEvent.objects.filter(verb="board_frozen").count() == 1


def test_freezing_says_what_moved_and_why(study, rubric, sheets):
    boss = make_member(study, "researcher")
    keeping.freeze(BOARDS, owner=study, number=1, note="", actor=boss)
    ScoreSheet.objects.filter(pk=sheets[2].pk).update(state="void")
    changed = sheets[5]
    ScoreSheet.objects.filter(pk=changed.pk).update(
        points=dict.fromkeys(changed.points, 0), total=0
    )
    keeping.store_live(BOARDS, rubric, BOARDS.compute(rubric))
    changes = keeping.freeze(BOARDS, owner=study, number=2, note="", actor=boss).changes
    assert changes["against"] == 1
    assert changes["sheets"] == {"added": 0, "gone": 1, "changed": 1}
    assert changes["why_gone"] == {"void": 1}
    assert {each["judge"] for each in changes["moved"]} == {"Judge"}


def test_only_a_frozen_board_becomes_public_and_its_address_is_given_once(study, live):
    boss = make_member(study, "researcher")
    with pytest.raises(keeping.SnapshotNotReady):
        keeping.publish(BOARDS, owner=study, number=1, actor=boss)
    with pytest.raises(IntegrityError), transaction.atomic():
        BoardSnapshot.objects.filter(pk=live.pk).update(public_token=live.public_id)
    keeping.freeze(BOARDS, owner=study, number=1, note="", actor=boss)
    token = keeping.publish(BOARDS, owner=study, number=1, actor=boss).public_token
    assert keeping.publish(BOARDS, owner=study, number=1, actor=boss).public_token == token
    assert keeping.withdraw(BOARDS, owner=study, number=1, actor=boss).public_token is None
    assert keeping.publish(BOARDS, owner=study, number=1, actor=boss).public_token != token


def test_a_slice_is_computed_from_the_snapshots_own_rows(live, django_capture_on_commit_callbacks):
    ScoreSheet.objects.all().update(state="void", total=None)
    filters = Filters(column="C3", scenario="2", aspect="with")
    with django_capture_on_commit_callbacks(execute=True):
        job = request_slice(snapshot=live, filters=filters)
    job.refresh_from_db()
    assert job.state == "done", job.error
    found = live.slices.get(key="aspect=with&column=C3&scenario=2")
    board = found.figures
    assert board["scenarios"] == [2]
    assert board["options"]["maximum"] == 2
    assert all(each["aspect"] for each in board["questions"])
    assert board["counts"]["sheets"] == 72 // 4
    assert Filters.from_key(found.key) == filters


def test_the_recipe_says_how_much_a_mean_needs(live):
    assert (live.recipe["version"], live.recipe["least_questions"]) == (2, 5)
    assert live.figures["board"]["options"]["least_questions"] == 5


def test_verify_says_match_by_id_and_by_file(live, tmp_path, capsys):
    call_command("verify_snapshot", str(live.public_id))
    path = tmp_path / "board.zip"
    path.write_bytes(archive_of(BOARDS, live))
    call_command("verify_snapshot", str(path))
    assert capsys.readouterr().out.count("matches") == 2
    assert archive_of(BOARDS, live) == path.read_bytes()


def test_a_board_frozen_by_the_first_version_still_matches(live):
    live = as_first_version(live)
    assert check_snapshot(BOARDS, live) == []
    board = live.figures["board"]
    assert board["version"] == 1
    assert "paper" not in board
    board["rows"][0]["mean"] += 0.1
    assert any("board.rows[0].mean" in each for each in check_snapshot(BOARDS, live))


@pytest.mark.parametrize("broken", ["figure", "row", "slight"])
def test_verify_finds_what_was_tampered_with(live, broken):
    live = BoardSnapshot.objects.get(pk=live.pk)
    row = live.figures["board"]["rows"][1]
    if broken == "figure":
        row["mean"] += 0.1
    elif broken == "slight":
        row["mean"] += 1e-8
    else:
        plain = gzip.decompress(live.rows).replace(b"submitted", b"submltted", 1)
        live.rows = gzip.compress(plain)
    live.save()
    found = check_snapshot(BOARDS, live)
    assert found
    assert ("rows are not" in found[0]) == (broken == "row")
    assert any("board.rows[1].mean" in each for each in found) == (broken == "figure")
    with pytest.raises(CommandError):
        call_command("verify_snapshot", str(live.public_id))


def test_verify_refuses_what_is_no_archive(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "x")
    for name in (str(path), "0000", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(CommandError):
            call_command("verify_snapshot", name)


def test_what_a_judgement_cost_stands_in_its_row(study, sheets, rubric):
    boss = make_member(study, "admin")
    endpoint = make_endpoint(study, boss)
    run = make_judging(study, endpoint, boss)
    attempts = Attempt.objects.filter(call__run=run)
    attempts.filter(outcome="replied").update(cost_micro=40, milliseconds=1_500)
    lost = attempts.filter(outcome="replied").first()
    Attempt.objects.filter(pk=lost.pk).update(outcome="reused")
    table, _draws = board_table(rubric)
    judged = table[table["run"] == run.pk]
    assert len(judged) == run.score_sheets.count() > 1
    assert table[table["run"] == 0]["cost_micro"].isna().all()
    known = judged.dropna(subset="cost_micro")
    assert set(known["cost_micro"] % 40) == {0.0}
    assert set(known["seconds"] % 1.5) == {0.0}
    is_of_sheet = run.score_sheets.filter(call=lost.call).exists()
    assert len(judged) - len(known) == int(is_of_sheet)
