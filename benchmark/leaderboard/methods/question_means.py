"""Means over the answers to one question; questions are the clusters of a board."""

from __future__ import annotations

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray


def question_means(
    values: FloatArray, question: IntArray, column: IntArray, shape: tuple[int, int]
) -> FloatArray:
    """Mean of the known values in each question and column, NaN where there is none."""
    known = ~np.isnan(values)
    places = question[known] * shape[1] + column[known]
    size = shape[0] * shape[1]
    count = np.bincount(places, minlength=size)
    total = np.bincount(places, weights=values[known], minlength=size)
    means = np.full(size, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means.reshape(shape)
