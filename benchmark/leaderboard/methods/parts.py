"""Figures other than ranks: parts of the score, spread, people, costs and length effects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from benchmark.leaderboard.methods.data import (
    ScoreArrays,
    judge_keys,
    mean_intervals,
    question_means,
    ratio_interval,
)
from benchmark.leaderboard.methods.figures import (
    Cost,
    Costs,
    HumanComparison,
    JudgeRanking,
    LengthSlope,
    Mean,
    StandingRow,
)
from benchmark.leaderboard.methods.options import PEOPLE, BoardOptions
from benchmark.leaderboard.methods.ranks import CellTable
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.verdicts import RULES

# Columns with cost in millionths and time in seconds, for writing an answer and judging it.
OF_ANSWERS = ("answer_cost_micro", "answer_seconds")
OF_SHEETS = ("cost_micro", "seconds")


def part_means(
    scored: ScoreArrays,
    table: CellTable,
    rows: tuple[StandingRow, ...],
    rankings: tuple[JudgeRanking, ...],
    options: BoardOptions,
) -> dict[str, dict[str, tuple[Mean, ...]]]:
    """Map judge and part to the part's mean by system, over the answers of the system's row.

    The group means of a ranked system thus add up to its mean if all sheets are complete. ``n``
    counts answers with the part; mean and bounds are None if the row has no mean.
    """
    means = {}
    for ranking in rankings:
        own = {
            board_row.system: board_row for board_row in rows if board_row.judge == ranking.judge
        }
        cells = [
            (row, int(place))
            for system, row in own.items()
            for place in _places(table, scored.judges.index(ranking.judge), system, row)
        ]
        common = np.zeros(len(scored.questions), dtype=bool)
        common[list(ranking.common)] = True
        mask = scored.of_judge(ranking.judge)
        means[ranking.judge] = {
            name: _part(scored, table, mask, (scored.parts[:, at], most), cells, common, options)
            for at, (name, most) in enumerate(options.parts.items())
        }
    return means


def _places(table: CellTable, judge: int, system: int, row: StandingRow) -> IntArray:
    """Return the cells that a row's mean covers."""
    mine = np.flatnonzero((table.judge == judge) & (table.system == system))
    return mine[[table.cells[int(place)].scenario in row.scenarios for place in mine]]


def _part(
    scored: ScoreArrays,
    table: CellTable,
    mask: NDArray[np.bool_],
    part: tuple[FloatArray, float],
    cells: list[tuple[StandingRow, int]],
    common: NDArray[np.bool_],
    options: BoardOptions,
) -> tuple[Mean, ...]:
    """Return the means of one part for all systems of a judge, whose rows ``mask`` selects."""
    points, highest = part
    n_systems, n_scenarios = len(scored.systems), len(scored.scenarios)
    column = np.full(n_systems * n_scenarios, -1, dtype=np.int64)
    for at, (row, place) in enumerate(cells):
        column[row.system * n_scenarios + table.scenario[place]] = at
    key = column[scored.system * n_scenarios + scored.scenario]
    is_common = np.zeros(n_systems, dtype=bool)
    is_common[[row.system for row, _place in cells if row.is_common]] = True
    used = mask & (key >= 0) & (~is_common[scored.system] | common[scored.question])
    used &= ~np.isnan(points)
    shape = (len(scored.questions), len(cells))
    values = question_means(points[used], scored.question[used], key[used], shape)
    counts = np.bincount(scored.system[used], minlength=n_systems)
    is_empty = np.asarray(np.isnan(values).all(axis=0))
    places = [
        [at for at, (row, _place) in enumerate(cells) if row.system == system]
        for system in range(n_systems)
    ]
    # If one of the cells lacked the part, the mean would be over other scenarios.
    whole = {at: own for at, own in enumerate(places) if own and not is_empty[own].any()}
    means = {at: float(np.nanmean(values[:, own], axis=0).mean()) for at, own in whole.items()}
    intervals = mean_intervals(values, list(whole.values()), options, highest)
    bounds = dict(zip(whole, intervals, strict=True))
    return tuple(
        Mean(means[at], int(counts[at]), bounds[at].low, bounds[at].high)
        if at in whole
        else Mean(None, int(counts[at]))
        for at in range(n_systems)
    )


