"""Correlations of pairs, of weighted rows and of systems, and Bland and Altman's picture."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from cqa_site.stats.correlation import (
    CORRELATIONS,
    ValuePairs,
    bland_altman,
    correlation,
    weighted_correlations,
    weighted_mid_ranks,
)
from cqa_site.stats.estimate import NO_VALUES
from cqa_site.stats.ranking import FEW_SYSTEMS, NO_SPREAD, within_and_across

TOO_FEW_QUESTIONS = "an interval needs 10 or more questions"

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def noisy(n=60, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 20, n).astype(float)
    return x, np.round(x + 4 * generator.normal(size=n))


def test_correlations_and_mid_ranks_by_hand():
    """x 1 2 3 4, y 2 1 4 3: products of deviations 3.0 over 5; 4 of 6 pairs agree."""
    pairs = ([1, 2, 3, 4], [2, 1, 4, 3])
    values = [correlation(*pairs, kind) for kind in ("pearson", "spearman", "kendall")]
    assert values == pytest.approx([0.6, 0.6, 2 / 6])
    # x 1 1 2, y 1 2 2: one pair agrees; two are untied in x, two in y: 1 / sqrt(2 x 2).
    assert correlation([1, 1, 2], [1, 2, 2], "kendall") == pytest.approx(0.5)
    # Values 5 5 2 9 with weights 1 2 1 0: 2 covers rank 0-1, both fives share 1-4.
    found = weighted_mid_ranks(np.array([5.0, 5.0, 2.0, 9.0]), np.array([[1.0, 2.0, 1.0, 0.0]]))
    assert found.tolist() == [[2.5, 2.5, 0.5, 4.0]]
    values = np.random.default_rng(2).integers(0, 6, 40).astype(float)
    found = weighted_mid_ranks(values, np.ones((1, 40)))[0]
    assert found == pytest.approx(stats.rankdata(values) - 0.5)


@pytest.mark.parametrize("kind", CORRELATIONS)
def test_a_correlation_equals_scipy_and_is_undefined_of_few_or_constant_values(kind):
    x, y = noisy()
    assert correlation(x, y, kind) == pytest.approx(SCIPY[kind](x, y).statistic)
    gaps = [*x, np.nan, 3], [*y, 1, np.nan]
    assert correlation(*gaps, kind) == pytest.approx(correlation(x, y, kind))
    for few in (([], []), ([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [4, 4, 4])):
        assert correlation(*few, kind) is None
    for bad, match in (
        (([1, 2], [1], None), "same length"),
        (([1, 2], [1, 2], "abc"), "same length"),
        (([1, np.inf], [1, 2], None), "infinite"),
    ):
        with pytest.raises(ValueError, match=match):
            ValuePairs.of(*bad)


triples = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=12
)


@pytest.mark.parametrize("kind", CORRELATIONS)
@given(rows=triples)
def test_a_weight_is_a_repetition(kind, rows):
    x, y, weights = np.array(rows, dtype=float).T
    found = weighted_correlations(kind, x, y, weights[None, :])[0]
    repeated = [np.repeat(each, weights.astype(int)) for each in (x, y)]
    if any(len(set(each)) < 2 for each in repeated):
        assert np.isnan(found)
    else:
        assert found == pytest.approx(SCIPY[kind](*repeated).statistic, abs=1e-9)


@pytest.mark.parametrize("kind", CORRELATIONS)
def test_rows_may_have_pairs_of_their_own(kind):
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 5, (2, 6, 9)).astype(float)
    weights = generator.integers(1, 3, (6, 9)).astype(float)
    together = weighted_correlations(kind, x, y, weights)
    alone = [
        weighted_correlations(kind, x[row], y[row], weights[row : row + 1])[0] for row in range(6)
    ]
    assert together == pytest.approx(alone)


def test_a_constant_has_no_correlation_whatever_its_size():
    weights = np.random.default_rng(3).random((20, 7))
    for shift in (0.0, 0.1, 1e6):
        constant, other = np.full(7, 0.3 + shift), np.arange(7.0) + shift
        assert np.isnan(weighted_correlations("pearson", constant, other, weights)).all()
        assert weighted_correlations("pearson", other, -other, weights) == pytest.approx(-1)


def table(rows):
    return pd.DataFrame(rows, columns=["system", "question", "x", "y"])


TOY = table(
    [
        *[("a", "q1", 1, 1), ("b", "q1", 2, 3), ("c", "q1", 3, 2)],
        *[("a", "q2", 0, 5), ("b", "q2", 2, 5), ("c", "q2", 4, 5)],
        *[("a", "q3", 2, 0), ("b", "q3", 2, 1)],
        *[("a", "q4", 1, 3), ("b", "q4", 3, 5), ("c", "q4", 5, 7)],
    ]
)


def test_systems_by_hand_with_choices_gaps_and_too_few_of_them():
    """Means of x: a 1, b 9/4, c 4; of y: 9/4, 14/4, 14/3. Questions: q1 r = .5, q4 r = 1;
    in q2 y is constant, q3 has two systems."""
    found = within_and_across(TOY)
    assert found.within.value == pytest.approx(0.75)
    assert found.within_sd == pytest.approx(0.5**0.5 / 2)
    assert found.skipped == {FEW_SYSTEMS: 1, NO_SPREAD: 1}
    assert (found.n_systems, found.n_questions, found.n_questions_used) == (3, 4, 2)
    means = ([1, 9 / 4, 4], [9 / 4, 14 / 4, 14 / 3])
    assert found.across.value == pytest.approx(stats.pearsonr(*means).statistic)
    assert "fewer than 8 systems" in found.across.reason
    doubled = pd.concat([TOY.assign(y=TOY.y - 1), TOY.assign(y=TOY.y + 1)])
    assert within_and_across(doubled).within.value == pytest.approx(0.75)
    found = within_and_across(pd.concat([TOY, table([("c", "q3", np.nan, 9)])]))
    assert found.within.value == pytest.approx(0.75)
    assert (found.across.n_items, found.across.n_dropped_items) == (12, 1)
    found = within_and_across(TOY[TOY.system != "c"])
    assert (found.across.value, found.across.reason) == (None, FEW_SYSTEMS)
    assert (found.within.value, found.within_sd) == (None, None)
    assert found.skipped == {FEW_SYSTEMS: 4}
    found = within_and_across(TOY[:0])
    assert (found.across.value, found.n_questions) == (None, 0)
    with pytest.raises(ValueError, match="lacks columns: y"):
        within_and_across(TOY.drop(columns="y"))
    with pytest.raises(ValueError, match="pearson, spearman, kendall"):
        weighted_correlations("cosine", np.ones(3), np.ones(3), np.ones((1, 3)))


def simulated_systems(n_systems=12, n_questions=40, seed=0):
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=(n_systems, 1)) + generator.normal(size=(1, n_questions))
    grids = [quality + generator.normal(size=quality.shape) for _ in range(2)]
    names = [(f"s{s}", f"q{q:02d}") for s in range(n_systems) for q in range(n_questions)]
    return table([(*name, a, b) for name, a, b in zip(names, *map(np.ravel, grids), strict=True)])


@pytest.mark.parametrize("kind", CORRELATIONS)
def test_both_levels_against_a_plain_computation(kind):
    rows = simulated_systems()
    found = within_and_across(rows, kind)
    means = rows.groupby("system")[["x", "y"]].mean()
    assert found.across.value == pytest.approx(SCIPY[kind](means.x, means.y).statistic)
    each = [SCIPY[kind](part.x, part.y).statistic for _, part in rows.groupby("question")]
    assert found.within.value == pytest.approx(np.mean(each))
    assert found.within_sd == pytest.approx(np.std(each, ddof=1))
    for estimate in (found.across, found.within):
        assert estimate.low < estimate.value < estimate.high
    if kind == "pearson":
        # t of ten degrees of freedom, times the root of 1 / (12 - 3).
        reach = (math.atanh(found.across.high) - math.atanh(found.across.low)) / 2
        assert reach == pytest.approx(2.2281 / 3, abs=1e-4)
    same = within_and_across(rows.assign(y=rows.x), kind).across
    assert (same.value, same.low) == (pytest.approx(1), None)


def test_bland_altman_by_hand_against_scipy_and_normal_theory():
    """Differences 1 1 4: mean 2, sd sqrt 3. Means 2.5 4.5 5, deviations -1.5 .5 1: the slope
    is (-1.5 + .5 + 4) / 3.5."""
    found = bland_altman([3, 5, 7], [2, 4, 3])
    assert found.bias.value == pytest.approx(2)
    assert found.lower.value == pytest.approx(2 - 1.96 * 3**0.5)
    assert found.upper.value == pytest.approx(2 + 1.96 * 3**0.5)
    assert found.slope.value == pytest.approx(3 / 3.5)
    assert found.means.tolist() == [2.5, 4.5, 5]
    assert found.differences.tolist() == [1, 1, 4]
    x, y = two_raters()
    found = bland_altman(x, y)
    line = stats.linregress((x + y) / 2, x - y)
    assert found.slope.value == pytest.approx(line.slope)
    assert found.slope.low == pytest.approx(line.slope - 1.96 * line.stderr, abs=0.02)
    error = (x - y).std() / 20
    assert found.bias.low == pytest.approx((x - y).mean() - 1.96 * error, abs=0.02)
    # Bland and Altman (1999): a limit's standard error is about 1.71 times the bias's.
    widths = [each.high - each.low for each in (found.upper, found.bias)]
    assert widths[0] / widths[1] == pytest.approx(1.71, abs=0.25)


def two_raters(n=400, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.normal(12, 3, n)
    return 1.5 + 1.2 * truth + generator.normal(size=n), truth + generator.normal(size=n)


def test_an_undefined_limit_says_why():
    for x, y, clusters, defined, reason in (
        ([], [], None, [False] * 4, NO_VALUES),
        ([3], [1], None, [True, False, False, False], TOO_FEW_QUESTIONS),
        ([3, 4], [1, 1], None, [True, True, True, False], TOO_FEW_QUESTIONS),
        ([3, 1, 2], [1, 3, 2], None, [True, True, True, False], ""),
        ([3, 5, 8], [1, 4, 3], "aab", [True] * 4, TOO_FEW_QUESTIONS),
        ([3, 4, 5, 6], [1, 2, 3, 4], None, [True] * 4, ""),
    ):
        found = bland_altman(x, y, clusters)
        estimates = (found.bias, found.lower, found.upper, found.slope)
        assert [each.value is not None for each in estimates] == defined
        assert not reason or any(part in found.bias.reason for part in reason.split("|"))
        assert all(each.reason for each in estimates if each.low is None)
