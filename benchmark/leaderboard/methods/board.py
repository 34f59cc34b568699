"""Leaderboard of a rubric: conditions, calibrated means and all figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.data import (
    ScoreArrays,
    counts_of,
    judges_of,
    questions_of,
    read_scores,
    system_order,
    systems_of,
)
from benchmark.leaderboard.methods.figures import (
    CalibratedStanding,
    CellCondition,
    CommonScores,
    ScoreBoard,
    StandingRow,
)
from benchmark.leaderboard.methods.options import PEOPLE, TOTAL, BoardOptions
from benchmark.leaderboard.methods.paper import paper_recipe
from benchmark.leaderboard.methods.parts import (
    costs,
    distributions,
    length_slope,
    part_means,
    people_beside_judges,
    scenario_profile,
)
from benchmark.leaderboard.methods.ranks import (
    Ground,
    common_ground,
    coverage_of,
    make_cells,
    make_rows,
    rank_by_judge,
)
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.calibrated_mean import calibrated_mean

# Choice of one condition for each system and scenario of a board
#
# Answers under different conditions (prompt version, argument filters, wording, decoding) are
# answers to different tasks, so a mean over them is not meaningful. A cell shows one condition,
# with its name and the names of the others.

CONDITION, NAME, PLAIN = "condition_id", "condition", "is_plain"
_CELL = ["system_id", "scenario"]


def choose_conditions(
    table: pd.DataFrame, systems: tuple[str, ...]
) -> tuple[pd.DataFrame, tuple[CellCondition, ...]]:
    """Keep the sheets of one condition for each system and scenario.

    A plain condition has priority, then the condition with the most scored questions, then the
    first by name and id. All judges get the same condition, because otherwise their figures
    would cover different answers.

    Parameters
    ----------
    table
        A table for `make_board`. If it has no columns of conditions, nothing is left out.
    systems
        Ids of systems in the order of their positions.

    Returns
    -------
    The kept rows, and all conditions by system, scenario and priority.
    """
    if CONDITION not in table or table.empty:
        return table, ()
    scored = table[table[TOTAL].notna()]
    questions = scored.groupby([*_CELL, CONDITION])["question_id"].nunique()
    conditions = table.drop_duplicates([*_CELL, CONDITION])[[*_CELL, CONDITION, NAME, PLAIN]]
    keys = list(conditions[[*_CELL, CONDITION]].itertuples(index=False, name=None))
    conditions = conditions.assign(
        n=[int(questions.get(key, 0)) for key in keys],
        place=conditions["system_id"].map({system: at for at, system in enumerate(systems)}),
    ).sort_values(
        ["place", "scenario", PLAIN, "n", NAME, CONDITION],
        ascending=[True, True, False, False, True, True],
    )
    mask = ~conditions.duplicated(_CELL)
    chosen = set(conditions.loc[mask, [*_CELL, CONDITION]].itertuples(index=False, name=None))
    rows = table[[*_CELL, CONDITION]].itertuples(index=False, name=None)
    listed = tuple(
        CellCondition(
            system=int(row.place),
            scenario=int(row.scenario),
            id=str(getattr(row, CONDITION)),
            name=str(getattr(row, NAME)),
            is_plain=bool(getattr(row, PLAIN)),
            n_questions=int(row.n),
            is_shown=bool(is_shown),
        )
        for row, is_shown in zip(conditions.itertuples(index=False), mask, strict=True)
    )
    if mask.all():
        return table, listed
    return table[[row in chosen for row in rows]], listed


# Calibrated means: an estimate of people's scores for a system, from all scores of a judge and a
# random part by people
#
# The answers for people must have been drawn at random with stored probabilities, and all of them
# must have scores. Otherwise the judge's error on them says nothing certain about the other
# answers. Source: see `cqa_site.stats.calibrated_mean`.

NO_PEOPLE = "no person has scored an answer"
NO_DRAW = "not all answers that people scored were drawn at random with a known probability"
SEVERAL_ROUNDS = "people's scores come from several rounds, whose samples cannot be combined"
UNFINISHED = "people have not scored all sampled answers yet"
OTHER_ANSWERS = "the sampled answers do not represent those that this judge scored"
UNEQUAL = "answers of one system and scenario were sampled with different probabilities"
PART = "answers were sampled for the whole leaderboard, and this is only part of it"
EVERYTHING = "people scored every answer, so use their own mean"
NO_CELL = "too few answers in a scenario have scores from both people and the judge"
# Largest relative difference between the answers that a draw represents and those with scores.
TOLERANCE = 0.1


def why_not_calibrated(scored: ScoreArrays, options: BoardOptions) -> str | None:
    """Return why judges cannot be calibrated to this board's people; None if they can be."""
    if PEOPLE not in scored.judges:
        return NO_PEOPLE
    rows = scored.of_judge(PEOPLE)
    rounds = set(scored.round[rows].tolist())
    if rounds & {0, -1} or np.isnan(scored.probability[rows]).any():
        return SEVERAL_ROUNDS if -1 in rounds else NO_DRAW
    if len(rounds) > 1:
        return SEVERAL_ROUNDS
    draw = options.draws.get(rounds.pop())
    if not draw or draw["known"] < draw["drawn"]:
        return NO_DRAW
    if options.is_part:
        return PART
    n_scored = int((~np.isnan(scored.value[rows])).sum())
    if n_scored < draw["drawn"]:
        return UNFINISHED
    return EVERYTHING if (scored.probability[rows] >= 1).all() else None


