"""People among themselves, and each judge beside them: the yardstick and what is measured by it.

A judge is compared with single people's points, not with their mean: the mean of several is
steadier than anybody, so a judge would look closer to it than people are to each other. For the
same reason consolidated sheets are no person among people: they are held against judges only.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from cqa_site.stats.ratings import Ratings
from cqa_site.stats.reliability.alpha import krippendorff_alpha
from cqa_site.stats.reliability.alternative_annotator import EPSILON, alternative_annotator_test
from cqa_site.stats.reliability.cross_alpha import alpha_difference, cross_alpha

from .draws import figure_of
from .figures import Alphas, Alternative, Beside, People
from .grid import Grid, SheetRater


def people_together(grid: Grid, confidence: float = 0.95) -> People:
    """Alpha of all people for each column, interval and ordinal."""
    together = people_ratings(grid, "total", grid.persons)
    each = together.values_per_item
    made_one = [grid.column(one.key, "total") for one in grid.people if one.is_consolidated]
    columns = {
        name: _alphas(people_ratings(grid, name, grid.persons), confidence)
        for name in grid.columns
    }
    return People(
        raters=len(grid.persons),
        answers=together.n_items,
        shared=int((each >= 2).sum()),
        consolidated=int((~np.isnan(made_one)).any(axis=0).sum()) if made_one else 0,
        columns=columns,
    )


def _alphas(ratings: Ratings, confidence: float) -> Alphas:
    return Alphas(
        alpha_interval=figure_of(krippendorff_alpha(ratings, "interval", confidence)),
        alpha_ordinal=figure_of(krippendorff_alpha(ratings, "ordinal", confidence)),
    )


def with_people(grid: Grid, judge: SheetRater, confidence: float = 0.95) -> dict[str, Beside]:
    """The judge's points against all people's, for each column."""
    found = {}
    for name in grid.columns:
        ratings, own = people_ratings(grid, name), judge_series(grid, judge, name)
        persons = people_ratings(grid, name, grid.persons)
        found[name] = Beside(
            alpha_interval=figure_of(cross_alpha(ratings, own, "interval", confidence)),
            alpha_ordinal=figure_of(cross_alpha(ratings, own, "ordinal", confidence)),
            difference=figure_of(alpha_difference(persons, own, "interval", confidence)),
        )
    return found


def alternative(
    grid: Grid, judge: SheetRater, epsilon: float, level: float = 0.05
) -> dict[str, Alternative]:
    """The alternative-annotator test for each column."""
    found = {}
    for name in grid.columns:
        outcome = alternative_annotator_test(
            people_ratings(grid, name, grid.persons),
            judge_series(grid, judge, name),
            epsilon=epsilon,
            level=level,
        )
        found[name] = Alternative(
            passed=outcome.passed,
            omega=outcome.omega,
            rho=None if outcome.rho is None else round(outcome.rho, 6),
            n=outcome.n_items,
            each=tuple(sorted((each.n_items for each in outcome.humans), reverse=True)),
            tested=sum(each.p is not None for each in outcome.humans),
            beaten=sum(bool(each.is_beaten) for each in outcome.humans),
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


def people_ratings(
    grid: Grid, column: str, people: tuple[SheetRater, ...] | None = None
) -> Ratings:
    """Points of one column by these people, by default of all."""
    chosen = grid.people if people is None else people
    parts = [grid.column(each.key, column) for each in chosen]
    if not parts:
        return Ratings.from_frame(pd.DataFrame({"item": [], "rater": [], "value": []}))
    points = np.column_stack(parts)
    items, raters = np.nonzero(~np.isnan(points))
    return Ratings.from_frame(
        pd.DataFrame({"item": items, "rater": raters, "value": points[items, raters]})
    )


def judge_series(grid: Grid, judge: SheetRater, column: str) -> pd.Series:
    """The judge's points of one column, indexed by place of the answer."""
    return pd.Series(grid.column(judge.key, column))
