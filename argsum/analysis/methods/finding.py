"""Key points of statements: which statements belong together, and what stands for them.

Nothing here knows the database. Who calls hands over `Tools`; what comes out is plain numbers
and texts.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from argsum.systems.methods.mcargsum import MIN_SIZE
from argsum.systems.methods.scoring import Scores
from cqa_site.stats.arrays import IntArray

from .grouping import (
    MOST_COMPARED,
    centred,
    group_at,
    group_means,
    likeness_map,
    mixed_vectors,
    refined,
    spread,
    without_small,
)
from .typos import KnownWords
from .wording import as_sentence, best_put

NONE = -1
# So many of the most central statements of a group may stand for it; each is read once more for
# its quality, which with some hundred groups of 200 takes minutes.
MOST_CANDIDATES = 50
# So many statements behind a key point say how alike they are.
MOST_BEHIND = 200


class Tools(Protocol):
    """What the analysis asks of whoever runs it; ``say`` hears how far it is, and may raise."""

    @property
    def tells_sides(self) -> bool:
        """Whether vectors know the side that a text takes (`cqa_site.judging.embedding.Side`)."""
        ...

    def vectors(self, texts: Sequence[str]) -> Scores:
        """Sentence vectors of length 1 by the match scorer, shape (n, d)."""
        ...

    def quality(self, texts: Sequence[str]) -> Scores:
        """How well each text is put, about 0–1, shape (n,); nan where none is known."""
        ...

    def say(self, share: float, what: str) -> None:
        """How far it is, 0–1."""
        ...


@dataclass(frozen=True)
class Tried:
    """One setting: its name, and how much came out of it."""

    setting: str
    points: int
    share: float


@dataclass(frozen=True)
class Found:
    """What statements came to.

    Attributes
    ----------
    points
        Texts of key points; those with most statements first.
    placed : length n
        Position of the key point of each statement; -1 is none.
    scores : length n
        Match score of each statement with its key point, or with the nearest one.
    setting, tried
        The setting that was taken, and all that were looked at, in the order of the grid.
    rule
        The rule that took it, as a key that pages put into words.
    """

    points: tuple[str, ...]
    placed: tuple[int, ...]
    scores: tuple[float, ...]
    setting: str
    tried: tuple[Tried, ...]
    rule: str

    def choice(self) -> dict[str, Any]:
        """As `argsum.analysis.models.Analysis.choice` keeps it."""
        tried = [asdict(each) for each in self.tried]
        return {"setting": self.setting, "rule": self.rule, "tried": tried}


# Chosen on ArgKP's dev split and the dev half of Debate, whose cells each take one side; where
# sides are told, on four invented sets of comments and the demo's (docs/papers/argsum.md). Rows
# of scores count a quarter; then each statement is moved to the group that fits best.
WEIGHT, USUAL, USUAL_WITH_SIDES = 0.25, 0.275, 0.425
RULE = "usual"
GRID = tuple(round(0.2 + 0.025 * step, 3) for step in range(25))
# A key point stands for at least so many of all statements, and for three.
FEWEST_SHARE = 1 / 2_000
# A new statement fits a key point from this mean score on, or from the one that this share of the
# statements behind it is above, if these are less alike. Of fewer than five, no share is taken.
FITS, NEARER, FEWEST_BEHIND = 0.4, 0.9, 5


def find_points(
    texts: Sequence[str], tools: Tools, *, counts: Sequence[int] = (), setting: str = ""
) -> Found:
    """Key points of different statements on one topic.

    Parameters
    ----------
    texts : n texts
        Each once.
    tools
        Vectors, qualities, and who hears how far it is.
    counts : length n, or empty
        How often each was said.
    setting
        One of `Found.tried`, to take it whatever the rule says.

    Raises
    ------
    ValueError
        For a setting that is none.
    """
    taken = _threshold(setting, tools)
    if not texts:
        return Found((), (), (), f"{taken:g}", (), RULE)
    tools.say(0.0, "reading the statements")
    vectors = centred(np.asarray(tools.vectors(texts), dtype=np.float32))
    tools.say(0.8, "grouping them")
    rows = _sample(len(texts))
    turned = likeness_map(vectors[rows])
    space = mixed_vectors(vectors[rows], turned, WEIGHT)
    groups = group_at(space, GRID)
    ids = refined(vectors[rows], groups[taken])
    if len(rows) < len(texts):
        ids = spread(mixed_vectors(vectors, turned, WEIGHT), ids, rows, taken)
        ids = refined(vectors, ids.tolist())
    ids = without_small(ids, max(MIN_SIZE, math.ceil(FEWEST_SHARE * len(texts))))
    _fit_others(vectors, ids)
    tools.say(0.9, "choosing what stands for each group")
    tried = tuple(_tried(each, held) for each, held in groups.items())
    return _found(texts, vectors, ids, counts, tools, f"{taken:g}", tried)


def _fit_others(vectors: Scores, ids: IntArray) -> None:
    """Put statements that are in no group behind a key point that they fit; see `FITS`."""
    k = int(ids.max(initial=NONE)) + 1
    left = np.flatnonzero(ids == NONE)
    if not k or not len(left):
        return
    means, _sizes = group_means(vectors, ids, k)
    least = [_least(vectors[np.flatnonzero(ids == place)]) for place in range(k)]
    placed, _scores = _fitting(vectors[left], means, least)
    ids[left] = placed


def _fitting(new: Scores, means: Scores, least: Sequence[float]) -> tuple[IntArray, Scores]:
    """The best key point that each fits, -1 for none; and the score with it, or the best one."""
    match = new @ means.T
    fits = np.where(match >= np.array(least), match, -np.inf)
    placed = np.where(np.isfinite(fits.max(axis=1)), fits.argmax(axis=1), NONE)
    shown = np.where(placed == NONE, match.argmax(axis=1), placed)
    scores: Scores = match[np.arange(len(new)), shown]
    return placed, scores


def _threshold(setting: str, tools: Tools) -> float:
    usual = USUAL_WITH_SIDES if tools.tells_sides else USUAL
    taken = float(setting) if setting else usual
    if taken not in GRID:
        raise ValueError(f"{setting!a} is no setting")
    return taken


def _sample(n: int) -> IntArray:
    """Places of the statements that are compared with each other, in order."""
    if n <= MOST_COMPARED:
        return np.arange(n)
    return np.sort(np.random.default_rng(1).permutation(n)[:MOST_COMPARED])


def _tried(threshold: float, ids: Sequence[int]) -> Tried:
    share = 1 - list(ids).count(NONE) / len(ids)
    return Tried(f"{threshold:g}", len(set(ids) - {NONE}), round(share, 4))


def _found(
    texts: Sequence[str],
    vectors: Scores,
    ids: IntArray,
    counts: Sequence[int],
    tools: Tools,
    setting: str,
    tried: tuple[Tried, ...],
) -> Found:
    """Groups with the statement that stands for each, those that most comments say first."""
    said = np.asarray(counts if len(counts) else [1] * len(texts))
    groups = [np.flatnonzero(ids == place) for place in range(int(ids.max(initial=NONE)) + 1)]
    groups.sort(key=lambda rows: (-int(said[rows].sum()), int(rows[0])))
    placed = np.full(len(texts), NONE, dtype=np.int64)
    scores = np.zeros(len(texts), dtype=np.float32)
    known = KnownWords(texts)
    points = []
    for place, rows in enumerate(groups):
        best = _stands_for(texts, vectors, rows, tools, known)
        points.append(as_sentence(texts[best]))
        placed[rows] = place
        scores[rows] = vectors[rows] @ vectors[best]
    return Found(
        tuple(points), tuple(placed.tolist()), tuple(scores.tolist()), setting, tried, RULE
    )


def _stands_for(
    texts: Sequence[str], vectors: Scores, rows: IntArray, tools: Tools, known: KnownWords
) -> int:
    """The best put of the most central statements of a group, as its place among all."""
    central = vectors[rows] @ vectors[rows].mean(axis=0)
    near = np.argsort(-central, kind="stable")[:MOST_CANDIDATES]
    some = [texts[row] for row in rows[near]]
    best = best_put(some, central[near].tolist(), tools.quality(some).tolist(), known)
    return int(rows[near[best]])


def place_new(
    texts: Sequence[str],
    points: Sequence[str],
    behind: Sequence[Sequence[str]],
    tools: Tools,
) -> tuple[list[int], list[float]]:
    """The key point of each new statement, and its score; -1 for what fits none.

    A statement fits a key point if it matches the statements behind it well enough on average;
    see `FITS`.

    Parameters
    ----------
    texts : n texts
        New statements.
    points : k texts
        Key points as they are called now.
    behind : length k
        Some statements behind each, at most some hundred; they say what it is about where its
        text was changed.
    tools
        As in `find_points`.
    """
    if not texts or not points:
        return [NONE] * len(texts), [0.0] * len(texts)
    new = np.asarray(tools.vectors(texts), dtype=np.float32)
    known = [
        np.asarray(tools.vectors(list(own) or [point]), dtype=np.float32)
        for point, own in zip(points, behind, strict=True)
    ]
    middle = np.concatenate(known).mean(axis=0)
    known = [centred(held, middle) for held in known]
    means = np.stack([held.mean(axis=0) for held in known])
    placed, scores = _fitting(centred(new, middle), means, [_least(held) for held in known])
    return placed.tolist(), scores.tolist()


def _least(held: Scores) -> float:
    """The mean score from which on a statement fits those of a key point, shape (m, d)."""
    if len(held) < FEWEST_BEHIND:
        return FITS
    held = held[:: max(1, len(held) // MOST_BEHIND)]
    among = held @ held.sum(axis=0) - np.einsum("nd,nd->n", held, held)
    return min(FITS, float(np.quantile(among / (len(held) - 1), 1 - NEARER)))
