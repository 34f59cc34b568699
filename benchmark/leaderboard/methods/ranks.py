"""Cells, rows and ranks of a leaderboard on shared questions and scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.data import (
    NO_SPREAD,
    TOO_FEW_QUESTIONS,
    BoundsOrReason,
    ScoreArrays,
    answers_frame,
    mean_intervals,
    question_means,
)
from benchmark.leaderboard.methods.figures import JudgeRanking, ScoreCell, StandingRow, SystemPairs
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.leaderboard.methods.paper import cell_scores
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import BoundedMean, Standing
from cqa_site.stats.ranking import Ranking, rank_systems
from cqa_site.stats.verdicts import RULES

# Cells of a leaderboard: mean points of one system in one scenario by one judge
#
# Answers to the same question resemble each other, so means and intervals are over questions;
# choices are averaged within the question first.
#
# Source: Miller (2024), Adding Error Bars to Evals, section 2.2, on clustered questions.

NO_SCORES = "no answer has a score"


@dataclass(frozen=True, eq=False)
class CellTable:
    """All cells with the data that other figures need.

    Attributes
    ----------
    cells
        Cells sorted by judge, system and scenario.
    judge, system, scenario : int, shape (n_cells,)
        Codes of each cell.
    values : float, shape (n_questions, n_cells)
        Mean over the question's answers; NaN without a score.
    """

    cells: tuple[ScoreCell, ...]
    judge: IntArray
    system: IntArray
    scenario: IntArray
    values: FloatArray


def make_cells(scored: ScoreArrays, options: BoardOptions) -> CellTable:
    """Return the cells for all requested combinations of judge, system and scenario."""
    n_systems, n_scenarios = len(scored.systems), len(scored.scenarios)
    keys = (scored.judge * n_systems + scored.system) * n_scenarios + scored.scenario
    codes, cell = np.unique(keys, return_inverse=True)
    shape = (len(scored.questions), len(codes))
    values = question_means(scored.value, scored.question, cell, shape)
    filled = [
        question_means(np.where(np.isnan(scored.value), filler, scored.value), *_at(scored, cell))
        for filler in (0.0, options.maximum)
    ]
    judge, rest = np.divmod(codes, n_systems * n_scenarios)
    system, scenario = np.divmod(rest, n_scenarios)
    table = CellTable((), judge, system, scenario, values)
    bounds = [np.nanmean(means, axis=0) if means.size else np.zeros(0) for means in filled]
    cells = _cells(scored, cell, table, bounds, options)
    return CellTable(cells, judge, system, scenario, values)


def _at(scored: ScoreArrays, cell: IntArray) -> tuple[IntArray, IntArray, tuple[int, int]]:
    return scored.question, cell, (len(scored.questions), int(cell.max(initial=-1)) + 1)


def _cells(
    scored: ScoreArrays,
    cell: IntArray,
    table: CellTable,
    bounds: list[FloatArray],
    options: BoardOptions,
) -> tuple[ScoreCell, ...]:
    n = len(table.judge)
    totals = np.bincount(cell, minlength=n)
    n_answers = np.bincount(cell, weights=~np.isnan(scored.value), minlength=n).astype(int)
    unscored = np.bincount(cell, weights=scored.sheets - scored.scored, minlength=n).astype(int)
    n_questions = (~np.isnan(table.values)).sum(axis=0)
    alone = [[place] for place in range(n)]
    intervals = mean_intervals(table.values, alone, options, options.maximum)
    paper = cell_scores(answers_frame(scored, slice(None)))
    cells = []
    for place in range(n):
        judge = scored.judges[table.judge[place]]
        number = scored.scenarios[table.scenario[place]]
        row = paper.loc[(judge, table.system[place], number)]
        interval = _interval(int(n_questions[place]), intervals[place], options)
        coverage = float(n_answers[place] / totals[place])
        values = table.values[:, place]
        known = values[~np.isnan(values)]
        cells.append(
            ScoreCell(
                judge=judge,
                system=int(table.system[place]),
                scenario=number,
                mean=float(known.mean()) if len(known) else None,
                **interval._asdict(),
                sd=None if np.isnan(row["sd"]) else float(row["sd"]),
                n_answers=int(n_answers[place]),
                n_questions=int(n_questions[place]),
                asked=int(totals[place]),
                unscored=int(unscored[place]),
                coverage=coverage,
                worst=float(bounds[0][place]),
                best=float(bounds[1][place]),
                is_low=coverage < options.least_coverage,
                is_thin=bool(0 < n_questions[place] < options.least_questions),
            )
        )
    return tuple(cells)


def _interval(n_questions: int, interval: BoundsOrReason, options: BoardOptions) -> BoundsOrReason:
    """Return the interval of a cell; thin cells have no interval."""
    if not n_questions:
        return BoundsOrReason(reason=NO_SCORES)
    if n_questions < options.least_questions:
        return BoundsOrReason(reason=TOO_FEW_QUESTIONS.format(options.least_questions))
    return interval


# Ranks of systems by one judge, on shared questions and scenarios
#
# Means over different questions cannot be compared, so a rank needs shared questions. Systems
# that would leave too few shared questions are not ranked, and the board shows the reason.

LOW_COVERAGE = "too few of its answers have a score"
TOO_THIN = "each of its scenarios has too few scored questions"
THIN_SCENARIO = (
    "too few of its questions are scored in a scenario in which the others are compared"
)
OTHER_SCENARIOS = "it lacks a scenario in which the others are compared"
OTHER_QUESTIONS = "it shares too few questions with the others"
NOTHING_SHARED = "no two systems have enough scored questions in common"
# A system is left out if it reduces the shared questions below this share.
LEAST_SHARE = 0.5
NO_SCENARIO = 0


@dataclass(frozen=True, eq=False)
class Ground:
    """Compared scores: one row per question, one column per system, NaN where unknown."""

    matrix: FloatArray
    scenarios: tuple[int, ...]
    ranked: IntArray
    unranked: dict[int, str]

    @property
    def common(self) -> IntArray:
        """Positions of the questions that all ranked systems share."""
        known = ~np.isnan(self.matrix[:, self.ranked])
        return np.flatnonzero(known.all(axis=1)) if len(self.ranked) else np.zeros(0, dtype=int)


def rank_by_judge(ground: Ground, judge: str, options: BoardOptions) -> JudgeRanking:
    """Return ranks, groups and pairs; see `rank_systems`."""
    scores = pd.DataFrame(
        ground.matrix[:, ground.ranked].T, index=[str(system) for system in ground.ranked]
    )
    ranking = rank_systems(scores, confidence=options.confidence, highest=options.maximum)
    return JudgeRanking(
        judge=judge,
        scenarios=ground.scenarios,
        standings=ranking.standings,
        unranked=ground.unranked,
        pairs=_pairs(ranking),
        n_common=ranking.n_common,
        n_questions=ranking.n_questions,
        detectable=ranking.detectable,
        interval=ranking.interval,
        reason=ranking.reason if len(ground.ranked) else NOTHING_SHARED,
        common=tuple(int(question) for question in ground.common),
    )


def common_ground(
    scored: ScoreArrays,
    table: CellTable,
    judge: str,
    coverage: dict[int, float],
    options: BoardOptions,
) -> Ground:
    """Choose the scenarios, systems and questions to compare for one judge.

    A scenario is compared if more than half of the systems with scenarios have it. Thin cells do
    not count, because a few answers must not change a rank. Systems are left out if they have too
    little coverage, lack one of these scenarios, or share too few questions.
    """
    mine = np.flatnonzero(table.judge == scored.judges.index(judge))
    columns: dict[int, dict[int, int]] = {}
    thin: dict[int, set[int]] = {}
    for place in mine:
        system, cell = int(table.system[place]), table.cells[place]
        own = columns.setdefault(system, {})
        if cell.is_thin:
            thin.setdefault(system, set()).add(cell.scenario)
        else:
            own[cell.scenario] = int(place)
    out = {column: LOW_COVERAGE for column in columns if coverage[column] < options.least_coverage}
    for system, own in columns.items():
        if not own:
            out.setdefault(system, TOO_THIN)
    scenarios = _shared_scenarios([column for key, column in columns.items() if key not in out])
    matrix = np.full((len(scored.questions), len(scored.systems)), np.nan)
    for system, own in columns.items():
        wanted = scenarios if set(own) - {NO_SCENARIO} else (NO_SCENARIO,)
        if wanted and set(wanted) <= set(own):
            # A question counts only if it has all scenarios; otherwise, means would mix them.
            matrix[:, system] = table.values[:, [own[scenario] for scenario in wanted]].mean(
                axis=1
            )
        else:
            is_thin = set(wanted) <= set(own) | thin.get(system, set())
            out.setdefault(system, THIN_SCENARIO if wanted and is_thin else OTHER_SCENARIOS)
    ranked = [column for column in columns if column not in out]
    known = ~np.isnan(matrix)
    sharing = _sharing(known, ranked, options.least_questions)
    n_common = int(known[:, sharing].all(axis=1).sum())
    is_alone = len(ranked) > len(sharing) == 1
    if is_alone or n_common < options.least_questions:
        sharing = []
    out |= {code: OTHER_QUESTIONS for code in ranked if code not in sharing}
    return Ground(matrix, scenarios, np.array(sharing, dtype=np.int64), out)


def _shared_scenarios(columns: list[dict[int, int]]) -> tuple[int, ...]:
    """Return the scenarios that more than half of the systems with scenarios have."""
    bearing = [set(column) - {NO_SCENARIO} for column in columns]
    bearing = [scenarios for scenarios in bearing if scenarios]
    every = sorted(set().union(*bearing))
    return tuple(
        n for n in every if 2 * sum(n in scenarios for scenarios in bearing) > len(bearing)
    )


def _sharing(
    known: np.ndarray[Any, np.dtype[np.bool_]], systems: list[int], least: int
) -> list[int]:
    """Drop systems in turn, first those that cost the most questions, and return the rest."""
    sharing = sorted(systems)
    while len(sharing) > 1:
        own = known[:, sharing]
        enough = max(least, LEAST_SHARE * own.sum(axis=0).max())
        if own.all(axis=1).sum() >= enough:
            break
        alone = (~own).sum(axis=1) == 1
        gained = (~own[alone]).sum(axis=0)
        # Removing this system gains the most questions; among ties, it has the fewest questions.
        worst = min(range(len(sharing)), key=lambda at: (-gained[at], own[:, at].sum(), at))
        if not gained.any() and _has_no_gap(own):
            break
        sharing.pop(worst)
    return sharing


def _has_no_gap(own: np.ndarray[Any, np.dtype[np.bool_]]) -> bool:
    """Whether all systems have the same questions, so that dropping another one cannot help."""
    return bool((own.all(axis=1) | ~own.any(axis=1)).all())


def _pairs(ranking: Ranking) -> SystemPairs:
    figures = ("mean", "low", "high", "p", "p_holm", "detectable")
    return SystemPairs(
        first=tuple(int(pair.first) for pair in ranking.pairs),
        second=tuple(int(pair.second) for pair in ranking.pairs),
        **{name: tuple(getattr(pair, name) for pair in ranking.pairs) for name in figures},
    )


# Rows of a leaderboard: one system by one judge, over comparable questions and scenarios


@dataclass(frozen=True, kw_only=True)
class _Mean(BoundedMean):
    is_common: bool = False
    scenarios: tuple[int, ...] = ()
    n_used: int = 0
    reason: str | None = None


def coverage_of(scored: ScoreArrays) -> dict[str, dict[int, float]]:
    """Map judge and system to the share of requested answers that have a score."""
    coverage: dict[str, dict[int, float]] = {}
    for judge in scored.judges:
        mask = scored.of_judge(judge)
        totals = np.bincount(scored.system[mask], minlength=len(scored.systems))
        known = mask & ~np.isnan(scored.value)
        n = np.bincount(scored.system[known], minlength=len(scored.systems))
        coverage[judge] = {int(at): float(n[at] / totals[at]) for at in np.flatnonzero(totals)}
    return coverage


def make_rows(
    scored: ScoreArrays,
    table: CellTable,
    rankings: tuple[JudgeRanking, ...],
    options: BoardOptions,
) -> tuple[StandingRow, ...]:
    """Return a row for each judge and system, sorted by judge, then system."""
    by_judge = {ranking.judge: ranking for ranking in rankings}
    coverage = coverage_of(scored)
    pairs = sorted({(int(j), int(s)) for j, s in zip(table.judge, table.system, strict=True)})
    rows = []
    for code, system in pairs:
        judge = scored.judges[code]
        places = np.flatnonzero((table.judge == code) & (table.system == system))
        cells = [table.cells[int(place)] for place in places]
        mean = _mean_of(by_judge[judge], system, places, table, options)
        rows.append(
            StandingRow(
                judge=judge,
                system=system,
                **vars(mean),
                n_answers=sum(cell.n_answers for cell in cells),
                n_questions=int((~np.isnan(table.values[:, places])).any(axis=1).sum()),
                asked=sum(cell.asked for cell in cells),
                unscored=sum(cell.unscored for cell in cells),
                coverage=coverage[judge][system],
                is_low=coverage[judge][system] < options.least_coverage,
            )
        )
    return tuple(rows)


def _mean_of(
    ranking: JudgeRanking, system: int, places: IntArray, table: CellTable, options: BoardOptions
) -> _Mean:
    standing = ranking.standing(system)
    numbers = [table.cells[int(place)].scenario for place in places]
    if standing is not None:
        bears = any(number != NO_SCENARIO for number in numbers)
        over = ranking.scenarios if bears else (NO_SCENARIO,)
        return _common(standing, over, ranking.n_common)
    return _own(ranking, places, table, options)


def _common(standing: Standing, scenarios: tuple[int, ...], n: int) -> _Mean:
    low, high = standing.low, standing.high
    has_spread = low is not None and high is not None and high - low >= 1e-12
    is_few = not RULES["mean"].allows(n)
    why = TOO_FEW_QUESTIONS.format(RULES["mean"].least) if is_few else NO_SPREAD
    return _Mean(
        mean=standing.mean,
        low=low if has_spread else None,
        high=high if has_spread else None,
        is_common=True,
        scenarios=scenarios,
        n_used=n,
        reason=None if has_spread else why,
    )


def _own(
    ranking: JudgeRanking, places: IntArray, table: CellTable, options: BoardOptions
) -> _Mean:
    """Return the mean over a system's own cells that are not thin.

    If possible, only compared scenarios are used.
    """
    cells = {int(place): table.cells[int(place)] for place in places}
    full = [at for at, cell in cells.items() if cell.n_questions and not cell.is_thin]
    compared = [at for at in full if cells[at].scenario in ranking.scenarios]
    used = compared or full
    if not used:
        is_empty = not any(cell.n_questions for cell in cells.values())
        return _Mean(reason=NO_SCORES if is_empty else TOO_THIN)
    (interval,) = mean_intervals(table.values, [used], options, options.maximum)
    return _Mean(
        mean=float(np.mean([cells[at].mean for at in used])),
        **interval._asdict(),
        scenarios=tuple(cells[at].scenario for at in used),
        n_used=int((~np.isnan(table.values[:, used])).any(axis=1).sum()),
    )
