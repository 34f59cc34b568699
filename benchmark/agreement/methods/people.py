"""People among themselves, and each judge beside them: the yardstick and what is measured by it.

A judge is compared with single people's points, not with their mean: the mean of several is
steadier than anybody, so a judge would look closer to it than people are to each other. For the
same reason consolidated sheets are no person among people: they are held against judges only.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd

from cqa_site.stats.estimate import NO_OVERLAP
from cqa_site.stats.ratings import FloatArray
from cqa_site.stats.reliability.alpha import krippendorff_alpha
from cqa_site.stats.reliability.alternative_annotator import EPSILON, alternative_annotator_test
from cqa_site.stats.verdicts import RULES

from .alphas import across_sums, alpha_figure, difference_figure, least_for, within_sums
from .columns import ordinal_alpha, ratings_of
from .figures import (
    AGREEMENT_MARGIN,
    BIAS_MARGIN,
    Alphas,
    Alternative,
    Beside,
    Figure,
    People,
)
from .grid import PEOPLE, Grid, SheetRater
from .jackknife import Jackknife, figure, figure_of, tested

NO_SECOND = "no answer was scored by two people and by the judge"


def people_together(grid: Grid, draws: Jackknife) -> People:
    """Alpha of all people for each column, interval and ordinal."""
    each = (~np.isnan(points_of(grid, "total", grid.persons))).sum(axis=1)
    made_one = [grid.column(one.key, "total") for one in grid.people if one.is_consolidated]
    return People(
        raters=len(grid.persons),
        answers=int((each >= 1).sum()),
        shared=int((each >= 2).sum()),
        consolidated=int((~np.isnan(made_one)).any(axis=0).sum()) if made_one else 0,
        columns={name: _alphas(grid, name, draws) for name in grid.columns},
    )


def _alphas(grid: Grid, name: str, draws: Jackknife) -> Alphas:
    points = points_of(grid, name, grid.persons)
    ordinal = figure_of(krippendorff_alpha(ratings_of(points), "ordinal", draws.confidence))
    codes, n_questions = _codes(grid, (~np.isnan(points)).sum(axis=1) >= 2)
    interval = alpha_figure(within_sums(points, codes, n_questions), ordinal.n, draws, points)
    if interval.value is None:
        interval = figure(None, n=ordinal.n, reason=ordinal.reason or "")
    return Alphas(alpha_interval=interval, alpha_ordinal=ordinal)


def with_people(grid: Grid, judge: SheetRater, draws: Jackknife) -> dict[str, Beside]:
    """The judge's points against all people's, for each column."""
    found = {}
    for name in grid.columns:
        points, own = points_of(grid, name), grid.column(judge.key, name)
        ordinal = ordinal_alpha(points, own, grid.questions, draws)
        codes, n_questions = _codes(grid, ~np.isnan(own) & ~np.isnan(points).all(axis=1))
        sums = across_sums(points, own, codes, n_questions)
        interval = alpha_figure(sums, ordinal.n, draws, np.column_stack([points, own]))
        if interval.value is None:
            interval = figure(None, n=ordinal.n, reason=ordinal.reason or "")
        found[name] = Beside(
            alpha_interval=interval,
            alpha_ordinal=ordinal,
            difference=alpha_difference(grid, own, name, draws),
        )
    return found


def alpha_difference(grid: Grid, judge: FloatArray, name: str, draws: Jackknife) -> Figure:
    """The judge's interval alpha with persons minus their own, on the same answers."""
    points = points_of(grid, name, grid.persons)
    use = ~np.isnan(judge) & ((~np.isnan(points)).sum(axis=1) >= 2)
    n = int(use.sum())
    if not n:
        return figure(None, n=0, reason=NO_SECOND)
    points = np.where(use[:, None], points, np.nan)
    codes, n_questions = _codes(grid, use)
    across = across_sums(points, judge, codes, n_questions)
    within = within_sums(points, codes, n_questions)
    least = max(RULES["agreement of a judge"].least, least_for(points[use]))
    return difference_figure(across, within, n, draws, margin=AGREEMENT_MARGIN, least=least)


def leniency(grid: Grid, judge: SheetRater, name: str, draws: Jackknife) -> Figure:
    """The leniency of a judge beside people, with the p values of its rule.

    Yes: it lies within the margin on both sides. No: beyond it on one of them.
    """
    apart = grid.column(judge.key, name) - grid.column(PEOPLE, name)
    use = ~np.isnan(apart)
    if not use.any():
        return figure(None, n=0, reason=NO_OVERLAP)
    codes = np.unique(grid.questions[use], return_inverse=True)[1]
    shares = apart[use] / grid.maxima[grid.columns.index(name)]
    totals = np.asarray(np.bincount(codes, weights=shares), dtype=np.float64)
    sums = totals, np.bincount(codes).astype(np.float64)
    found, without = draws.ratio(*sums, int(use.sum())), draws.ratios(*sums)
    least, m = RULES["mean of a judge"].least, BIAS_MARGIN
    above = tested(found, without, least, above=-m, below=-m)
    below = tested(found, without, least, above=m, below=m)
    if above.p_yes is None or above.p_no is None or below.p_yes is None or below.p_no is None:
        return above
    return replace(above, p_yes=max(above.p_yes, below.p_no), p_no=min(below.p_yes, above.p_no))


def _codes(grid: Grid, use: np.ndarray) -> tuple[np.ndarray, int]:
    """Question of each answer, those in use from 0 without gaps; how many these are."""
    known = np.unique(grid.questions[use])
    # Answers that are not in use add nothing, wherever they stand.
    codes = np.minimum(np.searchsorted(known, grid.questions), max(0, len(known) - 1))
    return codes, len(known)


def alternative(
    grid: Grid, judge: SheetRater, epsilon: float, level: float = 0.05
) -> dict[str, Alternative]:
    """The alternative-annotator test for each column, over questions."""
    found = {}
    questions: dict[Hashable, Hashable] = dict(enumerate(grid.questions.tolist()))
    for name in grid.columns:
        outcome = alternative_annotator_test(
            ratings_of(points_of(grid, name, grid.persons)),
            pd.Series(grid.column(judge.key, name)),
            epsilon=epsilon,
            level=level,
            clusters=questions,
        )
        found[name] = Alternative(
            passed=outcome.passed,
            omega=outcome.omega,
            rho=None if outcome.rho is None else round(outcome.rho, 6),
            n=outcome.n_items,
            each=tuple(sorted((each.n_items for each in outcome.humans), reverse=True)),
            tested=sum(each.p is not None for each in outcome.humans),
            beaten=sum(bool(each.is_beaten) for each in outcome.humans),
            questions=outcome.n_clusters,
            p_yes=outcome.p_passed,
            p_no=outcome.p_failed,
            caution=outcome.caution,
            reason=outcome.reason,
        )
    return found


def epsilon_of(grid: Grid) -> float:
    """What a person's edge over the judge may be worth: experts cost more than trained raters.

    0.2 where all people are experts or released consolidated scores, else 0.15: whoever passed
    a qualification in fifteen criteria is no longer a crowd worker.
    """
    kinds = {each.kind for each in grid.people}
    dear = bool(kinds) and kinds <= {"expert", "reference"}
    return EPSILON["expert" if dear else "skilled"]


def points_of(grid: Grid, column: str, people: tuple[SheetRater, ...] | None = None) -> FloatArray:
    """Points of one column by these people, by default of all, shape (n, n_people)."""
    chosen = grid.people if people is None else people
    parts = [grid.column(each.key, column) for each in chosen]
    return np.column_stack(parts) if parts else np.full((len(grid.answers), 0), np.nan)
