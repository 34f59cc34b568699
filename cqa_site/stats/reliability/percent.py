"""Percent agreement: how often two ratings of one item are equal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_RATER, Estimate
from cqa_site.stats.intervals import estimated, mean_interval
from cqa_site.stats.ratings import FloatArray, IntArray, Ratings
from cqa_site.stats.reliability.coincidence import distinct_rows, pairable_counts

RECIPE = (
    "share of equal pairs among all pairs of ratings of one item, then the mean over items "
    "with two or more ratings; not corrected for chance"
)
INTERVAL = "t over items, corrected for skewness"


def percent_agreement(ratings: Ratings, confidence: float = 0.95) -> Estimate:
    """Mean over items of the share of agreeing pairs, in 0..1.

    Each item counts once however many ratings it has. The interval is that of a mean over
    items.
    Undefined without ratings, with one rater, or when no item was rated twice; defined,
    unlike the chance-corrected statistics, when only one value was used.
    """
    counts, _ = pairable_counts(ratings.counts(), ratings.categories())
    about: dict[str, Any] = {
        "statistic": "percent agreement",
        "recipe": RECIPE,
        "level": "nominal",
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(counts),
        "n_raters": ratings.n_raters,
        "n_values": ratings.n_values,
    }
    if len(counts) == 0:
        return Estimate(value=None, reason=_why_no_pairs(ratings), **about)
    rows, multiplicity = distinct_rows(counts)
    shares = agreeing_pair_share(rows)
    value = float(shares @ multiplicity) / len(counts)
    interval = partial(mean_interval, shares, multiplicity, confidence)
    return estimated(value, interval, about, how=INTERVAL, limits=(0.0, 1.0))


def agreeing_pair_share(counts: IntArray) -> FloatArray:
    """Share of equal pairs among the pairs of ratings of each item, shape (n_items,).

    Every row of `counts` sums to at least 2.
    """
    n = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1)).sum(axis=1) / (n * (n - 1)), dtype=np.float64)


def _why_no_pairs(ratings: Ratings) -> str:
    if ratings.n_values == 0:
        return NO_VALUES
    return ONE_RATER if ratings.n_raters < 2 else NO_OVERLAP
