"""Confidence intervals: skewness-corrected t, item jackknife, binomial proportions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import Estimate, check_confidence

# Pages and tasks load this file at startup; only code that needs a quantile loads SciPy.

NO_SPREAD = "the values do not vary, so there is no spread"

# The smallest n for which `benchmarks.verdicts` finds a coverage of .93 or more: for means of
# clusters, and for statistics of agreement.
LEAST_CLUSTERS, LEAST_RATED = 10, 20


class Interval(NamedTuple):
    low: float
    high: float


class UndefinedIntervalError(ValueError):
    """The interval does not exist for these data; the message gives the reason in plain words."""


def mean_interval(
    values: FloatArray,
    multiplicity: IntArray | None = None,
    confidence: float = 0.95,
    *,
    least: int = LEAST_CLUSTERS,
    unit: str = "items",
) -> Interval:
    """Return the interval for the mean of independent values; see `cqa_site.stats.intervals`.

    Parameters
    ----------
    values, multiplicity : shape (n_kinds,)
        Values, and the number of units with each value; by default one.
    confidence
        Nominal coverage.
    least, unit
        Minimum number of units for an interval, and their name in the reason.

    Raises
    ------
    UndefinedIntervalError
        If there are fewer units than `least`, or all have the same value.
    """
    check_confidence(confidence)
    n = len(values) if multiplicity is None else int(multiplicity.sum())
    if n < least:
        raise UndefinedIntervalError(too_few(least, unit))
    low, high = mean_bounds(values[:, None], confidence, often=multiplicity)
    if np.isnan(low[0]):
        raise UndefinedIntervalError(NO_SPREAD)
    return Interval(float(low[0]), float(high[0]))


def jackknife_t_interval(
    value: float,
    left_out: FloatArray,
    multiplicity: IntArray,
    confidence: float = 0.95,
    *,
    least: int = LEAST_RATED,
    unit: str = "items",
) -> Interval:
    """Return the interval for a statistic from its leave-one-out values.

    Parameters
    ----------
    value
        The statistic over all n units.
    left_out : shape (n_kinds,)
        The statistic without one unit of each kind; NaN where it is undefined.
    multiplicity : shape (n_kinds,)
        Number of units of each kind; their sum is n.
    confidence
        Nominal coverage.
    least, unit
        Minimum number of units for an interval, and their name in the reason.

    Raises
    ------
    UndefinedIntervalError
        If there are fewer units than `least`, a left-out value is undefined, or nothing varies.

    Notes
    -----
    This is the interval for the mean of Tukey's (1958) pseudo-values (see `mean_interval`); it
    always contains the value itself. Units of one kind share a left-out value, hence the weights.
    """
    n = int(multiplicity.sum())
    if n < least:
        raise UndefinedIntervalError(too_few(least, unit))
    if np.isnan(left_out).any():
        raise UndefinedIntervalError("leaving out one of the items leaves the statistic undefined")
    pseudo = n * value - (n - 1) * left_out
    low, high = mean_interval(pseudo, multiplicity, confidence, least=least, unit=unit)
    return Interval(min(low, value), max(high, value))


def too_few(least: int, unit: str) -> str:
    """Explain that there are too few units for an interval."""
    return f"an interval needs {least} or more {unit}"


def estimated(
    value: float,
    interval: Callable[[], Interval],
    about: dict[str, Any],
    *,
    how: str,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Return a value with its interval truncated at the limits, or the reason why it has none.

    ``how`` is the method for the interval; ``about`` has the other fields of the `Estimate`.
    """
    try:
        low, high = interval()
    except UndefinedIntervalError as error:
        return Estimate(value=value, reason=str(error), **about)
    low, high = max(low, limits[0]), min(high, limits[1])
    return Estimate(value=value, low=low, high=high, interval=how, **about)


