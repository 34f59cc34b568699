"""The paper's tables on sheets small enough to be computed by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from benchmark.leaderboard.methods import paper
from benchmark.leaderboard.methods.paper import SheetError
from tests.benchmark.small_rubric import SMALL

ABOUT = list(paper.ABOUT)


def sheets(*rows, rater="judge"):
    """Rows of system, scenario, question, choice and three points."""
    made = [(*row[:4], rater, *row[4:]) for row in rows]
    return pd.DataFrame(made, columns=[*ABOUT, *SMALL.keys]).pipe(paper.with_totals, SMALL)


MISSING = np.nan
# Totals: a1 4 and 2; a2 1, 3 and 2; b1 0 and none.
TABLE = sheets(
    ("a", 1, "q1", 1, 1, 2, 1),
    ("a", 1, "q2", 1, 0, 2, 0),
    ("a", 2, "q1", 1, 0, 1, 0),
    ("a", 2, "q1", 2, 1, 1, 1),
    ("a", 2, "q2", 1, 1, 0, 1),
    ("b", 1, "q1", 1, 0, 0, 0),
    ("b", 1, "q2", 1, 1, MISSING, 1),
)


def test_cells_rows_and_groups_have_means_over_what_is_there():
    assert TABLE["total"].tolist()[:-1] == [4, 2, 1, 3, 2, 0]
    assert np.isnan(TABLE.iloc[-1][["total", "facts"]].astype(float)).all()
    assert TABLE["form"].tolist() == [2, 0, 0, 2, 2, 0, 2]
    other = sheets(("a", 1, "q1", 1, 0, 0, 1), rater="person")
    cells = paper.cell_scores(pd.concat([TABLE, other]))
    assert cells.loc[("person", "a", 1), "mean"] == 1
    assert cells.loc[("judge", "a", 1)].tolist() == [3, pytest.approx(2**0.5), 2, 0]
    assert cells.loc[("judge", "a", 2)].tolist() == [2, 1, 3, 0]
    single = cells.loc[("judge", "b", 1)]
    assert (single["mean"], single["n"], single["dropped"]) == (0, 1, 1)
    assert np.isnan(single["sd"])
    # A row is the unweighted mean of its cells and of their sds.
    rows = paper.system_scores(paper.cell_scores(TABLE))
    mean, sd, cells, n, dropped = rows.loc[("judge", "a")]
    assert (mean, sd) == (2.5, pytest.approx((2**0.5 + 1) / 2))
    assert (cells, n, dropped) == (2, 5, 0)
    assert rows.loc[("judge", "b"), "dropped"] == 1
    found = paper.group_scores(TABLE, SMALL)
    assert found.loc[("facts", "judge", 2), "mean"] == pytest.approx(2 / 3)
    # The sheet without C2 still counts where C2 does not matter.
    assert found.loc[("form", "judge", 1), ["mean", "n"]].tolist() == [1, 4]
    assert found.loc[("facts", "judge", 1), ["n", "dropped"]].tolist() == [3, 1]


def test_scenarios_and_aspects_over_answers_and_over_cells_and_what_is_refused():
    table = pd.concat([TABLE, sheets(("cam", 0, "q1", 1, 1, 1, 1))])
    over_answers = paper.scenario_scores(table)
    assert over_answers["mean"].to_dict() == {("judge", 1): 2, ("judge", 2): 2}
    over_cells = paper.scenario_scores(table, over="cells")
    assert over_cells.loc[("judge", 1), ["mean", "cells"]].tolist() == [1.5, 2]
    has_aspect = TABLE["question"] == "q2"
    cells = paper.aspect_scores(TABLE, has_aspect)
    # Without: cells 4, (1 + 3) / 2 and 0; with: 2 and 2, and one cell without a total.
    assert cells.loc[("judge", False), "mean"] == 2
    assert cells.loc[("judge", False), "sd"] == pytest.approx((8 / 3) ** 0.5)
    assert cells.loc[("judge", True), ["mean", "sd", "cells", "dropped"]].tolist() == [2, 0, 2, 1]
    answers = paper.aspect_scores(TABLE, has_aspect, over="answers")
    assert answers.loc[("judge", False), ["mean", "n"]].tolist() == [2, 4]
    assert answers.loc[("judge", False), "sd"] == pytest.approx((10 / 3) ** 0.5)
    with pytest.raises(SheetError, match="rater"):
        paper.with_totals(TABLE.drop(columns="rater"), SMALL)
    with pytest.raises(SheetError, match="two sheets"):
        paper.with_totals(pd.concat([TABLE, TABLE]), SMALL)
    with pytest.raises(SheetError, match="rater or answer"):
        paper.with_totals(TABLE.assign(question=None), SMALL)


points = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1))


@given(st.lists(points, min_size=2, max_size=12))
def test_the_figures_are_those_of_numpy(given_points):
    table = sheets(*(("a", 1, number, 1, *each) for number, each in enumerate(given_points)))
    totals = np.array(given_points).sum(axis=1)
    mean, sd, n, _dropped = paper.cell_scores(table).loc[("judge", "a", 1)]
    assert (mean, sd, n) == (
        pytest.approx(totals.mean()),
        pytest.approx(totals.std(ddof=1), abs=1e-12),
        len(totals),
    )
