"""Clusters revisited: each argument moves to the cluster that it matches best on average.

Average linkage never takes a merge back, so an argument can end in a cluster whose later members
say something else. A few rounds of moving mend that. Not part of the paper: found here to help,
see docs/papers/argsum.md.
"""

from collections.abc import Sequence

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray

from .mcargsum import MIN_SIZE, UNCLUSTERED, numbered
from .scoring import Scores

ROUNDS = 5


def refine_clusters(
    match: FloatArray | Scores,
    ids: Sequence[int],
    *,
    rounds: int = ROUNDS,
    min_size: int = MIN_SIZE,
    takes_all: bool = False,
) -> list[int]:
    """Move arguments between clusters until nothing moves.

    Parameters
    ----------
    match : float array, shape (n, n)
        Symmetric scores of arguments with arguments.
    ids : length n
        Clusters; -1 is unclustered.
    rounds
        At most so many; all arguments of a round move at once.
    min_size
        Members of a cluster that became smaller are unclustered.
    takes_all
        Whether unclustered arguments join the cluster that they match best.

    Returns
    -------
    list
        n ids, numbered from 0 by first appearance; as given with fewer than two clusters.

    Examples
    --------
    >>> alike = np.array([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0]] + [[0, 0, 1, 1, 1]] * 3)
    >>> refine_clusters(alike, [0, 0, 0, 1, 1], min_size=2)
    [0, 0, 1, 1, 1]
    """
    scores = np.asarray(match, dtype=np.float32)
    now = np.array(ids, dtype=np.int64)
    for _round in range(rounds):
        names = [each for each in np.unique(now) if each != UNCLUSTERED]
        if len(names) < 2:
            break
        best = np.array(names)[_mean_scores(scores, now, names).argmax(axis=1)]
        moved = best if takes_all else np.where(now == UNCLUSTERED, UNCLUSTERED, best)
        if np.array_equal(moved, now):
            break
        now = moved
    return numbered(now, min_size=min_size)


def _mean_scores(scores: Scores, ids: IntArray, names: Sequence[int]) -> Scores:
    """Mean score of each argument with the other members of each cluster, shape (n, clusters).

    A cluster of which an argument is the only member draws it no more than the worst score.
    """
    members = np.stack([ids == name for name in names], axis=1).astype(np.float32)
    others = members.sum(axis=0) - members
    sums = scores @ members - np.diag(scores)[:, None] * members
    means: Scores = np.divide(sums, others, out=np.full_like(sums, -1.0), where=others > 0)
    return means