def calibrate(
    scored: ScoreArrays,
    judge: str,
    options: BoardOptions,
    scenarios: Mapping[int, tuple[int, ...]],
) -> tuple[CalibratedStanding, ...]:
    """Return the calibrated mean of every system that this judge scored.

    ``scenarios`` maps the position of a system to the scenarios of its mean on the board; if a
    system has no entry, all scenarios are used. Several answers to one question count as one
    cluster.
    """
    why = why_not_calibrated(scored, options) or _other_answers(scored, judge, options)
    rows = np.flatnonzero(scored.of_judge(judge))
    systems = np.unique(scored.system[rows])
    if why:
        return tuple(
            CalibratedStanding(judge=judge, system=int(system), reason=why) for system in systems
        )
    people = _people_by_answer(scored)
    standings = []
    for code in map(int, systems):
        mine = rows[scored.system[rows] == code]
        numbers = np.array(scored.scenarios)[scored.scenario[mine]]
        over = scenarios.get(code)
        own_rows = mine[np.isin(numbers, over)] if over else mine
        standings.append(_of_system(scored, judge, own_rows, code, people))
    return tuple(standings)


def _other_answers(scored: ScoreArrays, judge: str, options: BoardOptions) -> str | None:
    """Return the reason if the draw represents too many or too few answers; otherwise None."""
    people = scored.of_judge(PEOPLE)
    stands_for = options.draws[int(scored.round[people][0])]["stands_for"]
    places = {(s, n) for s, n in zip(scored.system[people], scored.scenario[people], strict=True)}
    mine = scored.of_judge(judge)
    pairs = zip(scored.system[mine], scored.scenario[mine], strict=True)
    n = sum(pair in places for pair in pairs)
    return None if n and abs(stands_for / n - 1) <= TOLERANCE else OTHER_ANSWERS


def _people_by_answer(scored: ScoreArrays) -> tuple[FloatArray, FloatArray]:
    """Return people's score and probability by answer number; NaN for answers not drawn."""
    n = int(scored.answer.max(initial=-1)) + 1
    rows = scored.of_judge(PEOPLE)
    score, chance = np.full(n, np.nan), np.full(n, np.nan)
    score[scored.answer[rows]] = scored.value[rows]
    chance[scored.answer[rows]] = scored.probability[rows]
    return score, chance


