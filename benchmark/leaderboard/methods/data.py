"""Score sheets as the arrays that a leaderboard is made from: a row an answer and judge.

A judge is a column of the board: each model is its own, all people (persons, experts and
released human scores) are one. Replicates of a model and sheets of several people for one
answer are averaged before anything else. Of a person's sheets of one answer the first with
points counts, as in `score_agreement_grid`: blind repeats say how steady somebody is, and
nobody counts more for having scored twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.leaderboard.methods.options import PEOPLE, PEOPLE_KINDS, TOTAL, BoardOptions

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scored:
    """One row for each judge and answer it was asked for, sorted by judge, then answer.

    Attributes
    ----------
    judges, systems, scenarios, questions
        What the codes below stand for; judges people first, systems by name.
    judge, system, scenario, question, answer : int, shape (n,)
        Codes (``answer`` numbers the answers of the whole table).
    value : float, shape (n,)
        Mean points over the sheets that have the column; NaN where none does.
    sheets, scored : int, shape (n,)
        Sheets asked for, and sheets with a value.
    characters : float, shape (n,)
        Length of the answer.
    parts : float, shape (n, n_parts)
        Means of the other columns, in the order of the options.
    probability : float, shape (n,)
        With which probability the answer was drawn for people; NaN where nobody knows.
    round : int, shape (n,)
        The scoring round of its sheets; 0 for none, -1 for several.
    """

    judges: tuple[str, ...]
    systems: tuple[str, ...]
    scenarios: tuple[int, ...]
    questions: tuple[str, ...]
    judge: IntArray
    system: IntArray
    scenario: IntArray
    question: IntArray
    answer: IntArray
    value: FloatArray
    sheets: IntArray
    scored: IntArray
    characters: FloatArray
    parts: FloatArray
    probability: FloatArray
    round: IntArray

    def of_judge(self, judge: str) -> NDArray[np.bool_]:
        """Mask of the rows of one judge."""
        return np.asarray(self.judge == self.judges.index(judge))


def judge_keys(table: pd.DataFrame) -> pd.Series:
    """The judge of each sheet: "people", or the rater's own id."""
    return table["rater_id"].where(~table["rater_kind"].isin(PEOPLE_KINDS), PEOPLE)


def read_scores(table: pd.DataFrame, options: BoardOptions) -> Scored:
    """Average the sheets of each answer and judge.

    Parameters
    ----------
    table
        Rows are sheets: ``answer_id``, ``question_id``, ``system_id``, ``system``,
        ``scenario``, ``characters``, ``rater_id``, ``rater_kind``, ``round``, the columns of
        the options, and optionally ``probability``. A missing point is NaN: unscored, no 0.
    options
        Which column is read, and which stand beside it.
    """
    table = _without_repeats(table, [options.column, *options.parts])
    judge, judges = _coded(judge_keys(table), first=PEOPLE)
    answer, answers = _coded(table["answer_id"])
    keys, inverse = np.unique(judge * max(len(answers), 1) + answer, return_inverse=True)
    first = _first_rows(inverse, len(keys))
    known, names = _system_codes(table, first)
    question, questions = _coded(table["question_id"])
    scenario, scenarios = _coded(table["scenario"])
    mean, scored = _means(table[options.column], inverse, len(keys))
    others = [_means(table[name], inverse, len(keys))[0] for name in options.parts]
    return Scored(
        judges=tuple(judges),
        systems=names,
        scenarios=tuple(int(each) for each in scenarios),
        questions=tuple(questions),
        judge=judge[first],
        system=known,
        scenario=scenario[first],
        question=question[first],
        answer=answer[first],
        value=mean,
        sheets=np.bincount(inverse, minlength=len(keys)),
        scored=scored,
        characters=table["characters"].to_numpy(dtype=float)[first],
        parts=np.column_stack(others) if others else np.empty((len(keys), 0)),
        probability=_probabilities(table, inverse, len(keys)),
        round=_rounds(table, inverse, len(keys)),
    )


def _without_repeats(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The rows without people's further sheets of an answer that they have given points."""
    people = table[table["rater_kind"].isin(PEOPLE_KINDS)]
    scored = people[people[columns].notna().any(axis=1)]
    if "replicate" in scored:
        scored = scored.sort_values("replicate", kind="stable")
    return table.drop(scored.index[scored.duplicated(["rater_id", "answer_id"])])


def _coded(values: pd.Series, first: str | None = None) -> tuple[IntArray, list[Any]]:
    """Codes by sorted value; ``first`` stands before all others where it occurs."""
    codes, found = pd.factorize(values, sort=True)
    names = list(found)
    if first in names:
        place = names.index(first)
        codes = np.where(codes == place, 0, np.where(codes < place, codes + 1, codes))
        names = [first, *names[:place], *names[place + 1 :]]
    return np.asarray(codes, dtype=np.int64), names


def system_order(table: pd.DataFrame) -> tuple[str, ...]:
    """Ids of systems in the order of their names."""
    named = table.drop_duplicates("system_id").sort_values(["system", "system_id"])
    return tuple(named["system_id"])


def _system_codes(table: pd.DataFrame, first: IntArray) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of systems in the order of their names."""
    order = {each: place for place, each in enumerate(system_order(table))}
    codes = table["system_id"].map(order).to_numpy(dtype=np.int64)
    return codes[first], tuple(order)


def _first_rows(inverse: IntArray, n: int) -> IntArray:
    """Where each group occurs first."""
    first = np.full(n, len(inverse), dtype=np.int64)
    np.minimum.at(first, inverse, np.arange(len(inverse)))
    return first


def _means(values: pd.Series, groups: IntArray, n: int) -> tuple[FloatArray, IntArray]:
    """Mean and number of the known values of each group."""
    numbers = values.to_numpy(dtype=float)
    known = ~np.isnan(numbers)
    count = np.bincount(groups[known], minlength=n)
    total = np.bincount(groups[known], weights=numbers[known], minlength=n)
    mean = np.full(n, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean, count


def _probabilities(table: pd.DataFrame, groups: IntArray, n: int) -> FloatArray:
    if "probability" not in table:
        return np.full(n, np.nan)
    numbers = table["probability"].to_numpy(dtype=float)
    mean, count = _means(table["probability"], groups, n)
    # One sheet of unknown origin makes the answer's probability unknown.
    mean[count < np.bincount(groups, minlength=n)] = np.nan
    return mean if len(numbers) else np.full(n, np.nan)


def _rounds(table: pd.DataFrame, groups: IntArray, n: int) -> IntArray:
    rounds = table["round"].to_numpy(dtype=np.int64)
    low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, dtype=np.int64)
    np.minimum.at(low, groups, rounds)
    np.maximum.at(high, groups, rounds)
    return np.where(low == high, low, -1)


def answers_frame(scored: Scored, rows: Sequence[int] | IntArray | slice) -> pd.DataFrame:
    """Rows as `score_recipes` takes them: rater, system, scenario, total."""
    names = np.array(scored.judges, dtype=object)
    return pd.DataFrame(
        {
            "rater": names[scored.judge[rows]],
            "system": scored.system[rows],
            "scenario": np.array(scored.scenarios, dtype=np.int64)[scored.scenario[rows]],
            TOTAL: scored.value[rows],
        }
    )
