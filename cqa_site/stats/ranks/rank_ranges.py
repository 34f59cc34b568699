"""Ranks by one figure, higher is better; their ranges follow from tests (`ranking.places_of`)."""

from __future__ import annotations

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray

_CHUNK_CELLS = 8_000_000


def ranks_of(values: FloatArray) -> IntArray:
    """Rank of each system in each row, 1 best: one more than the systems above it."""
    rows = max(1, _CHUNK_CELLS // values.shape[1] ** 2)
    blocks = [values[start : start + rows] for start in range(0, len(values), rows)]
    return np.concatenate(
        [1 + (block[:, None, :] > block[:, :, None]).sum(axis=2) for block in blocks]
    )
