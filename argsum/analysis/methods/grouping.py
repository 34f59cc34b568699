"""Groups of statements in the space of their vectors: no matrix of all pairs is made.

The mean score of two groups is the product of the means of their vectors. So everything here is
arithmetic on vectors, and a hundred thousand statements need no more than their own room.

Statements are compared by their scores mixed with the likeness of their rows of scores, as
`argsum.systems.methods.profiles` does it: that likeness is the cosine of vectors that one linear
map makes of the given ones, which takes no matrix of all pairs, either.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from argsum.systems.methods.mcargsum import MIN_SIZE, UNCLUSTERED, merge_clusters, numbered
from argsum.systems.methods.scoring import Scores
from cqa_site.stats.arrays import FloatArray, IntArray

# Of what all statements on a topic have in common, so much is taken away: the rest is compared on
# one scale whatever the topic is.
CENTRED = 0.5
# Up to so many statements are compared with each other; of more, a sample of so many.
MOST_COMPARED = 6_000
ROUNDS = 5
_ROWS_AT_ONCE = 4_096


def centred(vectors: Scores, middle: Scores | None = None) -> Scores:
    """Vectors of length 1 from which part of their mean, or of ``middle``, is taken away.

    Examples
    --------
    >>> centred(np.array([[0.8, 0.6], [0.8, -0.6]], dtype=np.float32)).round(2).tolist()
    [[0.55, 0.83], [0.55, -0.83]]
    """
    mean = vectors.mean(axis=0) if middle is None else middle
    moved: Scores = vectors - np.float32(CENTRED) * mean
    moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return moved


def likeness_map(vectors: Scores) -> FloatArray:
    """The map, shape (d, d), after which cosines are how alike rows of scores are.

    Rows of scores of ``vectors`` with themselves, each without its mean, have the products
    v C vᵀ, where C is the scatter of the vectors; the map is the root of C.
    """
    centred = vectors - vectors.mean(axis=0)
    scatter = (centred.T @ centred).astype(np.float64)
    sizes, axes = np.linalg.eigh(scatter)
    found: FloatArray = axes * np.sqrt(np.maximum(sizes, 0.0))
    return found


def mixed_vectors(vectors: Scores, turned: FloatArray, weight: float) -> Scores:
    """Vectors whose products are ``weight`` × likeness + (1 − ``weight``) × score, (n, 2 d)."""
    alike: Scores = vectors @ turned.astype(np.float32)
    lengths = np.linalg.norm(alike, axis=1, keepdims=True)
    alike /= np.maximum(lengths, 1e-9)
    parts = [np.float32(weight**0.5) * alike, np.float32((1 - weight) ** 0.5) * vectors]
    found: Scores = np.concatenate(parts, axis=1)
    return found


def group_at(space: Scores, thresholds: Sequence[float]) -> Mapping[float, list[int]]:
    """Average linkage at every threshold, at most `MOST_COMPARED` statements."""
    return merge_clusters(space @ space.T, thresholds)


def group_means(vectors: Scores, ids: IntArray, k: int) -> tuple[Scores, IntArray]:
    """Mean vectors of k groups, shape (k, d), not of length 1; and how many each has."""
    sizes = np.bincount(ids[ids >= 0], minlength=k)
    sums = np.zeros((k, vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        part = ids[start : start + _ROWS_AT_ONCE]
        held = np.flatnonzero(part >= 0)
        member = np.zeros((k, len(held)), dtype=np.float32)
        member[part[held], np.arange(len(held))] = 1
        sums += member @ vectors[start + held]
    sums /= np.maximum(sizes, 1)[:, None]
    return sums, sizes


def mean_scores(vectors: Scores, ids: IntArray) -> Scores:
    """Mean score of each statement with the other members of each group, shape (n, k).

    A group of which it is the only member draws it no more than the worst score.
    """
    k = int(ids.max(initial=UNCLUSTERED)) + 1
    means, sizes = group_means(vectors, ids, k)
    found: Scores = vectors @ means.T
    rows = np.flatnonzero(ids >= 0)
    own = ids[rows]
    itself = np.einsum("nd,nd->n", vectors[rows], vectors[rows])
    others = np.maximum(sizes[own] - 1, 1)
    found[rows, own] = (found[rows, own] * sizes[own] - itself) / others
    found[rows[sizes[own] < 2], own[sizes[own] < 2]] = -1.0
    return found


def refined(vectors: Scores, ids: Sequence[int], *, rounds: int = ROUNDS) -> IntArray:
    """Each grouped statement in the group that it matches best on average.

    As `argsum.systems.methods.cluster_refining.refine_clusters`, from vectors.
    """
    now = np.array(ids, dtype=np.int64)
    for _round in range(rounds):
        if now.max(initial=UNCLUSTERED) < 1:
            break
        best = mean_scores(vectors, now).argmax(axis=1)
        moved = np.where(now == UNCLUSTERED, UNCLUSTERED, best)
        if np.array_equal(moved, now):
            break
        now = np.array(numbered(moved, min_size=MIN_SIZE))
    return now


def spread(space: Scores, ids: IntArray, rows: IntArray, threshold: float) -> IntArray:
    """Groups of a sample, for all statements.

    Parameters
    ----------
    space : float array, shape (n, d)
        Of all statements.
    ids : length s
        Groups of the sample.
    rows : length s
        Places of the sample.
    threshold
        A statement joins the group with the largest mean score above it, as it would have been
        merged; what joins none is grouped among itself, and so on until little is left.
    """
    found = np.full(len(space), UNCLUSTERED, dtype=np.int64)
    found[rows] = ids
    draw = np.random.default_rng(1)
    for _round in range(ROUNDS):
        _join(space, found, threshold)
        left = np.flatnonzero(found == UNCLUSTERED)
        if len(left) < MIN_SIZE:
            break
        some = np.sort(draw.permutation(left)[:MOST_COMPARED])
        made = np.array(group_at(space[some], [threshold])[threshold])
        if made.max(initial=UNCLUSTERED) < 0:
            break
        found[some] = np.where(made >= 0, made + found.max(initial=UNCLUSTERED) + 1, UNCLUSTERED)
        if len(some) == len(left):
            break
    return np.array(numbered(found, min_size=MIN_SIZE))


def without_small(ids: IntArray, least: int) -> IntArray:
    """Groups of at least so many, numbered by first appearance; what was in others is in none."""
    return np.array(numbered(ids, min_size=least))


def _join(space: Scores, ids: IntArray, threshold: float) -> None:
    """Put statements without a group into the one they match best, if well enough."""
    k = int(ids.max(initial=UNCLUSTERED)) + 1
    if not k:
        return
    means, _sizes = group_means(space, ids, k)
    left = np.flatnonzero(ids == UNCLUSTERED)
    for start in range(0, len(left), _ROWS_AT_ONCE):
        rows = left[start : start + _ROWS_AT_ONCE]
        scores = space[rows] @ means.T
        best = scores.argmax(axis=1)
        enough = scores[np.arange(len(rows)), best] > threshold
        ids[rows[enough]] = best[enough]
