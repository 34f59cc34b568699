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
from tests.stats.tables import ratings_of_grid, simulated_grid

pytestmark = pytest.mark.long


def coverage(statistic, n_items, n_raters, missing, replicates):
    generator = np.random.default_rng(20)

    def estimate(size):
        return statistic(ratings_of_grid(simulated_grid(generator, size, n_raters, missing)))

    truth = estimate(400_000).value
    found = [estimate(n_items) for _ in range(replicates)]
    share = np.mean([one.low <= truth <= one.high for one in found])
    width = np.mean([one.high - one.low for one in found])
    design = f"{n_items} items x {n_raters} raters"
    print(f"{design}, truth {truth:.4f}: {share:.4f}, width {width:.3f}")
    return share


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize(("n_items", "n_raters"), [(60, 4), (200, 3)])
def test_item_jackknife_of_alpha(level, n_items, n_raters):
    share = coverage(lambda r: krippendorff_alpha(r, level), n_items, n_raters, 0.2, 4000)
    assert 0.93 <= share <= 0.97


def cohen(ratings):
    first, second = (ratings.subset(raters=[rater]) for rater in (0, 1))
    return cohen_kappa(first, second, "quadratic", n_resamples=1000)


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
