"""Chance-corrected agreement of a panel: Krippendorff's alpha, Gwet's AC, Fleiss' kappa."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import krippendorff
import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.disagreement import agreeing_pair_share
from cqa_site.stats.estimate import (
    NO_OVERLAP,
    NO_VALUES,
    ONE_RATER,
    ONE_VALUE,
    Estimate,
    check_confidence,
)
from cqa_site.stats.intervals import jackknifed, jackknifed_over, least_items
from cqa_site.stats.ratings import (
    Level,
    Ratings,
    alpha_from_counts,
    alphas_left_out,
    chance_corrected,
    check_level,
    distances,
    distinct_rows,
    pairable_counts,
)

ALPHA_RECIPE = (
    "1 - observed / expected disagreement over all pairs of ratings of one item; "
    "missing ratings are skipped, items with one rating do not count"
)

# The krippendorff package builds three arrays of items × values × values, 8 bytes a cell.
_PACKAGE_CELLS = 30_000_000


def krippendorff_alpha(ratings: Ratings, level: Level, confidence: float = 0.95) -> Estimate:
    """Compute Krippendorff's alpha for all raters together.

    Parameters
    ----------
    ratings
        Ratings by any number of raters; gaps are allowed.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement. Relevance labels 0-3 are ordinal.
    confidence
        Nominal coverage of the interval.

    Returns
    -------
    Estimate
        Undefined if there are no ratings, if there is one rater, if no item was rated twice, if
        only one value was used, or for negative values at the ratio level. Has no interval with
        fewer than 20 pairable items (50 if one value makes up over four fifths of the ratings),
        with perfect agreement, or if a single item accounts for the variety of values.

    Notes
    -----
    Alpha follows Hayes and Krippendorff (2007), and the interval follows Hughes (2022): alpha is
    recomputed without one *item* at a time, with distances based on the remaining margins, and
    the interval is computed from the pseudo-values, here with a t corrected for skewness
    (`mean_interval`). The upper bound is truncated at 1, the largest possible alpha.

    `benchmarks.verdicts` simulates the coverage. If a value rarer than one in twenty causes most
    of the disagreement, intervals from 20 items have a coverage below .93, because the value may
    not occur among these items.
    """
    check_level(level)
    check_confidence(confidence)
    categories = ratings.categories()
    counts, used = pairable_counts(ratings.counts(categories), categories)
    about: dict[str, Any] = {
        "statistic": "Krippendorff's alpha",
        "recipe": ALPHA_RECIPE,
        "level": level,
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(counts),
        **ratings.counts_on(ratings.values_per_item >= 2),
    }
    reason = why_undefined(ratings, len(counts), len(used))
    if reason is None and level == "ratio" and used[0] < 0:
        reason = "the ratio level needs values of zero or more"
    if reason is not None:
        return Estimate(value=None, reason=reason, **about)
    rows, multiplicity = distinct_rows(counts)
    value = _point(level, counts, rows, multiplicity, used)
    left_out = alphas_left_out(level, rows, multiplicity, used)
    least = least_items(multiplicity @ rows)
    return jackknifed(value, left_out, multiplicity, about, least=least)


def why_undefined(ratings: Ratings, n_pairable_items: int, n_categories: int) -> str | None:
    """Return the reason why chance-corrected statistics are undefined, or None."""
    if ratings.n_values == 0:
        return NO_VALUES
    if ratings.n_raters < 2:
        return ONE_RATER
    if n_pairable_items == 0:
        return NO_OVERLAP
    return ONE_VALUE if n_categories < 2 else None


def _point(
    level: Level, counts: IntArray, rows: IntArray, multiplicity: IntArray, categories: FloatArray
) -> float:
    if len(counts) * len(categories) ** 2 > _PACKAGE_CELLS:
        distance = distances(level, categories, np.asarray(multiplicity @ rows, dtype=float))
        return alpha_from_counts(rows, multiplicity, distance)
    return float(
        krippendorff.alpha(
            value_counts=counts, value_domain=categories, level_of_measurement=level
        )
    )


# Gwet's AC1 and AC2: chance-corrected agreement for data with one very frequent value.
#
# Alpha and kappa derive chance agreement from the frequencies of values, so raters who agree on
# 92 % of the items may get 0 if nearly all labels are the same (prevalence). AC1 and AC2 do not;
# compare both with the percent agreement.
#
# Source: Gwet (2008), Computing inter-rater reliability and its variance in the presence of high
# agreement, British Journal of Mathematical and Statistical Psychology 61, 29-48; weights for
# ordinal and interval values: Gwet (2014), Handbook of Inter-Rater Reliability, chapter 4.

GWET_RECIPE = (
    "(weighted share of agreeing pairs - chance) / (1 - chance), chance from how evenly the "
    "values of the scale are used; items with one rating count for chance only"
)


def gwet_ac(
    ratings: Ratings,
    level: Level = "nominal",
    confidence: float = 0.95,
    *,
    categories: Sequence[float] | FloatArray | None = None,
) -> Estimate:
    """Compute AC1 for nominal ratings, and AC2 for ordinal and interval ratings.

    Parameters
    ----------
    ratings
        Ratings by any number of raters; gaps are allowed.
    level : {"nominal", "ordinal", "interval"}
        Sets the weights of unequal pairs: none, by ranks, or by squared differences.
    confidence
        Nominal coverage of the item-jackknife interval.
    categories
        The whole scale in ascending order, including unused values. Default: the values used.

    Raises
    ------
    ValueError
        For the ratio level.
    UnknownCategoryError
        If a value lies outside the scale.
    """
    scale = ratings.categories() if categories is None else np.asarray(categories, dtype=float)
    weights = pair_weights(scale, level)
    rows, multiplicity = distinct_rows(ratings.counts(scale))
    is_pairable = rows.sum(axis=1) >= 2
    about: dict[str, Any] = {
        "statistic": "Gwet's AC1" if level == "nominal" else "Gwet's AC2",
        "recipe": GWET_RECIPE,
        "level": level,
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": int(multiplicity[is_pairable].sum()),
        "n_raters": ratings.n_raters,
        "n_values": ratings.n_values,
    }
    reason = why_undefined(ratings, about["n_pairable_items"], len(scale))
    if reason is not None:
        return Estimate(value=None, reason=reason, **about)
    n_ratings = rows.sum(axis=1)
    pairs = np.maximum(n_ratings * (n_ratings - 1), 1)
    agreeing = (rows * (rows @ weights - 1)).sum(axis=1) / pairs
    spread = weights.sum() / (len(scale) * (len(scale) - 1))

    def coefficients(items: FloatArray) -> FloatArray:
        observed = (items @ agreeing) / np.maximum(items @ is_pairable, 1)
        used = items @ (rows / n_ratings[:, None]) / items.sum(axis=1, keepdims=True)
        expected = spread * (used * (1 - used)).sum(axis=1)
        return chance_corrected(1 - observed, 1 - expected)

    return jackknifed_over(coefficients, multiplicity, about)


def pair_weights(scale: FloatArray, level: Level) -> FloatArray:
    """Return the agreement of each pair of values, 0 to 1, shape (n_categories, n_categories).

    >>> pair_weights(np.arange(3.0), "ordinal").round(2).tolist()
    [[1.0, 0.67, 0.0], [0.67, 1.0, 0.67], [0.0, 0.67, 1.0]]
    """
    if level == "nominal":
        return np.eye(len(scale))
    if level == "ordinal":
        apart = np.abs(np.subtract.outer(*[np.arange(len(scale), dtype=np.float64)] * 2))
        distance = apart * (apart + 1) / 2
    elif level == "interval":
        distance = np.subtract.outer(scale, scale) ** 2
    else:
        raise ValueError("AC2 has weights for nominal, ordinal and interval values")
    return np.asarray(1 - distance / max(float(distance.max(initial=0.0)), 1e-12))


Weights = Literal["linear", "quadratic"]

FLEISS_RECIPE = (
    "(mean share of agreeing pairs - chance) / (1 - chance), chance from the pooled values; "
    "every item has the same number of ratings"
)


def fleiss_kappa(
    ratings: Ratings, confidence: float = 0.95, *, drop_unequal: bool = False
) -> Estimate:
    """Compute Fleiss' kappa (Fleiss 1971) for items with equal numbers of nominal ratings.

    Parameters
    ----------
    ratings
        Ratings by any raters; it does not matter who rated which item.
    drop_unequal
        If false, kappa is undefined when items differ in their number of ratings. If true, only
        the items with the most frequent number of ratings (at least two; the larger number on a
        tie) are used: `n_pairable_items` counts these items, and `n_dropped_items` the others.
    confidence
        Nominal coverage of the item-jackknife interval.
    """
    sizes = ratings.values_per_item
    counts = ratings.counts()
    usual = _usual_size(sizes) if drop_unequal else int(sizes.max(initial=0))
    count = counts[sizes == usual] if usual >= 2 else counts[:0]
    n_dropped = ratings.n_items - len(count)
    about: dict[str, Any] = {
        "statistic": "Fleiss' kappa",
        "recipe": FLEISS_RECIPE + (f"; only items with {usual} ratings" if drop_unequal else ""),
        "level": "nominal",
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(count) if drop_unequal else int((sizes >= 2).sum()),
        **ratings.counts_on(sizes == usual if drop_unequal else sizes >= 2),
        "n_dropped_items": n_dropped if drop_unequal else 0,
    }
    reason = why_undefined(ratings, len(count), int(count.any(axis=0).sum()))
    if reason in (None, ONE_VALUE) and not drop_unequal and n_dropped:
        reason = "items have different numbers of ratings; Fleiss' kappa needs equal numbers"
    if reason is not None:
        return Estimate(value=None, reason=reason, **about)
    rows, multiplicity = distinct_rows(count)

    def kappas(weights: FloatArray) -> FloatArray:
        n = weights.sum(axis=1)
        chance = ((weights @ rows / (n[:, None] * usual)) ** 2).sum(axis=1)
        agreement = weights @ agreeing_pair_share(rows) / n
        return chance_corrected(1 - agreement, 1 - chance)

    least = least_items(multiplicity @ rows)
    return jackknifed_over(kappas, multiplicity, about, least=least)


def disagreement(scale: FloatArray, weights: Weights | None) -> FloatArray:
    """Return the weighted disagreement of each pair of categories, shape (k, k)."""
    difference = np.abs(np.subtract.outer(scale, scale))
    if weights is None:
        return (difference > 0).astype(np.float64)
    return np.asarray(difference if weights == "linear" else difference**2, dtype=np.float64)


def _usual_size(sizes: IntArray) -> int:
    frequency = np.bincount(sizes, minlength=3)
    frequency[:2] = 0
    return len(frequency) - 1 - int(np.argmax(frequency[::-1]))
