import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from cqa_site.stats.intervals import (
    UndefinedIntervalError,
    bootstrap_interval,
    clopper_pearson_interval,
    jackknife_t_interval,
    proportion,
    wilson_interval,
)

VALUES = np.array([1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 9.0])


def mean_of(kinds):
    return lambda weights: weights @ kinds / weights.sum(axis=1)


def test_the_jackknife_of_a_mean_is_the_t_interval_of_the_mean():
    kinds, multiplicity = np.unique(VALUES, return_counts=True)
    n = len(VALUES)
    left_out = (VALUES.sum() - kinds) / (n - 1)
    found = jackknife_t_interval(VALUES.mean(), left_out, multiplicity)
    error = VALUES.std(ddof=1) / n**0.5
    assert found == pytest.approx(stats.t.interval(0.95, n - 1, VALUES.mean(), error))


@pytest.mark.parametrize(
    ("left_out", "multiplicity", "reason"),
    [
        ([0.5], [2], "fewer than 3"),
        ([0.5, np.nan], [5, 1], "undefined"),
        ([0.5], [5], "no spread"),
    ],
)
def test_a_jackknife_without_spread_has_no_interval(left_out, multiplicity, reason):
    with pytest.raises(UndefinedIntervalError, match=reason):
        jackknife_t_interval(0.5, np.array(left_out), np.array(multiplicity))


def test_weights_of_kinds_equal_resampling_units_one_by_one():
    kinds, multiplicity = np.unique(VALUES, return_counts=True)
    found = bootstrap_interval(mean_of(kinds), multiplicity, n_resamples=20_000, seed=3)
    draws = np.random.default_rng(4).choice(VALUES, (20_000, len(VALUES))).mean(axis=1)
    assert found == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.15)


def test_the_bootstrap_is_its_seed():
    kinds, multiplicity = np.unique(VALUES, return_counts=True)
    first, again, other = (
        bootstrap_interval(mean_of(kinds), multiplicity, n_resamples=500, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_few_undefined_resamples_are_left_out_and_many_are_refused():
    def mostly(share):
        def statistic(weights):
            values = np.arange(len(weights), dtype=float)
            values[: int(share * len(weights))] = np.nan
            return values

        return statistic

    multiplicity = np.array([5, 5])
    assert bootstrap_interval(mostly(0.04), multiplicity, n_resamples=100).low >= 4
    with pytest.raises(UndefinedIntervalError, match="over 5 %"):
        bootstrap_interval(mostly(0.06), multiplicity, n_resamples=100)


def test_a_bootstrap_needs_items_and_spread():
    with pytest.raises(UndefinedIntervalError, match="fewer than 3"):
        bootstrap_interval(mean_of(np.array([1.0])), np.array([2]))
    with pytest.raises(UndefinedIntervalError, match="no spread"):
        bootstrap_interval(mean_of(np.array([1.0])), np.array([9]))


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_confidence_is_a_share(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson_interval(1, 2, confidence)


@pytest.mark.parametrize(("successes", "n"), [(0, 4), (1, 4), (4, 4), (7, 20), (779, 1282)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_proportions_against_statsmodels(successes, n, confidence):
    alpha = 1 - confidence
    wilson = proportion_confint(successes, n, alpha, "wilson")
    exact = proportion_confint(successes, n, alpha, "beta")
    assert wilson_interval(successes, n, confidence) == pytest.approx(wilson, abs=1e-12)
    assert clopper_pearson_interval(successes, n, confidence) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 4), (5, 4)])
def test_impossible_proportions_are_errors(successes, n):
    with pytest.raises(ValueError, match="0 <= successes <= n"):
        clopper_pearson_interval(successes, n)


def test_a_share_of_nothing_has_a_reason():
    nothing = proportion(0, 0)
    assert (nothing.value, nothing.low, nothing.reason) == (None, None, "there are no trials")
    some = proportion(3, 4, method="wilson")
    assert (some.value, some.interval) == (0.75, "wilson")
    assert (some.low, some.high) == wilson_interval(3, 4)
