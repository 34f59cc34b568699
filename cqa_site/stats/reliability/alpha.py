"""Krippendorff's alpha with an item-jackknife interval."""

from __future__ import annotations

from typing import Any

import krippendorff
import numpy as np

from cqa_site.stats.estimate import (
    NO_OVERLAP,
    NO_VALUES,
    ONE_RATER,
    ONE_VALUE,
    Estimate,
    HasCounts,
    check_confidence,
)
from cqa_site.stats.ratings import FloatArray, IntArray, Ratings
from cqa_site.stats.reliability.coincidence import (
    Level,
    alpha_from_counts,
    alphas_left_out,
    check_level,
    distances,
    distinct_rows,
    pairable_counts,
)
from cqa_site.stats.reliability.item_jackknife import jackknifed, least_items

RECIPE = (
    "1 - observed / expected disagreement over all pairs of ratings of one item; "
    "missing ratings are skipped, items with one rating do not count"
)

# The krippendorff package builds an items × values × values array: 8 bytes a cell, three times.
_PACKAGE_CELLS = 30_000_000


def krippendorff_alpha(ratings: Ratings, level: Level, confidence: float = 0.95) -> Estimate:
    """Krippendorff's alpha of all raters together.

    Parameters
    ----------
    ratings
        Any number of raters and gaps.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement. Relevance labels 0-3 are ordinal.
    confidence
        Nominal coverage of the interval.

    Returns
    -------
    Estimate
        Without value: no ratings, one rater, no item rated twice, one value only, or
        negative values at the ratio level. Without interval: fewer than 20 pairable items (50
        where one value holds over four fifths of the ratings), perfect agreement, or a single
        item on which the variety of values hangs.

    Notes
    -----
    Hayes and Krippendorff (2007); the interval after Hughes (2022): leave out one *item*,
    recompute alpha with distances that follow the remaining margins, interval over the
    pseudo-values, here with a t that is corrected for skewness (`mean_interval`). The
    upper bound is cut at 1, the largest value alpha can take.

    Its coverage is simulated in `benchmarks.verdicts`. Where a value that is rarer than one in
    twenty carries most of the disagreement, 20 items cover less than .93: it may not occur
    among them at all, and nothing in them tells.
    """
    check_level(level)
    check_confidence(confidence)
    categories = ratings.categories()
    counts, used = pairable_counts(ratings.counts(categories), categories)
    about: dict[str, Any] = {
        "statistic": "Krippendorff's alpha",
        "recipe": RECIPE,
        "level": level,
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(counts),
        "n_raters": ratings.n_raters,
        "n_values": ratings.n_values,
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


def why_undefined(ratings: HasCounts, n_pairable_items: int, n_categories: int) -> str | None:
    """The reason shared by the chance-corrected statistics, or None if they are defined."""
    if ratings.n_values == 0:
        return NO_VALUES
    if ratings.n_raters < 2:
        return ONE_RATER
    if n_pairable_items == 0:
        return NO_OVERLAP
    return ONE_VALUE if n_categories < 2 else None


def _point(
    level: Level,
    counts: IntArray,
    rows: IntArray,
    multiplicity: IntArray,
    categories: FloatArray,
) -> float:
    if len(counts) * len(categories) ** 2 > _PACKAGE_CELLS:
        distance = distances(level, categories, np.asarray(multiplicity @ rows, dtype=float))
        return alpha_from_counts(rows, multiplicity, distance)
    return float(
        krippendorff.alpha(
            value_counts=counts, value_domain=categories, level_of_measurement=level
        )
    )
