"""Gwet's AC1 and AC2: agreement corrected for chance where one value is much more frequent.

Alpha and kappa take the frequencies of values for what chance would do, so that raters who agree
on 92 % of the items may come out at 0 where nearly all labels are the same (prevalence). AC1 and
AC2 do not; read both beside the percent agreement.

Source: Gwet (2008), Computing inter-rater reliability and its variance in the presence of high
agreement, British Journal of Mathematical and Statistical Psychology 61, 29-48; weights for
ordinal and interval values: Gwet (2014), Handbook of Inter-Rater Reliability, chapter 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cqa_site.stats.estimate import Estimate
from cqa_site.stats.ratings import FloatArray, Ratings
from cqa_site.stats.reliability.alpha import why_undefined
from cqa_site.stats.reliability.coincidence import Level, chance_corrected, distinct_rows
from cqa_site.stats.reliability.item_jackknife import jackknifed_over

RECIPE = (
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
    """AC1 of nominal ratings, AC2 of ordinal and interval ones.

    Parameters
    ----------
    ratings
        Any number of raters and gaps.
    level : {"nominal", "ordinal", "interval"}
        Sets the weights of unequal pairs: none, by ranks, or by squared differences.
    confidence
        Nominal coverage of the item-jackknife interval.
    categories
        The whole scale, ascending: values that nobody used count. By default the values used.

    Raises
    ------
    ValueError
        For the ratio level.
    UnknownCategoryError
        A value lies outside the scale.
    """
    scale = ratings.categories() if categories is None else np.asarray(categories, dtype=float)
    weights = pair_weights(scale, level)
    rows, multiplicity = distinct_rows(ratings.counts(scale))
    is_pairable = rows.sum(axis=1) >= 2
    about: dict[str, Any] = {
        "statistic": "Gwet's AC1" if level == "nominal" else "Gwet's AC2",
        "recipe": RECIPE,
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
    """How far two values count as agreement, 0 to 1, shape (n_categories, n_categories).

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
