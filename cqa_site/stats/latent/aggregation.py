"""One label for each item from the ratings of many: majority vote, and how the votes split."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cqa_site.stats.ratings import IntArray, Ratings
from cqa_site.stats.reliability.coincidence import row_kinds

Tie = Literal["higher", "lower"]


def majority(ratings: Ratings, tie: Tie = "higher") -> pd.DataFrame:
    """Most frequent value of each item.

    Parameters
    ----------
    ratings
        One item is one row of the answer.
    tie : {"higher", "lower"}
        Which of several equally frequent values becomes the label.

    Returns
    -------
    DataFrame indexed by item, in the order of `ratings.items`
        label : the most frequent value
        n : ratings of the item
        votes : ratings equal to the label
        share : votes / n
        tied : whether another value is as frequent
        spread : largest minus smallest value

    Raises
    ------
    ValueError
        For an unknown `tie`.
    """
    if tie not in ("higher", "lower"):
        raise ValueError("a tie goes to the 'higher' or the 'lower' value")
    scale = ratings.categories()
    counts = ratings.counts(scale)
    votes = counts.max(axis=1, initial=0)
    top = counts == votes[:, None]
    given = counts > 0
    best = _last(top) if tie == "higher" else _first(top)
    columns = {
        "label": scale[best],
        "n": counts.sum(axis=1),
        "votes": votes,
        "share": votes / counts.sum(axis=1),
        "tied": top.sum(axis=1) > 1,
        "spread": scale[_last(given)] - scale[_first(given)],
    }
    return pd.DataFrame(columns, index=ratings.items)


def split_pattern(ratings: Ratings) -> pd.Series:
    """How the votes of each item split, largest first, e.g. "3-0", "2-1", "1-1-1".

    A unanimous item reads "3-0" (and a single vote "1-0"), whatever the value.
    """
    rows, kind = row_kinds(-np.sort(-ratings.counts(), axis=1))
    patterns = np.array([_pattern(row) for row in rows], dtype=object)
    return pd.Series(patterns[kind], index=ratings.items, name="split", dtype=object)


def _pattern(row: IntArray) -> str:
    votes = [str(count) for count in row if count > 0]
    return "-".join(votes if len(votes) > 1 else [*votes, "0"])


def _first(flags: NDArray[np.bool_]) -> IntArray:
    """Position of the first True in each row."""
    return np.asarray(flags.argmax(axis=1) if flags.size else [], dtype=np.int64)


def _last(flags: NDArray[np.bool_]) -> IntArray:
    """Position of the last True in each row."""
    return np.asarray(flags.shape[1] - 1 - _first(flags[:, ::-1]))
