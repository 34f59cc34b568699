"""What every statistic has in common: names and order, what is undefined, bounds, clusters."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.stats.agreement import (
    LEVELS,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from cqa_site.stats.bland_altman import bland_altman
from cqa_site.stats.clustered import clustered_mean
from cqa_site.stats.correlation import correlation
from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_RATER, ONE_VALUE
from cqa_site.stats.ratings import Ratings
from cqa_site.stats.weighted_correlation import CORRELATIONS
from tests.stats.tables import long_table, ratings_of


def of_two(ratings, weights=None):
    """Cohen's kappa of the first two raters."""
    return cohen_kappa(*(ratings.subset(raters=[name]) for name in ("r0", "r1")), weights)


ALPHAS = {f"alpha, {level}": partial(krippendorff_alpha, level=level) for level in LEVELS}
STATISTICS = ALPHAS | {
    "percent": partial(percent_agreement, n_resamples=50),
    "fleiss": partial(fleiss_kappa, drop_unequal=True, n_resamples=50),
    "cohen": of_two,
    "cohen, quadratic": partial(of_two, weights="quadratic"),
}
every_statistic = pytest.mark.parametrize("name", STATISTICS)

label = st.one_of(st.none(), st.integers(0, 3))
panels = st.lists(st.lists(label, min_size=3, max_size=3), min_size=1, max_size=12)


def same(found, expected):
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.low == pytest.approx(expected.low, abs=1e-7)
    assert found.high == pytest.approx(expected.high, abs=1e-7)
    assert found.reason == expected.reason


@every_statistic
@given(rows=panels, seed=st.integers(0, 99))
def test_names_of_raters_and_order_of_items_do_not_matter(name, rows, seed):
    table = long_table(rows)
    shuffled = table.sample(frac=1, random_state=seed)
    if not name.startswith("cohen"):
        shuffled["rater"] = shuffled["rater"].map({"r0": "z", "r1": "r0", "r2": "a"})
    found = STATISTICS[name](Ratings.from_frame(shuffled))
    same(found, STATISTICS[name](Ratings.from_frame(table)))


@every_statistic
@given(rows=panels, extra=st.lists(st.integers(0, 3), max_size=5))
def test_items_rated_once_do_not_matter(name, rows, extra):
    table = long_table(rows)
    once = pd.DataFrame({"item": range(len(extra)), "rater": "r0", "value": extra})
    expected = STATISTICS[name](Ratings.from_frame(table))
    found = STATISTICS[name](Ratings.from_frame(pd.concat([table, once])))
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    if expected.value is not None and name in ALPHAS:
        same(found, expected)


@every_statistic
@given(rows=panels)
def test_bounds_hold_whatever_the_ratings(name, rows):
    found = STATISTICS[name](ratings_of(rows))
    assert (found.value is None) <= (found.reason is not None)
    if found.low is not None:
        assert found.low <= found.high <= 1
    if found.value is not None:
        assert found.value <= 1


@every_statistic
def test_perfect_agreement_is_one_but_not_where_it_is_undefined(name):
    found = STATISTICS[name](ratings_of([[0, 0], [1, 1], [2, 2], [3, 3]]))
    assert found.value == pytest.approx(1)
    for rows, reason in (
        ([[None, None]], NO_VALUES),
        ([[1], [2], [3]], NO_OVERLAP if name.startswith("cohen") else ONE_RATER),
        ([[1, None], [None, 1], [2, None]], NO_OVERLAP),
        ([[2, 2], [2, 2], [2, 2], [2, 2]], ONE_VALUE),
        ([[2, 2], [2, 2], [3, None]], ONE_VALUE),
    ):
        found = STATISTICS[name](ratings_of(rows))
        if name == "percent" and reason == ONE_VALUE:
            assert (found.value, found.low) == (1.0, None)
        else:
            assert (found.value, found.low, found.high) == (None, None, None)
            assert found.reason == reason


# Of rows (x, y) in clusters.
CLUSTERED = {kind: partial(correlation, kind=kind) for kind in CORRELATIONS} | {
    "bias": lambda x, y, clusters=None: bland_altman(x, y, clusters).bias,
    "slope": lambda x, y, clusters=None: bland_altman(x, y, clusters).slope,
}


@pytest.mark.parametrize("statistic", CLUSTERED.values(), ids=CLUSTERED)
def test_repeating_rows_inside_clusters_does_not_narrow_the_interval(statistic):
    generator = np.random.default_rng(5)
    x = generator.normal(12, 3, 40)
    y = 0.8 * x + generator.normal(size=40)
    alone = statistic(x, y, list(range(40)))
    tenfold = [np.repeat(values, 10) for values in (x, y)]
    found = statistic(*tenfold, np.repeat(range(40), 10).tolist())
    assert found.value == pytest.approx(alone.value)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    blind = statistic(*tenfold)
    assert blind.high - blind.low < (alone.high - alone.low) / 2


@pytest.mark.parametrize("statistic", CLUSTERED.values(), ids=CLUSTERED)
def test_incomplete_pairs_are_dropped_and_counted(statistic):
    found = statistic([1, 2, np.nan, 3, 7], [2, 1, 9, 4, np.nan])
    assert found.value == pytest.approx(statistic([1, 2, 3], [2, 1, 4]).value)
    assert (found.n_items, found.n_pairable_items, found.n_dropped_items) == (5, 3, 2)


def test_values_that_repeat_inside_clusters_do_not_narrow_the_interval_of_a_mean():
    values = np.random.default_rng(5).normal(size=40)
    alone = clustered_mean(range(40), values, [1] * 40)
    tenfold = clustered_mean(np.repeat(range(40), 10).tolist(), np.repeat(values, 10), [1] * 400)
    assert (tenfold.low, tenfold.high) == pytest.approx((alone.low, alone.high))
    blind = clustered_mean(range(400), np.repeat(values, 10), [1] * 400)
    assert blind.high - blind.low < (alone.high - alone.low) / 2
