"""Rows of a leaderboard: one system by one judge, over what can be compared with the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmark.leaderboard.methods.cells import NO_SCORES, CellTable
from benchmark.leaderboard.methods.data import IntArray, Scored
from benchmark.leaderboard.methods.figures import JudgeRanking, Row
from benchmark.leaderboard.methods.intervals import (
    NO_SPREAD,
    TOO_FEW_QUESTIONS,
    mean_intervals,
)
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.leaderboard.methods.ranks import NO_SCENARIO, TOO_THIN
from cqa_site.stats.ranks.standing import Standing
from cqa_site.stats.verdicts import RULES


@dataclass(frozen=True, kw_only=True)
class _Mean:
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    is_common: bool = False
    scenarios: tuple[int, ...] = ()
    n_used: int = 0
    reason: str | None = None


def coverage_of(scored: Scored) -> dict[str, dict[int, float]]:
    """Judge → system → share of the asked answers that have a score."""
    made: dict[str, dict[int, float]] = {}
    for judge in scored.judges:
        mask = scored.of_judge(judge)
        asked = np.bincount(scored.system[mask], minlength=len(scored.systems))
        known = mask & ~np.isnan(scored.value)
        n = np.bincount(scored.system[known], minlength=len(scored.systems))
        made[judge] = {int(at): float(n[at] / asked[at]) for at in np.flatnonzero(asked)}
    return made


def make_rows(
    scored: Scored,
    table: CellTable,
    rankings: tuple[JudgeRanking, ...],
    options: BoardOptions,
) -> tuple[Row, ...]:
    """Every system and judge, in the order of the judges and systems."""
    by_judge = {each.judge: each for each in rankings}
    coverage = coverage_of(scored)
    pairs = sorted({(int(j), int(s)) for j, s in zip(table.judge, table.system, strict=True)})
    made = []
    for code, system in pairs:
        judge = scored.judges[code]
        places = np.flatnonzero((table.judge == code) & (table.system == system))
        cells = [table.cells[int(place)] for place in places]
        found = _mean_of(by_judge[judge], system, places, table, options)
        made.append(
            Row(
                judge=judge,
                system=system,
                **vars(found),
                n_answers=sum(each.n_answers for each in cells),
                n_questions=int((~np.isnan(table.values[:, places])).any(axis=1).sum()),
                asked=sum(each.asked for each in cells),
                unscored=sum(each.unscored for each in cells),
                coverage=coverage[judge][system],
                is_low=coverage[judge][system] < options.least_coverage,
            )
        )
    return tuple(made)


def _mean_of(
    ranking: JudgeRanking, system: int, places: IntArray, table: CellTable, options: BoardOptions
) -> _Mean:
    standing = ranking.standing(system)
    numbers = [table.cells[int(place)].scenario for place in places]
    if standing is not None:
        bears = any(number != NO_SCENARIO for number in numbers)
        over = ranking.scenarios if bears else (NO_SCENARIO,)
        return _common(standing, over, ranking.n_common, options)
    return _own(ranking, places, table, options)


def _common(
    standing: Standing, scenarios: tuple[int, ...], n: int, options: BoardOptions
) -> _Mean:
    low, high = standing.low, standing.high
    has_spread = low is not None and high is not None and high - low >= 1e-12
    is_few = options.version > 2 and not RULES["mean"].allows(n)
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
    """Mean of the means of its cells that are not thin, on the compared scenarios if it can be."""
    cells = {int(place): table.cells[int(place)] for place in places}
    full = [at for at, each in cells.items() if each.n_questions and not each.is_thin]
    compared = [at for at in full if cells[at].scenario in ranking.scenarios]
    used = compared or full
    if not used:
        is_empty = not any(each.n_questions for each in cells.values())
        return _Mean(reason=NO_SCORES if is_empty else TOO_THIN)
    (found,) = mean_intervals(table.values, [used], options, options.maximum)
    return _Mean(
        mean=float(np.mean([cells[at].mean for at in used])),
        **found._asdict(),
        scenarios=tuple(cells[at].scenario for at in used),
        n_used=int((~np.isnan(table.values[:, used])).any(axis=1).sum()),
    )
