"""Correlation of two raters' values, and of two score columns within and across systems.

A correlation says whether two raters order the answers alike, not whether they give the same
scores: put the bias beside it (`bland_altman`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cqa_site.stats.clustered import TOO_FEW_CLUSTERS
from cqa_site.stats.estimate import NO_VALUES, Estimate, check_confidence
from cqa_site.stats.intervals import UndefinedIntervalError, bootstrap_interval
from cqa_site.stats.ratings import FloatArray, IntArray
from cqa_site.stats.weighted_correlation import (
    Correlation,
    check_correlation,
    weighted_correlations,
)

TOO_FEW_PAIRS = "fewer than 3 pairs of values, too few for a correlation"
NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}

# Kendall's tau compares every two pairs in every resample; 3,000 pairs take some seconds.
MOST_KENDALL_PAIRS = 3_000
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
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    kind: Correlation = "pearson",
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Correlation of paired values, with an interval that resamples whole clusters.

    Parameters
    ----------
    x, y : length n
        Two raters' values of the same units; pairs with a missing value are dropped.
    clusters : length n
        What is resampled, such as the question of each answer; by default every pair alone.
    kind : {"pearson", "spearman", "kendall"}
        Kendall is tau-b. Ranks and ties are formed anew in every resample.
    confidence, n_resamples, seed
        Of the percentile bootstrap over clusters.

    Returns
    -------
    Estimate
        Without value: fewer than 3 pairs, or one side constant. Without interval: fewer than
        3 clusters, over 5 % undefined resamples, a perfect correlation, or more than
        `MOST_KENDALL_PAIRS` pairs for Kendall.

    Raises
    ------
    ValueError
        Unknown kind, different lengths, infinite values.

    Examples
    --------
    >>> found = correlation([1, 2, 3, 4], [2, 1, 4, 3], kind="kendall", n_resamples=100)
    >>> round(found.value, 4), found.n_pairable_items
    (0.3333, 4)
    """
    check_correlation(kind)
    check_confidence(confidence)
    pairs = Pairs.of(x, y, clusters)
    about: dict[str, Any] = {
        "statistic": NAMES[kind],
        "recipe": "over all pairs of values; the interval resamples clusters of pairs",
        "confidence": confidence,
        **pairs.about(),
    }
    reason = _why_undefined(pairs.x, pairs.y)
    if reason is not None:
        return Estimate(value=None, reason=reason, **about)
    value = _point(kind, pairs.x, pairs.y)
    reason = _why_no_interval(kind, pairs)
    if reason is not None:
        return Estimate(value=value, reason=reason, **about)

    def resampled(weights: FloatArray) -> FloatArray:
        return in_chunks(
            lambda rows: weighted_correlations(kind, pairs.x, pairs.y, rows[:, pairs.codes]),
            weights,
            len(pairs.x),
        )

    once = np.ones(pairs.n_clusters, dtype=np.int64)
    try:
        low, high = bootstrap_interval(
            resampled, once, confidence=confidence, n_resamples=n_resamples, seed=seed
        )
    except UndefinedIntervalError as error:
        return Estimate(value=value, reason=str(error), **about)
    interval = interval_name(pairs.n_clusters, n_resamples, seed)
    return Estimate(value=value, low=low, high=high, interval=interval, **about)


def interval_name(n_clusters: int, n_resamples: int, seed: int) -> str:
    """How an interval over clusters was made, for `Estimate.interval`."""
    return f"bootstrap of {n_clusters} clusters, percentile, {n_resamples} resamples, seed {seed}"


def in_chunks(statistic: Any, weights: FloatArray, cells_per_row: int) -> FloatArray:
    """Apply `statistic` to blocks of rows of `weights`, so that no block needs much memory."""
    rows = max(1, _CHUNK_CELLS // max(cells_per_row, 1))
    blocks = [weights[start : start + rows] for start in range(0, len(weights), rows)]
    return np.concatenate([statistic(block) for block in blocks])


def _why_undefined(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) == 0:
        return NO_VALUES
    if len(x) < 3:
        return TOO_FEW_PAIRS
    for name, values in (("first", x), ("second", y)):
        if np.ptp(values) == 0:
            return f"the {name} of the two gave one value only, so nothing can vary with it"
    return None


def _why_no_interval(kind: Correlation, pairs: Pairs) -> str | None:
    if pairs.n_clusters < 3:
        return TOO_FEW_CLUSTERS
    if kind == "kendall" and len(pairs.x) > MOST_KENDALL_PAIRS:
        return f"more than {MOST_KENDALL_PAIRS} pairs, too many to resample Kendall's tau"
    return None


def _point(kind: Correlation, x: FloatArray, y: FloatArray) -> float:
    if kind == "kendall" and len(x) > MOST_KENDALL_PAIRS:
        from scipy.stats import kendalltau  # n log n steps; costly to load, so only here

        return float(kendalltau(x, y).statistic)
    return float(weighted_correlations(kind, x, y, np.ones((1, len(x))))[0])
