"""Fleiss' kappa of a panel and Cohen's kappa of two raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_VALUE, Estimate
from cqa_site.stats.intervals import UndefinedIntervalError, bootstrap_interval
from cqa_site.stats.ratings import FloatArray, IntArray, Ratings, RatingsError
from cqa_site.stats.reliability.alpha import why_undefined
from cqa_site.stats.reliability.coincidence import chance_corrected, distinct_rows
from cqa_site.stats.reliability.confusion import confusion
from cqa_site.stats.reliability.percent import agreeing_pair_share

Weights = Literal["linear", "quadratic"]

FLEISS_RECIPE = (
    "(mean share of agreeing pairs - chance) / (1 - chance), chance from the pooled values; "
    "every item has the same number of ratings"
)
COHEN_RECIPE = (
    "1 - observed / expected disagreement over the items both raters rated, chance from each "
    "rater's own values there"
)


def fleiss_kappa(
    ratings: Ratings,
    confidence: float = 0.95,
    *,
    drop_unequal: bool = False,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Fleiss' kappa (Fleiss 1971), nominal, for items with equally many ratings.

    Parameters
    ----------
    ratings
        Any raters; which of them rated an item does not matter.
    drop_unequal
        If items differ in their number of ratings there is no kappa, with a reason. With
        True only the items with the most frequent number of ratings (of two or more; the
        larger on a draw) are used, and `n_dropped_items` says how many were not.
    confidence, n_resamples, seed
        Of the percentile bootstrap over items.
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
        "n_pairable_items": int((sizes >= 2).sum()),
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
        chance = ((weights @ rows / (len(kept) * usual)) ** 2).sum(axis=1)
        agreement = weights @ agreeing_pair_share(rows) / len(kept)
        return chance_corrected(1 - agreement, 1 - chance)

    return _with_bootstrap(kappas, multiplicity, about, n_resamples, seed)


def cohen_kappa(
    a: Ratings | pd.Series,
    b: Ratings | pd.Series,
    weights: Weights | None = None,
    *,
    categories: Sequence[float] | FloatArray | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Cohen's kappa (Cohen 1960, 1968) of two raters over the items both rated.

    Parameters
    ----------
    a, b
        One value for each item: a Series indexed by item, or Ratings with one rating an item
        (for instance a consensus against a judge).
    weights
        None counts every difference alike; "linear" and "quadratic" weigh it by the (squared)
        difference of the *values*, so a category nobody used cannot move the others closer.
    categories
        The scale; values outside it raise UnknownCategoryError. By default the values used.
    confidence, n_resamples, seed
        Of the percentile bootstrap over items.

    Raises
    ------
    RatingsError
        If one side has several ratings of one item.
    """
    left, right = _single(a, "a"), _single(b, "b")
    table = confusion(left, right, categories)
    scale = table.index.to_numpy(dtype=float)
    cells = table.to_numpy()
    n = int(cells.sum())
    names = left.raters.union(right.raters, sort=False)
    about: dict[str, Any] = {
        "statistic": "Cohen's kappa" if weights is None else f"Cohen's kappa, {weights} weights",
        "recipe": COHEN_RECIPE,
        "level": {None: "nominal", "linear": "interval", "quadratic": "interval"}[weights],
        "confidence": confidence,
        "n_items": len(left.items.union(right.items, sort=False)),
        "n_pairable_items": n,
        "n_raters": max(len(names), 2),
        "n_values": left.n_values + right.n_values,
    }
    distance = disagreement(scale, weights)
    reason = _why_no_kappa(cells, left.n_values + right.n_values)
    if reason is not None:
        return Estimate(value=None, reason=reason, **about)
    first, second = np.nonzero(cells)

    def kappas(resamples: FloatArray) -> FloatArray:
        rows = resamples @ np.eye(len(scale))[first]
        columns = resamples @ np.eye(len(scale))[second]
        expected = ((rows @ distance) * columns).sum(axis=1) / n
        return chance_corrected(resamples @ distance[first, second], expected)

    return _with_bootstrap(kappas, cells[first, second], about, n_resamples, seed)


def disagreement(scale: FloatArray, weights: Weights | None) -> FloatArray:
    """Disagreement of each two categories under a weighting, shape (k, k)."""
    difference = np.abs(np.subtract.outer(scale, scale))
    if weights is None:
        return (difference > 0).astype(np.float64)
    return np.asarray(difference if weights == "linear" else difference**2, dtype=np.float64)


def _with_bootstrap(
    kappas: Any, multiplicity: IntArray, about: dict[str, Any], n_resamples: int, seed: int
) -> Estimate:
    value = float(kappas(multiplicity[None, :].astype(float))[0])
    try:
        low, high = bootstrap_interval(
            kappas,
            multiplicity,
            confidence=about["confidence"],
            n_resamples=n_resamples,
            seed=seed,
        )
    except UndefinedIntervalError as error:
        return Estimate(value=value, reason=str(error), **about)
    interval = f"item bootstrap, percentile, {n_resamples} resamples, seed {seed}"
    return Estimate(value=value, low=low, high=high, interval=interval, **about)


def _usual_size(sizes: IntArray) -> int:
    frequency = np.bincount(sizes, minlength=3)
    frequency[:2] = 0
    return len(frequency) - 1 - int(np.argmax(frequency[::-1]))


def _why_no_kappa(cells: IntArray, n_values: int) -> str | None:
    if n_values == 0:
        return NO_VALUES
    if cells.sum() == 0:
        return NO_OVERLAP
    return ONE_VALUE if ((cells.sum(axis=0) + cells.sum(axis=1)) > 0).sum() < 2 else None


def _single(ratings: Ratings | pd.Series, rater: str) -> Ratings:
    single = ratings if isinstance(ratings, Ratings) else Ratings.from_series(ratings, rater)
    if (single.values_per_item > 1).any():
        raise RatingsError("Cohen's kappa compares two raters: one rating of each item a side")
    return single
