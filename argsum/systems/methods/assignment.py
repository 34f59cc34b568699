"""Which key point every argument belongs to in the end.

Source: argument summarization paper, section 3.1 and appendix D.2 (threshold 0).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cqa_site.stats.arrays import Floats

UNASSIGNED = -1


@dataclass(frozen=True)
class Assigned:
    """The key point of each argument.

    Attributes
    ----------
    positions : length n
        Positions of key points; -1 where no score is above the threshold.
    scores : length n
        The largest score of the argument, also where that was not enough; 0 where there are no
        key points at all.
    """

    positions: list[int]
    scores: list[float]


def assign(match: Floats, *, threshold: float = 0.0) -> Assigned:
    """Each argument to its best key point, the earlier one where equal.

    Parameters
    ----------
    match : float array, shape (n, k)
        Scores of arguments with key points.
    threshold
        The score must be above it.

    Examples
    --------
    >>> assign(np.array([[0.2, 0.7], [-0.3, -0.1]]))
    Assigned(positions=[1, -1], scores=[0.7, -0.1])
    """
    n, k = match.shape
    if k == 0:
        return Assigned([UNASSIGNED] * n, [0.0] * n)
    best = match.argmax(axis=1)
    scores = match[np.arange(n), best]
    positions = np.where(scores > threshold, best, UNASSIGNED)
    return Assigned(positions.tolist(), [float(score) for score in scores])


def prevalence(positions: Sequence[int], k: int) -> list[int]:
    """How many arguments belong to each of k key points; unassigned ones count nowhere.

    Examples
    --------
    >>> prevalence([1, -1, 1, 0], 3)
    [1, 2, 0]
    """
    held = np.asarray([place for place in positions if place != UNASSIGNED], dtype=np.int64)
    return [int(count) for count in np.bincount(held, minlength=k)]


def accuracy(positions: Sequence[int], own: Sequence[int]) -> float | None:
    """Share of arguments assigned to their own key point; None without arguments.

    Examples
    --------
    >>> accuracy([0, 1, -1, 2], [0, 2, 1, 2])
    0.5
    """
    if not own:
        return None
    return sum(a == b for a, b in zip(positions, own, strict=True)) / len(own)
