"""Score sheets as arrays, with names, counts, question means and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.leaderboard.methods.figures import (
    BoardCounts,
    BoardJudge,
    BoardQuestion,
    BoardSystem,
)
from benchmark.leaderboard.methods.options import PEOPLE, PEOPLE_KINDS, TOTAL, BoardOptions
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.intervals import mean_bounds
from cqa_site.stats.verdicts import RULES

# Score sheets as arrays with one row for each answer and judge, the input of a leaderboard
#
# A judge is a column of the board: each model is one judge, and all people (persons, experts and
# released human scores) together are one. Replicates of a model and sheets by several people for
# one answer are averaged first. If a person scored an answer several times, the first sheet with
# points counts, as in `agreement.methods.grid`, so that blind repeats, which measure consistency,
# do not give a person more weight.


@dataclass(frozen=True, eq=False)
class ScoreArrays:
    """One row per judge and requested answer, sorted by judge, then answer.

    Attributes
    ----------
    judges, systems, scenarios, questions
        Values of the codes below, with people as the first judge and systems sorted by name.
    judge, system, scenario, question, answer : int, shape (n,)
        Codes; those in ``answer`` number the answers of the whole table.
    value : float, shape (n,)
        Mean points over the sheets with this column; NaN if there are no such sheets.
    sheets, scored : int, shape (n,)
        Counts of requested sheets and of sheets with a value.
    characters : float, shape (n,)
        Length of the answer.
    parts : float, shape (n, n_parts)
        Means of the other columns, in the order of the options.
    probability : float, shape (n,)
        Probability with which the answer was drawn for people; NaN if unknown.
    round : int, shape (n,)
        Scoring round of the row's sheets; 0 for no round, -1 for several.
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
        """Return a mask of the rows of one judge."""
        return np.asarray(self.judge == self.judges.index(judge))


def judge_keys(table: pd.DataFrame) -> pd.Series:
    """Return the judge of each sheet: "people" or the rater's id."""
    return table["rater_id"].where(~table["rater_kind"].isin(PEOPLE_KINDS), PEOPLE)


def read_scores(table: pd.DataFrame, options: BoardOptions) -> ScoreArrays:
    """Average the sheets of each answer and judge.

    Parameters
    ----------
    table
        One row per sheet, with ``answer_id``, ``question_id``, ``system_id``, ``system``,
        ``scenario``, ``characters``, ``rater_id``, ``rater_kind``, ``round``, the columns in the
        options, and optionally ``probability``. Missing points are NaN and do not count as 0.
    options
        Options with the column to read and additional columns.
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
    n = len(keys)
    rounds = table["round"].to_numpy(dtype=np.int64)
    low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, dtype=np.int64)
    np.minimum.at(low, inverse, rounds)
    np.maximum.at(high, inverse, rounds)
    return ScoreArrays(
        judges=tuple(judges),
        systems=names,
        scenarios=tuple(int(number) for number in scenarios),
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
        round=np.where(low == high, low, -1),
    )


def _without_repeats(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Drop people's repeated sheets for answers that they have already scored."""
    people = table[table["rater_kind"].isin(PEOPLE_KINDS)]
    scored = people[people[columns].notna().any(axis=1)]
    if "replicate" in scored:
        scored = scored.sort_values("replicate", kind="stable")
    return table.drop(scored.index[scored.duplicated(["rater_id", "answer_id"])])


def _coded(values: pd.Series, first: str | None = None) -> tuple[IntArray, list[Any]]:
    """Return codes by sorted value; ``first`` precedes all other values if it occurs."""
    codes, levels = pd.factorize(values, sort=True)
    names = list(levels)
    if first in names:
        place = names.index(first)
        codes = np.where(codes == place, 0, np.where(codes < place, codes + 1, codes))
        names = [first, *names[:place], *names[place + 1 :]]
    return np.asarray(codes, dtype=np.int64), names


