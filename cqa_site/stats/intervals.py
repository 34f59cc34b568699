"""Intervals: t corrected for skewness, jackknife, binomial proportions.

Pages and tasks load this file at start; only who needs a quantile loads SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cqa_site.stats.estimate import Estimate, check_confidence

if TYPE_CHECKING:  # the table of ratings would load pandas
    from cqa_site.stats.ratings import FloatArray, IntArray

NO_SPREAD = "the values do not vary, so there is no spread"

# The smallest n for which `benchmarks.verdicts` finds a coverage of .93 or more: of means of
# clusters, and of statistics of agreement.
LEAST_CLUSTERS, LEAST_RATED = 10, 20


class Interval(NamedTuple):
    low: float
    high: float


class UndefinedIntervalError(ValueError):
    """The interval does not exist for these data; the message says why, in plain words."""


def mean_interval(
    values: FloatArray,
    multiplicity: IntArray | None = None,
    confidence: float = 0.95,
    *,
    least: int = LEAST_CLUSTERS,
    unit: str = "items",
) -> Interval:
    """Interval of the mean of independent values; see `cqa_site.stats.skewed_means`.

    Parameters
    ----------
    values, multiplicity : shape (n_kinds,)
        Values, and how many units have each; by default one.
    confidence
        Nominal coverage.
    least, unit
        With fewer units there is no interval; what they are called in the reason.

    Raises
    ------
    UndefinedIntervalError
        Fewer units than `least`, or all with the same value.
    """
    from cqa_site.stats.skewed_means import mean_bounds

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
    """Interval of a statistic from what it is without each unit.

    Parameters
    ----------
    value
        The statistic over all n units.
    left_out : shape (n_kinds,)
        The statistic without one unit of each kind; NaN where that is undefined.
    multiplicity : shape (n_kinds,)
        How many units are of that kind; their sum is n.
    confidence
        Nominal coverage.
    least, unit
        With fewer units there is no interval; what they are called in the reason.

    Raises
    ------
    UndefinedIntervalError
        Fewer units than `least`, an undefined left-out value, or no variation at all.

    Notes
    -----
    Pseudo-values after Tukey (1958), whose mean has the interval of `mean_interval`; it always
    holds the value itself. Units of one kind share one left-out value, hence the weights.
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
    """Why there is no interval of fewer units."""
    return f"an interval needs {least} or more {unit}"


def estimated(
    value: float,
    interval: Callable[[], Interval],
    about: dict[str, Any],
    *,
    how: str,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """A value with its interval, cut to the limits, or with the reason why there is none.

    ``how`` the interval is made, and all else that an `Estimate` says.
    """
    try:
        low, high = interval()
    except UndefinedIntervalError as error:
        return Estimate(value=value, reason=str(error), **about)
    low, high = max(low, limits[0]), min(high, limits[1])
    return Estimate(value=value, low=low, high=high, interval=how, **about)


def clopper_pearson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Exact interval of a proportion (Clopper and Pearson 1934); coverage never below nominal."""
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
