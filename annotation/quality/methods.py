"""Votes left after excluding raters.

Paper: relevance, section on filtering crowd workers by their control tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from cqa_site.stats.ratings import alpha_from_counts, distances, distinct_rows, pairable_counts

# Twenty steps: a round of 20 control items cannot tell more thresholds apart.
THRESHOLDS = tuple(step / 20 for step in range(21))


@dataclass(frozen=True)
class RemainingVotes:
    """Remaining votes on ordinary items.

    Attributes
    ----------
    raters, votes
        How many raters with a vote on an ordinary item there still are, and their votes.
    without
        Ordinary items that nobody is left to have voted on.
    ties
        Items with two values equally frequent at the top.
    alpha, pairable
        Krippendorff's alpha, ordinal, over these votes, None where it is not defined; items with
        two votes or more, on which it rests.
    labels
        Items by majority label, the higher label on a tie; one count for each value.
    """

    raters: int
    votes: int
    without: int
    ties: int
    alpha: float | None
    pairable: int
    labels: tuple[int, ...]


class OrdinaryVotes:
    """Votes on ordinary items as codes, so that a mask can leave out raters.

    Parameters
    ----------
    votes : columns item, rater, value
        One row is one counted vote on an ordinary item; each rater votes once on an item.
    items : int
        Ordinary items there are, those without a vote included.
    scale
        Labels that can be given, ascending; every vote is one of them.
    """

    def __init__(self, votes: pd.DataFrame, items: int, scale: list[int]) -> None:
        self.items, self.scale = items, np.asarray(scale, dtype=float)
        self._item, names = votes["item"].factorize()
        self._voted = len(names)
        self._rater = votes["rater"].to_numpy()
        self._value = np.searchsorted(self.scale, votes["value"].to_numpy(dtype=float))

    def without(self, raters: set[int]) -> RemainingVotes:
        """Return the remaining votes without these raters."""
        keep = ~np.isin(self._rater, list(raters))
        width = len(self.scale)
        cells = self._item[keep] * width + self._value[keep]
        counts = np.bincount(cells, minlength=self._voted * width).reshape(-1, width)
        counts = counts[counts.sum(axis=1) > 0]
        top = counts == counts.max(axis=1, initial=0, keepdims=True)
        best = width - 1 - top[:, ::-1].argmax(axis=1)
        return RemainingVotes(
            raters=len(np.unique(self._rater[keep])),
            votes=int(keep.sum()),
            without=self.items - len(counts),
            ties=int((top.sum(axis=1) > 1).sum()),
            alpha=_ordinal_alpha(counts, self.scale),
            pairable=int((counts.sum(axis=1) >= 2).sum()),
            labels=tuple(np.bincount(best, minlength=width).tolist()),
        )


def _ordinal_alpha(counts: np.ndarray, scale: np.ndarray) -> float | None:
    """Return the value without an interval; intervals would cost a jackknife at every step."""
    pairable, used = pairable_counts(counts, scale)
    if not len(pairable) or len(used) < 2:
        return None
    rows, multiplicity = distinct_rows(pairable)
    distance = distances("ordinal", used, multiplicity @ rows)
    return float(alpha_from_counts(rows, multiplicity, distance))
