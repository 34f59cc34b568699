"""Correlations of weighted pairs, many weightings at once: what resampling needs.

Notation: x and y hold n paired values and w their weights. A resample of units is a row of
whole-number weights, so one call answers a whole block of resamples. Weighting a pair k times
gives exactly what repeating it k times would give, ranks and ties included.

Sources: Kendall, Rank Correlation Methods (tau-b); Spearman's rho is Pearson's r of mid-ranks.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cqa_site.stats.ratings import FloatArray

Correlation = Literal["pearson", "spearman", "kendall"]
CORRELATIONS: tuple[str, ...] = get_args(Correlation)

# Below this share of the largest square a variance is rounding error.
_NO_SPREAD = 1e-22


def check_correlation(kind: str) -> None:
    """Raise ValueError for a correlation that does not exist."""
    if kind not in CORRELATIONS:
        raise ValueError(f"a correlation is one of {', '.join(CORRELATIONS)}, not {kind!r}")


def weighted_correlations(
    kind: Correlation, x: FloatArray, y: FloatArray, weights: FloatArray
) -> FloatArray:
    """Correlation under each row of weights.

    Parameters
    ----------
    kind : {"pearson", "spearman", "kendall"}
        Kendall is tau-b and takes n² steps for each row.
    x, y : shape (n,) or (n_rows, n)
        The same pairs for every row, or pairs of its own for each.
    weights : shape (n_rows, n)
        Zero or more.

    Returns
    -------
    shape (n_rows,), -1 to 1; NaN where x or y does not vary among the pairs that weigh.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    >>> [round(float(weighted_correlations(kind, x, y, np.ones((1, 3)))[0]), 4)
    ...  for kind in ("pearson", "spearman", "kendall")]
    [0.5, 0.5, 0.3333]
    """
    check_correlation(kind)
    if kind == "kendall":
        return _taus(x, y, weights)
    if kind == "spearman":
        x, y = weighted_mid_ranks(x, weights), weighted_mid_ranks(y, weights)
    return _pearson(x, y, weights)


def weighted_mid_ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mean rank (from 0) of each value among all the weighted ones, shape of `weights`.

    Equal values share the middle of the ranks they cover: ``weight below + own weight / 2``.
    """
    rows = np.atleast_2d(values)
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    sorted_weights = np.take_along_axis(weights, np.broadcast_to(order, weights.shape), axis=1)
    upto = np.cumsum(sorted_weights, axis=1)
    edge = np.ones((len(rows), 1), dtype=bool)
    differs = np.diff(ordered, axis=1) != 0
    # Cumulated weights never fall, so running extremes carry the edge of a tie over all of it.
    starts = np.where(np.hstack([edge, differs]), upto - sorted_weights, 0.0)
    ends = np.where(np.hstack([differs, edge]), upto, np.inf)
    low = np.maximum.accumulate(starts, axis=1)
    high = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(weights.shape)
    np.put_along_axis(ranks, np.broadcast_to(order, weights.shape), (low + high) / 2, axis=1)
    return ranks


def _pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0  # nothing weighs: no spread either
    dx, dy = (each - (weights * each).sum(axis=1, keepdims=True) / total for each in (x, y))
    xx, yy, xy = ((weights * product).sum(axis=1) for product in (dx * dx, dy * dy, dx * dy))
    spread = [
        square > _NO_SPREAD * total[:, 0] * np.square(each).max(axis=-1)
        for square, each in ((xx, x), (yy, y))
    ]
    return _ratio(xy, xx * yy, spread[0] & spread[1])


def _taus(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    signs = [np.sign(each[..., :, None] - each[..., None, :]) for each in (x, y)]
    concordance = _pair_sums(signs[0] * signs[1], weights)
    untied = [_pair_sums(np.abs(each), weights) for each in signs]
    return _ratio(concordance, untied[0] * untied[1], (untied[0] > 0) & (untied[1] > 0))


def _pair_sums(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Sum over i and j of ``weights[i] table[i, j] weights[j]``, shape (n_rows,)."""
    if table.ndim == 2:
        return np.asarray(((weights @ table) * weights).sum(axis=1))
    return np.asarray(np.einsum("bi,bij,bj->b", weights, table, weights))


def _ratio(top: FloatArray, squared: FloatArray, defined: NDArray[np.bool_]) -> FloatArray:
    """``top / sqrt(squared)`` where defined, else NaN; rounding never leaves -1 to 1."""
    nothing = np.full(len(top), np.nan)
    found = np.divide(top, np.sqrt(squared), out=nothing, where=defined)
    return np.asarray(np.clip(found, -1.0, 1.0))
