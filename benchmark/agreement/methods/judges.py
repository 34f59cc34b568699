"""Judges beside each other: the leaderboard of those who usually make one.

They are ranked by the interval alpha of their totals with people's. The range of a rank holds
every place that the tests allow: a judge stands above another for certain only where their
difference on the questions they share is shown, among all pairs of judges (Holm).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.verdicts import LEVEL, RULES

from .alphas import across_sums, difference_figure
from .figures import Alternative, Beside, Consistency, Figure, JudgeRow, Length, Pair
from .grid import Grid, SheetRater
from .jackknife import Jackknife
from .people import points_of
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
        unscored=unscored_of(judge.unscored, judge.sheets, judge.replicates),
        length_slope=length.own.slope,
        cost=_per_thousand(sheets, "cost_micro", MICRO),
        seconds=_per_thousand(sheets, "seconds", 1),
    )


def judge_differences(
    grid: Grid, judges: Sequence[SheetRater], draws: Jackknife
) -> dict[tuple[str, str], Figure]:
    """(first, second) → alpha of totals with people, first minus second, on shared answers.

    Only pairs that the rule "closest judge" allows; ``p_yes`` is two-sided.
    """
    points, least = points_of(grid, "total"), RULES["closest judge"].least
    by_people = ~np.isnan(points).all(axis=1)
    found = {}
    for pair in combinations([each.key for each in judges], 2):
        totals = [grid.column(key, "total") for key in pair]
        use = by_people & ~np.isnan(totals).any(axis=0)
        known, codes = np.unique(grid.questions[use], return_inverse=True)
        if len(known) < least:
            continue
        first, second = (across_sums(points[use], own[use], codes, len(known)) for own in totals)
        difference = difference_figure(first, second, int(use.sum()), draws, least=least)
        if difference.p_yes is not None and difference.p_no is not None:
            p = min(1.0, 2 * min(difference.p_yes, difference.p_no))
            found[pair] = replace(difference, p_yes=p, p_no=None)
    return found


def ranked(
    rows: Sequence[JudgeRow], differences: dict[tuple[str, str], Figure]
) -> tuple[JudgeRow, ...]:
    """The rows best first, with the range of ranks that the tests allow.

    Judges without a figure of agreement come last, without a rank.

    Parameters
    ----------
    rows
        In any order.
    differences
        From `judge_differences`.
    """
    known = [row for row in rows if row.agreement.value is not None]
    adjusted = holm(np.array([found.p_yes for found in differences.values()], dtype=float))
    above = {
        pair if (found.value or 0.0) > 0 else pair[::-1]
        for (pair, found), p in zip(differences.items(), adjusted, strict=True)
        if p <= LEVEL
    }
    placed = [_placed(row, known, above) for row in rows]
    found = sorted(placed, key=lambda row: (row.rank is None, row.rank or 0, row.name))
    # Which of the two comes first does not matter to a two-sided test.
    tests = differences | {pair[::-1]: test for pair, test in differences.items()}
    return tuple(replace(row, to_first=tests.get((found[0].key, row.key))) for row in found)


def _placed(row: JudgeRow, known: Sequence[JudgeRow], above: Set[tuple[str, str]]) -> JudgeRow:
    own = row.agreement.value
    if own is None:
        return row
    others = [each for each in known if each.key != row.key]
    return replace(
        row,
        rank=1 + sum((each.agreement.value or 0.0) > own for each in others),
        rank_low=1 + sum((each.key, row.key) in above for each in others),
        rank_high=len(known) - sum((row.key, each.key) in above for each in others),
    )


def _per_thousand(sheets: pd.DataFrame, column: str, unit: int) -> float | None:
    """For 1,000 answers scored, over the sheets that say it; None where none does."""
    if column not in sheets.columns:
        return None
    known = sheets[sheets[column].notna()]
    scored = int(known.loc[known["total"].notna(), "answer"].nunique())
    spent = float(np.nansum(known[column].to_numpy(dtype=float)))
    return round(spent / unit / scored * PER, 6) if scored else None
