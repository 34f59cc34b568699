"""Disagreement by item and label, confusion matrices, and majority labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_RATER, Bounded, Estimate
from cqa_site.stats.intervals import (
    LEAST_RATED,
    clopper_pearson_interval,
    estimated,
    mean_interval,
    too_few,
)
from cqa_site.stats.ratings import (
    Level,
    Ratings,
    check_level,
    coincidence_matrix,
    distances,
    distinct_rows,
    pairable_counts,
    row_kinds,
)

RECIPE = (
    "share of equal pairs among all pairs of ratings of one item, then the mean over items "
    "with two or more ratings; not corrected for chance"
)
INTERVAL = "t over items, corrected for skewness"


def percent_agreement(ratings: Ratings, confidence: float = 0.95) -> Estimate:
    """Compute the mean over items of the share of agreeing pairs, from 0 to 1.

    Each item counts once, however many ratings it has. The interval is based on items.

    Undefined if there are no ratings, if there is one rater, or if no item was rated twice. Unlike
    the chance-corrected statistics, it is defined if only one value was used.
    """
    counts, _ = pairable_counts(ratings.counts(), ratings.categories())
    about: dict[str, Any] = {
        "statistic": "percent agreement",
        "recipe": RECIPE,
        "level": "nominal",
        "confidence": confidence,
        "n_items": ratings.n_items,
        "n_pairable_items": len(counts),
        **ratings.counts_on(ratings.values_per_item >= 2),
    }
    if len(counts) == 0:
        return Estimate(value=None, reason=_why_no_pairs(ratings), **about)
    rows, multiplicity = distinct_rows(counts)
    shares = agreeing_pair_share(rows)
    value = float(shares @ multiplicity) / len(counts)
    interval = partial(mean_interval, shares, multiplicity, confidence)
    return estimated(value, interval, about, how=INTERVAL, limits=(0.0, 1.0))


def agreeing_pair_share(counts: IntArray) -> FloatArray:
    """Return the share of equal pairs among each item's pairs of ratings, shape (n_items,).

    Every row of `counts` sums to at least 2.
    """
    n = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1)).sum(axis=1) / (n * (n - 1)), dtype=np.float64)


def _why_no_pairs(ratings: Ratings) -> str:
    if ratings.n_values == 0:
        return NO_VALUES
    return ONE_RATER if ratings.n_raters < 2 else NO_OVERLAP


# Pairs of values between two groups of raters, and within the items of one group.

Scale = Sequence[float] | FloatArray | None


def confusion(
    a: Ratings | pd.Series, b: Ratings | pd.Series, categories: Scale = None
) -> pd.DataFrame:
    """Count pairs of values, one from each side, on the items that both sides rated.

    Parameters
    ----------
    a, b
        Ratings, or one rater's values as a Series indexed by item. If a side has several ratings
        of an item, every pair counts.
    categories
        The scale in ascending order; by default, the values used on either side.

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
    """Return Krippendorff's coincidence matrix: ordered pairs of values within items.

    An item with n ratings adds n in total (each pair has the weight 1 / (n - 1)), so the margins
    count the pairable values. The matrix is symmetric; its diagonal is agreement.
    """
    scale = ratings.categories() if categories is None else np.asarray(categories, dtype=float)
    counts, used = pairable_counts(ratings.counts(scale), scale)
    within = coincidence_matrix(*distinct_rows(counts))
    return _labelled(within, used).reindex(index=scale, columns=scale, fill_value=0.0)


