"""Do longer answers get more points, from a judge and from people?

That people also like longer answers excuses nothing by itself; it says how much of a judge's
slope they share, so both stand side by side, also on the answers that both scored.
"""

from __future__ import annotations

import numpy as np

from cqa_site.stats.ratings import FloatArray

from .columns import correlations
from .figures import Figure, Length, LengthOf
from .grid import PEOPLE, Grid
from .jackknife import Jackknife

PER_CHARACTERS = 100


def length_figures(grid: Grid, key: str, draws: Jackknife) -> Length:
    """A rater's totals against the length of the answers."""
    totals = grid.column(key, "total")
    shared = np.where(np.isnan(grid.column(PEOPLE, "total")), np.nan, totals)
    return Length(
        own=_about_length(grid, totals, draws), common=_about_length(grid, shared, draws)
    )


def _about_length(grid: Grid, totals: FloatArray, draws: Jackknife) -> LengthOf:
    known = ~np.isnan(totals)
    totals, length = totals[known], grid.characters[known]
    codes = np.unique(grid.questions[known], return_inverse=True)[1].astype(np.int64)
    found = correlations(totals, length, codes, draws, ("pearson", "spearman"))
    return LengthOf(
        n=len(totals),
        pearson=found["pearson"],
        spearman=found["spearman"],
        slope=_slope(totals, length / PER_CHARACTERS, codes, draws),
    )


def _slope(y: FloatArray, x: FloatArray, codes: np.ndarray, draws: Jackknife) -> Figure:
    """Least squares slope with a level of its own for each question."""
    if not len(y):
        return draws.ratio(np.zeros(0), np.zeros(0), 0)
    sizes = np.bincount(codes)
    dx, dy = (each - (np.bincount(codes, weights=each) / sizes)[codes] for each in (x, y))
    over, under = (np.bincount(codes, weights=dx * each).astype(float) for each in (dy, dx))
    return draws.ratio(over, under, len(y))
