"""What a leaderboard names, and how much of it there is: judges, systems, questions.

Tables are those of `make_board`; everything comes in the order of the codes of `Scored`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark.leaderboard.methods.data import Scored, judge_keys
from benchmark.leaderboard.methods.figures import Counts, Judge, Question, System
from benchmark.leaderboard.methods.options import PEOPLE


def counts_of(table: pd.DataFrame, scored: Scored) -> Counts:
    """Sheets, unscored ones, answers and questions of the whole table."""
    return Counts(
        sheets=len(table),
        unscored=int((scored.sheets - scored.scored).sum()),
        answers=int(scored.answer.max(initial=-1)) + 1,
        questions=len(scored.questions),
    )


def judges_of(table: pd.DataFrame, scored: Scored) -> tuple[Judge, ...]:
    """Each judge with its counts; people have no name here."""
    made = []
    groups = dict(iter(table.groupby(judge_keys(table), sort=False)))
    for judge in scored.judges:
        sheets, mask = groups[judge], scored.of_judge(judge)
        is_people = judge == PEOPLE
        made.append(
            Judge(
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
    return tuple(made)


def _reasons(sheets: pd.DataFrame) -> dict[str, int]:
    """Why sheets are unscored, most frequent first."""
    if "reason" not in sheets:
        return {}
    counts = sheets.loc[sheets["reason"].fillna("") != "", "reason"].value_counts()
    return {str(name): int(n) for name, n in sorted(counts.items(), key=lambda e: (-e[1], e[0]))}


def systems_of(table: pd.DataFrame, scored: Scored) -> tuple[System, ...]:
    """Each system with the mean length of its answers."""
    rows = table.drop_duplicates("system_id").set_index("system_id")
    lengths = table.drop_duplicates("answer_id").groupby("system_id")["characters"].mean()
    return tuple(
        System(
            id=each,
            name=str(rows.at[each, "system"]),
            kind=str(rows.at[each, "system_kind"]),
            model=str(rows.at[each, "model"]),
            characters=float(lengths[each]),
        )
        for each in scored.systems
    )


def questions_of(table: pd.DataFrame, scored: Scored) -> tuple[Question, ...]:
    """Each question with its objects and aspect."""
    columns = ["object1", "object2", "aspect"]
    rows = table.drop_duplicates("question_id").set_index("question_id")[columns]
    found = dict(zip(rows.index, rows.itertuples(index=False, name=None), strict=True))
    return tuple(
        Question(id=each, **dict(zip(columns, map(str, found[each]), strict=True)))
        for each in scored.questions
    )
