import numpy as np
import pytest
from scipy import stats

from cqa_site.stats.bland_altman import bland_altman
from cqa_site.stats.clustered import TOO_FEW_CLUSTERS
from cqa_site.stats.estimate import NO_VALUES


def test_by_hand():
    """Differences 1 1 4: mean 2, sd sqrt 3. Means 2.5 4.5 5, deviations -1.5 .5 1: the slope
    is (-1.5 + .5 + 4) / 3.5.
    """
    found = bland_altman([3, 5, 7], [2, 4, 3])
    assert found.bias.value == pytest.approx(2)
    assert found.lower.value == pytest.approx(2 - 1.96 * 3**0.5)
    assert found.upper.value == pytest.approx(2 + 1.96 * 3**0.5)
    assert found.slope.value == pytest.approx(3 / 3.5)
    assert found.means.tolist() == [2.5, 4.5, 5]
    assert found.differences.tolist() == [1, 1, 4]


def simulated(n=400, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.normal(12, 3, n)
    return 1.5 + 1.2 * truth + generator.normal(size=n), truth + generator.normal(size=n)


def test_against_scipy_and_normal_theory():
    x, y = simulated()
    found = bland_altman(x, y, n_resamples=1000)
    line = stats.linregress((x + y) / 2, x - y)
    assert found.slope.value == pytest.approx(line.slope)
    assert found.slope.low == pytest.approx(line.slope - 1.96 * line.stderr, abs=0.02)
    error = (x - y).std() / 20
    assert found.bias.low == pytest.approx((x - y).mean() - 1.96 * error, abs=0.02)
    # Bland and Altman (1999): a limit's standard error is about 1.71 times the bias's.
    widths = [each.high - each.low for each in (found.upper, found.bias)]
    assert widths[0] / widths[1] == pytest.approx(1.71, abs=0.2)


def test_swapping_the_raters_turns_the_picture_over():
    x, y = simulated(50)
    one, other = bland_altman(x, y), bland_altman(y, x)
    assert other.bias.value == pytest.approx(-one.bias.value)
    assert (other.lower.value, other.lower.low) == pytest.approx(
        (-one.upper.value, -one.upper.high)
    )
    assert other.slope.value == pytest.approx(-one.slope.value)


def test_repeating_items_inside_clusters_does_not_narrow_the_intervals():
    x, y = simulated(40)
    names = np.arange(40)
    alone = bland_altman(x, y)
    ten = bland_altman(np.repeat(x, 10), np.repeat(y, 10), np.repeat(names, 10).tolist())
    assert (ten.bias.low, ten.slope.high) == pytest.approx((alone.bias.low, alone.slope.high))


@pytest.mark.parametrize(
    ("x", "y", "clusters", "defined", "reason"),
    [
        ([], [], None, [False] * 4, NO_VALUES),
        ([3], [1], None, [True, False, False, False], TOO_FEW_CLUSTERS),
        ([3, 4], [1, 1], None, [True, True, True, False], TOO_FEW_CLUSTERS),
        ([3, 1, 2], [1, 3, 2], None, [True, True, True, False], ""),
        ([3, 5, 8], [1, 4, 3], "aab", [True] * 4, TOO_FEW_CLUSTERS),
        ([3, 4, 5, 6], [1, 2, 3, 4], None, [True] * 4, "no spread|undefined"),
    ],
)
def test_what_is_undefined_says_why(x, y, clusters, defined, reason):
    found = bland_altman(x, y, clusters)
    estimates = (found.bias, found.lower, found.upper, found.slope)
    assert [each.value is not None for each in estimates] == defined
    assert not reason or any(part in found.bias.reason for part in reason.split("|"))
    assert all(each.reason for each in estimates if each.low is None)


def test_incomplete_pairs_are_counted():
    found = bland_altman([3, 5, 7, np.nan], [2, 4, 3, 1])
    assert found.bias.value == pytest.approx(2)
    assert (found.bias.n_items, found.bias.n_dropped_items) == (4, 1)
