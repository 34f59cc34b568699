"""Which values meet: between two groups of raters, and within the items of one group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cqa_site.stats.ratings import FloatArray, IntArray, Ratings
from cqa_site.stats.reliability.coincidence import (
    coincidence_matrix,
    distinct_rows,
    pairable_counts,
)

Scale = Sequence[float] | FloatArray | None


def confusion(
    a: Ratings | pd.Series, b: Ratings | pd.Series, categories: Scale = None
) -> pd.DataFrame:
    """Count pairs of values, one from each side, on the items both sides rated.

    Parameters
    ----------
    a, b
        Ratings, or one rater's values as a Series indexed by item. With several ratings of
        an item on a side every pair counts.
    categories
        The scale in ascending order; by default the values used on either side.

    Returns
    -------
    DataFrame of ints, rows the values of `a`, columns the values of `b`.

    Raises
    ------
    UnknownCategoryError
        If a value lies outside `categories`.
    """
    left = a if isinstance(a, Ratings) else Ratings.from_series(a, "a")
    right = b if isinstance(b, Ratings) else Ratings.from_series(b, "b")
    used = np.union1d(left.values, right.values)
    scale = used if categories is None else np.asarray(categories, dtype=float)
    place = right.items.get_indexer(left.items)
    shared = place >= 0
    table = left.counts(scale)[shared].T @ right.counts(scale)[place[shared]]
    return _labelled(table, scale)


def coincidences(ratings: Ratings, categories: Scale = None) -> pd.DataFrame:
    """Krippendorff's coincidence matrix: ordered pairs of values within items.

    An item with n ratings adds n in all (each pair weighs 1 / (n - 1)), so the margins count
    the pairable values. Symmetric; the diagonal is agreement.
    """
    scale = ratings.categories() if categories is None else np.asarray(categories, dtype=float)
    counts, used = pairable_counts(ratings.counts(scale), scale)
    within = coincidence_matrix(*distinct_rows(counts))
    return _labelled(within, used).reindex(index=scale, columns=scale, fill_value=0.0)


def _labelled(table: FloatArray | IntArray, scale: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(table, index=pd.Index(scale), columns=pd.Index(scale))
