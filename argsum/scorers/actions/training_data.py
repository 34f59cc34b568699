"""Training data for scorers, and figures for a match scorer on a split."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from argsum.datasets.methods.argument_cells import RawArgument, RawCell, named_columns
from argsum.datasets.methods.argument_files import read_argkp, read_argument_pairs, read_rated
from argsum.datasets.methods.preprocessing import prepare
from argsum.datasets.models import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint
from argsum.scorers.methods.figures import (
    CLUSTERINGS,
    ClusterRecipe,
    OverCells,
    ScoredCell,
    accuracy,
    cluster_cells,
    decided_pairs,
    f1_at,
    match_threshold,
    same_point_precision,
)
from argsum.scorers.methods.training import (
    MATCH,
    TrainingCell,
    TrainingExample,
    statement_cell,
    training_cell,
)
from argsum.scorers.models import Scorer
from argsum.systems.methods.inputs import Scores, with_topic
from cqa_site.tabular import UnreadableFile, preview
from .models import ScorerRefused

TRAIN, DEV, TEST = "train", "dev", "test"
FEWEST_RATED = 10
Splits = dict[str, list[TrainingCell]]
Examples = dict[str, list[TrainingExample]]
# Arguments with their quality, 0–1, by split.
Rated = dict[str, list[tuple[str, float]]]


def data_of(task: str, source: Dataset | Path, column: str = "") -> Any:
    """Return the training data of a task from a dataset or files. Raises ScorerRefused.

    Files are read by `rated_in` for a quality scorer, and by `cells_in` otherwise.
    """
    if isinstance(source, Path) and task == Scorer.Task.QUALITY:
        return _require_rated(rated_in(source, column=column))
    cells = cells_in(source) if isinstance(source, Path) else cells_of(source)
    if task == Scorer.Task.MATCH:
        cells = {split: [cell for cell in own if cell.key_points] for split, own in cells.items()}
        _require_matches(cells)
        return cells
    if task == Scorer.Task.WRITE:
        return examples_from(cells)
    rated = _rated(
        (split, text, quality)
        for split, own in cells.items()
        for cell in own
        for text, quality in zip(cell.arguments, cell.qualities, strict=True)
        if quality is not None
    )
    return _require_rated(rated)


def cells_of(dataset: Dataset) -> Splits:
    """Return cells by split; arguments kept by preprocessing are evaluated.

    All arguments of the train split are used for training, even if preprocessing leaves them out,
    because an argument without a key point is an example of a text that does not match.
    """
    raw = {
        pk: RawCell(topic, stance, split)
        for pk, topic, stance, split in Cell.objects.filter(dataset=dataset).values_list(
            "pk", "topic", "stance", "split"
        )
    }
    rows, columns, judged = {}, {}, defaultdict(list)
    arguments = CellArgument.objects.filter(cell__dataset=dataset).order_by("cell", "position")
    for pk, cell, text, quality, left_out in arguments.values_list(
        "pk", "cell_id", "text", "quality", "left_out"
    ):
        rows[pk] = row = len(raw[cell].arguments)
        raw[cell].arguments.append(RawArgument("", text, quality))
        if not left_out:
            judged[cell].append(row)
    points = ReferenceKeyPoint.objects.filter(cell__dataset=dataset).order_by("cell", "position")
    for pk, cell, text in points.values_list("pk", "cell_id", "text"):
        columns[pk] = len(raw[cell].key_points)
        raw[cell].key_points.append(RawArgument("", text))
    matches = KeyPointMatch.objects.filter(argument__cell__dataset=dataset)
    for cell, argument, point, is_match in matches.values_list(
        "argument__cell", "argument", "key_point", "is_match"
    ):
        raw[cell].matches[rows[argument], columns[point]] = is_match
    splits: Splits = defaultdict(list)
    for pk, own in raw.items():
        matched = own.matched()
        kept = [row for row in judged[pk] if matched[row] == 1]
        splits[own.split].append(training_cell(own, kept))
    return splits


def cells_in(folder: Path) -> Splits:
    """Return cells from the three files per split of ArgKP-2021, preprocessed as in the paper.

    Raises
    ------
    ScorerRefused
        If the files cannot be read; the message names file, row and column.
    """
    try:
        read = read_argkp(folder, name=folder.name)
    except UnreadableFile as problem:
        raise ScorerRefused(str(problem)) from problem
    if read.problems:
        raise ScorerRefused(str(read.problems[0]))
    cells: Splits = defaultdict(list)
    for raw in read.cells:
        texts = [argument.text for argument in raw.arguments]
        places = prepare(texts, raw.matched()).kept
        cells[raw.split].append(training_cell(raw, places))
    return cells


@dataclass(frozen=True)
class Statements:
    """Invented statements that make the same point: topic, aspect, side and texts."""

    topic: str
    aspect: str
    side: str
    texts: tuple[str, ...]


def statements_in(folder: Path) -> list[Statements]:
    """Read the points from a folder's JSON lines; one topic may span several files.

    A line has ``topic``, ``aspect``, ``side`` (``for``, ``against`` or neither) and ``texts``.
    Raises ScorerRefused for an invalid line; the message names file and line.
    """
    statements = []
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                row = json.loads(line)
                texts = tuple(map(str, row["texts"]))
                statements.append(Statements(row["topic"], row["aspect"], row["side"], texts))
            except (ValueError, KeyError, TypeError) as problem:
                raise ScorerRefused(f"{path.name}, line {number}: {problem!r}") from problem
    return statements


def statement_cells(points: Iterable[Statements]) -> list[TrainingCell]:
    """Return a cell for each topic, in alphabetical order."""
    topics: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        topics[point.topic][f"{point.aspect} {point.side}"] += point.texts
    return [statement_cell(topic, topics[topic]) for topic in sorted(topics)]


def _require_matches(cells: Splits) -> None:
    """Raise ScorerRefused if there is no data for training or for choosing the weights."""
    if not any((cell.labels == MATCH).any() for cell in cells.get(TRAIN, ())):
        raise ScorerRefused(_("The train split has no argument that matches a key point."))
    if not any(len(cell.judged) > 1 for cell in cells.get(DEV, ())):
        raise ScorerRefused(
            _(
                "The dev split needs a cell with at least two arguments that match exactly one "
                "key point."
            )
        )


def examples_from(cells: Splits) -> Examples:
    """Return each key point with its matching arguments, by split.

    The best arguments come first, and arguments without a quality last, in their original
    order. Raises ScorerRefused if there are no examples for training or for choosing the weights.
    """
    examples = {
        split: [
            TrainingExample(cell.topic, cell.stance, arguments, point)
            for cell in own
            for point, arguments in zip(cell.key_points, cell.matching(), strict=True)
            if arguments
        ]
        for split, own in cells.items()
    }
    for split in (TRAIN, DEV):
        if not examples.get(split):
            raise ScorerRefused(
                _("The %s split has no key point with a matching argument.") % split
            )
    return examples


def rated_in(path: Path, *, column: str = "") -> Rated:
    """Return arguments with a quality from a table, or from the only table in a folder.

    ``column`` names the quality if there are several, as in ArgQ-30k; the default is WA.

    Raises
    ------
    ScorerRefused
        If there is no such file, or it cannot be read.
    """
    files = sorted(path.glob("*quality*")) if path.is_dir() else [path]
    if len(files) != 1:
        raise ScorerRefused(
            _(
                "%s: enter the name of a table of pairs with a quality column, or of a folder "
                "that contains one such table."
            )
            % path.name
        )
    try:
        headers = preview(files[0], name=files[0].name).columns
        if column or "key_point" not in named_columns(headers):
            return _rated_arguments(files[0], column)
        read = read_argument_pairs(files[0], name=files[0].name)
    except (UnreadableFile, OSError) as problem:
        raise ScorerRefused(str(problem)) from problem
    if read.problems:
        raise ScorerRefused(str(read.problems[0]))
    return _rated(
        (cell.split, argument.text, argument.quality)
        for cell in read.cells
        for argument in cell.arguments
        if argument.quality is not None
    )


def _rated_arguments(path: Path, column: str) -> Rated:
    read = read_rated(path, name=path.name, column=column)
    if read.problems:
        raise ScorerRefused(str(read.problems[0]))
    return _rated((row.split, row.text, row.quality) for row in read.rows)


def _rated(rows: Iterable[tuple[str, str, Any]]) -> Rated:
    by_split: Rated = defaultdict(list)
    for split, text, quality in rows:
        by_split[split].append((text, quality))
    return by_split


def _require_rated(rated: Rated) -> Rated:
    """Raise ScorerRefused if there are no arguments for training or for choosing the penalty."""
    if len(rated.get(TRAIN, ())) < FEWEST_RATED:
        raise ScorerRefused(
            _("The train split has fewer than %d arguments with a quality score.") % FEWEST_RATED
        )
    if len(rated.get(DEV, ())) < 2:
        raise ScorerRefused(_("The dev split has fewer than two arguments with a quality score."))
    return rated


Encode = Callable[[Sequence[str]], Scores]
Figures = dict[str, Any]


def scored_cells(
    cells: Sequence[TrainingCell], encode: Encode, *, uses_topic: bool
) -> list[ScoredCell]:
    """Return the evaluated arguments of each cell with their cosines; encode all texts at once."""
    texts: list[str] = []
    for cell in cells:
        own = [*(cell.arguments[row] for row in cell.judged), *cell.key_points]
        texts += with_topic(own, cell.topic if uses_topic else "")
    vectors: Any = encode(texts) if texts else None
    results, start = [], 0
    for cell in cells:
        middle = start + len(cell.judged)
        stop = middle + len(cell.key_points)
        arguments, points = vectors[start:middle], vectors[middle:stop]
        results.append(
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
    return results


def dev_figures(dev: Sequence[ScoredCell]) -> tuple[Figures, float]:
    """Return dev figures, and the average precision of pairs for choosing the weights.

    Between checks, the adjusted Rand index of a few cells varies by chance, but the ranking of
    argument pairs does not.
    """
    excluding, including = cluster_cells(dev).oracle()
    figures = {
        "excluding": excluding.mean,
        "cells_clustered": excluding.n,
        "including": including.mean,
        "accuracy": accuracy(dev),
    }
    return figures, pair_precision(dev)


def pair_precision(cells: Sequence[ScoredCell]) -> float:
    """Return the mean over cells of the average precision of pairs with the same key point."""
    by_cell = (same_point_precision(cell.match, cell.reference) for cell in cells)
    precisions = [precision for precision in by_cell if precision is not None]
    return float(np.mean(precisions)) if precisions else 0.0


def chosen_on_dev(dev: Sequence[ScoredCell]) -> Figures:
    """Choose thresholds and the alternative clustering method, using only the dev split."""
    tried = {clustering: cluster_cells(dev, clustering) for clustering in CLUSTERINGS}
    thresholds = {clustering: clusters.best_threshold() for clustering, clusters in tried.items()}
    # Ties go to the first method, because it is the simplest.
    best = max(CLUSTERINGS, key=lambda clustering: tried[clustering].worth(thresholds[clustering]))
    decided = match_threshold(*decided_pairs(dev))
    return {
        "threshold": decided[0] if decided else None,
        "clustering_threshold": thresholds[CLUSTERINGS[0]],
        "profile": best.profile,
        "refines": best.refines,
        "beyond_threshold": thresholds[best],
    }


def split_figures(cells: Sequence[ScoredCell], chosen: Figures) -> Figures:
    """Return the figures for one split.

    ``excluding`` is the mean over the cells with enough clustered arguments (``cells_clustered``
    of ``cells_judged``), while ``excluding_with_zeros`` counts the other cells as 0.

    ``oracle`` uses the best threshold of each cell, and ``at_threshold`` the threshold chosen on
    dev. Names with ``beyond`` are for the clustering method chosen on dev.
    """
    plain = cluster_cells(cells)
    beyond = cluster_cells(cells, ClusterRecipe(chosen["profile"], chosen["refines"]))
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


def _over(pair: tuple[OverCells, OverCells]) -> Figures:
    excluding, including = pair
    return {
        "excluding": excluding.mean,
        "excluding_with_zeros": excluding.with_zeros,
        "including": including.mean,
        "cells_clustered": excluding.n,
        "cells_judged": excluding.cells,
    }
