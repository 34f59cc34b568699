"""One condition for each system and scenario of a board.

Answers under different conditions (prompt version, filters of arguments, wording, decoding) are
answers to different tasks, so a mean over them describes none. A cell shows one condition; which
one, and which others there are, stands beside it.
"""

from __future__ import annotations

import pandas as pd

from benchmark.leaderboard.methods.figures import CellCondition
from benchmark.leaderboard.methods.options import TOTAL

CONDITION, NAME, PLAIN = "condition_id", "condition", "is_plain"
_CELL = ["system_id", "scenario"]


def choose_conditions(
    table: pd.DataFrame, systems: tuple[str, ...]
) -> tuple[pd.DataFrame, tuple[CellCondition, ...]]:
    """Keep the sheets of one condition for each system and scenario.

    The condition without deviations of filters and wording comes first, among equals the one
    with most scored questions, then the first by name and id. It is the same for all judges:
    otherwise their figures would be about different answers.

    Parameters
    ----------
    table
        As `make_board` takes it. Without the columns of conditions nothing is left out.
    systems
        Ids in the order in which places name them.

    Returns
    -------
    The kept rows, and every condition there was, by system, scenario and rank of the choice.
    """
    if CONDITION not in table or table.empty:
        return table, ()
    scored = table[table[TOTAL].notna()]
    questions = scored.groupby([*_CELL, CONDITION])["question_id"].nunique()
    found = table.drop_duplicates([*_CELL, CONDITION])[[*_CELL, CONDITION, NAME, PLAIN]]
    keys = list(found[[*_CELL, CONDITION]].itertuples(index=False, name=None))
    found = found.assign(
        n=[int(questions.get(key, 0)) for key in keys],
        place=found["system_id"].map({each: at for at, each in enumerate(systems)}),
    ).sort_values(
        ["place", "scenario", PLAIN, "n", NAME, CONDITION],
        ascending=[True, True, False, False, True, True],
    )
    shown = ~found.duplicated(_CELL)
    chosen = set(found.loc[shown, [*_CELL, CONDITION]].itertuples(index=False, name=None))
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
        for row, is_shown in zip(found.itertuples(index=False), shown, strict=True)
    )
    if shown.all():
        return table, listed
    return table[[row in chosen for row in rows]], listed
