"""One-sided tests of statistics that were computed without each unit in turn.

They decide as `cqa_site.stats.skewed_means` does: Student's t, or the same t after Hall's (1992)
transformation where skewness makes that less certain.
"""

from __future__ import annotations

import math

import numpy as np

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.skewed_means import moments, without_skewness

# Power of the studies that `more_needed` plans.
POWER = 0.8
MOST_NEEDED = 100_000


def pseudo_values(value: float, left_out: FloatArray) -> FloatArray:
    """Jackknife pseudo-values (Tukey 1958) of a statistic without each of n units."""
    n = len(left_out)
    return np.asarray(n * value - (n - 1) * left_out)


def ratio_pseudo_values(tops: FloatArray, bottoms: FloatArray) -> FloatArray:
    """Pseudo-values of a sum over a sum, such as the mean of all values of clusters."""
    whole, under = tops.sum(), bottoms.sum()
    return pseudo_values(whole / under, (whole - tops) / (under - bottoms))


def p_above(values: FloatArray, mark: float) -> float:
    """P value that the mean of independent values lies at or below ``mark``, one-sided.

    Parameters
    ----------
    values : shape (n,)
        Such as pseudo-values, from units that lie within -1 to 1.
    mark
        The least favourable mean.

    Notes
    -----
    Values without spread tell only that others are rare: a mean at the mark needs others in a
    share of ``|value - mark| / (1 + |value|)`` of the units, and none was seen among n.
    """
    from scipy import special

    n, mean = len(values), float(values.mean())
    if np.ptp(values) < 1e-9:
        apart = min(1.0, abs(mean - mark) / (1 + abs(mean)))
        return float((1 - apart) ** n) if mean > mark else 1.0
    distance, error, pull = moments(values[:, None] - mark)
    t = distance / error
    return float(special.stdtr(n - 1, -min(t[0], without_skewness(t, pull)[0])))


def p_below(values: FloatArray, mark: float) -> float:
    """P value that the mean of independent values lies at or above ``mark``, one-sided."""
    return p_above(-values, -mark)


def most_of(p: FloatArray, least: int) -> float:
    """P value that fewer than ``least`` of the hypotheses are false: a partial conjunction.

    Benjamini and Heller (2008), Screening for partial conjunction hypotheses, after Bonferroni.

    >>> round(most_of(np.array([0.5, 0.01, 0.02]), 2), 4)
    0.04
    """
    return min(1.0, (len(p) - least + 1) * float(np.sort(p)[least - 1]))


def more_needed(n: int, p: float, units: int, level: float) -> int:
    """How many more of n would show it in `POWER` of studies, if they came out alike.

    Parameters
    ----------
    n
        Such as answers, in proportion to the units.
    p, units
        One-sided p value over so many units.
    level
        At which it has to be shown.

    Returns
    -------
    int
        0 where the data point the other way; at most `MOST_NEEDED`.
    """
    from scipy import special

    found = -float(special.stdtrit(units - 1, max(p, 1e-300))) if p < 0.5 else 0.0
    if found <= 0:
        return 0
    wanted = float(special.ndtri(1 - level) + special.ndtri(POWER))
    return min(MOST_NEEDED, max(1, math.ceil(n * ((wanted / found) ** 2 - 1))))
