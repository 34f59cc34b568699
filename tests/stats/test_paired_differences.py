import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from cqa_site.stats.ranks.paired_differences import (
    halving_n,
    paired_t_p,
    smallest_detectable,
    tie_groups,
)


def test_p_is_that_of_the_paired_t_test():
    differences = np.random.default_rng(0).normal(0.3, 1, (40, 5))
    assert paired_t_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_p_agrees_with_flipping_the_signs():
    generator = np.random.default_rng(1)
    differences = generator.integers(-2, 4, 60).astype(float)
    signs = generator.choice([-1.0, 1.0], (40_000, 60))
    flipped = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9
    assert 0.001 < flipped.mean() < 0.2
    assert paired_t_p(differences[:, None])[0] == pytest.approx(flipped.mean(), rel=0.15)


def test_p_is_never_below_what_flipping_signs_could_give():
    """Five questions: 2 of 32 sign patterns are as extreme as all positive."""
    constant = np.full((5, 1), 0.1) + np.array([0.0, 0.7])
    nearly = np.array([[1.0], [1.001], [1.0], [0.999], [1.0]])
    assert paired_t_p(np.hstack([constant, nearly])).tolist() == [1 / 16] * 3


def test_no_difference_has_p_one():
    assert paired_t_p(np.zeros((9, 2))).tolist() == [1, 1]


def test_tie_groups_by_hand():
    """The first cannot be told from the second and the fourth, the third from the fourth."""
    separable = np.ones((5, 5), dtype=bool)
    for one, other in ((0, 1), (0, 3), (2, 3), (2, 4)):
        separable[one, other] = separable[other, one] = False
    assert tie_groups(separable).tolist() == [1, 1, 2, 1, 2]


@pytest.mark.parametrize("n", [10, 50, 500])
def test_the_smallest_detectable_difference_is_found_four_times_in_five(n):
    detectable = float(smallest_detectable(np.array([3.0]), n)[0])
    power = TTestPower().power(detectable / 3.0, n, 0.05)
    assert power == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("n", [2, 5, 30, 400])
def test_halving_is_the_smallest_number_that_halves(n):
    values = np.tile([1.0, 3.0], n)[:n]
    more = halving_n(values)

    def width(size):
        return stats.t.ppf(0.975, size - 1) / size**0.5

    assert width(n + more) <= width(n) / 2 < width(n + more - 1)
    assert more <= 3 * n


def test_halving_needs_an_interval():
    assert halving_n(np.array([1.0])) is None
    assert halving_n(np.array([1.0, 1.0, np.nan])) is None
    assert halving_n(np.array([1.0, 2.0, np.nan])) == halving_n(np.array([1.0, 2.0]))
