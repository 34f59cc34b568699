"""Votes remaining after the exclusion of raters.

Source: relevance paper, section on filtering crowd workers by control tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from cqa_site.stats.ratings import alpha_from_counts, distances, distinct_rows, pairable_counts

# Twenty steps, because 20 control items cannot distinguish more thresholds.
THRESHOLDS = tuple(step / 20 for step in range(21))


@dataclass(frozen=True)
class RemainingVotes:
    """Remaining votes on ordinary items.

    Attributes
    ----------
    raters, votes
        Number of remaining raters with a vote on an ordinary item, and number of their votes.
    without
        Number of ordinary items without remaining votes.
    ties
        Number of items with a tie for the most frequent label.
    alpha, pairable
        Krippendorff's ordinal alpha over these votes (None if undefined), and the number of items
        with at least two votes, on which it is based.
    labels
        Number of items for each majority label, with the higher label on a tie.
    """

    raters: int
    votes: int
    without: int
    ties: int
    alpha: float | None
    pairable: int
    labels: tuple[int, ...]


class OrdinaryVotes:
    """Votes on ordinary items as codes, so that raters can be left out with a mask.

    Parameters
    ----------
    votes : columns item, rater, value
        One row per counted vote on an ordinary item, with at most one vote per rater and item.
    items : int
        Number of ordinary items, including those without votes.
    scale
        All possible labels in ascending order.
    """

    def __init__(self, votes: pd.DataFrame, items: int, scale: list[int]) -> None:
        self.items, self.scale = items, np.asarray(scale, dtype=float)
        self._item, names = votes["item"].factorize()
        self._voted = len(names)
        self._rater = votes["rater"].to_numpy()
        self._value = np.searchsorted(self.scale, votes["value"].to_numpy(dtype=float))

    def without(self, raters: set[int]) -> RemainingVotes:
        """Return the votes that remain without these raters."""
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
    """Return alpha without an interval, which would need a jackknife at every step."""
    pairable, used = pairable_counts(counts, scale)
    if not len(pairable) or len(used) < 2:
        return None
    rows, multiplicity = distinct_rows(pairable)
    distance = distances("ordinal", used, multiplicity @ rows)
    return float(alpha_from_counts(rows, multiplicity, distance))
