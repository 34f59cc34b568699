"""Means of values that come in clusters, such as answers to the same question."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cqa_site.stats.estimate import NO_VALUES, Estimate
from cqa_site.stats.intervals import LEAST_CLUSTERS, estimated, jackknife_t_interval

if TYPE_CHECKING:
    from cqa_site.stats.ratings import FloatArray


def clustered_mean(
    clusters: Sequence[Hashable],
    sums: Sequence[float],
    counts: Sequence[int],
    *,
    confidence: float = 0.95,
    limits: tuple[float, float] = (-math.inf, math.inf),
    unit: str = "questions",
) -> Estimate:
    """Mean over all values, with an interval over whole clusters.

    Values of one cluster resemble each other, so an interval over single values would be too
    narrow. The mean gives every value the same weight, whatever its cluster's size.

    Parameters
    ----------
    clusters : length n
        The cluster of each row; a cluster may have several rows.
    sums, counts : length n
        Sum and number of the values of each row; a row without values has the count 0.
    confidence
        Nominal coverage.
    limits
        The least and the largest value that a mean can take, such as 0 and 1 of a share; the
        interval is cut there.
    unit
        What the clusters are called.

    Returns
    -------
    Estimate
        ``n_items`` clusters, ``n_pairable_items`` of them with a value, ``n_values`` values.
        Without a value it is undefined; with values in fewer than 10 clusters it has no interval.

    Notes
    -----
    The clusters are left out one at a time (`jackknife_t_interval`). Simulated in
    `benchmarks.verdicts`.

    Examples
    --------
    >>> found = clustered_mean("aab", [1.0, 2.0, 6.0], [1, 1, 2])
    >>> found.value, found.n_items, found.n_values
    (2.25, 2, 4)
    """
    totals, sizes = _per_cluster(clusters, sums, counts)
    known = sizes > 0
    n_values = int(sizes.sum())
    about: dict[str, Any] = {
        "statistic": "mean",
        "recipe": f"sum of all values divided by their number; the interval is over {unit}",
        "confidence": confidence,
        "n_items": len(sizes),
        "n_pairable_items": int(known.sum()),
        "n_raters": 1,
        "n_values": n_values,
    }
    if n_values == 0:
        return Estimate(value=None, reason=NO_VALUES, **about)
    value = float(totals.sum() / n_values)
    n_known = int(known.sum())
    # Without its only cluster a mean has no values; so few have no interval anyway.
    others = np.maximum(n_values - sizes[known], 1)
    left_out, once = (totals.sum() - totals[known]) / others, np.ones(n_known, dtype=np.int64)
    interval = partial(
        jackknife_t_interval, value, left_out, once, confidence, least=LEAST_CLUSTERS, unit=unit
    )
    how = f"t over {unit}, corrected for skewness"
    return estimated(value, interval, about, how=how, limits=limits)


def _per_cluster(
    clusters: Sequence[Hashable], sums: Sequence[float], counts: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Sum and number of values of each cluster, shape (n_clusters,), in order of appearance."""
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    rows = np.array([places[cluster] for cluster in clusters], dtype=np.int64)
    totals = np.bincount(rows, weights=np.asarray(sums, dtype=float), minlength=len(places))
    sizes = np.bincount(rows, weights=np.asarray(counts, dtype=float), minlength=len(places))
    # With weights they are floats already; the types of numpy do not know.
    return totals.astype(np.float64, copy=False), sizes.astype(np.float64, copy=False)
