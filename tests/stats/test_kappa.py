import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_counts

from cqa_site.stats.agreement import cohen_kappa, fleiss_kappa
from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_RATER, ONE_VALUE
from cqa_site.stats.ratings import RatingsError, UnknownCategoryError
from tests.stats.tables import SCALE, ratings_of, simulated, simulated_grid


def two_raters(seed, missing=0.2):
    grid = simulated_grid(np.random.default_rng(seed), 80, 2, missing)
    index = [f"i{item}" for item in range(len(grid))]
    return pd.Series(grid[:, 0], index), pd.Series(grid[::-1, 1], index[::-1])


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", [0, 1])
def test_cohen_equals_scikit_learn_on_the_shared_items(weights, seed):
    a, b = two_raters(seed)
    shared = pd.concat([a, b], axis=1, join="inner").dropna().astype(int)
    expected = cohen_kappa_score(shared[0], shared[1], labels=[0, 1, 2, 3], weights=weights)
    found = cohen_kappa(a, b, weights, categories=SCALE)
    assert found.value == pytest.approx(expected)
    assert (found.n_pairable_items, found.n_raters) == (len(shared), 2)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_an_unused_category_changes_nothing(weights):
    # scikit-learn's default labels would bring 1 and 3 one step together here.
    a, b = pd.Series([0, 1, 3, 3, 0]), pd.Series([0, 3, 3, 1, 1])
    found = cohen_kappa(a, b, weights)
    assert found == cohen_kappa(a, b, weights, categories=SCALE)
    expected = cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=weights)
    assert found.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ({}, {}, NO_VALUES),
        ({"x": 1, "y": 2}, {"z": 1}, NO_OVERLAP),
        ({"x": 1, "y": 1, "z": 1}, {"x": 1, "y": 1, "z": 1}, ONE_VALUE),
    ],
)
def test_an_undefined_cohen_has_a_reason(a, b, reason):
    found = cohen_kappa(pd.Series(a, dtype=float), pd.Series(b, dtype=float))
    assert (found.value, found.low, found.reason) == (None, None, reason)


def test_cohen_of_two_constant_but_different_raters_is_zero():
    found = cohen_kappa(pd.Series([1, 1, 1, 1]), pd.Series([2, 2, 2, 2]))
    assert found.value == 0
    assert found.reason is not None


def test_cohen_takes_one_rating_of_an_item_a_side():
    panel = ratings_of([[0, 1], [1, 1]])
    with pytest.raises(RatingsError, match="one rating"):
        cohen_kappa(panel, panel)
    one = panel.subset(raters=["r0"])
    assert cohen_kappa(one, panel.subset(raters=["r1"])).value is not None
    with pytest.raises(UnknownCategoryError):
        cohen_kappa(one, one, categories=[1, 2])


@pytest.mark.parametrize("n_raters", [2, 3, 7])
def test_fleiss_equals_statsmodels(n_raters):
    ratings = simulated(90, n_raters, seed=n_raters)
    found = fleiss_kappa(ratings)
    assert found.value == pytest.approx(fleiss_of_counts(ratings.counts(), "fleiss"))
    assert found.low < found.value < found.high
    assert found.n_dropped_items == 0


def test_fleiss_refuses_unequal_items_or_drops_them_on_request():
    rows = [[0, 0, 0], [1, 2, 1], [2, 2, 2], [0, 1, None], [3, None, None]]
    refused = fleiss_kappa(ratings_of(rows))
    assert refused.value is None
    assert "different numbers" in refused.reason
    assert refused.n_dropped_items == 0
    kept = fleiss_kappa(ratings_of(rows), drop_unequal=True)
    assert kept.value == pytest.approx(fleiss_kappa(ratings_of(rows[:3])).value)
    assert kept.n_dropped_items == 2
    assert "only items with 3 ratings" in kept.recipe


def test_fleiss_prefers_the_larger_of_two_equally_frequent_sizes():
    rows = [[0, 0, 1], [1, 2, 1], [2, 2, None], [0, 1, None], *[[3, None, None]] * 4]
    found = fleiss_kappa(ratings_of(rows), drop_unequal=True)
    assert "only items with 3 ratings" in found.recipe
    assert found.n_dropped_items == 6


@pytest.mark.parametrize("drop_unequal", [False, True])
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[None]], NO_VALUES),
        ([[1], [2]], ONE_RATER),
        ([[1, None], [None, 2]], NO_OVERLAP),
        ([[1, 1], [1, 1], [1, 1]], ONE_VALUE),
    ],
)
def test_an_undefined_fleiss_has_a_reason(rows, reason, drop_unequal):
    found = fleiss_kappa(ratings_of(rows), drop_unequal=drop_unequal)
    assert (found.value, found.low, found.reason) == (None, None, reason)