def scenario_profile(scored: ScoreArrays, options: BoardOptions) -> dict[str, tuple[Mean, ...]]:
    """Map each judge to the means of scenarios over all answers (CompQA, figure 6)."""
    means: dict[str, tuple[Mean, ...]] = {}
    n_scenarios, n_questions = len(scored.scenarios), len(scored.questions)
    for judge in scored.judges:
        mask = scored.of_judge(judge) & ~np.isnan(scored.value)
        key = scored.question[mask] * n_scenarios + scored.scenario[mask]
        size = n_questions * n_scenarios
        total = np.bincount(key, weights=scored.value[mask], minlength=size)
        count = np.bincount(key, minlength=size).astype(float)
        tops, bottoms = (sums.reshape(n_questions, n_scenarios).T for sums in (total, count))
        means[judge] = tuple(
            Mean(float(top.sum() / n.sum()), int(n.sum()), *ratio_interval(top, n, options)[:2])
            if n.any()
            else Mean(None, 0)
            for top, n in zip(tops, bottoms, strict=True)
        )
    return means


def distributions(
    scored: ScoreArrays, options: BoardOptions
) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Map each judge to counts of answers by system and points.

    The classes are 0 to below 1, 1 to below 2, …, and the maximum.
    """
    bins = int(options.maximum) + 1
    histograms = {}
    for judge in scored.judges:
        mask = scored.of_judge(judge) & ~np.isnan(scored.value)
        point = np.clip(np.floor(scored.value[mask] + 1e-9), 0, bins - 1).astype(np.int64)
        flat = np.bincount(
            scored.system[mask] * bins + point, minlength=len(scored.systems) * bins
        )
        rows = flat.reshape(len(scored.systems), bins).tolist()
        histograms[judge] = tuple(map(tuple, rows))
    return histograms


def people_beside_judges(scored: ScoreArrays) -> tuple[HumanComparison, ...]:
    """Return means of people and each judge on the same answers, by system and scenario."""
    if PEOPLE not in scored.judges:
        return ()
    n = int(scored.answer.max(initial=-1)) + 1
    human = np.full(n, np.nan)
    rows = scored.of_judge(PEOPLE)
    human[scored.answer[rows]] = scored.value[rows]
    comparisons: list[HumanComparison] = []
    for judge in scored.judges[1:]:
        both = np.flatnonzero(
            scored.of_judge(judge) & ~np.isnan(scored.value) & ~np.isnan(human[scored.answer])
        )
        comparisons.extend(_beside(scored, judge, both, human))
    return tuple(comparisons)


def _beside(
    scored: ScoreArrays, judge: str, rows: IntArray, human: FloatArray
) -> list[HumanComparison]:
    keys = scored.system[rows] * len(scored.scenarios) + scored.scenario[rows]
    cells, cell, count = np.unique(keys, return_inverse=True, return_counts=True)
    people = np.bincount(cell, weights=human[scored.answer[rows]], minlength=len(cells))
    values = np.bincount(cell, weights=scored.value[rows], minlength=len(cells))
    return [
        HumanComparison(
            judge=judge,
            system=int(key // len(scored.scenarios)),
            scenario=scored.scenarios[int(key % len(scored.scenarios))],
            people=float(people[place] / count[place]),
            value=float(values[place] / count[place]),
            n=int(count[place]),
        )
        for place, key in enumerate(cells)
    ]


def costs(table: pd.DataFrame, scored: ScoreArrays) -> Costs:
    """Return mean costs from the ledger; n is 0 if no costs were recorded."""
    answers = table.drop_duplicates("answer_id")
    by_judge = dict(iter(table.groupby(judge_keys(table), sort=False)))
    by_system = dict(iter(answers.groupby("system_id", sort=False)))
    return Costs(
        systems=tuple(_cost(by_system[system], OF_ANSWERS) for system in scored.systems),
        judges={judge: _cost(by_judge[judge], OF_SHEETS) for judge in scored.judges},
    )


def _cost(rows: pd.DataFrame, columns: tuple[str, str]) -> Cost:
    if not set(columns) <= set(rows.columns):
        return Cost(None, None, 0)
    known = rows[rows[columns[1]].notna()]
    if known.empty:
        return Cost(None, None, 0)
    money = known[columns[0]].mean()
    time = float(known[columns[1]].mean())
    return Cost(None if np.isnan(money) else float(money), time, len(known))


# Effect of length on a judge's points, and means of systems at equal length
#
# Source: Dubois, Galambosi, Liang and Hashimoto (2024), Length-Controlled AlpacaEval. Here, the
# regression is on points, with system and question as fixed effects.

PER = 100
NO_LENGTHS = "answers to the same question do not differ in length"
LEAST_QUESTIONS = 3
_ROUNDS = 200
_SETTLED = 1e-10


@dataclass(frozen=True, eq=False)
class _Slope:
    """A slope and each answer's contribution to it, shape (n,)."""

    value: float
    influence: FloatArray