def _of_system(
    scored: ScoreArrays,
    judge: str,
    mine: IntArray,
    system: int,
    people: tuple[FloatArray, FloatArray],
) -> CalibratedStanding:
    means = []
    for scenario in np.unique(scored.scenario[mine]):
        cell = mine[scored.scenario[mine] == scenario]
        answers = scored.answer[cell]
        human, chance = people[0][answers], people[1][answers]
        known = np.unique(chance[~np.isnan(chance)])
        has_several = len(np.unique(scored.question[cell])) < len(cell)
        if len(known) != 1 or known[0] >= 1:
            why = UNEQUAL if len(known) > 1 else NO_CELL
            return CalibratedStanding(judge=judge, system=system, reason=why)
        clusters = scored.question[cell] if has_several else None
        means.append(
            calibrated_mean(scored.value[cell], human, float(known[0]), clusters=clusters)
        )
    estimates = [cell_mean.estimate for cell_mean in means]
    if any(estimate.low is None for estimate in estimates):
        return CalibratedStanding(judge=judge, system=system, reason=NO_CELL)
    bounds = [(estimate.value, estimate.low, estimate.high) for estimate in estimates]
    mean, low, high = np.array(bounds, dtype=float).mean(axis=0).tolist()
    more = [cell_mean.labels_to_halve for cell_mean in means]
    return CalibratedStanding(
        judge=judge,
        system=system,
        mean=mean,
        low=low,
        high=high,
        n_both=sum(estimate.n_pairable_items for estimate in estimates),
        to_halve=None if None in more else sum(count for count in more if count),
    )


# The leaderboard of a rubric, with all figures from one table of score sheets
#
# Since version 3, intervals are Student's t corrected for skewness, and rank ranges and groups
# follow from the corrected tests; in version 2, they were percentiles of resamples.
# A system's mean is over the questions and scenarios on which it is ranked. Cells with too few
# questions are left out of all means, and figures as in the CompQA paper are separate (`paper`).
#
# Higher is always better; points are those of the chosen column. The result consists of plain
# values (text, numbers, None, lists, dicts), so that it can be stored and compared with a new
# computation from the same table.

# More digits of compared scores are not meaningful.
SCORE_DECIMALS = 4


def make_board(table: pd.DataFrame, options: BoardOptions) -> ScoreBoard:
    """Compute the leaderboard.

    Parameters
    ----------
    table
        One row per sheet, with the columns of `read_scores`, ``object1``, ``object2`` and
        ``aspect`` of the question, ``system_kind``, ``model``, ``rater_name``, and optionally
        those of `choose_conditions` and `paper_recipe`. Unscored sheets have no points.
    options
        See `BoardOptions`.

    Returns
    -------
    ScoreBoard
        Empty if there are no sheets.
    """
    subset, conditions = choose_conditions(table, system_order(table))
    # Answers were drawn from all conditions.
    options = replace(options, is_part=options.is_part or len(subset) < len(table))
    table = subset
    scored = read_scores(table, options)
    cells = make_cells(scored, options)
    coverage = coverage_of(scored)
    grounds = {
        judge: common_ground(scored, cells, judge, coverage[judge], options)
        for judge in scored.judges
    }
    rankings = tuple(rank_by_judge(ground, rater, options) for rater, ground in grounds.items())
    rows = make_rows(scored, cells, rankings, options)
    models = [rater for rater in scored.judges if rater != PEOPLE]
    return ScoreBoard(
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
        lengths=tuple(length_slope(scored, rater, options) for rater in scored.judges),
        calibrated=tuple(
            row
            for model in models
            for row in calibrate(scored, model, options, _scenarios(rows, model))
        ),
        why_not_calibrated=why_not_calibrated(scored, options),
        parts=part_means(scored, cells, rows, rankings, options),
        profile=scenario_profile(scored, options),
        distributions=distributions(scored, options),
        beside=people_beside_judges(scored),
        paper=paper_recipe(table, scored, options),
        costs=costs(table, scored),
        scores={rater: _scores(ground) for rater, ground in grounds.items()},
    )


def _scenarios(rows: tuple[StandingRow, ...], judge: str) -> dict[int, tuple[int, ...]]:
    """Map each system's position to the scenarios of its mean."""
    return {row.system: row.scenarios for row in rows if row.judge == judge}


def _scores(ground: Ground) -> CommonScores:
    """Return the scores on the common questions, in the order of the ranked systems."""
    common = ground.common
    values = np.round(ground.matrix[np.ix_(common, ground.ranked)], SCORE_DECIMALS)
    return CommonScores(
        systems=tuple(ground.ranked.tolist()),
        questions=tuple(common.tolist()),
        values=tuple(map(tuple, values.tolist())),
    )
