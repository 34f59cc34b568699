import numpy as np
import pytest

from cqa_site.stats.clustered import TOO_FEW_CLUSTERS, clustered_mean
from cqa_site.stats.estimate import NO_VALUES


def test_every_value_has_the_same_weight():
    found = clustered_mean(["q1", "q1", "q2", "q3"], [1.0, 2.0, 6.0, 0.0], [1, 1, 2, 1])
    assert found.value == pytest.approx(9 / 5)
    assert (found.n_items, found.n_pairable_items, found.n_values) == (3, 3, 5)


def test_clusters_of_one_value_give_the_bootstrap_of_a_mean():
    values = np.random.default_rng(3).normal(size=200)
    found = clustered_mean(range(200), values, [1] * 200, n_resamples=4000)
    error = 1.96 * values.std() / 200**0.5
    assert found.low == pytest.approx(values.mean() - error, abs=0.02)
    assert found.high == pytest.approx(values.mean() + error, abs=0.02)


def test_values_that_repeat_inside_clusters_do_not_narrow_the_interval():
    values = np.random.default_rng(5).normal(size=40)
    alone = clustered_mean(range(40), values, [1] * 40)
    tenfold = clustered_mean(np.repeat(range(40), 10).tolist(), np.repeat(values, 10), [1] * 400)
    assert (tenfold.low, tenfold.high) == pytest.approx((alone.low, alone.high))
    blind = clustered_mean(range(400), np.repeat(values, 10), [1] * 400)
    assert blind.high - blind.low < (alone.high - alone.low) / 2


def test_rows_without_values_are_counted_and_left_out():
    found = clustered_mean("abcd", [1.0, 2.0, 3.0, 0.0], [1, 1, 1, 0])
    assert found.value == 2
    assert (found.n_items, found.n_pairable_items) == (4, 3)
    assert 1 <= found.low < found.high <= 3


@pytest.mark.parametrize(
    ("clusters", "sums", "counts", "reason"),
    [
        ("", [], [], NO_VALUES),
        ("ab", [0.0, 0.0], [0, 0], NO_VALUES),
        ("aabb", [1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1], TOO_FEW_CLUSTERS),
        ("abc", [1.0, 1.0, 1.0], [1, 1, 1], "no spread"),
    ],
)
def test_what_is_undefined_says_why(clusters, sums, counts, reason):
    found = clustered_mean(clusters, sums, counts)
    assert found.low is None
    assert reason in found.reason
    assert (found.value is None) == (sum(counts) == 0)


def test_the_same_seed_gives_the_same_interval():
    rows = (range(30), np.arange(30.0), [1] * 30)
    assert clustered_mean(*rows) == clustered_mean(*rows)
    assert clustered_mean(*rows, seed=1).low != clustered_mean(*rows).low
