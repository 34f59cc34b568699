import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cqa_site.stats.ranks.system_correlation import FEW_SYSTEMS, NO_SPREAD, within_and_across
from cqa_site.stats.weighted_correlation import CORRELATIONS


def table(rows):
    return pd.DataFrame(rows, columns=["system", "question", "x", "y"])


TOY = table(
    [
        ("a", "q1", 1, 1),
        ("b", "q1", 2, 3),
        ("c", "q1", 3, 2),
        ("a", "q2", 0, 5),
        ("b", "q2", 2, 5),
        ("c", "q2", 4, 5),
        ("a", "q3", 2, 0),
        ("b", "q3", 2, 1),
        ("a", "q4", 1, 3),
        ("b", "q4", 3, 5),
        ("c", "q4", 5, 7),
    ]
)


def test_by_hand():
    """Means of x: a 1, b 9/4, c 4; of y: 9/4, 14/4, 14/3. Questions: q1 r = .5, q4 r = 1;
    in q2 y is constant, q3 has two systems.
    """
    found = within_and_across(TOY, n_resamples=50)
    assert found.within.value == pytest.approx(0.75)
    assert found.within_sd == pytest.approx(0.5**0.5 / 2)
    assert found.skipped == {FEW_SYSTEMS: 1, NO_SPREAD: 1}
    assert (found.n_systems, found.n_questions, found.n_questions_used) == (3, 4, 2)
    means = ([1, 9 / 4, 4], [9 / 4, 14 / 4, 14 / 3])
    assert found.across.value == pytest.approx(stats.pearsonr(*means).statistic)
    # With three systems one resample in nine holds a single system.
    assert "over 5 %" in found.across.reason


def simulated(n_systems=12, n_questions=40, seed=0):
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=(n_systems, 1)) + generator.normal(size=(1, n_questions))
    grids = [quality + generator.normal(size=quality.shape) for _ in range(2)]
    names = [(f"s{s}", f"q{q:02d}") for s in range(n_systems) for q in range(n_questions)]
    return table([(*name, a, b) for name, a, b in zip(names, *map(np.ravel, grids), strict=True)])


@pytest.mark.parametrize("kind", CORRELATIONS)
def test_both_levels_against_a_plain_computation(kind):
    name = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    rows = simulated()
    found = within_and_across(rows, kind, n_resamples=400)
    means = rows.groupby("system")[["x", "y"]].mean()
    assert found.across.value == pytest.approx(name[kind](means.x, means.y).statistic)
    each = [name[kind](part.x, part.y).statistic for _, part in rows.groupby("question")]
    assert found.within.value == pytest.approx(np.mean(each))
    assert found.within_sd == pytest.approx(np.std(each, ddof=1))
    for estimate in (found.across, found.within):
        assert estimate.low < estimate.value < estimate.high
    # Twelve systems say little, forty questions more.
    assert found.across.high - found.across.low > found.within.high - found.within.low


def test_choices_of_one_question_are_averaged():
    doubled = pd.concat([TOY.assign(y=TOY.y - 1), TOY.assign(y=TOY.y + 1)])
    assert within_and_across(doubled).within.value == pytest.approx(0.75)


def test_rows_without_a_value_are_dropped_and_counted():
    rows = pd.concat([TOY, table([("c", "q3", np.nan, 9)])])
    found = within_and_across(rows)
    assert found.within.value == pytest.approx(0.75)
    assert (found.across.n_items, found.across.n_dropped_items) == (12, 1)


def test_two_systems_have_no_correlation():
    found = within_and_across(TOY[TOY.system != "c"])
    assert found.across.value is None
    assert found.across.reason == FEW_SYSTEMS
    assert (found.within.value, found.within_sd) == (None, None)
    assert found.skipped == {FEW_SYSTEMS: 4}


def test_an_empty_table_says_why():
    found = within_and_across(TOY[:0])
    assert found.across.value is None
    assert found.n_questions == 0


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="lacks columns: y"):
        within_and_across(TOY.drop(columns="y"))
