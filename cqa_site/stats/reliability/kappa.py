"""Fleiss' kappa of a panel, and the weights of Cohen's kappa of two raters (`pairwise`)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from cqa_site.stats.estimate import ONE_VALUE, Estimate
from cqa_site.stats.ratings import FloatArray, IntArray, Ratings
from cqa_site.stats.reliability.alpha import why_undefined
from cqa_site.stats.reliability.coincidence import chance_corrected, distinct_rows
from cqa_site.stats.reliability.item_jackknife import jackknifed_over, least_items
from cqa_site.stats.reliability.percent import agreeing_pair_share

Weights = Literal["linear", "quadratic"]

FLEISS_RECIPE = (
    "(mean share of agreeing pairs - chance) / (1 - chance), chance from the pooled values; "
    "every item has the same number of ratings"
)


def fleiss_kappa(
    ratings: Ratings,
    confidence: float = 0.95,
    *,
    drop_unequal: bool = False,
) -> Estimate:
    """Fleiss' kappa (Fleiss 1971), nominal, for items with equally many ratings.

    Parameters
    ----------
    ratings
        Any raters; which of them rated an item does not matter.
    drop_unequal
        If items differ in their number of ratings there is no kappa, with a reason. With
        True only the items with the most frequent number of ratings (of two or more; the
        larger on a draw) are used: `n_pairable_items` counts them, `n_dropped_items` the others.
    confidence
        Nominal coverage of the item-jackknife interval.
    """
    sizes = ratings.values_per_item
    counts = ratings.counts()
    usual = _usual_size(sizes) if drop_unequal else int(sizes.max(initial=0))
    kept = counts[sizes == usual] if usual >= 2 else counts[:0]
    n_dropped = ratings.n_items - len(kept)
    about: dict[str, Any] = {
        "statistic": "Fleiss' kappa",
        "recipe": FLEISS_RECIPE + (f"; only items with {usual} ratings" if drop_unequal else ""),
        "level": "nominal",
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(kept) if drop_unequal else int((sizes >= 2).sum()),
        "n_raters": ratings.n_raters,
        "n_values": ratings.n_values,
        "n_dropped_items": n_dropped if drop_unequal else 0,
    }
    reason = why_undefined(ratings, len(kept), int(kept.any(axis=0).sum()))
    if reason in (None, ONE_VALUE) and not drop_unequal and n_dropped:
        reason = "items have different numbers of ratings; Fleiss' kappa needs equal numbers"
    if reason is not None:
        return Estimate(value=None, reason=reason, **about)
    rows, multiplicity = distinct_rows(kept)

    def kappas(weights: FloatArray) -> FloatArray:
        n = weights.sum(axis=1)
        chance = ((weights @ rows / (n[:, None] * usual)) ** 2).sum(axis=1)
        agreement = weights @ agreeing_pair_share(rows) / n
        return chance_corrected(1 - agreement, 1 - chance)

    least = least_items(multiplicity @ rows)
    return jackknifed_over(kappas, multiplicity, about, least=least)


def disagreement(scale: FloatArray, weights: Weights | None) -> FloatArray:
    """Disagreement of each two categories under a weighting, shape (k, k)."""
    difference = np.abs(np.subtract.outer(scale, scale))
    if weights is None:
        return (difference > 0).astype(np.float64)
    return np.asarray(difference if weights == "linear" else difference**2, dtype=np.float64)


def _usual_size(sizes: IntArray) -> int:
    frequency = np.bincount(sizes, minlength=3)
    frequency[:2] = 0
    return len(frequency) - 1 - int(np.argmax(frequency[::-1]))
