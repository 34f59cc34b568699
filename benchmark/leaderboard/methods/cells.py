"""Cells of a leaderboard: mean points of one system under one scenario by one judge.

Answers to one question resemble each other, so a mean is taken over questions (choices are
averaged inside the question first), and its interval is one over questions.

Source: Miller (2024), Adding Error Bars to Evals, section 2.2, on clustered questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmark.leaderboard.methods.data import FloatArray, IntArray, Scored, answers_frame
from benchmark.leaderboard.methods.figures import Cell
from benchmark.leaderboard.methods.intervals import TOO_FEW_QUESTIONS, Interval, mean_intervals
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.leaderboard.methods.question_means import question_means
from benchmark.leaderboard.methods.recipes import cell_scores

NO_SCORES = "no answer has a score"


@dataclass(frozen=True, eq=False)
class CellTable:
    """All cells with what other figures need of them.

    Attributes
    ----------
    cells
        Sorted by judge, system, scenario.
    judge, system, scenario : int, shape (n_cells,)
        Codes.
    values : float, shape (n_questions, n_cells)
        Mean of the question's answers; NaN where none is scored.
    """

    cells: tuple[Cell, ...]
    judge: IntArray
    system: IntArray
    scenario: IntArray
    values: FloatArray


def make_cells(scored: Scored, options: BoardOptions) -> CellTable:
    """Every combination of judge, system and scenario that was asked for."""
    n_systems, n_scenarios = len(scored.systems), len(scored.scenarios)
    keys = (scored.judge * n_systems + scored.system) * n_scenarios + scored.scenario
    found, cell = np.unique(keys, return_inverse=True)
    shape = (len(scored.questions), len(found))
    values = question_means(scored.value, scored.question, cell, shape)
    filled = [
        question_means(np.where(np.isnan(scored.value), each, scored.value), *_at(scored, cell))
        for each in (0.0, options.maximum)
    ]
    judge, rest = np.divmod(found, n_systems * n_scenarios)
    system, scenario = np.divmod(rest, n_scenarios)
    table = CellTable((), judge, system, scenario, values)
    bounds = [np.nanmean(each, axis=0) if each.size else np.zeros(0) for each in filled]
    cells = _cells(scored, cell, table, bounds, options)
    return CellTable(cells, judge, system, scenario, values)


def _at(scored: Scored, cell: IntArray) -> tuple[IntArray, IntArray, tuple[int, int]]:
    return scored.question, cell, (len(scored.questions), int(cell.max(initial=-1)) + 1)


def _cells(
    scored: Scored,
    cell: IntArray,
    table: CellTable,
    bounds: list[FloatArray],
    options: BoardOptions,
) -> tuple[Cell, ...]:
    n = len(table.judge)
    asked = np.bincount(cell, minlength=n)
    n_answers = np.bincount(cell, weights=~np.isnan(scored.value), minlength=n).astype(int)
    unscored = np.bincount(cell, weights=scored.sheets - scored.scored, minlength=n).astype(int)
    n_questions = (~np.isnan(table.values)).sum(axis=0)
    alone = [[place] for place in range(n)]
    intervals = mean_intervals(table.values, alone, options, options.maximum)
    paper = cell_scores(answers_frame(scored, slice(None)))
    made = []
    for place in range(n):
        judge = scored.judges[table.judge[place]]
        number = scored.scenarios[table.scenario[place]]
        row = paper.loc[(judge, table.system[place], number)]
        found = _interval(int(n_questions[place]), intervals[place], options)
        coverage = float(n_answers[place] / asked[place])
        made.append(
            Cell(
                judge=judge,
                system=int(table.system[place]),
                scenario=number,
                mean=_mean(table.values[:, place]),
                low=found.low,
                high=found.high,
                sd=_number(row["sd"]),
                n_answers=int(n_answers[place]),
                n_questions=int(n_questions[place]),
                asked=int(asked[place]),
                unscored=int(unscored[place]),
                coverage=coverage,
                worst=float(bounds[0][place]),
                best=float(bounds[1][place]),
                is_low=coverage < options.least_coverage,
                is_thin=bool(0 < n_questions[place] < options.least_questions),
                reason=found.reason,
            )
        )
    return tuple(made)


def _interval(n_questions: int, found: Interval, options: BoardOptions) -> Interval:
    """Its interval; of a thin cell none."""
    if not n_questions:
        return Interval(reason=NO_SCORES)
    if n_questions < options.least_questions:
        return Interval(reason=TOO_FEW_QUESTIONS.format(options.least_questions))
    return found


def _mean(values: FloatArray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
