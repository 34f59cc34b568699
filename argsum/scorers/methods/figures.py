"""Quality of match scorers: clusters, pairs and thresholds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from argsum.systems.methods.clusters import (
    THRESHOLDS,
    UNCLUSTERED,
    merge_clusters,
    profile_scores,
    refine_clusters,
)
from cqa_site.stats.arrays import FloatArray
from .training import MATCH, NO_MATCH, Labels

# Agreement of clusters of arguments with the key points that people assigned.
#
# Source: argument summarization paper, section 4.2.1; Warrens and van der Hoef (2022) for the
# adjusted Rand index. Higher is better.

Noise = Literal["exclude", "include"]

# The paper prints 70 %; its released clusterings reproduce its figures with 75 %.
LEAST_SHARE = 0.75


@dataclass(frozen=True)
class ClusterFigure:
    """Figures for one clustering of one cell against the reference.

    Attributes
    ----------
    setting
        Setting that produced the clusters.
    excluding, including
        Adjusted Rand index without unclustered arguments, and with these as one more cluster; None
        if undefined.
    share
        Share of clustered arguments, 0–1.
    """

    setting: str
    excluding: float | None
    including: float | None
    share: float


@dataclass(frozen=True)
class OverCells:
    """Mean over cells; some cells may have no index.

    Attributes
    ----------
    mean
        Mean over the cells with an index, or None.
    with_zeros
        Mean over all cells, counting cells without an index as 0; None if there are no cells. Used
        to choose and rank settings, so that no setting wins by leaving cells out.
    n, cells
        Numbers of cells with an index and of all cells.
    """

    mean: float | None
    with_zeros: float | None
    n: int
    cells: int


def over_cells(values: Iterable[float | None]) -> OverCells:
    """Return the mean of an index over cells; None stands for a cell without an index.

    Examples
    --------
    >>> over_cells([0.5, None, 0.4])
    OverCells(mean=0.45, with_zeros=0.3, n=2, cells=3)
    """
    every = list(values)
    known = [value for value in every if value is not None]
    total = sum(known)
    return OverCells(
        mean=total / len(known) if known else None,
        with_zeros=total / len(every) if every else None,
        n=len(known),
        cells=len(every),
    )


def has_enough(share: float | None, least_share: float = LEAST_SHARE) -> bool:
    """Return whether enough arguments are clustered for an index over these arguments alone."""
    return (share or 0.0) >= least_share - 1e-12


@dataclass(frozen=True)
class BestPerCell:
    """The best clustering of every cell, chosen by the reported figure: an oracle.

    Attributes
    ----------
    over
        The mean over cells, with their number.
    chosen
        Cell → clustering.
    without
        Cells without a clustering that has a figure and a large enough share.
    """

    over: OverCells
    chosen: dict[str, ClusterFigure]
    without: tuple[str, ...]

    @property
    def mean(self) -> float | None:
        """Mean over the cells with an index, or None."""
        return self.over.mean


def cluster_figure(setting: str, reference: Sequence[str], ids: Sequence[int]) -> ClusterFigure:
    """Return all figures for one clustering; both sequences have length n."""
    return ClusterFigure(
        setting,
        excluding=adjusted_rand(reference, ids, noise="exclude"),
        including=adjusted_rand(reference, ids, noise="include"),
        share=share_clustered(ids),
    )


def adjusted_rand(
    reference: Sequence[str], ids: Sequence[int], *, noise: Noise = "include"
) -> float | None:
    """Return the adjusted Rand index of cluster ids against the reference key points.

    Parameters
    ----------
    reference : length n
        Key point of each argument.
    ids : length n
        Cluster of each argument; -1 is unclustered.
    noise
        ``"exclude"`` leaves unclustered arguments out; ``"include"`` treats them as one more
        cluster.

    Returns
    -------
    float or None
        At most 1, and about 0 for random clusters. 1 if both sides are a single cluster, or if all
        clusters on both sides are single arguments. None for fewer than 2 arguments.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> adjusted_rand("aabbc", [0, 0, 1, -1, -1], noise="exclude")
    1.0
    >>> adjusted_rand("aabbc", [0, 0, 1, -1, -1], noise="include")
    0.375
    """
    pairs = [
        pair
        for pair in zip(reference, ids, strict=True)
        if noise == "include" or pair[1] != UNCLUSTERED
    ]
    if len(pairs) < 2:
        return None
    together = _pairs(pairs)
    rows, columns = (_pairs(side) for side in zip(*pairs, strict=True))
    return index_of_pairs(len(pairs), together, rows, columns)


def index_of_pairs(n: int, together: int, rows: int, columns: int) -> float:
    """Return the adjusted Rand index of n arguments from counts of pairs.

    ``together`` counts pairs that share both labels, and ``rows`` and ``columns`` count pairs that
    share one of the labels.
    """
    if together == rows == columns:
        # The same partition, or a case in which chance is as good and the index is 0 / 0.
        return 1.0
    # Integer arithmetic, so that rounding does not depend on the order of operations.
    total, chance = comb(n, 2), rows * columns
    return 2 * (together * total - chance) / ((rows + columns) * total - 2 * chance)


def share_clustered(ids: Sequence[int]) -> float:
    """Return the share of clustered arguments, or 0 if there are no arguments."""
    return sum(cluster != UNCLUSTERED for cluster in ids) / len(ids) if ids else 0.0


def best_per_cell(
    cells: Mapping[str, Sequence[ClusterFigure]], *, noise: Noise, least_share: float = LEAST_SHARE
) -> BestPerCell:
    """Return the clustering with the largest index for every cell, and the mean over cells.

    Parameters
    ----------
    cells
        Cell → its clusterings.
    noise
        ``"exclude"`` uses `excluding`, among clusterings with at least `least_share` clustered;
        ``"include"`` uses `including`, among all clusterings.
    least_share
        0–1, inclusive.

    Notes
    -----
    The reported figure is also used for the choice, so it is an oracle. Ties go to the first
    clustering.
    """
    chosen: dict[str, ClusterFigure] = {}
    values: dict[str, float | None] = {}
    for cell, figures in cells.items():
        valued = [
            (value, figure)
            for figure in figures
            if (value := index_of(figure, noise, least_share)) is not None
        ]
        if any(cluster_figure.including is not None for cluster_figure in figures):
            # Other cells have fewer than two arguments, so they have no index to miss.
            values[cell] = None
        if valued:
            values[cell], chosen[cell] = max(valued, key=lambda pair: pair[0])
    return BestPerCell(
        over=over_cells(values.values()),
        chosen=chosen,
        without=tuple(cell for cell in cells if cell not in chosen),
    )


def index_of(
    figure: ClusterFigure, noise: Noise, least_share: float = LEAST_SHARE
) -> float | None:
    """Return the index of a clustering, or None if too few arguments are clustered."""
    if noise == "include":
        return figure.including
    return figure.excluding if has_enough(figure.share, least_share) else None


def _pairs(labels: Sequence[object]) -> int:
    """Count the pairs of arguments that share a label."""
    return sum(comb(size, 2) for size in Counter(labels).values())


# Quality of a match scorer: agreement of clusters, key points found, pairs decided.
#
# Sources: argument summarization paper, sections 3.3 and 4.2.1. Thresholds are chosen on one split
# and reported on another; the best threshold per cell is an oracle.


class ClusterRecipe(NamedTuple):
    """Clustering options: ``weight`` of `profile_scores`, and whether to refine clusters."""

    profile: float = 0.0
    refines: bool = False


# The paper's recipe comes first; the dev split chooses a recipe.
CLUSTERINGS = tuple(
    ClusterRecipe(weight, refines) for refines in (False, True) for weight in (0, 0.5, 1)
)


@dataclass(frozen=True)
class ScoredCell:
    """One cell with the scores of its evaluated arguments.

    Attributes
    ----------
    reference : length n
        Key point of each argument.
    match : float array, shape (n, n)
        Scores of arguments with arguments.
    against : float array, shape (n, k)
        Scores of arguments with all key points of the cell.
    labels : int8 array, shape (n, k)
        As in `argsum.scorers.methods.training.TrainingCell`.
    """

    name: str
    reference: tuple[str, ...]
    key_points: tuple[str, ...]
    match: FloatArray
    against: FloatArray
    labels: Labels


@dataclass(frozen=True)
class Clusterings:
    """Figures for every cell at every threshold, from one kind of score."""

    cells: Mapping[str, Sequence[ClusterFigure]]

    def oracle(self) -> tuple[OverCells, OverCells]:
        """Return the indices excluding and including noise at the best threshold of each cell."""
        return (
            best_per_cell(self.cells, noise="exclude").over,
            best_per_cell(self.cells, noise="include").over,
        )

    def at(self, threshold: float) -> tuple[OverCells, OverCells]:
        """Return the indices excluding and including noise over cells, at one threshold.

        Cells with fewer than 2 evaluated arguments have no index and are not counted.
        """
        figures = [self._figure(cell, threshold) for cell in self.cells.values()]
        figures = [figure for figure in figures if figure.including is not None]
        return (
            over_cells(index_of(figure, "exclude") for figure in figures),
            over_cells(index_of(figure, "include") for figure in figures),
        )

    def worth(self, threshold: float) -> float:
        """Return the sum of both indices, for ranking thresholds; cells without an index add 0."""
        return sum(cells.with_zeros or 0.0 for cells in self.at(threshold))

    def best_threshold(self) -> float:
        """Return the threshold with the largest sum of both indices; ties go to the lowest."""
        return max(
            THRESHOLDS, key=lambda threshold: (round(self.worth(threshold), 12), -threshold)
        )

    @staticmethod
    def _figure(figures: Sequence[ClusterFigure], threshold: float) -> ClusterFigure:
        return next(figure for figure in figures if figure.setting == f"{threshold:g}")


def cluster_cells(
    cells: Sequence[ScoredCell], clustering: ClusterRecipe = CLUSTERINGS[0]
) -> Clusterings:
    """Cluster every cell at all thresholds, by the paper's average linkage or a variant."""
    figures = {}
    for cell in cells:
        scores = np.asarray(cell.match, dtype=np.float64)
        likened = (
            profile_scores(scores, weight=clustering.profile) if clustering.profile else scores
        )
        merged = merge_clusters(likened, THRESHOLDS)
        if clustering.refines:
            merged = {level: refine_clusters(scores, ids) for level, ids in merged.items()}
        figures[cell.name] = [
            cluster_figure(f"{threshold:g}", cell.reference, ids)
            for threshold, ids in merged.items()
        ]
    return Clusterings(figures)


