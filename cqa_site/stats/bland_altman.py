"""How far two raters' scores lie apart, and whether that depends on the score.

A correlation near 1 still allows one rater to give four points more throughout; the mean
difference and its spread say so in points.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cqa_site.stats.correlation import Pairs, in_chunks
from cqa_site.stats.estimate import NO_VALUES, Estimate, check_confidence
from cqa_site.stats.intervals import (
    LEAST_CLUSTERS,
    LEAST_RATED,
    estimated,
    jackknife_t_interval,
    too_few,
)
from cqa_site.stats.ratings import FloatArray

# 95 % of normal differences lie within this many standard deviations.
REACH = 1.96
INTERVAL = "cluster jackknife, t corrected for skewness"
RECIPES = {
    "bias": "mean of first minus second",
    "lower limit": "mean difference minus 1.96 sd (ddof 1)",
    "upper limit": "mean difference plus 1.96 sd (ddof 1)",
    "slope": "least squares slope of the difference on the mean of the two",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class BlandAltman:
    """First minus second rater against the mean of the two.

    Attributes
    ----------
    bias
        Mean difference in points; positive if the first rater gives more.
    lower, upper
        Limits of agreement: about 95 % of differences lie between them if they are normal.
    slope
        Points of difference for each point of the mean: off zero where the bias grows with
        the score, or where one rater spreads the scores wider than the other.
    means, differences : shape (n,)
        The points of the plot, in the order handed in without incomplete pairs.
    """

    bias: Estimate
    lower: Estimate
    upper: Estimate
    slope: Estimate
    means: FloatArray
    differences: FloatArray


def bland_altman(
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = 0.95,
) -> BlandAltman:
    """Differences of two raters over items: bias, limits of agreement, proportional bias.

    Parameters
    ----------
    x, y : length n
        Two raters' values of the same items, on one scale; incomplete pairs are dropped.
    clusters : length n
        What the intervals leave out in turn, such as the question; by default every item.
    confidence
        Nominal coverage of the intervals.

    Returns
    -------
    BlandAltman
        The bias needs one pair, the limits two, the slope three pairs whose means differ; an
        interval needs differences that vary, of 6 clusters for the bias and 20 for the others.

    Notes
    -----
    Bland and Altman (1986, 1999). Their intervals assume independent normal differences;
    here clusters are left out in turn, since answers to one question resemble each other.

    Examples
    --------
    >>> found = bland_altman([3, 5, 7], [2, 4, 3])
    >>> found.bias.value, round(found.upper.value, 3), round(found.slope.value, 3)
    (2.0, 5.395, 0.857)
    """
    check_confidence(confidence)
    pairs = Pairs.of(x, y, clusters)
    means, differences = (pairs.x + pairs.y) / 2, pairs.x - pairs.y
    statistics = {
        "bias": lambda weights: _moments(differences, weights)[0],
        "lower limit": lambda weights: _limit(differences, weights, -REACH),
        "upper limit": lambda weights: _limit(differences, weights, REACH),
        "slope": lambda weights: _slope(means, differences, weights),
    }
    found = [
        _estimate(name, statistic, pairs, confidence) for name, statistic in statistics.items()
    ]
    return BlandAltman(
        bias=found[0],
        lower=found[1],
        upper=found[2],
        slope=found[3],
        means=means,
        differences=differences,
    )


def _estimate(
    name: str,
    statistic: Callable[[FloatArray], FloatArray],
    pairs: Pairs,
    confidence: float,
) -> Estimate:
    about: dict[str, Any] = {
        "statistic": f"Bland-Altman {name}",
        "recipe": RECIPES[name],
        "confidence": confidence,
        **pairs.about(),
    }
    if len(pairs.x) == 0:
        return Estimate(value=None, reason=NO_VALUES, **about)
    value = float(statistic(np.ones((1, len(pairs.x))))[0])
    if np.isnan(value):
        return Estimate(value=None, reason=_why_undefined(name), **about)
    least = LEAST_CLUSTERS if name == "bias" else LEAST_RATED
    if pairs.n_clusters < least:
        return Estimate(value=value, reason=too_few(least, "questions"), **about)
    once = np.ones(pairs.n_clusters, dtype=np.int64)
    left_out = in_chunks(
        lambda rows: statistic(rows[:, pairs.codes]), 1 - np.eye(len(once)), len(pairs.x)
    )
    interval = partial(jackknife_t_interval, value, left_out, once, confidence, least=least)
    return estimated(value, interval, about, how=INTERVAL)


def _why_undefined(name: str) -> str:
    if name == "slope":
        return "a slope needs 3 pairs whose means differ"
    return "the spread of differences needs two pairs"


def _moments(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted mean and sd (ddof 1) of `values` under each row; sd NaN below a weight of 2."""
    total = weights.sum(axis=1)
    mean = weights @ values / total
    squares = (weights * (values - mean[:, None]) ** 2).sum(axis=1)
    undefined = np.full(len(total), np.nan)
    return mean, np.sqrt(np.divide(squares, total - 1, out=undefined, where=total > 1))


def _limit(values: FloatArray, weights: FloatArray, reach: float) -> FloatArray:
    mean, sd = _moments(values, weights)
    return np.asarray(mean + reach * sd)


def _slope(means: FloatArray, differences: FloatArray, weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=1, keepdims=True)
    centred = means - (weights @ means)[:, None] / total
    across = (weights * centred * differences).sum(axis=1)
    along = (weights * centred**2).sum(axis=1)
    rounding = 1e-22 * total[:, 0] * (np.square(means).max(initial=0.0) + 1e-300)
    defined = (along > rounding) & (total[:, 0] >= 3)
    undefined = np.full(len(along), np.nan)
    return np.asarray(np.divide(across, along, out=undefined, where=defined))
