"""Means over questions and their bootstrap: one set of resamples for all columns.

Questions are the clusters; a column may lack some of them, and its mean in a resample is over
the ones it has.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cqa_site.stats.ratings import FloatArray, IntArray

# As `cqa_site.stats.intervals`: more undefined resamples than this leave no interval.
UNDEFINED_SHARE = 0.05
_CHUNK_CELLS = 8_000_000


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


def resampled_means(values: FloatArray, n_resamples: int, seed: int) -> FloatArray:
    """Mean of each column over the known questions of each resample.

    Parameters
    ----------
    values : shape (n_questions, n_columns)
        NaN where a question has no value.
    n_resamples, seed
        Of the bootstrap.

    Returns
    -------
    float, shape (n_resamples, n_columns)
        NaN where a resample holds none of the column's questions.
    """
    if not values.size:
        return np.full((n_resamples, values.shape[1]), np.nan)
    known = (~np.isnan(values)).astype(float)
    filled = np.where(np.isnan(values), 0.0, values)
    made = []
    for draws in _draws(len(values), n_resamples, seed):
        weights = draws @ known
        means = np.full(weights.shape, np.nan)
        np.divide(draws @ filled, weights, out=means, where=weights > 0)
        made.append(means)
    return np.concatenate(made)


def bounds_of(resampled: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Percentile bounds of each column; NaN where too many resamples are undefined."""
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    undefined = np.isnan(resampled)
    low, high = np.full((2, resampled.shape[1]), np.nan)
    whole = ~undefined.any(axis=0)
    low[whole], high[whole] = np.quantile(resampled[:, whole], tails, axis=0)
    partly = ~whole & (undefined.mean(axis=0) <= UNDEFINED_SHARE)
    if partly.any():
        low[partly], high[partly] = np.nanquantile(resampled[:, partly], tails, axis=0)
    return low, high


def _draws(n: int, n_resamples: int, seed: int) -> Iterator[FloatArray]:
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK_CELLS // n)
    for start in range(0, n_resamples, rows):
        size = min(rows, n_resamples - start)
        yield generator.multinomial(n, np.full(n, 1 / n), size=size).astype(float)
