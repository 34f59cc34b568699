"""How good a match scorer is: clusters against key points, key points found, pairs decided.

Sources: argument summarization paper, sections 3.3 and 4.2.1. What is chosen here (thresholds)
is chosen on one split and reported on another; the best threshold per cell is an oracle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from argsum.systems.methods.cluster_refining import refine_clusters
from argsum.systems.methods.mcargsum import THRESHOLDS, merge_clusters
from argsum.systems.methods.profiles import profile_scores
from cqa_site.stats.arrays import FloatArray

from .cluster_figures import (
    ClusterFigure,
    OverCells,
    best_per_cell,
    cluster_figure,
    index_of,
    over_cells,
)
from .training_cells import MATCH, NO_MATCH, Labels


class Clustering(NamedTuple):
    """How cells are clustered: ``weight`` of `profile_scores`, and whether to refine."""

    profile: float = 0.0
    refines: bool = False


# As in the paper first; the dev split chooses among them.
CLUSTERINGS = tuple(
    Clustering(weight, refines) for refines in (False, True) for weight in (0, 0.5, 1)
)


@dataclass(frozen=True)
class ScoredCell:
    """One cell with a scorer's scores of the arguments that are judged.

    Attributes
    ----------
    reference : length n
        The key point of each argument.
    match : float array, shape (n, n)
        Arguments with arguments.
    against : float array, shape (n, k)
        Arguments with all key points of the cell.
    labels : int8 array, shape (n, k)
        As in `argsum.scorers.methods.training_cells.TrainingCell`.
    """

    name: str
    reference: tuple[str, ...]
    key_points: tuple[str, ...]
    match: FloatArray
    against: FloatArray
    labels: Labels


@dataclass(frozen=True)
class Clusterings:
    """Figures of every cell at every threshold, from one kind of scores."""

    cells: Mapping[str, Sequence[ClusterFigure]]

    def oracle(self) -> tuple[OverCells, OverCells]:
        """Index excluding and including noise, best threshold per cell, over cells."""
        return (
            best_per_cell(self.cells, noise="exclude").over,
            best_per_cell(self.cells, noise="include").over,
        )

    def at(self, threshold: float) -> tuple[OverCells, OverCells]:
        """Index excluding and including noise at one threshold for all cells, over cells.

        Cells with fewer than 2 judged arguments can have no index and are no cells here.
        """
        figures = [self._figure(each, threshold) for each in self.cells.values()]
        figures = [each for each in figures if each.including is not None]
        return (
            over_cells(index_of(each, "exclude") for each in figures),
            over_cells(index_of(each, "include") for each in figures),
        )

    def worth(self, threshold: float) -> float:
        """What a threshold is chosen by: both indices, 0 for cells with too little clustered."""
        return sum(each.with_zeros or 0.0 for each in self.at(threshold))

    def best_threshold(self) -> float:
        """The threshold with the largest sum of both indices over all cells; the lowest wins."""
        return max(THRESHOLDS, key=lambda each: (round(self.worth(each), 12), -each))

    @staticmethod
    def _figure(figures: Sequence[ClusterFigure], threshold: float) -> ClusterFigure:
        return next(each for each in figures if each.setting == f"{threshold:g}")


def cluster_cells(
    cells: Sequence[ScoredCell], clustering: Clustering = CLUSTERINGS[0]
) -> Clusterings:
    """Cluster every cell at all thresholds, by average linkage as the paper or beyond it."""
    found = {}
    for cell in cells:
        scores = np.asarray(cell.match, dtype=np.float64)
        likened = (
            profile_scores(scores, weight=clustering.profile) if clustering.profile else scores
        )
        merged = merge_clusters(likened, THRESHOLDS)
        if clustering.refines:
            merged = {each: refine_clusters(scores, ids) for each, ids in merged.items()}
        found[cell.name] = [
            cluster_figure(f"{threshold:g}", cell.reference, ids)
            for threshold, ids in merged.items()
        ]
    return Clusterings(found)


def accuracy(cells: Sequence[ScoredCell]) -> float | None:
    """Share of arguments whose best key point of the cell is theirs; None without arguments."""
    right = total = 0
    for cell in cells:
        best = cell.against.argmax(axis=1) if len(cell.reference) else []
        right += sum(
            cell.key_points[int(place)] == own
            for place, own in zip(best, cell.reference, strict=True)
        )
        total += len(cell.reference)
    return right / total if total else None


def decided_pairs(cells: Sequence[ScoredCell]) -> tuple[FloatArray, FloatArray]:
    """Scores of the labelled argument–key point pairs: those that match, those that do not."""
    matching = [cell.against[cell.labels == MATCH] for cell in cells]
    others = [cell.against[cell.labels == NO_MATCH] for cell in cells]
    empty = np.zeros(0)
    return np.concatenate([empty, *matching]), np.concatenate([empty, *others])


def match_threshold(matching: FloatArray, others: FloatArray) -> tuple[float, float] | None:
    """The threshold (score > t) with the best F1 for "match", and that F1; None without both.

    Examples
    --------
    >>> match_threshold(np.array([0.9, 0.7]), np.array([0.6, 0.2]))
    (0.65, 1.0)
    """
    if not len(matching) or not len(others):
        return None
    scores = np.concatenate([matching, others])
    order = np.argsort(-scores, kind="stable")
    ranked, truth = scores[order], order < len(matching)
    hits = np.cumsum(truth)
    f1 = 2 * hits / (np.arange(1, len(scores) + 1) + len(matching))
    # A threshold lies between two different scores; after the last one everything matches.
    ends = np.append(ranked[:-1] > ranked[1:], True)
    best = int(np.argmax(np.where(ends, f1, -1)))
    below = ranked[best + 1] if best + 1 < len(ranked) else ranked[best] - 0.01
    return round(float((ranked[best] + below) / 2), 4), float(f1[best])


def f1_at(matching: FloatArray, others: FloatArray, threshold: float) -> float | None:
    """F1 of "match" where a pair matches above the threshold; None without a matching pair."""
    if not len(matching):
        return None
    hits = float((matching > threshold).sum())
    said = hits + float((others > threshold).sum())
    return 2 * hits / (said + len(matching))
