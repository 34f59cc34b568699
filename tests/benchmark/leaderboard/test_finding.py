"""What a leaderboard says first: who leads, who cannot be told apart, why there is no ranking."""

import pytest

from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.methods.figures import Board
from benchmark.leaderboard.reports.finding import board_finding, ground_of
from benchmark.leaderboard.reports.view import chosen_judge
from benchmark.rubrics.actions import default_rubric
from cqa_site.results import keeping
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_study

pytestmark = pytest.mark.django_db


def found(points, questions=8):
    """The board of systems whose answers all get the same points, by question a little more."""
    study = make_study()
    answers = make_scored_answers(study, systems=tuple(points), questions=questions)
    rubric = default_rubric(study)
    make_sheets(study, answers, [make_rater(study, "Somebody")])
    keys = rubric.rubric.keys
    for at, sheet in enumerate(study.score_sheets.select_related("answer__system").order_by("pk")):
        more = at % 3 if points[sheet.answer.system.name] else 0
        given = dict.fromkeys(keys, 0) | dict.fromkeys(
            keys[: points[sheet.answer.system.name] + more], 1
        )
        study.score_sheets.filter(pk=sheet.pk).update(
            points=given, total=rubric.rubric.total(given)
        )
    board = Board.from_dict(keeping.refresh(BOARDS, rubric).figures["board"])
    return board, chosen_judge(board, "")


def test_a_clear_leader_is_named_with_its_lead():
    board, judge = found({"Alpha": 12, "Beta": 3})
    said = board_finding(board, judge)
    assert said.mark == "good"
    assert said.says.startswith("Alpha leads with ")
    assert "more than Beta." in said.says
    assert "95 % interval of the lead" in said.sure
    assert said.terms == ("p after Holm",)
    assert "It rests on the 8 questions that all ranked systems share" in said.sure


def test_systems_that_are_alike_are_not_told_apart():
    for points, who in (
        ({"Alpha": 5, "Beta": 5}, "Alpha and Beta"),
        ({"Alpha": 0, "Beta": 0, "Gamma": 0}, "any of the 3 ranked systems"),
    ):
        said = board_finding(*found(points))
        assert (said.mark, said.says) == ("", f"These data cannot tell {who} apart.")
        assert "Rank ranges" not in said.sure


def test_those_who_lead_together_are_named_where_others_lie_behind():
    board, judge = found({"Alpha": 12, "Beta": 12, "Gamma": 1, "Delta": 1}, questions=12)
    said = board_finding(board, judge)
    assert said.says in {
        f"{names} lead, and these data cannot tell them apart."
        for names in ("Alpha and Beta", "Beta and Alpha")
    }


def test_rank_ranges_that_are_surer_than_the_tests_are_explained():
    # Alpha has more points on all five questions, so no resample puts it second.
    board, judge = found({"Alpha": 12, "Beta": 3}, questions=5)
    assert [each.rank_low for each in board.rankings[0].standings] == [1, 2]
    said = board_finding(board, judge)
    assert said.says == "These data cannot tell Alpha and Beta apart."
    assert "from 6 on they can. Rank ranges differ from the headline: they hold 95 %" in said.sure


def test_one_system_alone_has_no_ranking():
    board, judge = found({"Alpha": 5})
    said = board_finding(board, judge)
    assert said.mark == "warn"
    assert said.says.startswith("Alpha is the only system")
    assert "comparable with none" in ground_of(board, judge) or said.sure
