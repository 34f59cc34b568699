"""Words that all findings share: how much an alpha allows, values with bounds, names in a list."""

from dataclasses import dataclass

import pytest

from annotation.judges.reports.charts import trained_finding
from annotation.judges.reports.results import TrainedFigures
from argsum.leaderboard.methods import FIGURES, SystemRow
from argsum.leaderboard.reports.board import SummaryBoard
from argsum.leaderboard.reports.charts import board_finding, people_finding
from argsum.leaderboard.reports.people_agreement import DimensionAgreement, PeopleAgreement
from argsum.metrics.methods import RaterPairs
from cqa_site.results.boards import level_of, why_less
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import estimate_text


@dataclass
class Value:
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = "20 or more items"


@pytest.mark.parametrize(
    ("alpha", "words", "mark"),
    [(Value(0.9, 0.8, 1.0), "firm", "good"), (Value(0.86, 0.7, 1.0), "tentative conclusions", ""),
     (Value(0.86, 0.66, 1.0), "possibly not well enough for conclusions", "warn"),
     (Value(0.57, 0.40, 0.75), "possibly not well enough for conclusions", "warn"),
     (Value(0.5, -0.3, 0.6), "but not well enough for conclusions", "warn"),
     # Two items and four votes have no interval, whatever their alpha.
     (Value(1.0), "how well people agree", "warn"), (Value(-0.2), "cannot tell", "warn")],
)  # fmt: skip
def test_an_alpha_allows_what_its_marks_say(alpha, words, mark):
    said, found = level_of("people agree", alpha)
    assert words in said
    assert ("agree well enough" in said) == ("firm" in words or "tentative" in words)
    assert found == mark


@pytest.mark.parametrize(
    ("alpha", "mark"),
    [(Value(0.86, 0.7, 1.0), "0.70 is below 0.800"), (Value(0.7, 0.6, 0.8), "0.60 is below 0.667"),
     (Value(0.86, 0.8, 1.0), ""), (Value(0.86), "20 or more items"),
     (Value(0.5, 0.3, 0.9), ""), (Value(None), "20 or more items")],
)  # fmt: skip
def test_where_the_lower_bound_decided_that_is_said(alpha, mark):
    assert mark in why_less(alpha)
    assert bool(why_less(alpha)) == bool(mark)


def test_every_finding_about_an_alpha_says_that_the_lower_bound_decided():
    says = "The interval's lower bound decides: 0.70 is below 0.800."
    wide, narrow = estimate(0.86, 0.7, 1.0), estimate(0.86, 0.82, 0.9)
    for alpha, is_said in ((wide, True), (narrow, False)):
        known = DimensionAgreement("coverage", RaterPairs((), None), alpha, raters=("a", "b"))
        found = PeopleAgreement(dimensions=[known], sets=9)
        assert (says in people_finding(found).sure) == is_said
        trained = TrainedFigures(
            n=20, pairs=2, folds=2, ordinal=alpha, interval=alpha, exact=None, bias=None,
            per_label=(), predicted=20,
        )  # fmt: skip
        assert (says in trained_finding(trained, 1).sure) == is_said


def test_a_value_has_its_bounds_or_says_that_it_is_not_there():
    assert estimate_text(Value(0.5, 0.25, 0.75)) == "0.50 [0.25, 0.75]"
    assert estimate_text(Value(-0.5)) == "−0.50"
    assert estimate_text(Value(None)) == "–"


def estimate(value, low=None, high=None, reason="none here"):
    counts = dict.fromkeys(("n_items", "n_pairable_items", "n_raters", "n_values"), 1)
    return Estimate(
        value=value, low=low, high=high, statistic="", recipe="", reason=reason, **counts
    )


def system(name, value):
    figures = dict.fromkeys(FIGURES, estimate(None))
    figures["coverage"] = estimate(value)
    return SystemRow(
        system=name, selection="only", criterion="", setting="", settings=1, figures=figures,
        chosen={}, by_cell={}, clusterings={},
    )  # fmt: skip


def test_systems_that_cover_nothing_are_compared_by_that():
    board = SummaryBoard(None, (), [system("Low", 0.0), system("Alike", 0.0)], {}, has_dev=False)
    found = board_finding(board)
    assert found.says.startswith("Low and Alike share the highest mean in these data")
    assert "overlap" not in found.sure