def clopper_pearson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Return an exact interval for a proportion (Clopper and Pearson 1934).

    Its coverage is never below the nominal coverage.
    """
    from scipy import special

    check_confidence(confidence)
    if not 0 <= successes <= n or n == 0:
        raise ValueError("a proportion needs 0 <= successes <= n and n > 0")
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = (
        1.0
        if successes == n
        else float(special.betaincinv(successes + 1, n - successes, 1 - tail))
    )
    return Interval(low, high)


def median_interval(values: FloatArray, confidence: float = 0.95, *, unit: str) -> Interval:
    """Return the exact interval for a median between two order statistics.

    Parameters
    ----------
    values : shape (n,)
        Independent values of any distribution.
    confidence
        Nominal coverage; the actual coverage is never lower.
    unit
        Name of the values in the reason.

    Raises
    ------
    UndefinedIntervalError
        If there are so few values that even the interval from the lowest to the highest value has
        less than the nominal coverage.

    Notes
    -----
    The bounds are the k-th lowest and the k-th highest value, with the largest k for which n coin
    flips give fewer than k heads with a probability of at most half of 1 - confidence (David and
    Nagaraja 2003, Order Statistics, 7.1). With equal values, the coverage is higher.

    >>> median_interval(np.arange(1.0, 11.0), unit="people")
    Interval(low=2.0, high=9.0)
    """
    from scipy import special

    check_confidence(confidence)
    n = len(values)
    least = 1 + math.ceil(-math.log2(1 - confidence) - 1e-9)
    if n < least:
        raise UndefinedIntervalError(too_few(least, unit))
    tails = special.bdtr(np.arange((n + 1) // 2), n, 0.5)
    k = int(np.count_nonzero(tails <= (1 - confidence) / 2))
    ordered = np.sort(values)
    return Interval(float(ordered[k - 1]), float(ordered[n - k]))


def median_estimate(values: FloatArray, recipe: str, *, unit: str) -> Estimate:
    """Return the median of independent values, shape (n,), with its exact interval."""
    n = len(values)
    about: dict[str, Any] = {"statistic": "median", "recipe": recipe, "n_items": n, "n_raters": n}
    about |= {"n_pairable_items": n, "n_values": n}
    if n == 0:
        return Estimate(value=None, reason=f"there are no {unit}", **about)
    interval = partial(median_interval, values, unit=unit)
    return estimated(float(np.median(values)), interval, about, how="order statistics, exact")


# Test and interval for the mean of few values that may be skewed or discrete.
#
# Student's t rejects too often if values are skewed (a system that seldom fails, scores that pile
# up at the maximum). Hall's transformation removes the skewness from t. Both tests must reject, so
# p and interval always agree, and neither is ever more certain than Student's t.
#
# Source: Hall (1992), On the Removal of Skewness by Transformation, JRSS B 54, section 2.2.

# Hall's cubic is nearly flat where skewness times t is far below 0, and would hardly ever reject
# there. From this point on, it continues as a straight line.
MOST_TILT = 1.5


def mean_p(values: FloatArray) -> FloatArray:
    """Return each column's two-sided p value for a mean of zero, shape (n_columns,).

    Parameters
    ----------
    values : shape (n, n_columns)
        At least 2 rows, without gaps.

    Notes
    -----
    p is not a share of resamples, because such a share is never below 1 / (resamples + 1), and
    Holm's correction for the 1,225 pairs of 50 systems requires a p value of at most 0.00004 to
    separate even one pair.
    The p value of the exact sign-flip test is never less than ``2**(1 - k)`` if k values are not
    0, so this minimum also applies here, even to columns without spread.
    """
    from scipy import special

    n = len(values)
    mean, error, pull = moments(values)
    has_spread = error > 0
    t = np.divide(mean, error, out=np.zeros_like(mean), where=has_spread)
    smaller = np.minimum(np.abs(t), np.abs(without_skewness(t, pull)))
    p = np.where(has_spread, 2 * special.stdtr(n - 1, -smaller), np.where(mean == 0, 1.0, 0.0))
    least = 2.0 ** (1 - np.maximum(np.count_nonzero(values, axis=0), 1))
    return np.asarray(np.maximum(p, least))


def mean_bounds(
    values: FloatArray,
    confidence: float,
    freedom: int | None = None,
    *,
    often: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return, by column, the bounds of the means not rejected by `mean_p`; NaN without spread.

    Parameters
    ----------
    values : shape (n_kinds, n_columns)
        Without gaps.
    confidence
        Nominal coverage.
    freedom
        Degrees of freedom, if fewer than n - 1.
    often : shape (n_kinds,)
        Number of units with these values, n in total; by default one each.
    """
    from scipy import special

    mean, error, pull = moments(values, often)
    n = len(values) if often is None else int(often.sum())
    freedom = n - 1 if freedom is None else freedom
    quantile = float(special.stdtrit(freedom, (1 + confidence) / 2))
    error = np.where(error > 0, error, np.nan)
    down, up = reaches(quantile, pull)
    return mean - down * error, mean + up * error


