"""Selection of question–answer pairs for training, and their format.

A pair is selected if its answer has a high total and, where both people and judges scored it, if
they agree. Either all good answers to a question are selected, as in the paper, or only the best
few, so that questions with many answers do not outweigh the others. Groups of questions about the
same two objects, not single pairs, are split between training and validation.

Source: CompQA paper, section on distillation and appendix B: at least 18 points, and no stated
limit per question. All wording here is ours.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


PEOPLE, JUDGES, BOTH = "people", "judges", "both"
BASES = (PEOPLE, JUDGES, BOTH)
TRAIN, VALIDATION = "train", "validation"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Conditions that a training pair must meet.

    Attributes
    ----------
    basis : str
        Raters whose mean total counts; with ``BOTH``, the lower of the means of people and judges.
    least_total : float
        In points.
    widest_gap : float or None
        Maximum difference in points between the means of people and judges; None for no limit.
        Pairs scored only by people or only by judges have no gap; they pass unless the basis is
        ``BOTH``.
    judges : tuple of str
        Ids of the judges that count; their means are averaged. Empty for all judges.
    each : int or None
        Maximum number of answers per question, best first; None for no limit.
    conditions : tuple of str
        Ids of the conditions whose answers are selected, or ``all``; empty for plain conditions.
        Sheets for answers under other conditions are left out before pairs are chosen.
    validation : float
        Share of the groups of questions used for validation, at least 0 and below 1.
    """

    basis: str = BOTH
    least_total: float
    widest_gap: float | None = None
    judges: tuple[str, ...] = ()
    each: int | None = None
    validation: float = 0.1
    seed: int = 1
    systems: tuple[str, ...] = ()
    scenarios: tuple[int, ...] = ()
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainingPairs:
    """The pairs, and the number of answers left out for each reason."""

    pairs: pd.DataFrame
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        """Number of distinct questions."""
        return int(self.pairs["question"].nunique())


def choose_pairs(
    sheets: pd.DataFrame, people: Sequence[str], rules: Rules, *, unfit: Collection[int] = ()
) -> TrainingPairs:
    """Choose answers by their score sheets.

    Parameters
    ----------
    sheets
        Rows are sheets with the columns answer, question, group (all questions in a group are in
        the same part), system, scenario, rater_kind, rater, rater_id, total (points; NaN does not
        count).
    people
        Kinds of raters that are people; all others are judges.
    rules
        Conditions that a pair must meet.
    unfit
        Answers that cite an argument that no prompt can show.

    Returns
    -------
    Chosen
        ``pairs`` has one row per answer: answer, question, group, system, scenario, people, judges
        (mean totals in points, NaN if missing), total, gap, part (train or validation).
    """
    if rules.judges:
        counts = sheets["rater_kind"].isin(list(people)) | sheets["rater_id"].isin(rules.judges)
        sheets = sheets[counts]
    answers = _means(sheets, people)
    left_out: dict[str, int] = {}
    can_be_asked = ("it cites an argument that is not stored", ~answers["answer"].isin(unfit))
    for reason, keep in [*_conditions(answers, rules), can_be_asked]:
        left_out[reason] = int((~keep & answers["kept"]).sum())
        answers["kept"] &= keep
    good = answers[answers["kept"]].drop(columns="kept")
    ordered = good.sort_values(["question", "total", "answer"], ascending=[True, False, True])
    place = ordered.groupby("question").cumcount()
    if rules.each is not None:
        left_out["a better answer to the same question"] = int((place >= rules.each).sum())
        ordered = ordered[place < rules.each]
    pairs = ordered.reset_index(drop=True)
    pairs["part"] = _parts(pairs["group"].tolist(), rules)
    return TrainingPairs(pairs, {reason: count for reason, count in left_out.items() if count})


def chat_record(
    prompt: Sequence[Mapping[str, str]], answer: str, about: dict[str, Any]
) -> dict[str, Any]:
    """Return one pair as chat messages.

    ``about`` describes its origin.

    Examples
    --------
    >>> asked = [{"role": "user", "content": "Oak or elm?"}]
    >>> chat_record(asked, "Oak.", {"total": 19})["messages"][1]
    {'role': 'assistant', 'content': 'Oak.'}
    """
    messages = [*map(dict, prompt), {"role": "assistant", "content": answer}]
    return {"messages": messages, "about": about}


def _means(sheets: pd.DataFrame, people: Sequence[str]) -> pd.DataFrame:
    """Return the mean totals of people and judges for each answer, after averaging replicates."""
    import pandas as pd

    known = sheets[sheets["total"].notna()]
    what = ["answer", "question", "group", "system", "scenario"]
    sides = known["rater_kind"].isin(list(people)).map({True: PEOPLE, False: JUDGES})
    per_rater = known.assign(side=sides).groupby([*what, "side", "rater"])["total"].mean()
    means = per_rater.groupby([*what, "side"]).mean().unstack("side")
    means = means.reindex(columns=[PEOPLE, JUDGES]).reset_index()
    return pd.DataFrame(means).assign(
        gap=(means[PEOPLE] - means[JUDGES]).abs(),
        total=means[[PEOPLE, JUDGES]].min(axis=1),
        kept=True,
    )


def _conditions(answers: pd.DataFrame, rules: Rules) -> list[tuple[str, pd.Series]]:
    """Return each condition with the reason shown for answers that fail it."""
    if rules.basis == BOTH:
        scored = answers[PEOPLE].notna() & answers[JUDGES].notna()
    else:
        scored = answers[rules.basis].notna()
        answers["total"] = answers[rules.basis]
    conditions = (
        [("another system", answers["system"].isin(rules.systems))] if rules.systems else []
    )
    if rules.scenarios:
        conditions.append(("another scenario", answers["scenario"].isin(rules.scenarios)))
    conditions.append(("not scored by those whose points count", scored))
    conditions.append(("a total below the minimum", answers["total"] >= rules.least_total))
    if rules.widest_gap is not None:
        agreed = answers["gap"].isna() | (answers["gap"] <= rules.widest_gap)
        conditions.append(("people and judges too far apart", agreed))
    return conditions


def _parts(groups: list[Any], rules: Rules) -> list[str]:
    names = sorted(set(groups))
    rng = random.Random(rules.seed)  # noqa: S311  a split, not a secret
    size = round(len(names) * rules.validation)
    sample = set(rng.sample(names, size)) if size < len(names) else set()
    return [VALIDATION if group in sample else TRAIN for group in groups]
