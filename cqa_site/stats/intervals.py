"""Intervals: t corrected for skewness, jackknife, bootstrap percentiles, binomial proportions.

Pages and tasks load this file at start; only who needs a quantile loads SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cqa_site.stats.estimate import check_confidence

if TYPE_CHECKING:  # the table of ratings would load pandas
    from cqa_site.stats.ratings import FloatArray, IntArray

NO_SPREAD = "no resample differs from the others, so there is no spread"
TOO_FEW = "fewer than 3 units, too few for an interval"

# The smallest n for which `benchmarks.verdicts` finds a coverage of .93 or more: of means of
# clusters, and of statistics of agreement.
LEAST_CLUSTERS, LEAST_RATED = 10, 20

# A percentile of resamples among which more than this share is undefined would describe
# only the lucky ones.
UNDEFINED_SHARE = 0.05
_CHUNK_CELLS = 20_000_000


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


def bootstrap_interval(
    statistic: Callable[[FloatArray], FloatArray],
    multiplicity: IntArray,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Percentile interval over resamples of units, drawn as multinomial weights.

    Parameters
    ----------
    statistic
        Maps weights, shape (n_resamples, n_kinds), to values, shape (n_resamples,);
        NaN where a resample leaves it undefined.
    multiplicity : shape (n_kinds,)
        Units of each kind. Drawing kinds in these proportions is the same as drawing units.
    confidence, n_resamples, seed
        Nominal coverage; number of resamples; seed of the generator.

    Raises
    ------
    UndefinedIntervalError
        Fewer than 3 units, over 5 % undefined resamples, or no variation at all.
    """
    check_confidence(confidence)
    n = int(multiplicity.sum())
    if n < 3:
        raise UndefinedIntervalError(TOO_FEW)
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK_CELLS // len(multiplicity))
    sizes = [min(rows, n_resamples - start) for start in range(0, n_resamples, rows)]
    shares = multiplicity / n
    draws = (generator.multinomial(n, shares, size=size).astype(float) for size in sizes)
    values = np.concatenate([statistic(weights) for weights in draws])
    return percentile_interval(values, confidence)


def percentile_interval(values: FloatArray, confidence: float = 0.95) -> Interval:
    """The middle `confidence` of a statistic over resamples; NaN where it is undefined.

    Raises
    ------
    UndefinedIntervalError
        Over 5 % undefined resamples, or no variation at all.
    """
    check_confidence(confidence)
    undefined = np.isnan(values)
    if undefined.mean() > UNDEFINED_SHARE:
        raise UndefinedIntervalError("over 5 % of the resamples leave the statistic undefined")
    tail = (1 - confidence) / 2
    low, high = np.quantile(values[~undefined], [tail, 1 - tail])
    if high - low < 1e-12:
        raise UndefinedIntervalError(NO_SPREAD)
    return Interval(float(low), float(high))


def clopper_pearson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Exact interval of a proportion (Clopper and Pearson 1934); coverage never below nominal."""
    from scipy import special

    _check_binomial(successes, n, confidence)
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = (
        1.0
        if successes == n
        else float(special.betaincinv(successes + 1, n - successes, 1 - tail))
    )
    return Interval(low, high)


def _check_binomial(successes: int, n: int, confidence: float) -> None:
    check_confidence(confidence)
    if not 0 <= successes <= n or n == 0:
        raise ValueError("a proportion needs 0 <= successes <= n and n > 0")
