"""Figures of boards of version 1, so that frozen ones can be computed again and compared.

There a system's mean was that of all its scenario means, whatever they were made of and whatever
the others had; ranks were those of today. Nothing else calls this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.cells import CellTable
from benchmark.leaderboard.methods.data import FloatArray, Scored, answers_frame
from benchmark.leaderboard.methods.figures import Cell, Row
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.leaderboard.methods.recipes import cell_scores, pooled_scores, system_scores
from benchmark.leaderboard.methods.resamples import bounds_of, question_means, resampled_means

LEAST_QUESTIONS = 3
# What rows say since version 2.
LATER = ("is_common", "scenarios", "n_used", "reason")


def first_rows(scored: Scored, table: CellTable, options: BoardOptions) -> list[dict[str, Any]]:
    """Every system and judge, in the order of the judges and systems.

    ``mean`` is the unweighted mean of the system's scenario means (each over questions), its
    interval from the shared resamples of questions; ``paper_…`` the CompQA paper's row, means of
    scenario means over answers and of their sds; ``pooled_…`` over all answers at once.
    """
    frame = answers_frame(scored, slice(None))
    paper = system_scores(cell_scores(frame))
    pooled = pooled_scores(frame)
    pairs = sorted({(int(j), int(s)) for j, s in zip(table.judge, table.system, strict=True)})
    drawn = resampled_means(table.values, options.n_resamples, options.seed)
    made = []
    for judge, system in pairs:
        places = np.flatnonzero((table.judge == judge) & (table.system == system))
        key = (scored.judges[judge], system)
        row = _row(key, places, table, drawn, (paper.loc[key], pooled.loc[key]), options)
        made.append({name: value for name, value in vars(row).items() if name not in LATER})
    return made


def first_cells(scored: Scored, table: CellTable) -> list[dict[str, Any]]:
    """Cells as they were: with the paper's mean over answers, without the mark of thin ones."""
    paper = cell_scores(answers_frame(scored, slice(None)))
    made = []
    for cell in table.cells:
        row = paper.loc[(cell.judge, cell.system, cell.scenario)]
        old = {name: value for name, value in vars(cell).items() if name != "is_thin"}
        made.append({**old, "paper_mean": _number(row["mean"])})
    return made


def first_parts(scored: Scored, options: BoardOptions) -> dict[str, Any]:
    """Judge → part → [mean of scenario means over answers, n] for each system."""
    shape = (len(scored.systems), len(scored.scenarios))
    made: dict[str, Any] = {}
    for judge in scored.judges:
        mask = scored.of_judge(judge)
        own = made.setdefault(judge, {})
        for place, part in enumerate(options.parts):
            values = scored.parts[:, place]
            cells = question_means(values[mask], scored.system[mask], scored.scenario[mask], shape)
            counts = np.bincount(scored.system[mask & ~np.isnan(values)], minlength=shape[0])
            own[part] = [
                [float(np.nanmean(row)) if n else None, int(n)]
                for row, n in zip(cells, counts, strict=True)
            ]
    return made


def _row(
    key: tuple[str, int],
    places: np.ndarray,
    table: CellTable,
    drawn: FloatArray,
    recipes: tuple[pd.Series, pd.Series],
    options: BoardOptions,
) -> Row:
    cells = [table.cells[int(place)] for place in places]
    paper, pooled = recipes
    known = [place for place, cell in zip(places, cells, strict=True) if cell.mean is not None]
    means = [cell.mean for cell in cells if cell.mean is not None]
    low, high = _bounds(drawn[:, known], cells, options)
    n_answers, asked = sum(each.n_answers for each in cells), sum(each.asked for each in cells)
    return Row(
        judge=key[0],
        system=key[1],
        mean=float(np.mean(means)) if means else None,
        low=low,
        high=high,
        paper_mean=_number(paper["mean"]),
        paper_sd=_number(paper["sd"]),
        pooled_mean=_number(pooled["mean"]),
        pooled_sd=_number(pooled["sd"]),
        n_answers=n_answers,
        n_questions=int((~np.isnan(table.values[:, places])).any(axis=1).sum()),
        asked=asked,
        unscored=sum(each.unscored for each in cells),
        coverage=n_answers / asked,
        is_low=n_answers / asked < options.least_coverage,
    )


def _bounds(
    resampled: FloatArray, cells: list[Cell], options: BoardOptions
) -> tuple[float | None, float | None]:
    """Interval of the mean of scenario means; none where a scenario has too few questions."""
    few = [each for each in cells if each.mean is not None and each.n_questions < LEAST_QUESTIONS]
    if not resampled.shape[1] or few:
        return None, None
    low, high = bounds_of(resampled.mean(axis=1, keepdims=True), options.confidence)
    is_defined = high[0] - low[0] >= 1e-12
    return (float(low[0]), float(high[0])) if is_defined else (None, None)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
