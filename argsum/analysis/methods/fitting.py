"""Whether what a language model wrote for a key point fits the statements behind it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argsum.systems.methods.scoring import Scores
from cqa_site.stats.arrays import IntArray

from .grouping import group_means


@dataclass(frozen=True)
class Fit:
    """How a text matches its own statements, and those of the nearest other key point.

    ``nearest`` is the place of that one; None where there is no other.
    """

    own: float
    other: float | None = None
    nearest: int | None = None

    @property
    def fits(self) -> bool:
        """Whether no other key point's statements match it as well."""
        return self.other is None or self.own > self.other


def fits_of(
    written: Scores, own: Sequence[int], statements: Scores, placed: IntArray, points: int
) -> list[Fit]:
    """Mean match scores of written texts with the statements behind each key point.

    Parameters
    ----------
    written : shape (w, d)
        Vectors of length 1 of the texts.
    own : length w
        For which key point each was written.
    statements : shape (n, d)
        Vectors of length 1.
    placed : length n
        The key point of each statement; -1 is none.
    points
        How many key points there are. One without statements is nobody's nearest.

    Examples
    --------
    >>> one = np.eye(2, dtype=np.float32)
    >>> [fit.fits for fit in fits_of(one, [0, 0], one, np.array([0, 1]), 2)]
    [True, False]
    """
    means, sizes = group_means(statements, placed, points)
    # A mean score with texts of length 1 is the score with their mean.
    scores = np.where(np.asarray(sizes) > 0, written @ means.T, -np.inf)
    return [_fit(row, place) for row, place in zip(scores, own, strict=True)]


def _fit(scores: Scores, place: int) -> Fit:
    others = scores.copy()
    others[place] = -np.inf
    nearest = int(others.argmax())
    own = float(scores[place])
    if not np.isfinite(others[nearest]):
        return Fit(own)
    return Fit(own, float(others[nearest]), nearest)
