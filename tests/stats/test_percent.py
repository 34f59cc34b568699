import numpy as np
import pytest

from cqa_site.stats.agreement import percent_agreement
from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_RATER
from tests.stats.tables import ratings_of, simulated, simulated_grid


def test_the_value_equals_a_loop_over_pairs():
    grid = simulated_grid(np.random.default_rng(2), 40, 5, 0.3)
    shares = []
    for row in grid:
        values = row[~np.isnan(row)]
        first, second = np.triu_indices(len(values), 1)
        if len(first):
            shares.append((values[first] == values[second]).mean())
    found = percent_agreement(ratings_of(grid.tolist()))
    assert found.value == pytest.approx(np.mean(shares))
    assert found.n_pairable_items == len(shares)
    assert found.low < found.value < found.high
    assert found.interval == "item bootstrap, percentile, 2000 resamples, seed 0"


def test_the_interval_is_its_seed_whatever_the_order_of_items():
    ratings = simulated(60, 4, 0.2)
    backwards = ratings.subset().from_frame(ratings.to_frame()[::-1])
    assert percent_agreement(ratings) == percent_agreement(backwards)
    assert percent_agreement(ratings, seed=1).high != percent_agreement(ratings, seed=5).high


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[None, None]], NO_VALUES),
        ([[1], [2]], ONE_RATER),
        ([[1, None], [None, 1]], NO_OVERLAP),
    ],
)
def test_without_pairs_there_is_no_value(rows, reason):
    found = percent_agreement(ratings_of(rows))
    assert (found.value, found.reason) == (None, reason)


def test_one_value_is_full_agreement_here_but_gets_no_interval():
    found = percent_agreement(ratings_of([[2, 2], [2, 2], [2, 2]]))
    assert (found.value, found.low) == (1.0, None)
    assert "no spread" in found.reason
    assert "fewer than 3" in percent_agreement(ratings_of([[2, 2], [2, 1]])).reason
