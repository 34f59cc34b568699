"""Whether match scores agree with the key points that a language model gives a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argsum.analysis.methods.key_points import AnalysisTools, is_sure, sides_of
from argsum.analysis.methods.statements import centred
from argsum.systems.methods.inputs import Scores
from cqa_site.stats.arrays import IntArray


@dataclass(frozen=True)
class PointMatches:
    """Match of n statements with the texts of k key points.

    Attributes
    ----------
    scores : shape (n, k)
        Match scores on the scale of `argsum.analysis.methods.key_points.find_points`.
    sure : shape (n, k)
        Whether a score reaches the cut-off of the analysis; all False where it is not known.
    barred : shape (n, k)
        Whether they are on opposite sides, or the statement says nothing: then they never agree.
    """

    scores: Scores
    sure: NDArray[np.bool_]
    barred: NDArray[np.bool_]

    @property
    def nearest(self) -> IntArray:
        """Place of the best matching key point of each statement, shape (n,)."""
        places: IntArray = self.scores.argmax(axis=1)
        return places

    def agrees(self, statement: int, points: Sequence[int]) -> list[bool]:
        """Return, for each key point given to a statement, whether match scores agree.

        They do if the score is sure, or if it is at least that of every key point not given. Where
        all are given, none is left to compare with, and only sure scores agree.

        Examples
        --------
        >>> scores = np.array([[0.9, 0.2, 0.5]])
        >>> PointMatches(scores, scores > 0.8, scores < 0).agrees(0, [0, 1])
        [True, False]
        """
        scores = self.scores[statement]
        others = np.delete(scores, list(points))
        least = others.max() if len(others) else np.inf
        agreeing = (self.sure[statement] | (scores >= least)) & ~self.barred[statement]
        return [bool(agreeing[at]) for at in points]

    def agrees_with_none(self, statement: int) -> bool:
        """Return whether no key point surely matches a statement."""
        return not (self.sure[statement] & ~self.barred[statement]).any()


def match_points(
    texts: Sequence[str], points: Sequence[str], tools: AnalysisTools
) -> PointMatches:
    """Match statements with texts of key points, at least one, as `find_points` does.

    ``texts`` are all statements of the analysis, in its order: their common part is subtracted.
    """
    tools.say(0.0, "reading the statements", 0.9)
    vectors = np.asarray(tools.vectors(texts), dtype=np.float32)
    named = np.asarray(tools.vectors(points), dtype=np.float32)
    filler = tools.filler(texts)
    middle = vectors[slice(None) if filler.all() else ~filler].mean(axis=0)
    same_side = np.outer(sides_of(vectors, tools), sides_of(named, tools))
    scores = centred(vectors, middle) @ centred(named, middle).T
    barred = (same_side < 0) | filler[:, None]
    return PointMatches(scores, is_sure(scores, same_side, tools), barred)
