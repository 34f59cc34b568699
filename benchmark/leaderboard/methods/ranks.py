"""Ranks of systems by one judge, on the questions and scenarios that they share.

Means over different questions cannot be compared, so a rank needs common ground. Systems that
would leave too little of it are not ranked, and the board says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.cells import CellTable
from benchmark.leaderboard.methods.data import FloatArray, IntArray, Scored
from benchmark.leaderboard.methods.figures import JudgeRanking, Pairs
from benchmark.leaderboard.methods.options import BoardOptions
from cqa_site.stats.ranks.ranking import Ranking, rank_systems

LOW_COVERAGE = "too few of its answers have a score"
TOO_THIN = "each of its scenarios has too few scored questions"
THIN_SCENARIO = "too few of its questions are scored in a scenario on which others are compared"
OTHER_SCENARIOS = "it lacks a scenario on which the others are compared"
OTHER_QUESTIONS = "it shares too few questions with the others"
NOTHING_SHARED = "no two systems have enough scored questions in common"
# A system that halves the common ground of the others is left out.
LEAST_SHARE = 0.5
NO_SCENARIO = 0


@dataclass(frozen=True, eq=False)
class Ground:
    """What is compared: scores of systems (columns) by question (rows), NaN where unknown."""

    matrix: FloatArray
    scenarios: tuple[int, ...]
    ranked: IntArray
    unranked: dict[int, str]

    @property
    def common(self) -> IntArray:
        """Places of the questions that all ranked systems have."""
        known = ~np.isnan(self.matrix[:, self.ranked])
        return np.flatnonzero(known.all(axis=1)) if len(self.ranked) else np.zeros(0, dtype=int)


def rank_by_judge(ground: Ground, judge: str, options: BoardOptions) -> JudgeRanking:
    """Ranks, groups and pairs; see `rank_systems`."""
    scores = pd.DataFrame(
        ground.matrix[:, ground.ranked].T, index=[str(each) for each in ground.ranked]
    )
    found = rank_systems(scores, confidence=options.confidence, highest=options.maximum)
    return JudgeRanking(
        judge=judge,
        scenarios=ground.scenarios,
        standings=found.standings,
        unranked=ground.unranked,
        pairs=_pairs(found),
        n_common=found.n_common,
        n_questions=found.n_questions,
        detectable=found.detectable,
        interval=found.interval,
        reason=found.reason if len(ground.ranked) else NOTHING_SHARED,
        common=tuple(int(each) for each in ground.common),
    )


def common_ground(
    scored: Scored,
    table: CellTable,
    judge: str,
    coverage: dict[int, float],
    options: BoardOptions,
) -> Ground:
    """Decide which scenarios, systems and questions of a judge are compared.

    Scenarios: those that more than half of the systems with scenarios have, thin cells not
    counted: what a handful of answers says changes nobody's rank. Systems below the least
    coverage, without one of these scenarios, or sharing too few questions stay out.
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
    out = {each: LOW_COVERAGE for each in columns if coverage[each] < options.least_coverage}
    for system, own in columns.items():
        if not own:
            out.setdefault(system, TOO_THIN)
    scenarios = _shared_scenarios([each for key, each in columns.items() if key not in out])
    matrix = np.full((len(scored.questions), len(scored.systems)), np.nan)
    for system, own in columns.items():
        wanted = scenarios if set(own) - {NO_SCENARIO} else (NO_SCENARIO,)
        if wanted and set(wanted) <= set(own):
            # A question counts only with every scenario, or means would mix different ones.
            matrix[:, system] = table.values[:, [own[each] for each in wanted]].mean(axis=1)
        else:
            is_thin = set(wanted) <= set(own) | thin.get(system, set())
            out.setdefault(system, THIN_SCENARIO if wanted and is_thin else OTHER_SCENARIOS)
    ranked = [each for each in columns if each not in out]
    known = ~np.isnan(matrix)
    kept = _sharing(known, ranked, options.least_questions)
    n_common = int(known[:, kept].all(axis=1).sum())
    is_alone = len(ranked) > len(kept) == 1
    if is_alone or n_common < options.least_questions:
        kept = []
    out |= {each: OTHER_QUESTIONS for each in ranked if each not in kept}
    return Ground(matrix, scenarios, np.array(kept, dtype=np.int64), out)


def _shared_scenarios(columns: list[dict[int, int]]) -> tuple[int, ...]:
    """Scenarios that more than half of the systems with scenarios have."""
    bearing = [set(each) - {NO_SCENARIO} for each in columns]
    bearing = [each for each in bearing if each]
    every = sorted(set().union(*bearing))
    return tuple(n for n in every if 2 * sum(n in each for each in bearing) > len(bearing))


def _sharing(
    known: np.ndarray[Any, np.dtype[np.bool_]], systems: list[int], least: int
) -> list[int]:
    """Systems left after dropping, one by one, whoever costs the others most questions."""
    kept = sorted(systems)
    while len(kept) > 1:
        own = known[:, kept]
        enough = max(least, LEAST_SHARE * own.sum(axis=0).max())
        if own.all(axis=1).sum() >= enough:
            break
        alone = (~own).sum(axis=1) == 1
        gained = (~own[alone]).sum(axis=0)
        # Most questions won back; of equals, the one with the fewest of its own.
        worst = min(range(len(kept)), key=lambda at: (-gained[at], own[:, at].sum(), at))
        if not gained.any() and _has_no_gap(own):
            break
        kept.pop(worst)
    return kept


def _has_no_gap(own: np.ndarray[Any, np.dtype[np.bool_]]) -> bool:
    """Whether leaving out systems cannot help any more: all have the same questions."""
    return bool((own.all(axis=1) | ~own.any(axis=1)).all())


def _pairs(found: Ranking) -> Pairs:
    figures = ("mean", "low", "high", "p", "p_holm", "detectable")
    return Pairs(
        first=tuple(int(each.first) for each in found.pairs),
        second=tuple(int(each.second) for each in found.pairs),
        **{name: tuple(getattr(each, name) for each in found.pairs) for name in figures},
    )
