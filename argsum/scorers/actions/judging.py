"""Figures of a match scorer on a split, from what it makes of the texts."""

from collections.abc import Callable, Sequence
from typing import Any

from argsum.scorers.methods.figures import (
    CLUSTERINGS,
    Clustering,
    Clusterings,
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
    best = max(CLUSTERINGS, key=lambda each: sum(tried[each].at(thresholds[each])[:2]))
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
        "oracle": _pair(plain.oracle()),
        "at_threshold": _at(plain, chosen["clustering_threshold"]),
        "beyond_oracle": _pair(beyond.oracle()),
        "beyond_at_threshold": _at(beyond, chosen["beyond_threshold"]),
        "pairs": len(matching) + len(others),
        "f1": None if threshold is None else f1_at(matching, others, threshold),
    }


def _pair(found: tuple[float | None, float | None]) -> Figures:
    return {"excluding": found[0], "including": found[1]}


def _at(clusterings: Clusterings, threshold: float) -> Figures:
    excluding, including, cells = clusterings.at(threshold)
    if clusterings.oracle()[1] is None:
        # No cell has two judged arguments.
        return {**_pair((None, None)), "cells_clustered": 0}
    return {"excluding": excluding, "including": including, "cells_clustered": cells}
