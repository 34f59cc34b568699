"""How often the intervals hold the truth: the statistic over a very large set of such items.

The nominal share is .95; with 4,000 replicates a run is within .007 of it by chance.
"""

import numpy as np
import pytest

from cqa_site.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from tests.stats.tables import check_intervals, ratings_of_grid, simulated_grid


def simulated_estimates(statistic, n_items, n_raters, missing, replicates, truth_items=400_000):
    """The value for very many items, and the estimates of samples of them."""
    generator = np.random.default_rng(20)

    def estimate(size):
        return statistic(ratings_of_grid(simulated_grid(generator, size, n_raters, missing)))

    truth = estimate(truth_items).value
    return truth, [estimate(n_items) for _ in range(replicates)]


def coverage(statistic, n_items, n_raters, missing, replicates):
    truth, found = simulated_estimates(statistic, n_items, n_raters, missing, replicates)
    share = np.mean([one.low <= truth <= one.high for one in found])
    width = np.mean([one.high - one.low for one in found])
    design = f"{n_items} items x {n_raters} raters"
    print(f"{design}, truth {truth:.4f}: {share:.4f}, width {width:.3f}")
    return share


@pytest.mark.parametrize(
    ("statistic", "n_items"),
    [
        (lambda ratings: krippendorff_alpha(ratings, "ordinal"), 60),
        (lambda ratings: percent_agreement(ratings, n_resamples=200), 100),
    ],
    ids=["jackknife of alpha", "bootstrap of percent agreement"],
)
def test_intervals_of_few_samples(statistic, n_items):
    truth, estimates = simulated_estimates(statistic, n_items, 4, 0.2, 200, truth_items=40_000)
    check_intervals([(made.value, made.low, made.high) for made in estimates], truth)


@pytest.mark.long
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize(("n_items", "n_raters"), [(60, 4), (200, 3)])
def test_item_jackknife_of_alpha(level, n_items, n_raters):
    share = coverage(lambda r: krippendorff_alpha(r, level), n_items, n_raters, 0.2, 4000)
    assert 0.93 <= share <= 0.97


def cohen(ratings):
    first, second = (ratings.subset(raters=[rater]) for rater in (0, 1))
    return cohen_kappa(first, second, "quadratic", n_resamples=1000)


@pytest.mark.long
@pytest.mark.parametrize(
    ("statistic", "n_raters", "missing"),
    [
        (lambda ratings: percent_agreement(ratings, n_resamples=1000), 3, 0.2),
        (lambda ratings: fleiss_kappa(ratings, n_resamples=1000), 3, 0.0),
        (cohen, 2, 0.0),
    ],
    ids=["percent", "fleiss", "cohen quadratic"],
)
def test_item_bootstrap(statistic, n_raters, missing):
    assert 0.93 <= coverage(statistic, 200, n_raters, missing, 1500) <= 0.97
