"""What a leaderboard says first: who leads, what the tests leave open, why there is no ranking."""

from dataclasses import replace

import pytest

from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.methods.figures import ScoreBoard
from benchmark.leaderboard.reports.standings import chosen_judge
from benchmark.leaderboard.reports.summary import board_finding, ground_of
from benchmark.rubrics.models import default_rubric
from cqa_site.results import snapshots
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_study

pytestmark = pytest.mark.django_db


def found(points, questions=12):
    """The board of systems whose answers all get the same points, by question a little more."""
    study = make_study()
    answers = make_scored_answers(study, systems=tuple(points), questions=questions)
    rubric = default_rubric(study)
    make_sheets(study, answers, [make_rater(study, "Somebody")])
    keys = rubric.rubric.keys
    for at, sheet in enumerate(study.score_sheets.select_related("answer__system").order_by("pk")):
        more = at % 3 if points[sheet.answer.system.name] else 0
        ones = keys[: points[sheet.answer.system.name] + more]
        given = dict.fromkeys(keys, 0) | dict.fromkeys(ones, 1)
        sheets = study.score_sheets.filter(pk=sheet.pk)
        sheets.update(points=given, total=rubric.rubric.total(given))
    board = ScoreBoard.from_dict(snapshots.refresh(BOARDS, rubric).figures["board"])
    return board, chosen_judge(board, "")


def test_a_clear_leader_is_named_with_its_lead_and_one_system_has_no_ranking():
    board, judge = found({"Alpha": 12, "Beta": 3})
    said = board_finding(board, judge)
    assert said.mark == "good"
    assert said.says.startswith("Alpha leads with ")
    assert "more than Beta." in said.says
    assert "95 % interval of the lead" in said.sure
    assert said.terms == ("Holm-adjusted p",)
    assert "This is based on the 12 questions that all ranked systems share" in said.sure
    board, judge = found({"Alpha": 5})
    said = board_finding(board, judge)
    assert said.mark == "warn"
    assert said.says.startswith("Alpha is the only system")
    assert "cannot be compared" in ground_of(board, judge) or said.sure


@pytest.mark.long
def test_systems_that_are_alike_are_not_told_apart():
    for points, who in (
        ({"Alpha": 5, "Beta": 5}, "Alpha and Beta"),
        ({"Alpha": 0, "Beta": 0, "Gamma": 0}, "any of the 3 ranked systems"),
    ):
        said = board_finding(*found(points))
        assert (said.mark, said.says) == ("", f"These data cannot tell {who} apart.")


def test_only_what_the_tests_show_about_the_highest_mean_is_said():
    """Alpha is level with Beta and shown above Gamma; Beta may or may not be."""
    board, judge = found({"Alpha": 12, "Beta": 12, "Gamma": 1})
    ranking = board.rankings[0]
    means = {"0": 14.0, "1": 13.5, "2": 2.0}
    standings = tuple(
        replace(each, mean=means[each.system], rank=at)
        for at, each in enumerate(sorted(ranking.standings, key=lambda e: e.system), start=1)
    )
    told = {"mean": (0.5, 12.0, 11.5), "p_holm": (0.9, 0.01, 0.2), "detectable": (1.0, 1.0, 1.0)}
    pairs = replace(ranking.pairs, first=(0, 0, 1), second=(1, 2, 2), **told)
    ranking = replace(ranking, standings=standings, pairs=pairs, detectable=1.0)
    said = board_finding(replace(board, rankings=(ranking,)), judge)
    assert said.says == (
        "Alpha has the highest mean, 14.00 of 19 points; these data cannot tell it apart from "
        "Beta."
    )
    assert "With 80 % power, these questions can detect a difference of 1.00 points" in said.sure
    assert "by 0.50, about 48 questions would show the difference." in said.sure
