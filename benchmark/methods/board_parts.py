"""What stands beside the ranks: groups and criteria, spread, people against judges, cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.methods.board_data import FloatArray, IntArray, Scored, judge_keys
from benchmark.methods.board_options import PEOPLE, BoardOptions
from benchmark.methods.board_resamples import question_means

# Generation of the answer, and judging of the sheet: cost in millionths, time in seconds.
OF_ANSWERS = ("answer_cost_micro", "answer_seconds")
OF_SHEETS = ("cost_micro", "seconds")
# [mean or None, n] of each.
Means = list[list[Any]]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """One system and scenario as people and one judge see the same answers.

    ``people`` and ``value`` are means over the ``n`` answers that both scored.
    """

    judge: str
    system: int
    scenario: int
    people: float
    value: float
    n: int


def part_means(scored: Scored, options: BoardOptions) -> dict[str, dict[str, Means]]:
    """Judge → part → [mean, n] for each system: mean of scenario means, n scored answers."""
    return {
        judge: {
            part: _means_of(scored, scored.of_judge(judge), scored.parts[:, place])
            for place, part in enumerate(options.parts)
        }
        for judge in scored.judges
    }


def _means_of(scored: Scored, mask: NDArray[np.bool_], values: FloatArray) -> Means:
    shape = (len(scored.systems), len(scored.scenarios))
    cells = question_means(values[mask], scored.system[mask], scored.scenario[mask], shape)
    known = mask & ~np.isnan(values)
    counts = np.bincount(scored.system[known], minlength=shape[0])
    return [
        [float(np.nanmean(row)) if n else None, int(n)]
        for row, n in zip(cells, counts, strict=True)
    ]


def scenario_profile(scored: Scored) -> dict[str, Means]:
    """Judge → [mean, n] for each scenario over all its answers (CompQA paper, figure 6)."""
    made = {}
    for judge in scored.judges:
        mask = scored.of_judge(judge) & ~np.isnan(scored.value)
        n = np.bincount(scored.scenario[mask], minlength=len(scored.scenarios))
        total = np.bincount(
            scored.scenario[mask], weights=scored.value[mask], minlength=len(scored.scenarios)
        )
        pairs = zip(total, n, strict=True)
        made[judge] = [
            [float(each / count) if count else None, int(count)] for each, count in pairs
        ]
    return made


def distributions(scored: Scored, options: BoardOptions) -> dict[str, list[list[int]]]:
    """Judge → for each system, answers with 0 to below 1 points, 1 to below 2, … maximum."""
    bins = int(options.maximum) + 1
    made = {}
    for judge in scored.judges:
        mask = scored.of_judge(judge) & ~np.isnan(scored.value)
        point = np.clip(np.floor(scored.value[mask] + 1e-9), 0, bins - 1).astype(np.int64)
        flat = np.bincount(
            scored.system[mask] * bins + point, minlength=len(scored.systems) * bins
        )
        made[judge] = flat.reshape(len(scored.systems), bins).tolist()
    return made


def people_beside_judges(scored: Scored) -> tuple[Beside, ...]:
    """Means of people and of each judge by system and scenario, over answers both scored."""
    if PEOPLE not in scored.judges:
        return ()
    n = int(scored.answer.max(initial=-1)) + 1
    human = np.full(n, np.nan)
    rows = scored.of_judge(PEOPLE)
    human[scored.answer[rows]] = scored.value[rows]
    made: list[Beside] = []
    for judge in scored.judges[1:]:
        both = np.flatnonzero(
            scored.of_judge(judge) & ~np.isnan(scored.value) & ~np.isnan(human[scored.answer])
        )
        made.extend(_beside(scored, judge, both, human))
    return tuple(made)


def _beside(scored: Scored, judge: str, rows: IntArray, human: FloatArray) -> list[Beside]:
    keys = scored.system[rows] * len(scored.scenarios) + scored.scenario[rows]
    found, cell, count = np.unique(keys, return_inverse=True, return_counts=True)
    people = np.bincount(cell, weights=human[scored.answer[rows]], minlength=len(found))
    values = np.bincount(cell, weights=scored.value[rows], minlength=len(found))
    return [
        Beside(
            judge=judge,
            system=int(key // len(scored.scenarios)),
            scenario=scored.scenarios[int(key % len(scored.scenarios))],
            people=float(people[place] / count[place]),
            value=float(values[place] / count[place]),
            n=int(count[place]),
        )
        for place, key in enumerate(found)
    ]


def costs(table: pd.DataFrame, scored: Scored) -> dict[str, Any]:
    """Means of what the ledger knows: of writing answers by system, of scoring by judge.

    Returns
    -------
    dict
        ``systems``: [cost in millionths, seconds, n] of an answer for each system.
        ``judges``: the same of a sheet for each judge. None and n 0 where nobody counted.
    """
    answers = table.drop_duplicates("answer_id")
    by_judge = dict(iter(table.groupby(judge_keys(table), sort=False)))
    by_system = dict(iter(answers.groupby("system_id", sort=False)))
    return {
        "systems": [_cost(by_system[each], OF_ANSWERS) for each in scored.systems],
        "judges": {each: _cost(by_judge[each], OF_SHEETS) for each in scored.judges},
    }


def _cost(rows: pd.DataFrame, columns: tuple[str, str]) -> list[float | int | None]:
    if not set(columns) <= set(rows.columns):
        return [None, None, 0]
    known = rows[rows[columns[1]].notna()]
    if known.empty:
        return [None, None, 0]
    money = known[columns[0]].mean()
    time = float(known[columns[1]].mean())
    return [None if np.isnan(money) else float(money), time, len(known)]
