"""What boards, metrics and people may be said to show."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from argsum.leaderboard.methods import SetFigures, Terms, best_first, board, topic_differences
from argsum.leaderboard.reports.charts import board_finding, metrics_finding, people_finding
from argsum.leaderboard.reports.scores import MetricRow, ScoreSource
from argsum.metrics.methods import across_within
from cqa_site.stats.estimate import Estimate

HARD = np.linspace(0.1, 0.8, 12)


def rows_of(figure="coverage", **systems):
    cells = [str(cell) for cell in range(max(len(values) for values in systems.values()))]
    scored = [
        SetFigures(at, name, "", cell, **{figure: float(value)})
        for name, values in systems.items()
        for at, (cell, value) in enumerate(zip(cells, values, strict=False))
    ]
    return board(scored, [], cells, Terms())


def said_of(is_oracle=False, **systems):
    return board_finding(SimpleNamespace(rows=rows_of(**systems), is_oracle=is_oracle, topics={}))


def test_a_pair_that_differs_in_every_cell_is_told_apart_though_intervals_overlap():
    """Every significantly different pair was told that its order may be chance."""
    rows = rows_of(Alpha=HARD + 0.1 + 0.01 * np.sin(np.arange(12)), Beta=HARD)
    first, second = (row.figures["coverage"] for row in rows)
    assert first.low < second.high
    found = said_of(Alpha=HARD + 0.1 + 0.01 * np.sin(np.arange(12)), Beta=HARD)
    assert found.says.startswith("Alpha leads: coverage 0.55 [")
    assert found.says.endswith("over 12 cells.")
    assert "show that it is better than each of the others, Holm-adjusted p < 0.001." in found.sure
    # Without a test the highest mean is highest in these data.
    found = said_of(Alpha=HARD + np.tile([0.1, -0.08, 0.03], 4), Beta=HARD)
    assert found.says.startswith("Alpha has the highest mean in these data: coverage 0.47 [")
    assert "It is not shown to be better than Beta." in found.sure
    assert re.search(r"About \d\d\d topics would be needed to show", found.sure)
    tiny = said_of(Alpha=HARD + np.tile([0.1, -0.098, 0.0], 4), Beta=HARD)
    assert "Over 10,000 topics would be needed to show" in tiny.sure
    few = said_of(Alpha=HARD[:7] + 0.1, Beta=HARD[:7])
    assert "A test needs 8 topics for which both systems have a value; there are 7." in few.sure
    same = said_of(Alpha=HARD, Beta=HARD)
    assert same.says.startswith("Alpha and Beta share the highest mean in these data")


def test_less_redundancy_is_better_and_an_oracle_never_leads():
    rows = rows_of("redundancy", Alpha=HARD + 0.1, Beta=HARD)
    assert [row.system for row in best_first(rows, "redundancy")] == ["Beta", "Alpha"]
    found = board_finding(SimpleNamespace(rows=rows, is_oracle=False, topics={}))
    assert found.says.startswith("Beta leads: redundancy")
    timed = rows_of("seconds", Alpha=HARD, Beta=HARD + 1)
    assert board_finding(SimpleNamespace(rows=timed, is_oracle=False, topics={})) is None
    found = said_of(is_oracle=True, Alpha=HARD + 0.1, Beta=HARD)
    assert found.says.startswith("At best: Alpha has the highest mean in these data")


def test_pairs_are_compared_over_the_cells_of_both_and_corrected_together():
    rows = rows_of(Alpha=HARD + 0.1, Beta=HARD + np.tile([0.02, -0.01], 6), Gamma=HARD[:9])
    pairs = topic_differences(best_first(rows, "coverage"), "coverage")
    found = [(f"{each.first} {each.second}", each.test.n) for each in pairs]
    assert found == [("Alpha Beta", 12), ("Alpha Gamma", 9), ("Beta Gamma", 9)]
    assert (pairs[1].test.low, pairs[1].test.p) == (None, pytest.approx(2 * 2.0**-8))
    # Both sides of a topic are one unit.
    rows = best_first(rows_of(Alpha=HARD + np.repeat([0.2, 0.1, 0.0], 4), Beta=HARD), "coverage")
    topics = {str(cell): f"topic {cell // 2}" for cell in range(12)}
    assert topic_differences(rows, "coverage")[0].test.p < 0.05
    found = topic_differences(rows, "coverage", topics)[0].test
    assert (found.n, found.p, found.value) == (6, None, pytest.approx(0.1))


def test_the_best_of_several_metrics_is_not_said_to_come_closest():
    human = [0.1, 0.4, 0.5, 0.9]
    rows = [
        MetricRow(ScoreSource(name), across_within(values, human, ["a"] * 4))
        for name, values in (("rouge_1", [0.2, 0.3, 0.5, 0.6]), ("rouge_2", [0.5, 0.3, 0.2, 0.6]))
    ]
    found = metrics_finding(rows)
    said = "has the highest correlation of 2 metrics with people's coverage in these data"
    assert said in found.says
    assert "over 4 sets" in found.says
    assert "not tested against each other" in found.sure
    assert "the only metric" in metrics_finding(rows[:1]).says
    # A metric may agree with the mean of people better than people do with each other.
    about = {"statistic": "alpha", "recipe": "", "confidence": 0.95, "n_items": 60}
    about |= {"n_pairable_items": 60, "n_raters": 3, "n_values": 180, "reason": "too few"}
    alphas = {"coverage": (0.9, 0.85, 0.95), "redundancy": (0.82, None, None)}
    dimensions = [
        SimpleNamespace(dimension=name, alpha=Estimate(value=value, low=low, high=high, **about))
        for name, (value, low, high) in alphas.items()
    ]
    found = people_finding(SimpleNamespace(sets=60, dimensions=dimensions))
    assert "metric" not in found.sure
    # Of one dimension there is no interval, so nothing is said of both.
    assert "hese data cannot tell" in found.says
