"""What an agreement report is about: raters, columns, pairs, and the rater that is code."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from benchmark.rubrics.methods.rubric import Rubric

from .columns import column_figures
from .figures import ByCode, Column, Rater
from .grid import PEOPLE, Grid, SheetRater
from .jackknife import Jackknife

# Answers in common over all pairs together, and pairs that are compared whatever their number.
MOST_SHARED = 150_000
LEAST_PAIRS = 10


def chosen_pairs(
    grid: Grid, judges: list[SheetRater], most: int
) -> tuple[list[tuple[SheetRater, SheetRater, str]], int]:
    """Pairs of raters by answers in common, judges first in mixed pairs; how many were left out.

    With one person only, that person is all people, whom every judge is compared with anyway.
    """
    alone = len(grid.people) == 1
    known = {each.key: ~np.isnan(grid.column(each.key, "total")) for each in grid.raters}
    found = []
    for a, b in combinations([*grid.people, *judges], 2):
        if not b.is_judge and (a.is_consolidated or b.is_consolidated):
            continue  # A mean of people is no second person.
        shared = int((known[a.key] & known[b.key]).sum())
        if not shared or (alone and a.is_judge != b.is_judge):
            continue
        kind = "judges" if a.is_judge else "judge_person" if b.is_judge else "persons"
        found.append((shared, (b, a, kind) if kind == "judge_person" else (a, b, kind)))
    found.sort(key=lambda each: -each[0])
    before, kept = 0, 0
    for shared, _ in found[:most]:
        # The first ones come in any case; further ones while the whole stays affordable.
        if kept >= LEAST_PAIRS and before + shared > MOST_SHARED:
            break
        before, kept = before + shared, kept + 1
    return [pair for _, pair in found[:kept]], len(found) - kept


def by_code(
    grid: Grid, rubric: Rubric, counted: Mapping[int, float] | None, draws: Jackknife
) -> ByCode | None:
    """The criterion that code can count, compared with everybody who scored it."""
    criterion = next((each for each in rubric.criteria if each.counted_by == "sentences"), None)
    if criterion is None or not counted:
        return None
    points = np.array([counted.get(int(key), np.nan) for key in grid.answers], dtype=float)
    return ByCode(
        criterion=criterion.key,
        answers=int((~np.isnan(points)).sum()),
        raters={
            key: column_figures(
                points, grid.column(key, criterion.key), grid.questions, criterion.maximum, draws
            )
            for key in (PEOPLE, *(each.key for each in grid.raters))
        },
    )


def column_list(grid: Grid, rubric: Rubric) -> tuple[Column, ...]:
    names = {each.key: each.name for each in rubric.groups}
    names |= {each.key: each.name for each in rubric.criteria}
    kinds = ["total", *["group"] * len(rubric.groups), *["criterion"] * len(rubric.criteria)]
    return tuple(
        Column(key=key, name=names.get(key, ""), kind=kind, maximum=maximum)
        for key, kind, maximum in zip(grid.columns, kinds, grid.maxima, strict=True)
    )


def about_rater(rater: SheetRater) -> Rater:
    return Rater(**vars(rater), is_judge=rater.is_judge)
