"""Intervals: item jackknife with t, item bootstrap with percentiles, and binomial proportions.

Pages and tasks load this file at start; only who needs a quantile loads SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cqa_site.stats.estimate import Estimate, check_confidence

if TYPE_CHECKING:  # the table of ratings would load pandas
    from cqa_site.stats.ratings import FloatArray, IntArray

NO_SPREAD = "no resample differs from the others, so there is no spread"
TOO_FEW = "fewer than 3 items were rated twice, too few for an interval"

# A percentile of resamples among which more than this share is undefined would describe
# only the lucky ones.
UNDEFINED_SHARE = 0.05
_CHUNK_CELLS = 20_000_000


class Interval(NamedTuple):
    low: float
    high: float


class UndefinedIntervalError(ValueError):
    """The interval does not exist for these data; the message says why, in plain words."""


def jackknife_t_interval(
    value: float,
    left_out: FloatArray,
    multiplicity: IntArray,
    confidence: float = 0.95,
) -> Interval:
    """Interval by Student's t around the mean of the jackknife pseudo-values.

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

    Raises
    ------
    UndefinedIntervalError
        Fewer than 3 units, an undefined left-out value, or no variation at all.

    Notes
    -----
    Tukey (1958). Units of one kind share one left-out value, hence the weights.
    """
    from scipy import special

    check_confidence(confidence)
    n = int(multiplicity.sum())
    if n < 3:
        raise UndefinedIntervalError(TOO_FEW)
    if np.isnan(left_out).any():
        raise UndefinedIntervalError("leaving out one of the items leaves the statistic undefined")
    pseudo = n * value - (n - 1) * left_out
    centre = float(pseudo @ multiplicity) / n
    variance = float((pseudo - centre) ** 2 @ multiplicity) / (n - 1)
    if variance <= (1e-12 * n) ** 2:
        raise UndefinedIntervalError("leaving out any item changes nothing, so there is no spread")
    reach = float(special.stdtrit(n - 1, (1 + confidence) / 2)) * (variance / n) ** 0.5
    return Interval(centre - reach, centre + reach)


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


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Score interval of a proportion (Wilson 1927); coverage close to nominal on average."""
    from scipy import special

    _check_binomial(successes, n, confidence)
    z = float(special.ndtri((1 + confidence) / 2))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    low = 0.0 if successes == 0 else centre - reach
    high = 1.0 if successes == n else centre + reach
    return Interval(low, high)


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


_PROPORTIONS = {"wilson": wilson_interval, "clopper-pearson": clopper_pearson_interval}


def proportion(
    successes: int, n: int, *, method: str = "clopper-pearson", confidence: float = 0.95
) -> Estimate:
    """A share of successes as an estimate, e.g. one rater's accuracy on control items.

    Parameters
    ----------
    successes, n
        0 <= successes <= n; the share is undefined for n = 0.
    method : {"clopper-pearson", "wilson"}
        Exact, or closer to nominal coverage on average.
    confidence
        Nominal coverage.
    """
    about: dict[str, Any] = {
        "statistic": "proportion",
        "recipe": "successes divided by trials",
        "confidence": confidence,
        "n_items": n,
        "n_pairable_items": n,
        "n_raters": 1,
        "n_values": n,
    }
    if n == 0:
        return Estimate(value=None, reason="there are no trials", **about)
    low, high = _PROPORTIONS[method](successes, n, confidence)
    return Estimate(value=successes / n, low=low, high=high, interval=method, **about)


def _check_binomial(successes: int, n: int, confidence: float) -> None:
    check_confidence(confidence)
    if not 0 <= successes <= n or n == 0:
        raise ValueError("a proportion needs 0 <= successes <= n and n > 0")