def reaches(quantile: float, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how far down and up an interval extends in standard errors, at least the quantile."""
    down = np.maximum(quantile, with_skewness(np.full_like(pull, quantile), pull))
    return down, np.maximum(quantile, -with_skewness(np.full_like(pull, -quantile), pull))


def without_skewness(t: FloatArray, pull: FloatArray) -> FloatArray:
    """Apply Hall's transformation to t; ``pull`` is the skewness / √n."""
    tilt = np.clip(pull * t, -MOST_TILT, MOST_TILT)
    return np.asarray(t * (1 + tilt / 3 + tilt**2 / 27) + pull / 6)


def with_skewness(quantile: FloatArray, pull: FloatArray) -> FloatArray:
    """Return the t that `without_skewness` transforms into ``quantile``."""
    straight = quantile - pull / 6
    safe = np.where(pull == 0, 1.0, pull)
    t = np.where(pull == 0, straight, 3 / safe * (np.cbrt(1 + safe * straight) - 1))
    slope = 1 + np.sign(pull * t) * MOST_TILT / 3 + MOST_TILT**2 / 27
    return np.where(np.abs(pull * t) > MOST_TILT, straight / slope, t)


def moments(
    values: FloatArray, often: IntArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean, standard error and skewness / √n, treating rounding differences as 0."""
    weights = np.ones(len(values)) if often is None else often
    n = int(weights.sum())
    mean = weights @ values / n
    rounding = 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    apart = values - mean
    square, cube = weights @ apart**2 / n, weights @ apart**3 / n
    has_spread = (square / (n - 1)) ** 0.5 > rounding
    skewness = np.divide(cube, square**1.5, out=np.zeros_like(mean), where=has_spread)
    error = np.where(has_spread, (square / (n - 1)) ** 0.5, 0.0)
    # With few values, the plain skewness is too small.
    skewness *= (n * (n - 1)) ** 0.5 / max(n - 2, 1)
    return np.where(np.abs(mean) > rounding, mean, 0.0), error, skewness / n**0.5


INTERVAL = "item jackknife, t corrected for skewness"
# If one value makes up more than this share of all ratings, it matters greatly whether the few
# others were drawn: intervals from 20 such items cover .83-.89, from 50 items .93 or more.
MOST_OF_ONE, LEAST_ONE_SIDED = 0.8, 50

_CHUNK_CELLS = 4_000_000


def least_items(margins: IntArray | FloatArray) -> int:
    """Return the number of items required before a chance-corrected statistic has an interval.

    Parameters
    ----------
    margins : shape (n_categories,)
        Number of ratings with each value.
    """
    is_one_sided = margins.max() > MOST_OF_ONE * margins.sum()
    return LEAST_ONE_SIDED if is_one_sided else LEAST_RATED


def jackknifed(
    value: float,
    left_out: FloatArray,
    multiplicity: IntArray,
    about: dict[str, Any],
    *,
    least: int = LEAST_RATED,
) -> Estimate:
    """Return a statistic of at most 1 with its interval, or the reason why it has none.

    Parameters
    ----------
    value, left_out, multiplicity
        As in `jackknife_t_interval`.
    about
        The other fields of the `Estimate`.
    least
        Minimum number of items for an interval.
    """
    inputs = (value, left_out, multiplicity, about["confidence"])
    interval = partial(jackknife_t_interval, *inputs, least=least)
    return estimated(value, interval, about, how=INTERVAL, limits=(-np.inf, 1.0))


def jackknifed_over(
    statistic: Callable[[FloatArray], FloatArray],
    multiplicity: IntArray,
    about: dict[str, Any],
    *,
    least: int = LEAST_RATED,
) -> Estimate:
    """Compute a statistic of weighted items with its interval; see `jackknifed`.

    Parameters
    ----------
    statistic
        Maps weights, shape (n_rows, n_kinds), to values, shape (n_rows,).
    multiplicity : shape (n_kinds,)
        Number of items of each kind.
    about, least
        As in `jackknifed`.
    """
    weights = multiplicity.astype(np.float64)
    value, n = float(statistic(weights[None, :])[0]), len(weights)
    if multiplicity.sum() < least:
        return Estimate(value=value, reason=too_few(least, "items"), **about)
    rows = max(1, _CHUNK_CELLS // n)
    blocks = [
        statistic(weights - np.eye(min(rows, n - start), n, k=start))
        for start in range(0, n, rows)
    ]
    return jackknifed(value, np.concatenate(blocks), multiplicity, about, least=least)
