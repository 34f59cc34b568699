"""Where the disagreement sits: by item, and by label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cqa_site.stats.ratings import FloatArray, Ratings
from cqa_site.stats.reliability.coincidence import (
    Level,
    check_level,
    coincidence_matrix,
    distances,
    distinct_rows,
    pairable_counts,
)


def per_item_disagreement(ratings: Ratings, level: Level) -> pd.DataFrame:
    """How far apart the ratings of each pairable item are.

    Returns
    -------
    DataFrame indexed by item, the most disputed first (ties in the order of the items)
        n : ratings of the item, at least 2
        spread : largest minus smallest value
        mean_distance : mean over its pairs of the squared difference at `level`
            (nominal: 0 or 1; ordinal: in squared ranks of the pooled ratings)
        relative : `mean_distance` divided by that of two ratings drawn at random from the
            pooled ones, so 1 is chance; missing when only one value was used

    Notes
    -----
    The mean of `relative` weighted by `n` is 1 - Krippendorff's alpha.
    """
    check_level(level)
    categories = ratings.categories()
    all_counts = ratings.counts(categories)
    pairable = all_counts.sum(axis=1) >= 2
    counts, used = pairable_counts(all_counts, categories)
    n = counts.sum(axis=1)
    margins = counts.sum(axis=0).astype(np.float64)
    distance = distances(level, used, margins)
    pairs = ((counts @ distance) * counts).sum(axis=1) / (n * (n - 1))
    total = float(margins.sum())
    expected = float(margins @ distance @ margins) / max(total * (total - 1), 1)
    columns = {
        "n": n,
        "spread": _spread(ratings)[pairable],
        "mean_distance": pairs,
        "relative": pd.array(pairs / expected if expected else [pd.NA] * len(n), dtype="Float64"),
    }
    table = pd.DataFrame(columns, index=ratings.items[pairable])
    return table.sort_values("mean_distance", ascending=False, kind="stable")


def per_label_agreement(ratings: Ratings) -> pd.DataFrame:
    """Specific agreement: a rater gave this label, so how likely did another one?

    Returns
    -------
    DataFrame indexed by value
        n_values : pairable ratings with this value
        agreement : share of their pairs (each item weighing as in alpha) with the same value;
            missing if the value occurs on unpairable items only
        chance : that share if the ratings were dealt at random

    Notes
    -----
    Cicchetti and Feinstein (1990) for two raters, 2a / (2a + b + c); here for any number.
    """
    scale = ratings.categories()
    counts, used = pairable_counts(ratings.counts(scale), scale)
    margins = counts.sum(axis=0)
    agreeing = np.diag(coincidence_matrix(*distinct_rows(counts)))
    columns = {
        "n_values": margins,
        "agreement": pd.array(agreeing / margins, dtype="Float64"),
        "chance": pd.array((margins - 1) / max(int(margins.sum()) - 1, 1), dtype="Float64"),
    }
    table = pd.DataFrame(columns, index=pd.Index(used, name="value"))
    table = table.reindex(pd.Index(scale, name="value"))
    return table.assign(n_values=table["n_values"].fillna(0).astype(int))


def _spread(ratings: Ratings) -> FloatArray:
    highest = np.full(ratings.n_items, -np.inf)
    lowest = np.full(ratings.n_items, np.inf)
    np.maximum.at(highest, ratings.item_codes, ratings.values)
    np.minimum.at(lowest, ratings.item_codes, ratings.values)
    return np.asarray(highest - lowest, dtype=np.float64)
