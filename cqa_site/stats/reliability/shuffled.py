"""What a statistic of two raters comes to when their score sheets are dealt at random.

Concatenating criteria of different ranges makes even unrelated sheets agree: everyone gives
more points where more points can be had. The shuffled figure says how much of a value is that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cqa_site.stats.ratings import FloatArray
from cqa_site.stats.reliability.coincidence import (
    Level,
    alpha_from_counts,
    check_level,
    distances,
    distinct_rows,
)


@dataclass(frozen=True, kw_only=True)
class Shuffled:
    """A statistic over shuffled sheets.

    Attributes
    ----------
    observed
        Over the sheets as they belong together; None if undefined.
    mean, sd, low, high
        Mean, sample sd (ddof 1) and range of the shuffled values; None if undefined.
    n_repeats, n_undefined, seed
        Shuffles made; those without a value, which do not count; seed of the generator.
    reason
        Why a figure is None.
    """

    observed: float | None
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    n_repeats: int
    n_undefined: int = 0
    seed: int
    reason: str = ""


def shuffled_baseline(
    statistic: Callable[[FloatArray, FloatArray], float],
    a: FloatArray,
    b: FloatArray,
    *,
    n_repeats: int = 100,
    seed: int = 0,
) -> Shuffled:
    """Recompute a statistic with the second rater's whole sheets permuted among the items.

    Parameters
    ----------
    statistic
        Of the two raters' sheets; NaN where undefined.
    a, b : shape (n_items, n_criteria) or (n_items,)
        Row i of both belongs to item i. A sheet stays whole: only its item changes.
    n_repeats, seed
        Number of shuffles, drawn uniformly; seed of the generator.

    Raises
    ------
    ValueError
        The two differ in their number of items, or there is no repeat.

    Examples
    --------
    >>> sheets = np.array([[0.0, 2.0], [1.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    >>> found = shuffled_baseline(concatenated_alpha, sheets, sheets)
    >>> found.observed, found.mean < 1
    (1.0, True)
    """
    if len(a) != len(b):
        raise ValueError("the two raters have sheets of the same items")
    if n_repeats < 1:
        raise ValueError("a baseline needs one repeat or more")
    observed = float(statistic(a, b))
    generator = np.random.default_rng(seed)
    found = np.array([statistic(a, b[generator.permutation(len(b))]) for _ in range(n_repeats)])
    defined = found[~np.isnan(found)]
    about: dict[str, Any] = {
        "observed": None if np.isnan(observed) else observed,
        "n_repeats": n_repeats,
        "n_undefined": len(found) - len(defined),
        "seed": seed,
    }
    if not len(defined):
        reason = "the statistic is undefined for every shuffle"
        return Shuffled(reason=reason, **about)
    return Shuffled(
        mean=float(defined.mean()),
        sd=float(defined.std(ddof=1)) if len(defined) > 1 else None,
        low=float(defined.min()),
        high=float(defined.max()),
        reason="" if about["observed"] is not None else "the statistic itself is undefined",
        **about,
    )


def concatenated_alpha(a: FloatArray, b: FloatArray, level: Level = "interval") -> float:
    """Krippendorff's alpha of two raters with every cell of their sheets as an item.

    Parameters
    ----------
    a, b : same shape
        Cells one of them left empty (NaN) do not count.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement.

    Returns
    -------
    float
        NaN without a shared cell or with one value only. Equal to `krippendorff_alpha` of the
        same cells, without its interval: criteria of one sheet are no independent items.
    """
    check_level(level)
    both = ~(np.isnan(a) | np.isnan(b))
    scale, codes = np.unique(np.stack([a[both], b[both]]), return_inverse=True)
    if len(scale) < 2:
        return float("nan")
    first, second = codes.reshape(2, -1)
    counts = np.zeros((first.size, len(scale)), dtype=np.int64)
    cells = np.arange(first.size)
    np.add.at(counts, (cells, first), 1)
    np.add.at(counts, (cells, second), 1)
    distance = distances(level, scale, counts.sum(axis=0))
    return alpha_from_counts(*distinct_rows(counts), distance)
