"""Clusters of arguments: merging, refinement, summaries, and key point assignment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cqa_site.stats.arrays import FloatArray, Floats, IntArray
from .inputs import ROWS_AT_ONCE, Scores

# MCArgSum: arguments merged while their match scores are high enough.
#
# Source: argument summarization paper, section 3.3 and appendix D.3.

UNCLUSTERED = -1
MIN_SIZE = 3
# The published grid: .05 to .95 in steps of .025.
THRESHOLDS = tuple(round(0.05 + 0.025 * step, 3) for step in range(37))
# Uses 3.2 GB while it runs.
MOST_ARGUMENTS = 20_000


class TooManyArguments(ValueError):
    """The cell is too large for the memory that clustering may use."""


def merge_clusters(
    match: Floats, thresholds: Sequence[float], *, min_size: int = MIN_SIZE
) -> dict[float, list[int]]:
    """Return cluster ids at every threshold, from one average linkage on 1 − match score.

    Two clusters are merged if the mean score between them is above the threshold m, that is, if
    their distance is below 1 − m.

    Parameters
    ----------
    match : float array, shape (n, n)
        Scores of arguments with arguments; the diagonal is ignored. If a scorer depends on the
        order of two texts, the mean of the pair's two scores is used.
    thresholds
        m, in any order.
    min_size
        Members of smaller clusters become unclustered.

    Returns
    -------
    dict
        Threshold → n ids, numbered from 0 by first appearance; -1 is unclustered.

    Raises
    ------
    ValueError
        If the matrix is not square or contains a value that is not finite.
    TooManyArguments
        If there are more than `MOST_ARGUMENTS` arguments.

    Notes
    -----
    In addition to the matrix, this temporarily uses 8 n² bytes: 800 MB for 10,000 arguments.
    """
    n = len(match)
    if match.shape != (n, n):
        raise ValueError(f"Match scores must be a square matrix, not of shape {match.shape}")
    if n > MOST_ARGUMENTS:
        raise TooManyArguments(f"{n:,} arguments in one cell; at most {MOST_ARGUMENTS:,}")
    if n < 2:
        return {m: numbered([0] * n, min_size=min_size) for m in thresholds}
    from scipy.cluster.hierarchy import fcluster, linkage

    # Raises ValueError if a score is not finite.
    merges = linkage(distances(match), method="average")
    # A merge at exactly 1 − m must not be made, but `fcluster` would make it.
    return {
        m: numbered(
            fcluster(merges, np.nextafter(1 - m, -np.inf), criterion="distance"), min_size=min_size
        )
        for m in thresholds
    }


def distances(match: Floats) -> FloatArray:
    """Return 1 − score of every pair, shape (n (n − 1) / 2,), in scipy's format; at least 0.

    The function works row by row, so the result is the only large array that it creates.
    """
    n = len(match)
    dissimilarities = np.empty(n * (n - 1) // 2)
    start = 0
    for row in range(n - 1):
        stop = start + n - 1 - row
        dissimilarities[start:stop] = match[row, row + 1 :]
        dissimilarities[start:stop] += match[row + 1 :, row]
        start = stop
    dissimilarities *= -0.5
    dissimilarities += 1
    return np.maximum(dissimilarities, 0, out=dissimilarities)


def numbered(labels: Iterable[int] | IntArray, *, min_size: int = 1) -> list[int]:
    """Number clusters of at least `min_size` from 0 by first appearance.

    Negative labels mean unclustered and become -1.

    Examples
    --------
    >>> numbered([7, 2, 7, 2, 5, -1], min_size=2)
    [0, 1, 0, 1, -1, -1]
    """
    numbers = [int(label) for label in labels]
    sizes: dict[int, int] = {}
    for label in numbers:
        sizes[label] = sizes.get(label, 0) + 1
    names: dict[int, int] = {}
    for label, size in sizes.items():
        if label >= 0 and size >= min_size:
            names[label] = len(names)
    return [names.get(label, UNCLUSTERED) for label in numbers]


def is_summarizable(ids: Sequence[int]) -> bool:
    """Return whether a cell has several clusters that contain more than half of its arguments."""
    held = [cluster for cluster in ids if cluster != UNCLUSTERED]
    return len(set(held)) > 1 and 2 * len(held) > len(ids)


def members(ids: Sequence[int]) -> dict[int, list[int]]:
    """Map each cluster id to the sorted positions of its arguments; skip unclustered ones."""
    clusters: dict[int, list[int]] = {}
    for place, cluster in enumerate(ids):
        if cluster != UNCLUSTERED:
            clusters.setdefault(cluster, []).append(place)
    return dict(sorted(clusters.items()))


# Cluster refinement: each argument moves to the cluster that it matches best on average.
#
# Average linkage never undoes a merge, so an argument can end in a cluster whose later members
# say something else. A few rounds of moves correct that. This is not part of the paper, but it
# improved our results; see docs/papers/argsum.md.

ROUNDS = 5


def refine_clusters(
    match: FloatArray | Scores,
    ids: Sequence[int],
    *,
    rounds: int = ROUNDS,
    min_size: int = MIN_SIZE,
    takes_all: bool = False,
) -> list[int]:
    """Move arguments between clusters until no argument moves.

    Parameters
    ----------
    match : float array, shape (n, n)
        Symmetric scores of arguments with arguments.
    ids : length n
        Clusters; -1 is unclustered.
    rounds
        Maximum number of rounds; all arguments of a round move at once.
    min_size
        Members of clusters that become smaller are unclustered.
    takes_all
        Whether unclustered arguments join the cluster that they match best.

    Returns
    -------
    list
        The n ids, numbered from 0 by first appearance; unchanged if there are fewer than two
        clusters.

    Examples
    --------
    >>> alike = np.array([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0]] + [[0, 0, 1, 1, 1]] * 3)
    >>> refine_clusters(alike, [0, 0, 0, 1, 1], min_size=2)
    [0, 0, 1, 1, 1]
    """
    scores = np.asarray(match, dtype=np.float32)
    now = np.array(ids, dtype=np.int64)
    for _round in range(rounds):
        names = [name for name in np.unique(now) if name != UNCLUSTERED]
        if len(names) < 2:
            break
        best = np.array(names)[_mean_scores(scores, now, names).argmax(axis=1)]
        moved = best if takes_all else np.where(now == UNCLUSTERED, UNCLUSTERED, best)
        if np.array_equal(moved, now):
            break
        now = moved
    return numbered(now, min_size=min_size)


def _mean_scores(scores: Scores, ids: IntArray, names: Sequence[int]) -> Scores:
    """Return each argument's mean score with the other members of clusters, shape (n, clusters).

    A cluster whose only member is the argument itself gets the lowest possible score.
    """
    members = np.stack([ids == name for name in names], axis=1).astype(np.float32)
    others = members.sum(axis=0) - members
    sums = scores @ members - np.diag(scores)[:, None] * members
    means: Scores = np.divide(sums, others, out=np.full_like(sums, -1.0), where=others > 0)
    return means


# Match profiles: arguments compared by the rows of their match scores.
#
# Two arguments that make the same point have similar scores with all other arguments of their
# cell, even if their own pair score is low because they use different words. This is not part of
# the paper, but it improved our clusters; see docs/papers/argsum.md.

# A row with a norm below this value is constant except for rounding errors.
FLAT = 1e-6


def profile_scores(match: FloatArray | Scores, *, weight: float = 1.0) -> Scores:
    """Return the Pearson correlation of rows, mixed with the scores themselves.

    Parameters
    ----------
    match : float array, shape (n, n)
        Symmetric scores of arguments with arguments.
    weight
        1 uses only the correlations; 0 returns the scores.

    Returns
    -------
    float32 array, shape (n, n)
        ``weight * correlation + (1 - weight) * match``; symmetric. The correlations of a row
        without variance are 0.

    Notes
    -----
    In addition to the scores and the result, this uses 4 n² bytes.

    Examples
    --------
    >>> scores = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> profile_scores(scores)[0].round(2)
    array([ 1.  ,  0.29, -0.8 ], dtype=float32)
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"The weight must be between 0 and 1, not {weight}.")
    unit = np.array(match, dtype=np.float32)
    unit -= unit.mean(axis=1, keepdims=True, dtype=np.float64)
    lengths = np.linalg.norm(unit, axis=1, keepdims=True)
    flat = lengths[:, 0] <= FLAT
    lengths[flat] = 1
    unit /= lengths
    unit[flat] = 0
    mixed: Scores = np.empty_like(unit)
    for start in range(0, len(unit), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        np.matmul(unit[rows], unit.T, out=mixed[rows])
        mixed[rows] *= weight
        mixed[rows] += (1 - weight) * np.asarray(match[rows], dtype=np.float32)
    return mixed


# Key points taken from the arguments themselves if no model writes them.

_ROWS_AT_ONCE = 512


def central_argument(match: Floats, members: Sequence[int]) -> int:
    """Return the member that the others match best on average; ties go to the earlier member.

    Parameters
    ----------
    match : float array, shape (n, n)
        Scores of arguments with arguments; column j treats argument j as a key point.
    members
        Positions of the arguments of one cluster.

    Raises
    ------
    ValueError
        If there are no members.
    """
    if not len(members):
        raise ValueError("A cluster without arguments has no central argument.")
    places = np.asarray(members, dtype=np.int64)
    sums = -match[places, places].astype(np.float64)
    # In blocks of rows, because a cluster may be as large as the cell and would copy all scores.
    for start in range(0, len(places), _ROWS_AT_ONCE):
        rows = places[start : start + _ROWS_AT_ONCE]
        sums += match[np.ix_(rows, places)].sum(axis=0, dtype=np.float64)
    # Rounded, so that the order of addition does not decide ties.
    return members[int(sums.round(9).argmax())]


def by_quality(members: Sequence[int], quality: Sequence[float | None] | Floats) -> list[int]:
    """Return members in the order in which a generator reads them, best first and unknown last.

    Examples
    --------
    >>> by_quality([0, 2, 3], [0.5, 0.9, None, 0.7])
    [3, 0, 2]
    """

    def worst_last(place: int) -> float:
        value = quality[place]
        return np.inf if value is None or np.isnan(value) else -float(value)

    return sorted(members, key=worst_last)


# Assignment of each argument to a key point.
#
# Source: argument summarization paper, section 3.1 and appendix D.2 (threshold 0).

UNASSIGNED = -1


@dataclass(frozen=True)
class KeyPointAssignment:
    """The key point of each argument.

    Attributes
    ----------
    positions : length n
        Positions of key points; -1 if no score is above the threshold.
    scores : length n
        The highest score of each argument, even if too low; 0 if there are no key points.
    """

    positions: list[int]
    scores: list[float]


def assign(match: Floats, *, threshold: float = 0.0) -> KeyPointAssignment:
    """Assign each argument to its best key point; ties go to the earlier key point.

    Parameters
    ----------
    match : float array, shape (n, k)
        Scores of arguments with key points.
    threshold
        The score must be above this value.

    Examples
    --------
    >>> assign(np.array([[0.2, 0.7], [-0.3, -0.1]]))
    KeyPointAssignment(positions=[1, -1], scores=[0.7, -0.1])
    """
    n, k = match.shape
    if k == 0:
        return KeyPointAssignment([UNASSIGNED] * n, [0.0] * n)
    best = match.argmax(axis=1)
    scores = match[np.arange(n), best]
    positions = np.where(scores > threshold, best, UNASSIGNED)
    return KeyPointAssignment(positions.tolist(), [float(score) for score in scores])


def prevalence(positions: Sequence[int], k: int) -> list[int]:
    """Count the arguments of each of k key points, ignoring unassigned arguments.

    Examples
    --------
    >>> prevalence([1, -1, 1, 0], 3)
    [1, 2, 0]
    """
    held = np.asarray([place for place in positions if place != UNASSIGNED], dtype=np.int64)
    return [int(count) for count in np.bincount(held, minlength=k)]


def accuracy(positions: Sequence[int], own: Sequence[int]) -> float | None:
    """Return the share of arguments assigned to their own key point, or None for an empty list.

    Examples
    --------
    >>> accuracy([0, 1, -1, 2], [0, 2, 1, 2])
    0.5
    """
    if not own:
        return None
    return sum(a == b for a, b in zip(positions, own, strict=True)) / len(own)
