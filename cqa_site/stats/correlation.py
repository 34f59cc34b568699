"""Correlations between two raters, optionally weighted, and their Bland-Altman limits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import NO_VALUES, Estimate, check_confidence
from cqa_site.stats.intervals import (
    LEAST_CLUSTERS,
    LEAST_RATED,
    estimated,
    jackknife_t_interval,
    too_few,
)

# Correlations of weighted pairs for many sets of weights at once, as resampling needs.
#
# Notation: x and y hold n paired values and w their weights. A resample of units is a row of
# whole-number weights, so one call handles a whole block of resamples. Giving a pair the weight k
# has exactly the same effect as repeating it k times, including ranks and ties.
#
# Sources: Kendall, Rank Correlation Methods (tau-b); Spearman's rho is Pearson's r of mid-ranks.

Correlation = Literal["pearson", "spearman", "kendall"]
CORRELATIONS: tuple[str, ...] = get_args(Correlation)

# A variance below this share of the largest square is a rounding error.
_NO_SPREAD = 1e-22


def check_correlation(kind: str) -> None:
    """Raise ValueError for an unknown correlation."""
    if kind not in CORRELATIONS:
        raise ValueError(f"kind must be one of {', '.join(CORRELATIONS)}, not {kind!r}")


def weighted_correlations(
    kind: Correlation, x: FloatArray, y: FloatArray, weights: FloatArray
) -> FloatArray:
    """Compute the correlation for each row of weights.

    Parameters
    ----------
    kind : {"pearson", "spearman", "kendall"}
        Kendall is tau-b and takes n² steps for each row.
    x, y : shape (n,) or (n_rows, n)
        The same pairs for every row, or separate pairs for each row.
    weights : shape (n_rows, n)
        Non-negative.

    Returns
    -------
    shape (n_rows,), -1 to 1; NaN where x or y does not vary among pairs with a positive weight.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    >>> [round(float(weighted_correlations(kind, x, y, np.ones((1, 3)))[0]), 4)
    ...  for kind in ("pearson", "spearman", "kendall")]
    [0.5, 0.5, 0.3333]
    """
    check_correlation(kind)
    if kind == "kendall":
        signs = [np.sign(scores[..., :, None] - scores[..., None, :]) for scores in (x, y)]
        concordance = _pair_sums(signs[0] * signs[1], weights)
        untied = [_pair_sums(np.abs(sign), weights) for sign in signs]
        return _ratio(concordance, untied[0] * untied[1], (untied[0] > 0) & (untied[1] > 0))
    if kind == "spearman":
        x, y = weighted_mid_ranks(x, weights), weighted_mid_ranks(y, weights)
    return _pearson(x, y, weights)


def weighted_mid_ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean rank (from 0) of each weighted value, in the shape of `weights`.

    Equal values get the middle of the ranks that they cover: ``weight below + own weight / 2``.
    """
    rows = np.atleast_2d(values)
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    sorted_weights = np.take_along_axis(weights, np.broadcast_to(order, weights.shape), axis=1)
    upto = np.cumsum(sorted_weights, axis=1)
    edge = np.ones((len(rows), 1), dtype=bool)
    differs = np.diff(ordered, axis=1) != 0
    # Cumulative weights never decrease, so running extremes spread the edge of a tie over it.
    starts = np.where(np.hstack([edge, differs]), upto - sorted_weights, 0.0)
    ends = np.where(np.hstack([differs, edge]), upto, np.inf)
    low = np.maximum.accumulate(starts, axis=1)
    high = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(weights.shape)
    np.put_along_axis(ranks, np.broadcast_to(order, weights.shape), (low + high) / 2, axis=1)
    return ranks


def _pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0  # all weights are 0, so there is no spread
    dx, dy = (scores - (weights * scores).sum(axis=1, keepdims=True) / total for scores in (x, y))
    xx, yy, xy = ((weights * product).sum(axis=1) for product in (dx * dx, dy * dy, dx * dy))
    spread = [
        square > _NO_SPREAD * total[:, 0] * np.square(scores).max(axis=-1)
        for square, scores in ((xx, x), (yy, y))
    ]
    return _ratio(xy, xx * yy, spread[0] & spread[1])


