from itertools import permutations

import numpy as np
import pytest

from cqa_site.stats.reliability.alpha import krippendorff_alpha
from cqa_site.stats.reliability.coincidence import LEVELS
from cqa_site.stats.reliability.shuffled import concatenated_alpha, shuffled_baseline
from tests.stats.tables import ratings_of


def sheets(n=40, seed=0):
    """Two unrelated raters who both give the last criterion about two points more."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2, (2, n, 3)) + np.array([0.0, 0.0, 2.0])


@pytest.mark.parametrize("level", LEVELS)
def test_concatenated_alpha_is_alpha_of_all_cells(level):
    a, b = sheets()
    a[0, 0] = b[3, 2] = np.nan
    pairs = np.column_stack([a.ravel(), b.ravel()]).tolist()
    expected = krippendorff_alpha(ratings_of(pairs), level).value
    assert concatenated_alpha(a, b, level) == pytest.approx(expected)


def test_alpha_by_hand():
    """Two items, 0-0 and 0-1: observed disagreement 1/2 of the pairs, expected 3 / 6."""
    assert concatenated_alpha(np.array([0.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(0)


def test_alpha_of_one_value_is_undefined():
    assert np.isnan(concatenated_alpha(np.ones((2, 2)), np.ones((2, 2))))
    assert np.isnan(concatenated_alpha(np.full(2, np.nan), np.ones(2)))


def test_ranges_alone_make_unrelated_sheets_agree():
    a, b = sheets()
    found = shuffled_baseline(concatenated_alpha, a, b)
    assert found.mean > 0.5
    assert found.mean == pytest.approx(found.observed, abs=3 * found.sd)
    each = [concatenated_alpha(a[:, place], b[:, place]) for place in range(3)]
    assert np.mean(each) == pytest.approx(0, abs=0.2)


def test_sheets_stay_whole():
    """A statistic that sees the sum of squares of each sheet is blind to their order."""
    a, b = sheets()
    found = shuffled_baseline(lambda one, two: float((two.sum(axis=1) ** 2).sum()), a, b)
    assert found.low == found.high == found.observed
    assert found.sd == 0


def test_the_mean_is_that_of_all_permutations():
    a, b = np.array([0.0, 1.0, 5.0]), np.array([1.0, 0.0, 4.0])

    def product(one, two):
        return float(one @ two)

    every = [product(a, b[list(order)]) for order in permutations(range(3))]
    found = shuffled_baseline(product, a, b, n_repeats=4000)
    assert found.mean == pytest.approx(np.mean(every), abs=0.5)
    assert (found.low, found.high) == (min(every), max(every))
    assert found.sd == pytest.approx(np.std(every), abs=0.3)


def test_the_baseline_is_its_seed():
    a, b = sheets()
    first, again, other = (
        shuffled_baseline(concatenated_alpha, a, b, n_repeats=5, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.mean != other.mean


def test_what_is_undefined_says_why():
    found = shuffled_baseline(lambda a, b: float("nan"), np.ones(3), np.ones(3), n_repeats=4)
    assert (found.observed, found.mean, found.n_undefined) == (None, None, 4)
    assert "every shuffle" in found.reason


@pytest.mark.parametrize(
    ("n", "n_repeats", "match"), [(2, 10, "same items"), (3, 0, "one repeat")]
)
def test_impossible_baselines_are_refused(n, n_repeats, match):
    with pytest.raises(ValueError, match=match):
        shuffled_baseline(concatenated_alpha, np.ones(3), np.ones(n), n_repeats=n_repeats)
