"""Figures of a match scorer on a split, from what it makes of the texts."""

from collections.abc import Callable, Sequence
from typing import Any

from argsum.scorers.methods.cluster_figures import OverCells
from argsum.scorers.methods.figures import (
    CLUSTERINGS,
    Clustering,
    ScoredCell,
    accuracy,
    cluster_cells,
    decided_pairs,
    f1_at,
    match_threshold,
)
from argsum.scorers.methods.training_cells import TrainingCell
from argsum.systems.methods.scoring import Scores, with_topic

Encode = Callable[[Sequence[str]], Scores]
Figures = dict[str, Any]


def scored_cells(
    cells: Sequence[TrainingCell], encode: Encode, *, uses_topic: bool
) -> list[ScoredCell]:
    """Judged arguments of each cell with their cosines; all texts are encoded in one go."""
    texts: list[str] = []
    for cell in cells:
        own = [*(cell.arguments[row] for row in cell.judged), *cell.key_points]
        texts += with_topic(own, cell.topic if uses_topic else "")
    vectors: Any = encode(texts) if texts else None
    found, start = [], 0
    for cell in cells:
        middle = start + len(cell.judged)
        stop = middle + len(cell.key_points)
        arguments, points = vectors[start:middle], vectors[middle:stop]
        found.append(
            ScoredCell(
                cell.name,
                tuple(cell.reference()),
                cell.key_points,
                arguments @ arguments.T,
                arguments @ points.T,
                cell.labels[list(cell.judged)],
            )
        )
        start = stop
    return found


def chosen_on_dev(dev: Sequence[ScoredCell]) -> Figures:
    """Thresholds, and how to cluster beyond the paper's way, by the dev split alone."""
    tried = {each: cluster_cells(dev, each) for each in CLUSTERINGS}
    thresholds = {each: clusters.best_threshold() for each, clusters in tried.items()}
    # The first wins a tie: it is the simplest.
    best = max(CLUSTERINGS, key=lambda each: tried[each].worth(thresholds[each]))
    decided = match_threshold(*decided_pairs(dev))
    return {
        "threshold": decided[0] if decided else None,
        "clustering_threshold": thresholds[CLUSTERINGS[0]],
        "profile": best.profile,
        "refines": best.refines,
        "beyond_threshold": thresholds[best],
    }


def split_figures(cells: Sequence[ScoredCell], chosen: Figures) -> Figures:
    """Figures of one split.

    ``excluding`` is the mean over the cells in which enough is clustered, ``cells_clustered`` of
    ``cells_judged``; ``excluding_with_zeros`` counts the others as 0.

    ``oracle`` took the best threshold of each cell, ``at_threshold`` the one of dev; ``beyond``
    is the same for the way of clustering that dev chose.
    """
    plain = cluster_cells(cells)
    beyond = cluster_cells(cells, Clustering(chosen["profile"], chosen["refines"]))
    matching, others = decided_pairs(cells)
    threshold = chosen["threshold"]
    return {
        "cells": len(cells),
        "arguments": sum(len(cell.reference) for cell in cells),
        "accuracy": accuracy(cells),
        "oracle": _over(plain.oracle()),
        "at_threshold": _over(plain.at(chosen["clustering_threshold"])),
        "beyond_oracle": _over(beyond.oracle()),
        "beyond_at_threshold": _over(beyond.at(chosen["beyond_threshold"])),
        "pairs": len(matching) + len(others),
        "f1": None if threshold is None else f1_at(matching, others, threshold),
    }


def _over(found: tuple[OverCells, OverCells]) -> Figures:
    excluding, including = found
    return {
        "excluding": excluding.mean,
        "excluding_with_zeros": excluding.with_zeros,
        "including": including.mean,
        "cells_clustered": excluding.n,
        "cells_judged": excluding.cells,
    }