def _labelled(table: FloatArray | IntArray, scale: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(table, index=pd.Index(scale), columns=pd.Index(scale))


def per_item_disagreement(ratings: Ratings, level: Level) -> pd.DataFrame:
    """Measure the spread of the ratings of each pairable item.

    Returns
    -------
    DataFrame indexed by item, most disputed first (ties in the order of the items)
        n : ratings of the item, at least 2
        spread : largest minus smallest value
        mean_distance : mean squared difference at `level` over the item's pairs of ratings
            (nominal: 0 or 1; ordinal: squared difference of ranks among the pooled ratings)
        relative : `mean_distance` divided by the mean distance between two ratings drawn at random
            from the pooled ratings, so 1 means chance; missing if only one value was used

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
    highest = np.full(ratings.n_items, -np.inf)
    lowest = np.full(ratings.n_items, np.inf)
    np.maximum.at(highest, ratings.item_codes, ratings.values)
    np.minimum.at(lowest, ratings.item_codes, ratings.values)
    columns = {
        "n": n,
        "spread": np.asarray(highest - lowest, dtype=np.float64)[pairable],
        "mean_distance": pairs,
        "relative": pd.array(pairs / expected if expected else [pd.NA] * len(n), dtype="Float64"),
    }
    table = pd.DataFrame(columns, index=ratings.items[pairable])
    return table.sort_values("mean_distance", ascending=False, kind="stable")


def per_label_agreement(ratings: Ratings) -> pd.DataFrame:
    """Return specific agreement: the chance that another rater also gave this label.

    Returns
    -------
    DataFrame indexed by value
        n_values : pairable ratings with this value
        agreement : share of their pairs (with items weighted as in alpha) with the same value;
            missing if the value occurs on unpairable items only
        chance : expected share if the ratings were assigned at random

    Notes
    -----
    Cicchetti and Feinstein (1990) for two raters, 2a / (2a + b + c); here for any number of
    raters.
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


Tie = Literal["higher", "lower"]


def majority(ratings: Ratings, tie: Tie = "higher") -> pd.DataFrame:
    """Return the most frequent value of each item.

    Parameters
    ----------
    ratings
        Ratings; each item becomes one row of the result.
    tie : {"higher", "lower"}
        Which of several equally frequent values becomes the label.

    Returns
    -------
    DataFrame indexed by item, in the order of `ratings.items`
        label : the most frequent value
        n : ratings of the item
        votes : ratings equal to the label
        share : votes / n
        tied : whether another value is equally frequent
        spread : largest minus smallest value

    Raises
    ------
    ValueError
        For an unknown `tie`.
    """
    if tie not in ("higher", "lower"):
        raise ValueError("tie must be 'higher' or 'lower'")
    scale = ratings.categories()
    counts = ratings.counts(scale)
    votes = counts.max(axis=1, initial=0)
    top = counts == votes[:, None]
    mask = counts > 0
    best = _last(top) if tie == "higher" else _first(top)
    columns = {
        "label": scale[best],
        "n": counts.sum(axis=1),
        "votes": votes,
        "share": votes / counts.sum(axis=1),
        "tied": top.sum(axis=1) > 1,
        "spread": scale[_last(mask)] - scale[_first(mask)],
    }
    return pd.DataFrame(columns, index=ratings.items)


def split_pattern(ratings: Ratings) -> pd.Series:
    """Describe the split of each item's votes, largest first, such as "3-0", "2-1" or "1-1-1".

    A unanimous item has the split "3-0" ("1-0" for a single vote), whatever the value.
    """
    rows, kind = row_kinds(-np.sort(-ratings.counts(), axis=1))
    patterns = np.array([_pattern(row) for row in rows], dtype=object)
    return pd.Series(patterns[kind], index=ratings.items, name="split", dtype=object)


def _pattern(row: IntArray) -> str:
    votes = [str(count) for count in row if count > 0]
    return "-".join(votes if len(votes) > 1 else [*votes, "0"])


def _first(flags: NDArray[np.bool_]) -> IntArray:
    """Return the position of the first True in each row."""
    return np.asarray(flags.argmax(axis=1) if flags.size else [], dtype=np.int64)


def _last(flags: NDArray[np.bool_]) -> IntArray:
    """Return the position of the last True in each row."""
    return np.asarray(flags.shape[1] - 1 - _first(flags[:, ::-1]))


# Majority labels if another rater replaced one of the votes.


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Majority labels (higher label on a tie) with one vote replaced, averaged over the votes.

    Attributes
    ----------
    n_items
        Number of items with votes and a value from the other rater.
    changed
        Share of items whose majority label changes, 0 to 1, with its exact binomial
        interval.
    raised, lowered
        Shares of items whose label goes up or down.
    tied_before, tied_after
        Shares of items with a tie.
    """

    n_items: int
    changed: Bounded
    raised: float | None = None
    lowered: float | None = None
    tied_before: float | None = None
    tied_after: float | None = None


def replace_one_vote(ratings: Ratings, other: pd.Series, confidence: float = 0.95) -> Replacement:
    """Recompute the majority with the other rater in place of each vote in turn.

    Parameters
    ----------
    ratings
        People's votes.
    other
        The other rater's values, indexed by item.
    confidence
        Nominal coverage of the interval.

    Notes
    -----
    Each vote of an item is equally likely to be replaced; the shares are means over items of means
    over votes, so no random draw is needed.
    """
    values = other.dropna().astype(float)
    place = pd.Index(values.index).get_indexer(ratings.items)
    both = place >= 0
    if not both.any():
        nothing = Bounded(value=None, reason="no item has both votes and this rater's label")
        return Replacement(n_items=0, changed=nothing)
    theirs = values.to_numpy()[place[both]]
    scale = np.union1d(ratings.categories(), theirs)
    counts = ratings.counts(scale)[both]
    kinds, multiplicity = np.unique(
        np.column_stack([counts, np.searchsorted(scale, theirs)]), axis=0, return_counts=True
    )
    table = np.array([_expected(kind[:-1], int(kind[-1])) for kind in kinds])
    shares = multiplicity @ table / multiplicity.sum()
    n = int(multiplicity.sum())
    return Replacement(
        n_items=n,
        changed=_with_interval(float(shares[0]), n, confidence),
        raised=float(shares[1]),
        lowered=float(shares[2]),
        tied_before=float(shares[3]),
        tied_after=float(shares[4]),
    )


def _expected(counts: IntArray, own: int) -> tuple[float, float, float, float, float]:
    """Return the expected change, rise, fall, tie before and tie after for one item."""
    before, tied_before = _majority(counts)
    votes = counts.sum()
    raised = lowered = tied = 0.0
    for value in np.flatnonzero(counts):
        replaced = counts.copy()
        replaced[value] -= 1
        replaced[own] += 1
        after, is_tied = _majority(replaced)
        share = counts[value] / votes
        raised += share * (after > before)
        lowered += share * (after < before)
        tied += share * is_tied
    return raised + lowered, raised, lowered, float(tied_before), tied


def _majority(counts: IntArray) -> tuple[int, bool]:
    top = np.flatnonzero(counts == counts.max())
    return int(top[-1]), len(top) > 1


def _with_interval(share: float, n: int, confidence: float) -> Bounded:
    """Return a share of fractionally counted items with an exact interval, rounded outwards."""
    if n < LEAST_RATED:
        return Bounded(value=share, reason=too_few(LEAST_RATED, "items"))
    ends = (
        clopper_pearson_interval(rounding(share * n), n, confidence) for rounding in (floor, ceil)
    )
    return Bounded(value=share, low=next(ends).low, high=next(ends).high)
