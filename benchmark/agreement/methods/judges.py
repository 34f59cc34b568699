"""Judges beside each other: the leaderboard of those who usually make one.

They are ranked by the interval alpha of their totals with people's. The range of a rank holds
every place that the intervals allow: a judge stands above another for certain only where its
whole interval does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from .figures import Alternative, Beside, Consistency, JudgeRow, Length, Pair
from .grid import SheetRater
from .verdict import unscored_of

PER = 1_000
MICRO = 1_000_000


def judge_row(
    judge: SheetRater,
    sheets: pd.DataFrame,
    *,
    beside: Beside,
    pair: Pair,
    test: Alternative,
    consistency: Consistency,
    length: Length,
) -> JudgeRow:
    """One line of the board.

    Parameters
    ----------
    judge
        Who it is.
    sheets
        The judge's rows of the table; `cost_micro` and `seconds` of each where known.
    beside, pair, test, consistency, length
        Figures made elsewhere: of totals, the pair with the mean of people.
    """
    total, split = pair.columns["total"], consistency.columns["total"]
    return JudgeRow(
        key=judge.key,
        name=judge.name,
        kind=judge.kind,
        family=judge.family,
        sheets=judge.sheets,
        answers=int(sheets.loc[sheets["total"].notna(), "answer"].nunique()),
        agreement=beside.alpha_interval,
        pearson=total.pearson,
        within=pair.systems["pearson"].within,
        bias=total.bias,
        rho=test.rho,
        omega=test.omega,
        consistency=split.reliability,
        exact=split.exact,
        replicates=consistency.replicates,
        unscored=unscored_of(judge.unscored, judge.sheets),
        length_slope=length.own.slope,
        cost=_per_thousand(sheets, "cost_micro", MICRO),
        seconds=_per_thousand(sheets, "seconds", 1),
    )


def ranked(rows: Sequence[JudgeRow]) -> tuple[JudgeRow, ...]:
    """The rows best first, with the range of ranks of those that have an interval.

    Judges without a figure of agreement come last, without a rank.
    """
    values = [row.agreement.value for row in rows if row.agreement.value is not None]
    spans = [
        (row.agreement.low, row.agreement.high)
        for row in rows
        if row.agreement.low is not None and row.agreement.high is not None
    ]
    found = [_placed(row, values, spans) for row in rows]
    return tuple(sorted(found, key=lambda row: (row.rank is None, row.rank or 0, row.name)))


def _placed(
    row: JudgeRow, values: Sequence[float], spans: Sequence[tuple[float, float]]
) -> JudgeRow:
    own = row.agreement
    if own.value is None:
        return row
    placed = replace(row, rank=1 + sum(each > own.value for each in values))
    if own.low is None or own.high is None or len(spans) < len(values):
        return placed
    return replace(
        placed,
        rank_low=1 + sum(low > own.high for low, _high in spans),
        rank_high=len(values) - sum(high < own.low for _low, high in spans),
    )


def _per_thousand(sheets: pd.DataFrame, column: str, unit: int) -> float | None:
    """For 1,000 answers scored, over the sheets that say it; None where none does."""
    if column not in sheets.columns:
        return None
    known = sheets[sheets[column].notna()]
    scored = int(known.loc[known["total"].notna(), "answer"].nunique())
    spent = float(np.nansum(known[column].to_numpy(dtype=float)))
    return round(spent / unit / scored * PER, 6) if scored else None
