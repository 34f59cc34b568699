"""Means over questions, and the bootstrap of boards before version 3.

Questions are the clusters; a column may lack some of them, and its mean in a resample is over
the ones it has. The bootstrap is there so that frozen boards can be computed again and compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special

from benchmark.leaderboard.methods.options import BoardOptions
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.ranks.paired_differences import PairDifference
from cqa_site.stats.ranks.rank_ranges import ranks_of
from cqa_site.stats.ranks.ranking import Ranking, separable_table

# As `cqa_site.stats.intervals`: more undefined resamples than this leave no interval.
UNDEFINED_SHARE = 0.05
_DECIMALS = 9
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


def resampled_ranking(found: Ranking, scores: pd.DataFrame, options: BoardOptions) -> Ranking:
    """The ranking with the percentiles, ranges, groups and tests of boards before version 3.

    ``scores``: systems by common questions.
    """
    found = replace(found, interval="question bootstrap, paired over systems, percentile")
    if found.reason is not None:
        return found
    values = scores.loc[[each.system for each in found.standings]].to_numpy(dtype=float)
    draws = resampled_means(values.T, options.n_resamples, options.seed).round(_DECIMALS)
    pairs = _pairs_before(found, values, draws, options.confidence)
    low, high = bounds_of(draws, options.confidence)
    ranks = ranks_of(draws)
    is_best = ranks == 1
    p_best = (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)
    tails = [(1 - options.confidence) / 2, (1 + options.confidence) / 2]
    rank_low = np.quantile(ranks, tails[0], axis=0, method="lower")
    rank_high = np.quantile(ranks, tails[1], axis=0, method="higher")
    groups = _groups_before(separable_table(len(values), pairs))
    standings = tuple(
        replace(
            each,
            low=float(low[at]),
            high=float(high[at]),
            rank_low=int(rank_low[at]),
            rank_high=int(rank_high[at]),
            p_best=float(p_best[at]),
            tie_group=int(groups[at]),
        )
        for at, each in enumerate(found.standings)
    )
    known = [each.detectable for each in pairs if each.detectable is not None]
    return replace(
        found,
        standings=standings,
        pairs=pairs,
        detectable=float(np.median(known)) if known else None,
    )


def _pairs_before(
    found: Ranking, values: FloatArray, draws: FloatArray, confidence: float
) -> tuple[PairDifference, ...]:
    """Student's paired t, percentiles, and the difference found by a single test."""
    first, second = np.triu_indices(len(values), k=1)
    if not len(first):
        return ()
    differences = values[first] - values[second]
    n, mean = differences.shape[1], differences.mean(axis=1)
    sd = differences.std(axis=1, ddof=1)
    rounding = 1e-12 * np.abs(differences).max(axis=1)
    has_spread = sd / n**0.5 > rounding
    t = np.divide(mean, sd / n**0.5, out=np.zeros_like(mean), where=has_spread)
    certain = np.where(np.abs(mean) > rounding, 0.0, 1.0)
    p = np.where(has_spread, 2 * special.stdtr(n - 1, -np.abs(t)), certain)
    adjusted = holm(np.maximum(p, 2.0 ** (1 - n)))
    low, high = bounds_of(draws[:, first] - draws[:, second], confidence)
    reach = special.stdtrit(n - 1, (1 + confidence) / 2) + special.stdtrit(n - 1, 0.8)
    return tuple(
        replace(
            each,
            low=float(low[at]),
            high=float(high[at]),
            p=float(max(p[at], 2.0 ** (1 - n))),
            p_holm=float(adjusted[at]),
            is_separable=bool(adjusted[at] < 1 - confidence),
            detectable=float(reach * sd[at] / n**0.5),
        )
        for at, each in enumerate(found.pairs)
    )


def _groups_before(separable: np.ndarray) -> IntArray:
    """All systems that cannot be told from the group's top, whatever they are among themselves."""
    groups = np.zeros(len(separable), dtype=np.int64)
    while (groups == 0).any():
        top = int(np.flatnonzero(groups == 0)[0])
        joins = (groups == 0) & ~separable[top]
        joins[top] = True
        groups[joins] = groups.max() + 1
    return groups