def system_order(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the ids of systems in the order of their names."""
    named = table.drop_duplicates("system_id").sort_values(["system", "system_id"])
    return tuple(named["system_id"])


def _system_codes(table: pd.DataFrame, first: IntArray) -> tuple[IntArray, tuple[str, ...]]:
    """Return the codes and ids of systems in the order of their names."""
    order = {system: place for place, system in enumerate(system_order(table))}
    codes = table["system_id"].map(order).to_numpy(dtype=np.int64)
    return codes[first], tuple(order)


def _first_rows(inverse: IntArray, n: int) -> IntArray:
    """Return the first row of each group."""
    first = np.full(n, len(inverse), dtype=np.int64)
    np.minimum.at(first, inverse, np.arange(len(inverse)))
    return first


def _means(values: pd.Series, groups: IntArray, n: int) -> tuple[FloatArray, IntArray]:
    """Return the mean and number of the known values of each group."""
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
    # If one sheet has no probability, the answer's probability is unknown.
    mean[count < np.bincount(groups, minlength=n)] = np.nan
    return mean if len(numbers) else np.full(n, np.nan)


def answers_frame(scored: ScoreArrays, rows: Sequence[int] | IntArray | slice) -> pd.DataFrame:
    """Return rows in the format of `cell_scores`: rater, system, scenario, total."""
    names = np.array(scored.judges, dtype=object)
    return pd.DataFrame(
        {
            "rater": names[scored.judge[rows]],
            "system": scored.system[rows],
            "scenario": np.array(scored.scenarios, dtype=np.int64)[scored.scenario[rows]],
            TOTAL: scored.value[rows],
        }
    )


# Names and counts of a leaderboard's judges, systems and questions
#
# Tables are those of `make_board`; results are in the order of the codes in `ScoreArrays`.


def counts_of(table: pd.DataFrame, scored: ScoreArrays) -> BoardCounts:
    """Count sheets, unscored sheets, answers and questions of the whole table."""
    return BoardCounts(
        sheets=len(table),
        unscored=int((scored.sheets - scored.scored).sum()),
        answers=int(scored.answer.max(initial=-1)) + 1,
        questions=len(scored.questions),
    )


def judges_of(table: pd.DataFrame, scored: ScoreArrays) -> tuple[BoardJudge, ...]:
    """Return each judge with its counts; the name of people is empty."""
    judges = []
    groups = dict(iter(table.groupby(judge_keys(table), sort=False)))
    for judge in scored.judges:
        sheets, mask = groups[judge], scored.of_judge(judge)
        is_people = judge == PEOPLE
        judges.append(
            BoardJudge(
                key=judge,
                name="" if is_people else str(sheets["rater_name"].iloc[0]),
                kind=PEOPLE if is_people else str(sheets["rater_kind"].iloc[0]),
                raters=int(sheets["rater_id"].nunique()),
                sheets=len(sheets),
                asked=int(mask.sum()),
                answers=int((~np.isnan(scored.value[mask])).sum()),
                unscored=int((scored.sheets[mask] - scored.scored[mask]).sum()),
                reasons=_reasons(sheets),
            )
        )
    return tuple(judges)


def _reasons(sheets: pd.DataFrame) -> dict[str, int]:
    """Count the reasons for unscored sheets, most frequent first."""
    if "reason" not in sheets:
        return {}
    counts = sheets.loc[sheets["reason"].fillna("") != "", "reason"].value_counts()
    return {str(name): int(n) for name, n in sorted(counts.items(), key=lambda e: (-e[1], e[0]))}


def systems_of(table: pd.DataFrame, scored: ScoreArrays) -> tuple[BoardSystem, ...]:
    """Return each system with the mean length of its answers."""
    rows = table.drop_duplicates("system_id").set_index("system_id")
    lengths = table.drop_duplicates("answer_id").groupby("system_id")["characters"].mean()
    return tuple(
        BoardSystem(
            id=system,
            name=str(rows.at[system, "system"]),
            kind=str(rows.at[system, "system_kind"]),
            model=str(rows.at[system, "model"]),
            characters=float(lengths[system]),
        )
        for system in scored.systems
    )


def questions_of(table: pd.DataFrame, scored: ScoreArrays) -> tuple[BoardQuestion, ...]:
    """Return each question with its objects and aspect."""
    columns = ["object1", "object2", "aspect"]
    rows = table.drop_duplicates("question_id").set_index("question_id")[columns]
    details = dict(zip(rows.index, rows.itertuples(index=False, name=None), strict=True))
    return tuple(
        BoardQuestion(id=question, **dict(zip(columns, map(str, details[question]), strict=True)))
        for question in scored.questions
    )


def question_means(
    values: FloatArray, question: IntArray, column: IntArray, shape: tuple[int, int]
) -> FloatArray:
    """Return the mean of the known values by question and column; NaN if none are known."""
    known = ~np.isnan(values)
    places = question[known] * shape[1] + column[known]
    size = shape[0] * shape[1]
    count = np.bincount(places, minlength=size)
    total = np.bincount(places, weights=values[known], minlength=size)
    means = np.full(size, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means.reshape(shape)


# Intervals of a board's means and ratios, with questions as clusters
#
# An interval uses each question's contribution to the figure, even if the figure is a mean over
# several scenarios, or over answers that are spread unevenly over questions.

TOO_FEW_QUESTIONS = "fewer than {} questions have a score, too few for an interval"
NO_SPREAD = "the scores do not vary, so there is no spread"


class BoundsOrReason(NamedTuple):
    """Bounds, or the reason for missing bounds."""

    low: float | None = None
    high: float | None = None
    reason: str | None = None


def mean_intervals(
    values: FloatArray, groups: Sequence[Sequence[int]], options: BoardOptions, highest: float
) -> list[BoundsOrReason]:
    """Return the interval of the mean of each group's column means.

    Parameters
    ----------
    values : shape (n_questions, n_columns)
        Values by question; NaN if missing.
    groups
        Positions of columns.
    options
        Options with the confidence level.
    highest
        Maximum points; intervals are cut off at this value and at 0.
    """
    return [_of_columns(values[:, list(group)], options, highest) for group in groups]


def ratio_interval(tops: FloatArray, bottoms: FloatArray, options: BoardOptions) -> BoundsOrReason:
    """Return the interval of a ratio of sums, with one term of each sum per question."""
    known = bottoms > 0
    value = tops.sum() / bottoms.sum()
    # Each term is divided by the weight of the others, because heavy questions pull the ratio.
    others = np.maximum(bottoms.sum() - bottoms[known], 1e-12)
    added = (tops - value * bottoms)[known] / others
    return _interval(float(value), added - added.mean(), int(known.sum()), options)


def _of_columns(values: FloatArray, options: BoardOptions, highest: float) -> BoundsOrReason:
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    if not counts.all():
        return BoundsOrReason(reason=TOO_FEW_QUESTIONS.format(RULES["mean"].least))
    means = np.where(known, values, 0).sum(axis=0) / counts
    added = (np.where(known, values - means, 0) / counts).mean(axis=1)[known.any(axis=1)]
    interval = _interval(float(means.mean()), added, int(counts.min()), options)
    if interval.low is None or interval.high is None:
        return interval
    return BoundsOrReason(max(interval.low, 0.0), min(interval.high, highest))


def _interval(
    value: float, added: FloatArray, fewest: int, options: BoardOptions
) -> BoundsOrReason:
    """Return the interval of a figure from the questions' contributions, which add up to 0."""
    if not RULES["mean"].allows(fewest):
        return BoundsOrReason(reason=TOO_FEW_QUESTIONS.format(RULES["mean"].least))
    single = (value + len(added) * added)[:, None]
    low, high = mean_bounds(single, options.confidence, fewest - 1)
    if np.isnan(low[0]):
        return BoundsOrReason(reason=NO_SPREAD)
    return BoundsOrReason(float(low[0]), float(high[0]))
