"""Key points of statements: which statements belong together, and what stands for them.

Nothing here knows the database. Who calls hands over `Tools`; what comes out is plain numbers
and texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from argsum.systems.methods.scoring import Scores

NONE = -1


class Tools(Protocol):
    """What the analysis asks of whoever runs it; ``say`` hears how far it is, and may raise."""

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
    """One setting: its name, what came out, and what the rule that chooses looked at."""

    setting: str
    points: int
    share: float
    criteria: Mapping[str, float] = field(default_factory=dict)


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
        tried = [
            {"setting": each.setting, "points": each.points, "share": each.share}
            | dict(each.criteria)
            for each in self.tried
        ]
        return {"setting": self.setting, "rule": self.rule, "tried": tried}


Write = Callable[[Sequence[Sequence[str]]], Sequence[str]]


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
    """
    import numpy as np

    from argsum.systems.methods.extractive import central_argument
    from argsum.systems.methods.mcargsum import members, merge_clusters

    tools.say(0.0, "reading the statements")
    vectors = tools.vectors(texts)
    match = np.asarray(vectors @ vectors.T, dtype=np.float32)
    grid = [round(0.3 + 0.05 * step, 2) for step in range(11)]
    clusters = merge_clusters(match, grid)
    tried = tuple(
        Tried(f"{each:g}", len(set(ids) - {NONE}), 1 - ids.count(NONE) / max(1, len(ids)))
        for each, ids in clusters.items()
    )
    taken = setting or "0.5"
    groups = members(clusters[float(taken)])
    ordered = sorted(groups.values(), key=lambda rows: (-len(rows), rows[0]))
    central = [central_argument(match, rows) for rows in ordered]
    placed, scores = [NONE] * len(texts), [0.0] * len(texts)
    for place, rows in enumerate(ordered):
        for row in rows:
            placed[row], scores[row] = place, float(match[row, central[place]])
    points = tuple(texts[row] for row in central)
    return Found(points, tuple(placed), tuple(scores), taken, tried, "first")


def place_new(
    texts: Sequence[str],
    points: Sequence[str],
    behind: Sequence[Sequence[str]],
    tools: Tools,
) -> tuple[list[int], list[float]]:
    """The key point of each new statement, and its score; -1 for what fits none.

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
    new, old = tools.vectors(texts), tools.vectors(points)
    match = new @ old.T
    best = match.argmax(axis=1)
    scores = [float(match[row, place]) for row, place in enumerate(best)]
    return [int(p) if s > 0.5 else NONE for p, s in zip(best, scores, strict=True)], scores
