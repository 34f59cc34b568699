"""Probabilities of ordinal levels: one row an item, one column a level, rows sum to 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def median_label(probabilities: FloatArray, levels: Sequence[int]) -> IntArray:
    """The lowest level at which half of the probability is reached, shape (n,).

    Of all labels it has the smallest expected distance from the true one, in levels.

    Examples
    --------
    >>> median_label(np.array([[0.4, 0.0, 0.2, 0.4]]), (0, 1, 2, 3)).tolist()
    [2]
    """
    # A half lost to rounding is still a half.
    below = np.cumsum(probabilities, axis=1) < 0.5 - 1e-12
    place = np.minimum(below.sum(axis=1), len(levels) - 1)
    labels: IntArray = np.asarray(levels, dtype=np.int64)[place]
    return labels


def uncertainty(probabilities: FloatArray) -> FloatArray:
    """How undecided each row is, 0 (sure) to 1 (one half at either end), shape (n,).

    The mean, over the k - 1 cuts of the scale, of the entropy of "above or below the cut", in
    bits. Unlike the entropy of the levels it counts 0-or-3 as worse than 2-or-3.

    Examples
    --------
    >>> rows = np.array([[0, 0, 0.5, 0.5], [0.5, 0, 0, 0.5], [1, 0, 0, 0]])
    >>> uncertainty(rows).round(3).tolist()
    [0.333, 1.0, 0.0]
    """
    below = np.clip(np.cumsum(probabilities, axis=1)[:, :-1], 0.0, 1.0)
    both = np.stack([below, 1 - below])
    bits = (both * -np.log2(np.where(both > 0, both, 1.0))).sum(axis=0)
    return np.asarray(bits.mean(axis=1), dtype=np.float64)


def softmax(scores: FloatArray) -> FloatArray:
    """Rows of scores as probabilities."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float64)


def sharpen(probabilities: FloatArray, temperature: float) -> FloatArray:
    """Logarithms divided by the temperature: below 1 sharper, above 1 flatter."""
    return softmax(np.log(np.maximum(probabilities, 1e-12)) / temperature)


def shrink(probabilities: FloatArray, n_labels: int) -> FloatArray:
    """As if one more label had been seen, spread evenly over the levels."""
    even = 1 / probabilities.shape[1]
    return np.asarray((n_labels * probabilities + even) / (n_labels + 1), dtype=np.float64)


def log_loss(probabilities: FloatArray, codes: IntArray) -> float:
    """Mean negative logarithm of the probability of the true level, in nats."""
    given = probabilities[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(given, 1e-12)).mean())