def _pair_sums(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the sum over i and j of ``weights[i] table[i, j] weights[j]``, shape (n_rows,)."""
    if table.ndim == 2:
        return np.asarray(((weights @ table) * weights).sum(axis=1))
    return np.asarray(np.einsum("bi,bij,bj->b", weights, table, weights))


def _ratio(top: FloatArray, squared: FloatArray, defined: NDArray[np.bool_]) -> FloatArray:
    """Return ``top / sqrt(squared)`` clipped to -1 to 1; NaN if undefined."""
    nothing = np.full(len(top), np.nan)
    ratio = np.divide(top, np.sqrt(squared), out=nothing, where=defined)
    return np.asarray(np.clip(ratio, -1.0, 1.0))


# Pairs of values from two raters, and their correlation.
#
# A correlation shows whether two raters order the answers alike, not whether they give the same
# scores, so report it together with the bias (`bland_altman`).

TOO_FEW_PAIRS = "fewer than 3 pairs of values, too few for a correlation"
NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}

_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class ValuePairs:
    """Two values for each unit, and the unit's cluster.

    Attributes
    ----------
    x, y : shape (n,)
        Finite.
    codes : shape (n,)
        Cluster of each pair, 0 to n_clusters - 1.
    n_clusters, n_dropped
        Number of clusters with a pair, and of input pairs that lack a value.
    """

    x: FloatArray
    y: FloatArray
    codes: IntArray
    n_clusters: int
    n_dropped: int

    @classmethod
    def of(
        cls, x: Sequence[float], y: Sequence[float], clusters: Sequence[Hashable] | None
    ) -> ValuePairs:
        """Keep the pairs with both values; without `clusters`, each pair is its own cluster.

        Raises
        ------
        ValueError
            If the lengths differ or a value is infinite.
        """
        first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        names = range(len(first)) if clusters is None else clusters
        if not len(first) == len(second) == len(names):
            raise ValueError("paired values and their clusters must have the same length")
        if np.isinf(first).any() or np.isinf(second).any():
            raise ValueError("a paired value is infinite")
        both = ~(np.isnan(first) | np.isnan(second))
        labels = [name for name, keep in zip(names, both, strict=True) if keep]
        places = {name: place for place, name in enumerate(dict.fromkeys(labels))}
        codes = np.array([places[name] for name in labels], dtype=np.int64)
        return cls(first[both], second[both], codes, len(places), int((~both).sum()))

    def about(self) -> dict[str, Any]:
        """Return the fields of an `Estimate` that describe these pairs."""
        return {
            "n_items": len(self.x) + self.n_dropped,
            "n_pairable_items": len(self.x),
            "n_raters": 2,
            "n_values": 2 * len(self.x),
            "n_dropped_items": self.n_dropped,
        }


def correlation(
    x: Sequence[float], y: Sequence[float], kind: Correlation = "pearson"
) -> float | None:
    """Compute the correlation of paired values.

    Returns None for fewer than 3 pairs, or if one side is constant.

    Parameters
    ----------
    x, y : length n
        Two raters' values of the same units; pairs with a missing value are dropped.
    kind : {"pearson", "spearman", "kendall"}
        Kendall is tau-b.

    Raises
    ------
    ValueError
        If the kind is unknown, the lengths differ, or a value is infinite.

    Examples
    --------
    >>> round(correlation([1, 2, 3, 4], [2, 1, 4, 3], "kendall"), 4)
    0.3333
    """
    check_correlation(kind)
    pairs = ValuePairs.of(x, y, None)
    if len(pairs.x) < 3 or np.ptp(pairs.x) == 0 or np.ptp(pairs.y) == 0:
        return None
    return float(weighted_correlations(kind, pairs.x, pairs.y, np.ones((1, len(pairs.x))))[0])


def in_chunks(statistic: Any, weights: FloatArray, cells_per_row: int) -> FloatArray:
    """Apply `statistic` to blocks of rows of `weights` to limit memory use."""
    rows = max(1, _CHUNK_CELLS // max(cells_per_row, 1))
    blocks = [weights[start : start + rows] for start in range(0, len(weights), rows)]
    return np.concatenate([statistic(block) for block in blocks])


# Difference between two raters' scores, and whether it depends on the score.
#
# Even with a correlation near 1, one rater may always give four points more; the mean difference
# and its spread show this in points.

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
    """Differences (first minus second rater) against the means of both raters.

    Attributes
    ----------
    bias
        Mean difference in points; positive if the first rater gives higher scores.
    lower, upper
        Limits of agreement: about 95 % of normally distributed differences lie between them.
    slope
        Change in the difference for each point of the mean; it is not zero if the bias grows with
        the score, or if one rater spreads the scores more widely than the other.
    means, differences : shape (n,)
        The points of the plot in input order, without incomplete pairs.
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
    """Compute two raters' bias, limits of agreement and proportional bias over items.

    Parameters
    ----------
    x, y : length n
        Two raters' values for the same items, on one scale; incomplete pairs are dropped.
    clusters : length n
        Units that the intervals leave out in turn, such as questions; by default, items.
    confidence
        Nominal coverage of the intervals.

    Returns
    -------
    BlandAltman
        The bias needs one pair, the limits need two, and the slope needs three pairs whose means
        differ. An interval needs differences that vary, and at least 10 clusters for the bias and
        20 for the limits and the slope.

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
    pairs = ValuePairs.of(x, y, clusters)
    means, differences = (pairs.x + pairs.y) / 2, pairs.x - pairs.y
    statistics = {
        "bias": lambda weights: _moments(differences, weights)[0],
        "lower limit": lambda weights: _limit(differences, weights, -REACH),
        "upper limit": lambda weights: _limit(differences, weights, REACH),
        "slope": lambda weights: _slope(means, differences, weights),
    }
    estimates = [
        _estimate(name, statistic, pairs, confidence) for name, statistic in statistics.items()
    ]
    return BlandAltman(
        bias=estimates[0],
        lower=estimates[1],
        upper=estimates[2],
        slope=estimates[3],
        means=means,
        differences=differences,
    )


def _estimate(
    name: str, statistic: Callable[[FloatArray], FloatArray], pairs: ValuePairs, confidence: float
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
    """Return the weighted mean and sd (ddof 1) of `values` per row; sd is NaN for one value."""
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
