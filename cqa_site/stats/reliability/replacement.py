"""What the majority would have been if one more rater had taken the place of one vote."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
import pandas as pd

from cqa_site.stats.intervals import LEAST_RATED, clopper_pearson_interval, too_few
from cqa_site.stats.ratings import IntArray, Ratings


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Majority labels (higher label on a tie) with one vote replaced, averaged over which one.

    Attributes
    ----------
    n_items
        Items with votes and a value of the other rater.
    changed
        Share of items whose majority label becomes another one, 0 to 1; None without items.
    low, high
        Interval of `changed` (exact binomial), or None with `reason`.
    raised, lowered
        Shares whose label goes up and down.
    tied_before, tied_after
        Shares of items with a tie.
    reason
        Why there is no interval.
    """

    n_items: int
    changed: float | None = None
    low: float | None = None
    high: float | None = None
    raised: float | None = None
    lowered: float | None = None
    tied_before: float | None = None
    tied_after: float | None = None
    reason: str = ""


def replace_one_vote(ratings: Ratings, other: pd.Series, confidence: float = 0.95) -> Replacement:
    """Recompute the majority with the other rater in the place of each vote in turn.

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
    Every vote of an item is as likely to be the one that is replaced; the shares are means
    over items of means over votes, so they need no random draw.
    """
    values = other.dropna().astype(float)
    place = pd.Index(values.index).get_indexer(ratings.items)
    both = place >= 0
    if not both.any():
        return Replacement(n_items=0, reason="no item has both votes and this rater's label")
    theirs = values.to_numpy()[place[both]]
    scale = np.union1d(ratings.categories(), theirs)
    counts = ratings.counts(scale)[both]
    kinds, multiplicity = np.unique(
        np.column_stack([counts, np.searchsorted(scale, theirs)]), axis=0, return_counts=True
    )
    table = np.array([_expected(kind[:-1], int(kind[-1])) for kind in kinds])
    shares = multiplicity @ table / multiplicity.sum()
    n = int(multiplicity.sum())
    low, high, reason = _interval(float(shares[0]), n, confidence)
    return Replacement(
        n_items=n,
        changed=float(shares[0]),
        low=low,
        high=high,
        raised=float(shares[1]),
        lowered=float(shares[2]),
        tied_before=float(shares[3]),
        tied_after=float(shares[4]),
        reason=reason,
    )


def _expected(counts: IntArray, own: int) -> tuple[float, float, float, float, float]:
    """Expected change, rise, fall, tie before and tie after for one item."""
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


def _interval(share: float, n: int, confidence: float) -> tuple[float | None, float | None, str]:
    """Exact interval of a share of items, each of which counts in part: too wide, if anything."""
    if n < LEAST_RATED:
        return None, None, too_few(LEAST_RATED, "items")
    ends = (clopper_pearson_interval(each(share * n), n, confidence) for each in (floor, ceil))
    return next(ends).low, next(ends).high, ""
