"""Self-preference: does a judge give more to answers of its own family than others do?

A plain mean says nothing, because a judge's family may simply write better answers. So each
answer's points are taken minus what somebody else gave the same answer, and own answers are
compared with all others: a judge that is lenient throughout comes out at 0.
"""

from __future__ import annotations

import numpy as np

from cqa_site.stats.ratings import FloatArray

from .figures import Figure, Preference, Surplus
from .grid import PEOPLE, Grid, SheetRater, nan_mean
from .jackknife import Jackknife, figure

NO_FAMILY = "the judge's name belongs to no known family"
# Questions of its interval; a mean of few answers is one of two that it is made of.
LEAST_SURPLUS = 10
NO_OTHERS = "no other judge, of another family, scored these answers"


def self_preference(grid: Grid, judge: SheetRater, draws: Jackknife) -> Preference:
    """Surplus of own answers in total points, against people and against other judges.

    Intervals leave out one question at a time. Other judges are those of another family, averaged
    for each answer.
    """
    if judge.family is None:
        missing = _of_own(figure(None, n=0, reason=NO_FAMILY), 0)
        return Preference(
            key=judge.key, family=None, against_people=missing, against_judges=missing
        )
    points = grid.column(judge.key, "total")
    own = np.array([family == judge.family for family in grid.families], dtype=bool)
    others = [
        grid.column(each.key, "total")
        for each in grid.judges
        if each.key != judge.key and each.family != judge.family
    ]
    rivals = nan_mean(others, points.shape)
    return Preference(
        key=judge.key,
        family=judge.family,
        against_people=_surplus(grid, points - grid.column(PEOPLE, "total"), own, draws),
        against_judges=_surplus(grid, points - rivals, own, draws)
        if others
        else _of_own(figure(None, n=0, reason=NO_OTHERS), 0),
    )


def _surplus(grid: Grid, differences: FloatArray, own: np.ndarray, draws: Jackknife) -> Surplus:
    """Mean difference on own answers minus that on all others, in points."""
    known = ~np.isnan(differences)
    differences, mine = differences[known], own[known]
    n, n_own = len(differences), int(mine.sum())
    if not n_own or n_own == n:
        said = "of its own family" if not n_own else "of other families"
        reason = f"no answer {said} was scored by both sides"
        return _of_own(figure(None, n=n, reason=reason), n_own)
    value = float(differences[mine].mean() - differences[~mine].mean())
    questions, codes = np.unique(grid.questions[known], return_inverse=True)
    weights = draws.weights(len(questions))[:, codes]
    left_out = _means(differences, mine, weights) - _means(differences, ~mine, weights)
    return _of_own(draws.figure(value, left_out, n, least=LEAST_SURPLUS), n_own)


def _of_own(found: Figure, own: int) -> Surplus:
    return Surplus(**vars(found), own=own)


def _means(values: FloatArray, chosen: np.ndarray, weights: FloatArray) -> FloatArray:
    """Mean of the chosen values under each row; NaN where none of them is left."""
    part = weights[:, chosen]
    total = part.sum(axis=1)
    undefined = np.full(len(total), np.nan)
    return np.asarray(np.divide(part @ values[chosen], total, out=undefined, where=total > 0))
