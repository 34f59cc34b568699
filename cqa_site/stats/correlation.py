"""Pairs of two raters' values, and their correlation.

A correlation says whether two raters order the answers alike, not whether they give the same
scores: put the bias beside it (`bland_altman`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cqa_site.stats.ratings import FloatArray, IntArray
from cqa_site.stats.weighted_correlation import (
    Correlation,
    check_correlation,
    weighted_correlations,
)

TOO_FEW_PAIRS = "fewer than 3 pairs of values, too few for a correlation"
NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}

_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Pairs:
    """Two values of each unit, and the cluster it belongs to.

    Attributes
    ----------
    x, y : shape (n,)
        Finite.
    codes : shape (n,)
        Cluster of each pair, 0 to n_clusters - 1.
    n_clusters, n_dropped
        Clusters with a pair; pairs handed in that lack one of the values.
    """

    x: FloatArray
    y: FloatArray
    codes: IntArray
    n_clusters: int
    n_dropped: int

    @classmethod
    def of(
        cls, x: Sequence[float], y: Sequence[float], clusters: Sequence[Hashable] | None
    ) -> Pairs:
        """Keep the pairs with both values; without `clusters` each pair stands alone.

        Raises
        ------
        ValueError
            The lengths differ, or a value is infinite.
        """
        first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        names = range(len(first)) if clusters is None else clusters
        if not len(first) == len(second) == len(names):
            raise ValueError("paired values and their clusters have the same length")
        if np.isinf(first).any() or np.isinf(second).any():
            raise ValueError("a paired value is infinite")
        both = ~(np.isnan(first) | np.isnan(second))
        kept = [name for name, keep in zip(names, both, strict=True) if keep]
        places = {name: place for place, name in enumerate(dict.fromkeys(kept))}
        codes = np.array([places[name] for name in kept], dtype=np.int64)
        return cls(first[both], second[both], codes, len(places), int((~both).sum()))

    def about(self) -> dict[str, Any]:
        """What an `Estimate` says about these pairs."""
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
    """Correlation of paired values; None of fewer than 3 pairs, or where one side is constant.

    Parameters
    ----------
    x, y : length n
        Two raters' values of the same units; pairs with a missing value are dropped.
    kind : {"pearson", "spearman", "kendall"}
        Kendall is tau-b.

    Raises
    ------
    ValueError
        Unknown kind, different lengths, infinite values.

    Examples
    --------
    >>> round(correlation([1, 2, 3, 4], [2, 1, 4, 3], "kendall"), 4)
    0.3333
    """
    check_correlation(kind)
    pairs = Pairs.of(x, y, None)
    if len(pairs.x) < 3 or np.ptp(pairs.x) == 0 or np.ptp(pairs.y) == 0:
        return None
    return float(weighted_correlations(kind, pairs.x, pairs.y, np.ones((1, len(pairs.x))))[0])


def in_chunks(statistic: Any, weights: FloatArray, cells_per_row: int) -> FloatArray:
    """Apply `statistic` to blocks of rows of `weights`, so that no block needs much memory."""
    rows = max(1, _CHUNK_CELLS // max(cells_per_row, 1))
    blocks = [weights[start : start + rows] for start in range(0, len(weights), rows)]
    return np.concatenate([statistic(block) for block in blocks])
