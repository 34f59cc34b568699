"""Test and interval of a mean of few values that may be skewed or discrete.

Student's t rejects too often where values are skewed (a system that seldom fails, scores that
pile up at the maximum). Hall's transformation removes the skewness from t. Both have to reject,
so p and interval always agree, and neither is ever more certain than Student's t.

Pages load this file at start; only who needs a quantile loads SciPy.

Source: Hall (1992), On the Removal of Skewness by Transformation, JRSS B 54, section 2.2.
"""

from __future__ import annotations

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray

# Hall's cubic is nearly flat where skewness times t is far below 0, and would hardly ever reject
# there; from here on it goes on as a straight line.
MOST_TILT = 1.5


def mean_p(values: FloatArray) -> FloatArray:
    """Two-sided p of "the mean is 0" for each column, shape (n_columns,).

    Parameters
    ----------
    values : shape (n, n_columns)
        At least 2 rows, without gaps.

    Notes
    -----
    Not a share of resamples: that share cannot fall below 1 / (resamples + 1), and Holm over the
    1,225 pairs of 50 systems asks for 0.00004 before it separates any two. The exact test that
    flips signs can never give less than ``2**(1 - k)`` where k values are not 0, so neither does
    this; it also settles columns without spread.
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
    """All means that `mean_p` does not reject, for each column; NaN for one without spread.

    Parameters
    ----------
    values : shape (n_kinds, n_columns)
        Without gaps.
    confidence
        Nominal coverage.
    freedom
        Degrees of freedom, where they are fewer than n - 1.
    often : shape (n_kinds,)
        How many units have these values, n together; by default one.
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
    """How many standard errors an interval goes down and up; never less than the quantile."""
    down = np.maximum(quantile, with_skewness(np.full_like(pull, quantile), pull))
    return down, np.maximum(quantile, -with_skewness(np.full_like(pull, -quantile), pull))


def without_skewness(t: FloatArray, pull: FloatArray) -> FloatArray:
    """Hall's transformation of t; ``pull`` is the skewness divided by the root of n."""
    tilt = np.clip(pull * t, -MOST_TILT, MOST_TILT)
    return np.asarray(t * (1 + tilt / 3 + tilt**2 / 27) + pull / 6)


def with_skewness(found: FloatArray, pull: FloatArray) -> FloatArray:
    """The t that `without_skewness` turned into ``found``."""
    straight = found - pull / 6
    safe = np.where(pull == 0, 1.0, pull)
    t = np.where(pull == 0, straight, 3 / safe * (np.cbrt(1 + safe * straight) - 1))
    slope = 1 + np.sign(pull * t) * MOST_TILT / 3 + MOST_TILT**2 / 27
    return np.where(np.abs(pull * t) > MOST_TILT, straight / slope, t)


def moments(
    values: FloatArray, often: IntArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, standard error and skewness by root n; 0 where digits alone differ."""
    weights = np.ones(len(values)) if often is None else often
    n = int(weights.sum())
    mean = weights @ values / n
    rounding = 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    apart = values - mean
    square, cube = weights @ apart**2 / n, weights @ apart**3 / n
    has_spread = (square / (n - 1)) ** 0.5 > rounding
    skewness = np.divide(cube, square**1.5, out=np.zeros_like(mean), where=has_spread)
    error = np.where(has_spread, (square / (n - 1)) ** 0.5, 0.0)
    # Of few values the plain skewness is too small.
    skewness *= (n * (n - 1)) ** 0.5 / max(n - 2, 1)
    return np.where(np.abs(mean) > rounding, mean, 0.0), error, skewness / n**0.5
