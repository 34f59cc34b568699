"""Ranks and what resampling does to them: rank ranges, and how often a system was best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray

_CHUNK_CELLS = 8_000_000


@dataclass(frozen=True, eq=False)
class RankRanges:
    """Rank of each system, 1 best, its range over resamples, and how often it was best.

    All have the shape (n_systems,); `p_best` is shared where several are best.
    """

    rank: IntArray
    low: IntArray
    high: IntArray
    p_best: FloatArray


def rank_ranges(values: FloatArray, draws: FloatArray, confidence: float) -> RankRanges:
    """Ranks of the systems by one figure, higher is better.

    Parameters
    ----------
    values : shape (n_systems,)
        The figure itself.
    draws : shape (n_resamples, n_systems)
        The figure in each resample, the same resample for all systems.
    confidence
        The range is the middle `confidence` of the ranks over the resamples.
    """
    ranks = ranks_of(draws)
    is_best = ranks == 1
    low, high = (1 - confidence) / 2, (1 + confidence) / 2
    # Ranks are whole: the range reaches out to the next one that occurred.
    return RankRanges(
        rank=ranks_of(values[None, :])[0],
        low=np.asarray(np.quantile(ranks, low, axis=0, method="lower"), dtype=np.int64),
        high=np.asarray(np.quantile(ranks, high, axis=0, method="higher"), dtype=np.int64),
        p_best=(is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0),
    )


def ranks_of(values: FloatArray) -> IntArray:
    """Rank of each system in each row, 1 best: one more than the systems above it."""
    rows = max(1, _CHUNK_CELLS // values.shape[1] ** 2)
    blocks = [values[start : start + rows] for start in range(0, len(values), rows)]
    return np.concatenate(
        [1 + (block[:, None, :] > block[:, :, None]).sum(axis=2) for block in blocks]
    )