def accuracy(cells: Sequence[ScoredCell]) -> float | None:
    """Return the share of arguments matched to their own key point, or None for an empty cell."""
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
    """Return scores of labelled argument–key point pairs: matching pairs, then the others."""
    matching = [cell.against[cell.labels == MATCH] for cell in cells]
    others = [cell.against[cell.labels == NO_MATCH] for cell in cells]
    empty = np.zeros(0)
    return np.concatenate([empty, *matching]), np.concatenate([empty, *others])


def match_threshold(matching: FloatArray, others: FloatArray) -> tuple[float, float] | None:
    """Return the threshold (score > t) with the best F1, and the F1; None if either list is empty.

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
    # A threshold is between two different scores; above the last one, everything matches.
    ends = np.append(ranked[:-1] > ranked[1:], True)
    best = int(np.argmax(np.where(ends, f1, -1)))
    below = ranked[best + 1] if best + 1 < len(ranked) else ranked[best] - 0.01
    return round(float((ranked[best] + below) / 2), 4), float(f1[best])


def f1_at(matching: FloatArray, others: FloatArray, threshold: float) -> float | None:
    """Return F1 of "match" at the threshold, or None if there is no matching pair."""
    if not len(matching):
        return None
    hits = float((matching > threshold).sum())
    positives = hits + float((others > threshold).sum())
    return 2 * hits / (positives + len(matching))


# Ranking of argument pairs: pairs with the same key point should come first.
#
# This figure needs no threshold, so it changes smoothly during training, whereas the adjusted Rand
# index of a few cells jumps. It chooses the weights on the dev split.


def same_point_precision(match: FloatArray, reference: Sequence[str]) -> float | None:
    """Return the average precision of "same key point" over all argument pairs of a cell.

    Parameters
    ----------
    match : float array, shape (n, n)
        Symmetric scores, read above the diagonal. Ties keep the order of rows.
    reference : length n
        Key point of each argument.

    Returns
    -------
    float or None
        0–1, higher is better; the chance level is the share of such pairs. None if there are
        no such pairs.

    Examples
    --------
    >>> scores = np.array([[1, 0.9, 0.2], [0.9, 1, 0.4], [0.2, 0.4, 1]])
    >>> same_point_precision(scores, ["a", "b", "b"])
    0.5
    """
    _names, codes = np.unique(np.array(reference), return_inverse=True)
    rows, columns = np.triu_indices(len(codes), 1)
    same = codes[rows] == codes[columns]
    if not same.any():
        return None
    ranked = same[np.argsort(-np.asarray(match)[rows, columns], kind="stable")]
    hits = np.cumsum(ranked)
    return float((hits / np.arange(1, len(ranked) + 1))[ranked].mean())
