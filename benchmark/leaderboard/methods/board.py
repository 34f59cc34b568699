"""The leaderboard of a rubric: every figure from one table of score sheets.

Since version 3 intervals are Student's t corrected for skewness, and ranges of ranks and groups
follow from the corrected tests; in version 2 they were percentiles of resamples.
A system's mean is over the questions and scenarios on which it is ranked, cells of too few
questions are in no mean, and the figures of the CompQA paper stand apart (`paper`).

Higher is better everywhere; points are those of the chosen column. The result is plain (text,
numbers, None, lists, dicts), so that it can be kept and computed again from the same table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.calibrated import calibrate, why_not_calibrated
from benchmark.leaderboard.methods.cells import make_cells
from benchmark.leaderboard.methods.conditions import choose_conditions
from benchmark.leaderboard.methods.data import read_scores, system_order
from benchmark.leaderboard.methods.figures import Board, Row, Scores
from benchmark.leaderboard.methods.length import length_slope
from benchmark.leaderboard.methods.names import counts_of, judges_of, questions_of, systems_of
from benchmark.leaderboard.methods.options import PEOPLE, BoardOptions
from benchmark.leaderboard.methods.paper import paper_recipe
from benchmark.leaderboard.methods.parts import (
    costs,
    distributions,
    part_means,
    people_beside_judges,
    scenario_profile,
)
from benchmark.leaderboard.methods.ranks import Ground, common_ground, rank_by_judge
from benchmark.leaderboard.methods.summary import coverage_of, make_rows

# Further digits of compared scores mean nothing.
SCORE_DECIMALS = 4


def make_board(table: pd.DataFrame, options: BoardOptions) -> Board:
    """Compute the leaderboard.

    Parameters
    ----------
    table
        Rows are sheets, with the columns of `read_scores` and: ``object1``, ``object2``,
        ``aspect`` of the question, ``system_kind``, ``model``, ``rater_name``, and those of
        `choose_conditions` and `paper_recipe` where there are any. Unscored sheets are rows
        without points.
    options
        Column and least coverage.

    Returns
    -------
    Board
        Without sheets it names nothing and has no figure.
    """
    kept, conditions = choose_conditions(table, system_order(table))
    # A draw was made from the answers of all conditions.
    options = replace(options, is_part=options.is_part or len(kept) < len(table))
    table = kept
    scored = read_scores(table, options)
    cells = make_cells(scored, options)
    coverage = coverage_of(scored)
    grounds = {
        judge: common_ground(scored, cells, judge, coverage[judge], options)
        for judge in scored.judges
    }
    rankings = tuple(rank_by_judge(ground, each, options) for each, ground in grounds.items())
    rows = make_rows(scored, cells, rankings, options)
    models = [each for each in scored.judges if each != PEOPLE]
    return Board(
        options=options,
        counts=counts_of(table, scored),
        judges=judges_of(table, scored),
        systems=systems_of(table, scored),
        scenarios=scored.scenarios,
        questions=questions_of(table, scored),
        conditions=conditions,
        cells=cells.cells,
        rows=rows,
        rankings=rankings,
        lengths=tuple(length_slope(scored, each, options) for each in scored.judges),
        calibrated=tuple(
            row
            for each in models
            for row in calibrate(scored, each, options, _scenarios(rows, each))
        ),
        why_not_calibrated=why_not_calibrated(scored, options),
        parts=part_means(scored, cells, rows, rankings, options),
        profile=scenario_profile(scored, options),
        distributions=distributions(scored, options),
        beside=people_beside_judges(scored),
        paper=paper_recipe(table, scored, options),
        costs=costs(table, scored),
        scores={each: _scores(ground) for each, ground in grounds.items()},
    )


def _scenarios(rows: tuple[Row, ...], judge: str) -> dict[int, tuple[int, ...]]:
    """Place of a system → scenarios that its mean is over."""
    return {each.system: each.scenarios for each in rows if each.judge == judge}


def _scores(ground: Ground) -> Scores:
    """Compared scores of the common questions, in the order of the ranked systems."""
    common = ground.common
    values = np.round(ground.matrix[np.ix_(common, ground.ranked)], SCORE_DECIMALS)
    return Scores(
        systems=tuple(ground.ranked.tolist()),
        questions=tuple(common.tolist()),
        values=tuple(map(tuple, values.tolist())),
    )