def length_slope(scored: ScoreArrays, judge: str, options: BoardOptions) -> LengthSlope:
    """Return the slope of points on characters, and length-controlled means of systems."""
    rows = np.flatnonzero(scored.of_judge(judge) & ~np.isnan(scored.value))
    points, length = scored.value[rows], scored.characters[rows] / PER
    question, system = scored.question[rows], scored.system[rows]
    prompt = question * len(scored.scenarios) + scored.scenario[rows]
    n_questions = len(np.unique(question))
    y, x = _centred(points, prompt), _centred(length, prompt)
    if n_questions < LEAST_QUESTIONS or not _varies(x, length):
        return LengthSlope(
            judge=judge,
            means={},
            bounds={},
            n_answers=len(rows),
            n_questions=n_questions,
            reason=NO_LENGTHS,
        )
    low, high = _interval(y, x, question, len(scored.questions), options)
    within = _two_way(points, length, prompt, system)
    means, bounds = _controlled(points, length, system, question, within, options)
    return LengthSlope(
        judge=judge,
        slope=float(x @ y / (x @ x)),
        low=low,
        high=high,
        within_systems=within.value if within else None,
        means=means,
        bounds=bounds,
        n_answers=len(rows),
        n_questions=n_questions,
    )


def _interval(
    y: FloatArray, x: FloatArray, question: IntArray, n: int, options: BoardOptions
) -> tuple[float | None, float | None]:
    """Return the interval of a ratio of sums, with questions as clusters."""
    known = np.bincount(question, minlength=n) > 0
    sums = np.array(
        [np.bincount(question, weights=product, minlength=n) for product in (x * y, x * x)]
    )
    return ratio_interval(sums[0, known], sums[1, known], options)[:2]


def _two_way(
    points: FloatArray, length: FloatArray, prompt: IntArray, system: IntArray
) -> _Slope | None:
    """Return the slope with prompt and system as fixed effects, projected out in turn."""
    y, x = (_without_both(variable, prompt, system) for variable in (points, length))
    if not _varies(x, length):
        return None
    value = float(x @ y / (x @ x))
    return _Slope(value=value, influence=x * (y - value * x) / float(x @ x))


def _without_both(values: FloatArray, codes: IntArray, other: IntArray) -> FloatArray:
    left = _centred(values, codes)
    for _round in range(_ROUNDS):
        before = left
        left = _centred(_centred(left, other), codes)
        if np.abs(left - before).max(initial=0.0) < _SETTLED:
            break
    return left


def _centred(values: FloatArray, group: IntArray) -> FloatArray:
    count = np.maximum(np.bincount(group), 1)
    return np.asarray(values - (np.bincount(group, weights=values) / count)[group])


def _varies(left: FloatArray, length: FloatArray) -> bool:
    scale = float(length @ length) if len(length) else 0.0
    return bool(float(left @ left) > 1e-12 * max(scale, 1e-300))


def _controlled(
    points: FloatArray,
    length: FloatArray,
    system: IntArray,
    question: IntArray,
    slope: _Slope | None,
    options: BoardOptions,
) -> tuple[dict[int, float], dict[int, tuple[float, float]]]:
    """Return the means of systems at average answer length, with their intervals."""
    if slope is None:
        return {}, {}
    systems, place = np.unique(system, return_inverse=True)
    codes = np.unique(question, return_inverse=True)[1]
    counts = np.bincount(place).astype(float)
    lengths = np.bincount(place, weights=length) / counts
    means = np.bincount(place, weights=points) / counts
    apart = lengths - lengths.mean()
    shifted = means - slope.value * apart
    # Each question's contribution to the mean at its own length, the average length and the slope.
    left = (points - means[place] - slope.value * (length - lengths[place])) / counts[place]
    shape = (int(codes.max()) + 1, len(systems))
    own = np.bincount(codes * shape[1] + place, weights=left, minlength=shape[0] * shape[1])
    average = np.bincount(codes, weights=(length - lengths[place]) / counts[place]) / len(systems)
    tilt = np.bincount(codes, weights=slope.influence)
    added = own.reshape(shape) + slope.value * average[:, None] - tilt[:, None] * apart
    error = np.sqrt((added**2).sum(axis=0) * shape[0] / (shape[0] - 1))
    reach = special.stdtrit(shape[0] - 1, (1 + options.confidence) / 2) * error
    estimates = {int(code): float(mean) for code, mean in zip(systems, shifted, strict=True)}
    if not RULES["mean"].allows(shape[0]):
        return estimates, {}
    bounds = zip(systems, shifted, reach, strict=True)
    return estimates, {
        int(code): (float(mean - far), float(mean + far)) for code, mean, far in bounds
    }
