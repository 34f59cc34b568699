"""Work with the vectors and words of statements: groups, fit of texts, quotations and typos."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from argsum.systems.methods.clusters import MIN_SIZE, UNCLUSTERED, merge_clusters, numbered
from argsum.systems.methods.inputs import Scores
from cqa_site.stats.arrays import FloatArray, IntArray

# The mean score of two groups is the product of their mean vectors. So everything here is vector
# arithmetic, and a hundred thousand statements need only the memory of their vectors. Statements
# are compared by a mixture of their scores and the similarity of their rows of scores, as in
# `argsum.systems.methods.clusters`. This similarity is the cosine of the vectors after a linear
# map, which does not need a matrix of all pairs either.

# Share of the mean vector of a topic that is subtracted, so that scores on all topics have the
# same scale.
CENTRED = 0.5
# Maximum number of statements to compare with each other. Larger sets are sampled to this size.
MOST_COMPARED = 6_000
ROUNDS = 5
_ROWS_AT_ONCE = 4_096


def centred(vectors: Scores, middle: Scores | None = None) -> Scores:
    """Subtract part of the mean, or of ``middle``, from vectors and rescale them to length 1.

    Examples
    --------
    >>> centred(np.array([[0.8, 0.6], [0.8, -0.6]], dtype=np.float32)).round(2)
    array([[ 0.55,  0.83],
           [ 0.55, -0.83]], dtype=float32)
    """
    mean = vectors.mean(axis=0) if middle is None else middle
    moved: Scores = vectors - np.float32(CENTRED) * mean
    moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return moved


def likeness_map(vectors: Scores) -> FloatArray:
    """Return the map, shape (d, d), that makes cosines measure the similarity of score rows.

    The centred rows of scores of ``vectors`` with themselves have the products v C vᵀ, where C is
    the scatter matrix of the vectors. The map is the square root of C.
    """
    centred = vectors - vectors.mean(axis=0)
    scatter = (centred.T @ centred).astype(np.float64)
    sizes, axes = np.linalg.eigh(scatter)
    projection: FloatArray = axes * np.sqrt(np.maximum(sizes, 0.0))
    return projection


def mixed_vectors(vectors: Scores, turned: FloatArray, weight: float) -> Scores:
    """Return vectors, shape (n, 2 d), whose products mix likeness and score.

    The products are ``weight`` × likeness + (1 − ``weight``) × score.
    """
    alike: Scores = vectors @ turned.astype(np.float32)
    lengths = np.linalg.norm(alike, axis=1, keepdims=True)
    alike /= np.maximum(lengths, 1e-9)
    parts = [np.float32(weight**0.5) * alike, np.float32((1 - weight) ** 0.5) * vectors]
    mixture: Scores = np.concatenate(parts, axis=1)
    return mixture


def group_at(space: Scores, threshold: float) -> list[int]:
    """Cluster at most `MOST_COMPARED` statements by average linkage."""
    return merge_clusters(space @ space.T, [threshold])[threshold]


def group_means(vectors: Scores, ids: IntArray, k: int) -> tuple[Scores, IntArray]:
    """Return mean vectors of k groups, shape (k, d), without rescaling, and the group sizes."""
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
    """Return each statement's mean score with the other members of each group, shape (n, k).

    The only member of a group has the worst score, -1, with that group.
    """
    k = int(ids.max(initial=UNCLUSTERED)) + 1
    means, sizes = group_means(vectors, ids, k)
    scores: Scores = vectors @ means.T
    rows = np.flatnonzero(ids >= 0)
    own = ids[rows]
    itself = np.einsum("nd,nd->n", vectors[rows], vectors[rows])
    others = np.maximum(sizes[own] - 1, 1)
    scores[rows, own] = (scores[rows, own] * sizes[own] - itself) / others
    scores[rows[sizes[own] < 2], own[sizes[own] < 2]] = -1.0
    return scores


def distinctness(vectors: Scores, ids: IntArray, k: int) -> list[float]:
    """Return, for each group, its mean score with itself minus that with the nearest other group.

    Examples
    --------
    >>> two = np.array([[1, 0], [1, 0], [0.8, 0.6]], dtype=np.float32)
    >>> [round(value, 2) for value in distinctness(two, np.array([0, 0, 1]), 2)]
    [0.2, 0.2]
    """
    means, _sizes = group_means(vectors, ids, k)
    scores = means @ means.T
    own = scores.diagonal().copy()
    np.fill_diagonal(scores, -np.inf)
    nearest = scores.max(axis=1) if k > 1 else np.zeros(k)
    margins: list[float] = (own - nearest).tolist()
    return margins


def refined(vectors: Scores, ids: Sequence[int]) -> IntArray:
    """Move each grouped statement to the group that it matches best on average.

    This is `argsum.systems.methods.clusters.refine_clusters` for vectors.
    """
    now = np.array(ids, dtype=np.int64)
    for _round in range(ROUNDS):
        if now.max(initial=UNCLUSTERED) < 1:
            break
        best = mean_scores(vectors, now).argmax(axis=1)
        moved = np.where(now == UNCLUSTERED, UNCLUSTERED, best)
        if np.array_equal(moved, now):
            break
        now = np.array(numbered(moved, min_size=MIN_SIZE))
    return now


def spread(space: Scores, ids: IntArray, rows: IntArray, threshold: float) -> IntArray:
    """Extend the groups of a sample to all statements.

    Parameters
    ----------
    space : float array, shape (n, d)
        Vectors of all statements.
    ids : length s
        Groups of the sampled statements.
    rows : length s
        Positions of the sampled statements.
    threshold
        A statement joins the group with the largest mean score above the threshold. The remaining
        statements are grouped among themselves, and so on until few are left.
    """
    clusters = np.full(len(space), UNCLUSTERED, dtype=np.int64)
    clusters[rows] = ids
    draw = np.random.default_rng(1)
    for _round in range(ROUNDS):
        _join(space, clusters, threshold)
        left = np.flatnonzero(clusters == UNCLUSTERED)
        if len(left) < MIN_SIZE:
            break
        some = np.sort(draw.permutation(left)[:MOST_COMPARED])
        groups = np.array(group_at(space[some], threshold))
        if groups.max(initial=UNCLUSTERED) < 0:
            break
        clusters[some] = np.where(
            groups >= 0, groups + clusters.max(initial=UNCLUSTERED) + 1, UNCLUSTERED
        )
        if len(some) == len(left):
            break
    return np.array(numbered(clusters, min_size=MIN_SIZE))


def without_small(ids: IntArray, least: int) -> IntArray:
    """Dissolve groups with fewer than ``least`` members, and renumber by first appearance."""
    return np.array(numbered(ids, min_size=least))


def _join(space: Scores, ids: IntArray, threshold: float) -> None:
    """Add ungrouped statements to their best-matching group if the score is high enough."""
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


@dataclass(frozen=True)
class TextFit:
    """Match of a text with its own statements, and with those of the nearest other key point.

    ``nearest`` is the position of that key point, or None if there is no other.
    """

    own: float
    other: float | None = None
    nearest: int | None = None

    @property
    def fits(self) -> bool:
        """Whether the text matches its own statements better than those of any other key point."""
        return self.other is None or self.own > self.other


def fits_of(
    written: Scores, own: Sequence[int], statements: Scores, placed: IntArray, points: int
) -> list[TextFit]:
    """Compare how texts match the statements of their own key points and of other key points.

    Parameters
    ----------
    written : shape (w, d)
        Vectors of the texts, of length 1.
    own : length w
        The key point for which each text was written.
    statements : shape (n, d)
        Vectors of the statements, of length 1.
    placed : length n
        The key point of each statement, or -1.
    points
        Number of key points. A key point without statements is never the nearest.

    Examples
    --------
    >>> one = np.eye(2, dtype=np.float32)
    >>> [fit.fits for fit in fits_of(one, [0, 0], one, np.array([0, 1]), 2)]
    [True, False]
    """
    means, sizes = group_means(statements, placed, points)
    # The mean score with vectors of length 1 is the score with their mean.
    scores = np.where(np.asarray(sizes) > 0, written @ means.T, -np.inf)
    return [_fit(row, place) for row, place in zip(scores, own, strict=True)]


def _fit(scores: Scores, place: int) -> TextFit:
    others = scores.copy()
    others[place] = -np.inf
    nearest = int(others.argmax())
    own = float(scores[place])
    if not np.isfinite(others[nearest]):
        return TextFit(own)
    return TextFit(own, float(others[nearest]), nearest)


# Two statements count as the same if both contain at least this share of all their words.
ALIKE = 0.5
_WORD = re.compile(r"\w+")


def different(texts: Sequence[str], most: int) -> list[int]:
    """Return positions of up to ``most`` texts, each unlike the earlier ones.

    If there are too few such texts, the first of the remaining texts are added. Two texts are
    alike if at least half of all their words are in both (Jaccard), regardless of case.

    >>> different(["The bus is late.", "The bus is late!", "Trains are loud."], 2)
    [0, 2]
    """
    picks = unlike(texts, most)
    rest = (at for at in range(len(texts)) if at not in set(picks))
    return sorted([*picks, *(at for at, _n in zip(rest, range(most - len(picks)), strict=False))])


def unlike(texts: Sequence[str], most: int) -> list[int]:
    """Return positions of up to ``most`` texts, each unlike the earlier ones; see `different`."""
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    picks: list[int] = []
    for at in range(len(texts)):
        if len(picks) < most and all(
            _likeness(words[at], words[place]) < ALIKE for place in picks
        ):
            picks.append(at)
    return picks


def _likeness(words: frozenset[str], other: frozenset[str]) -> float:
    both = len(words | other)
    return len(words & other) / both if both else 1.0


# There is no dictionary, so that names and other languages are treated in the same way.
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SHORTEST = 5
# A word is common if at least this many statements contain it.
COMMON = 5
# Words that differ only in up to this many final letters are forms of the same word.
ENDING = 2


class KnownWords:
    """The words of all statements of an analysis.

    Two words are near if removing one letter from either or both makes them identical. This covers
    words with a missing, extra or wrong letter, or with two swapped letters.

    Examples
    --------
    >>> known = KnownWords([f"The library is open on day {n}." for n in range(9)] + ["A libary."])
    >>> known.is_typo("libary"), known.is_typo("library")
    (True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.counts: Counter[str] = Counter()
        for text in texts:
            self.counts.update(set(WORD.findall(text.lower())))
        self._near: dict[str, list[str]] = {}
        for word, number in self.counts.items():
            if number >= COMMON and len(word) >= SHORTEST - 1:
                for key in _shortened(word):
                    self._near.setdefault(key, []).append(word)

    def is_typo(self, word: str) -> bool:
        """Return whether a lower-case word is likely to be a typo."""
        if len(word) < SHORTEST or self.counts[word] > 1 or not word.isalpha():
            return False
        near = (candidate for key in _shortened(word) for candidate in self._near.get(key, ()))
        return any(_is_slip(word, candidate) for candidate in near)


def _shortened(word: str) -> Iterator[str]:
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _is_slip(word: str, common: str) -> bool:
    """Return whether a word is a slip, not a form of a frequent word ("stops" for "stop")."""
    if word == common or word[0] != common[0]:
        return False
    least = min(len(word), len(common)) - ENDING + 1
    return word[:least] != common[:least]
