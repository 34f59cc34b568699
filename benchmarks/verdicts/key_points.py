"""Boards of key points, and frequencies of key points in comments, by group and over time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from argsum.analysis.methods.prevalence import Share, compare_groups
from argsum.analysis.methods.trends import linear_change, trends_of
from argsum.leaderboard.methods import (
    NO_TOPICS,
    SetFigures,
    SystemRow,
    Terms,
    Topics,
    best_first,
    board,
    judged_figure,
    not_below,
    topic_differences,
)
from argsum.leaderboard.reports.people_agreement import SnapshotSheet, agreement_of
from benchmarks.verdicts.simulating import Simulation, Study
from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.estimate import Bounded, Estimate
from cqa_site.stats.ratings import Ratings

Generator = np.random.Generator
# Shares of systems (columns) in n cells (rows).
Draw = Callable[[int, Generator], FloatArray]
MANY = 60_000
# A difference that needs more than this multiple of the topics is not tried again.
MOST_TIMES = 10


# -- boards ------------------------------------------------------------------------------------


def _covered(latent: FloatArray, generator: Generator) -> FloatArray:
    """Return the covered share of 3 to 6 references, in halves; latent 0 covers half of them."""
    references = generator.integers(3, 7, size=(len(latent), 1))
    share = 1 / (1 + np.exp(-latent))
    return np.asarray(generator.binomial(2 * references, share) / (2 * references))


def alike(n_systems: int, centre: float = 0.8) -> Draw:
    """Equally good systems; hard cells are hard for all systems."""

    def draw(n: int, generator: Generator) -> FloatArray:
        hard = 0.8 * generator.normal(size=(n, 1))
        own = 0.5 * generator.normal(size=(n, n_systems))
        return _covered(centre + hard + own, generator)

    return draw


def unsteady(n: int, generator: Generator) -> FloatArray:
    """Three systems with equal means: two vary widely in coverage, the third hardly varies."""
    noise = generator.normal(scale=0.02, size=(n, 1))
    return np.hstack([_varied(n, 2, generator), _steady() + noise])


def _varied(n: int, n_systems: int, generator: Generator) -> FloatArray:
    return _covered(1 + 1.5 * generator.normal(size=(n, n_systems)), generator)


@cache
def _steady() -> float:
    return float(_varied(MANY, 1, np.random.default_rng(6)).mean())


def both_sides(n: int, generator: Generator) -> FloatArray:
    """Two equal systems on both sides of n topics; the differences within a topic are similar."""
    hard = np.repeat(0.8 * generator.normal(size=(n, 1)), 2, axis=0)
    own = np.repeat(0.4 * generator.normal(size=(n, 2)), 2, axis=0)
    return _covered(0.8 + hard + own + 0.4 * generator.normal(size=(2 * n, 2)), generator)


def topics_of(n: int) -> dict[str, str]:
    """Map each cell to its topic, two cells per topic."""
    return {str(cell): str(cell // 2) for cell in range(2 * n)}


def leads_over_topics(n: int, generator: Generator) -> bool:
    """Whether one of two equal systems is said to lead, over both sides of n topics."""
    rows = best_first(rows_of(both_sides(n, generator)), "coverage")
    return not not_below(rows, topic_differences(rows, "coverage", topics_of(n)), "coverage")


def mean_holds_over_topics(n: int, generator: Generator) -> bool | None:
    """Whether the interval of a mean covers the true mean, over both sides of n topics."""
    found = rows_of(both_sides(n, generator), topics=topics_of(n))[0].figures["coverage"]
    if found.low is None or found.high is None:
        return None
    return found.low <= _mean_of_both() <= found.high


@cache
def _mean_of_both() -> float:
    return float(both_sides(MANY, np.random.default_rng(8)).mean())


def rows_of(
    shares: FloatArray, redundancy: FloatArray | None = None, topics: Topics = NO_TOPICS
) -> list[SystemRow]:
    """Return the rows of a board over these cells, by redundancy alone if it is given."""
    cells = [str(cell) for cell in range(len(shares))]
    scored = []
    for at, (cell, system) in enumerate(np.ndindex(shares.shape)):
        value = float(shares[cell, system])
        own = {"coverage": value} if redundancy is None else {"redundancy": 1 - value}
        scored.append(SetFigures(at, f"S{system}", "", cells[cell], **own))
    return board(scored, [], cells, Terms(), topics)


def _leader(rows: list[SystemRow]) -> bool:
    name = judged_figure(rows)
    ranked = best_first(rows, name)
    return not not_below(ranked, topic_differences(ranked, name), name)


def leads(draw: Draw, by_redundancy: bool = False) -> Study:
    """Whether one of several equally good systems is said to lead."""

    def study(n: int, generator: Generator) -> bool:
        shares = draw(n, generator)
        return _leader(rows_of(shares, shares if by_redundancy else None))

    return study


def above_some(n: int, generator: Generator) -> bool:
    """Whether any of three equal systems is said to be above another; a fourth is far below."""
    shares = np.hstack([alike(3)(n, generator), alike(1, -1.5)(n, generator)])
    rows = best_first(rows_of(shares), "coverage")
    return any(each.test.direction != "not_shown" and "S3" not in (each.first, each.second)
               for each in topic_differences(rows, "coverage"))  # fmt: skip


def difference_holds(draw: Draw) -> Study:
    """Whether the interval of the difference between equal systems covers 0."""

    def study(n: int, generator: Generator) -> bool | None:
        rows = best_first(rows_of(draw(n, generator)[:, -2:]), "coverage")
        found = topic_differences(rows, "coverage")[0].test
        return None if found.low is None or found.high is None else found.low <= 0 <= found.high

    return study


def mean_holds(centre: float) -> Study:
    """Whether the interval of a system's mean coverage covers the true mean."""

    def study(n: int, generator: Generator) -> bool | None:
        (row,) = rows_of(alike(1, centre)(n, generator))
        found = row.figures["coverage"]
        if found.low is None or found.high is None:
            return None
        return found.low <= _mean_of(centre) <= found.high

    return study


@cache
def _mean_of(centre: float) -> float:
    return float(alike(1, centre)(MANY, np.random.default_rng(5)).mean())


def _counts(n: int, per_cell: int, generator: Generator) -> FloatArray:
    """Return three people's counts for sets of n cells; cells differ more than sets."""
    true = np.repeat(0.8 * generator.normal(size=n), per_cell)
    true = 0.5 + true + 0.6 * generator.normal(size=n * per_cell)
    said = true[:, None] + 0.6 * generator.normal(size=(n * per_cell, 3))
    return np.asarray(np.round(8 / (1 + np.exp(-said))) / 8)


def _alpha_in(n: int, per_cell: int, generator: Generator) -> Estimate:
    counts = _counts(n, per_cell, generator)
    sheets = [
        SnapshotSheet(rater, at, None, 0, float(row[rater]), None, False, False)
        for at, row in enumerate(counts)
        for rater in range(3)
    ]
    cells = {at: at // per_cell for at in range(len(counts))}
    return agreement_of(sheets, {0: "A", 1: "B", 2: "C"}, {}, cells).dimensions[0].alpha


def alpha_holds(per_cell: int) -> Study:
    """Whether the interval of people's alpha covers the alpha of very many cells."""

    def study(n: int, generator: Generator) -> bool | None:
        found = _alpha_in(n, per_cell, generator)
        if found.low is None or found.high is None:
            return None
        return found.low <= _true_alpha(per_cell) <= found.high

    return study


@cache
def _true_alpha(per_cell: int) -> float:
    counts = _counts(1500, per_cell, np.random.default_rng(7))
    items, raters = np.divmod(np.arange(counts.size), 3)
    names = pd.RangeIndex(len(counts)), pd.RangeIndex(3)
    return (
        krippendorff_alpha(Ratings(items, raters, counts.ravel(), *names), "interval").value or 0
    )


def shown_by_more(n: int, generator: Generator) -> bool:
    """Whether the required number of cells shows a difference as large as an observed one."""
    needed = None
    while needed is None or needed > MOST_TIMES * n:
        first = best_first(rows_of(_normal(n, 0.0, generator)), "coverage")
        found = topic_differences(first, "coverage")[0].test
        needed, gap = found.enough, found.value or 0.0
    again = rows_of(_normal(max(needed, n), abs(gap), generator))
    pairs = topic_differences(best_first(again, "coverage"), "coverage")
    (own,) = [each.test for each in pairs if {each.first, each.second} == {"S0", "S1"}]
    return own.direction != "not_shown"


def _normal(n: int, gap: float, generator: Generator) -> FloatArray:
    shares = 0.5 + 0.1 * generator.normal(size=(n, 3))
    shares[:, 0] += gap
    return np.asarray(shares)


# -- comments ----------------------------------------------------------------------------------


# Frequencies of 12 key points, most of them low.
POINTS = np.geomspace(0.02, 0.6, 12)


def told_apart(times: tuple[int, ...], marks: bool = False) -> Study:
    """Whether any key point is shown to differ between groups, or any group is marked."""

    def study(n: int, generator: Generator) -> bool:
        sizes = [n * each for each in times]
        rows = compare_groups(sizes, generator.binomial(sizes, POINTS[:, None]).tolist())
        if marks:
            return any(each.differs for row in rows for each in row.groups)
        return any(row.differs for row in rows)

    return study


def told_apart_of_many(n: int, generator: Generator) -> bool:
    """Whether any of 100 key points is shown to differ between the groups.

    Each key point is expected in 12 to 30 comments of the smaller group.
    """
    sizes, shares = [n, 20 * n], np.geomspace(12, 30, 100)[:, None] / n
    return any(row.differs for row in compare_groups(sizes, generator.binomial(sizes, shares)))


# All 20 key points differ, or rise, by .1; the sentence reports the largest one in the data.
BEFORE = np.geomspace(0.05, 0.5, 20)[:, None]


def largest_difference_holds(n: int, generator: Generator) -> bool | None:
    """Whether the interval of the largest difference shown covers its true size."""
    rows = compare_groups([n, n], generator.binomial(n, BEFORE + np.array([0.1, 0])))
    shown = [row.groups[0] for row in rows if row.differs]
    largest = max(shown, key=lambda group: abs(group.distance), default=None)
    return None if largest is None else _holds(largest.difference_among(len(rows)), 0.1)


def largest_change_holds(n: int, generator: Generator) -> bool | None:
    """Whether the interval of the largest change over 6 equal periods covers its true size."""
    sizes = _sizes(n, uneven=False)
    rows = trends_of(sizes, generator.binomial(sizes, BEFORE + np.linspace(0, 0.1, 6)))
    moving = [row for row in rows if row.moves and row.change]
    largest = max(moving, key=lambda row: abs(row.change.value if row.change else 0), default=None)
    return None if largest is None else _holds(largest.change_among(len(rows)), 0.1)


def _holds(found: Bounded | None, truth: float) -> bool | None:
    if found is None or found.low is None or found.high is None:
        return None
    return found.low - 1e-12 <= truth <= found.high + 1e-12


def share_holds(share: float) -> Study:
    """Whether the interval of a share of n comments covers the true share."""

    def study(n: int, generator: Generator) -> bool:
        found = Share(int(generator.binomial(n, share)), n)
        return (found.low or 0.0) <= share <= (found.high or 1.0)

    return study


def apart_holds(one: float, other: float, times: int = 1) -> Study:
    """Whether the interval of a difference between shares covers the true difference."""

    def study(n: int, generator: Generator) -> bool | None:
        sizes = [n, times * n]
        (row,) = compare_groups(sizes, [generator.binomial(sizes, [one, other]).tolist()])
        return _holds(row.groups[0].difference, one - other)

    return study


def widest_holds(n: int, generator: Generator) -> bool | None:
    """Whether the interval of the widest difference among five equal groups covers 0."""
    sizes = [n] * 5
    (row,) = compare_groups(sizes, [generator.binomial(sizes, 0.3).tolist()])
    return _holds(row.groups[row.widest or 0].difference, 0)


def _sizes(n: int, uneven: bool) -> list[int]:
    """Return the number of comments per period, n in total.

    Periods are equal, or each has half of the remaining comments.
    """
    shares = 0.5 ** np.arange(1, 7) if uneven else np.full(6, 1 / 6)
    return [max(1, round(n * each)) for each in shares]


def moves(uneven: bool) -> Study:
    """Whether any of 12 key points is shown to rise or fall."""

    def study(n: int, generator: Generator) -> bool:
        sizes = _sizes(n, uneven)
        counts = generator.binomial(sizes, POINTS[:, None])
        return any(row.moves for row in trends_of(sizes, counts.tolist()))

    return study


def change_holds(shares: list[float], uneven: bool = False) -> Study:
    """Whether the interval of a change covers the change of the line through the true shares."""

    def study(n: int, generator: Generator) -> bool | None:
        sizes = _sizes(n, uneven)
        found = linear_change(generator.binomial(sizes, shares).tolist(), sizes)
        if found is None or found.low is None or found.high is None:
            return None
        slope = np.polyfit(np.arange(6), shares, 1, w=np.sqrt(sizes))[0]
        return bool(found.low <= 5 * slope <= found.high)

    return study


def _of(
    says: str, rule: str, counts: Any, cases: dict[str, Study], **more: Any
) -> list[Simulation]:
    about = {"quick": 16, "full": 1000} | more
    return [
        Simulation(says=says, rule=rule, truth=truth, counts=counts, study=study, **about)
        for truth, study in cases.items()
    ]


CELLS: dict[str, Any] = {"sizes": (8, 12, 30), "unit": "topics"}

GROUPS: dict[str, Any] = {"sizes": (5, 20, 100), "unit": "comments in the smallest group"}

SIMULATIONS = (
    *_of(
        "A leads: coverage … over n topics",
        "difference",
        "false",
        {
            "2 equal systems": leads(alike(2)),
            "2 equal systems that cover nearly all": leads(alike(2, 3.0)),
            "6 equal systems": leads(alike(6)),
            "3 equal means, one much steadier": leads(unsteady),
            "2 equal systems, by redundancy": leads(alike(2), by_redundancy=True),
            "2 equal systems, both sides of a topic alike": leads_over_topics,
        },
        **CELLS,
    ),
    *_of(
        "A is shown to be better than B",
        "difference",
        "false",
        {"3 equal systems, one far below": above_some},
        **CELLS,
    ),
    *_of(
        "The first two differ by … [low, high] over n topics",
        "difference",
        "covered",
        {
            "2 equal systems": difference_holds(alike(2)),
            "2 equal systems that cover nearly all": difference_holds(alike(2, 3.0)),
            "equal means, one much steadier": difference_holds(unsteady),
        },
        **CELLS,
    ),
    *_of(
        "About n topics would show it",
        "difference",
        "found",
        {"3 systems, a difference as large as one found": shown_by_more},
        **CELLS,
        quick=5,
        full=300,
    ),
    *_of(
        "Mean [low, high] over n topics",
        "interval",
        "covered",
        {
            "a system that covers two thirds": mean_holds(0.8),
            "a system that covers nearly all": mean_holds(3.0),
            "both sides of a topic alike": mean_holds_over_topics,
        },
        sizes=(10, 20, 60),
        unit="topics",
    ),
    *_of(
        "People's alpha [low, high]",
        "interval",
        "covered",
        {
            "3 sets of each cell, cells differ more than sets": alpha_holds(3),
            "10 sets of each cell, cells differ more than sets": alpha_holds(10),
        },
        sizes=(10, 16, 30),
        unit="cells",
        quick=3,
        full=200,
    ),
    *_of(
        "k of n key points are shown to be mentioned at different rates",
        "groups",
        "false",
        {
            "12 key points at 2 to 60 %, two equal groups": told_apart((1, 1)),
            "12 key points, one group of 8 times the comments": told_apart((1, 8)),
            "12 key points, four groups, three of 8 times the comments": told_apart((1, 8, 8, 8)),
        },
        **GROUPS,
        quick=5,
        full=400,
    ),
    *_of(
        "k of n key points are shown to be mentioned at different rates",
        "groups",
        "false",
        {"100 key points, one group of 20 times the comments": told_apart_of_many},
        sizes=(200, 1000),
        unit="comments in the smaller group",
        quick=2,
        full=1000,
    ),
    *_of(
        "largest difference (change) in these data [low, high], corrected for all key points",
        "interval",
        "covered",
        {
            "20 key points all differ by .1 between two groups": largest_difference_holds,
            "20 key points all rise by .1 over 6 periods": largest_change_holds,
        },
        sizes=(100, 300, 1000),
        unit="comments in each group, or in all periods",
        quick=3,
        full=300,
    ),
    *_of(
        "▲ ▼ this group alone is shown to differ",
        "groups",
        "false",
        {"12 key points, groups of 1, 3 and 9 times the comments": told_apart((1, 3, 9), True)},
        **GROUPS,
        quick=5,
        full=400,
    ),
    *_of(
        "Share of comments [low, high]",
        "interval",
        "covered",
        {f"{100 * share:g} %": share_holds(share) for share in (0.01, 0.03, 0.1, 0.4)},
        sizes=(5, 20, 100),
        unit="comments",
        quick=200,
        full=5000,
    ),
    *_of(
        "Difference of two groups [low, high]",
        "interval",
        "covered",
        {
            "3 and 3 %": apart_holds(0.03, 0.03),
            "10 and 40 %": apart_holds(0.1, 0.4),
            "5 and 90 %": apart_holds(0.05, 0.9),
            "3 and 20 %, one group of 10 times the comments": apart_holds(0.03, 0.2, times=10),
            "the widest of five equal groups": widest_holds,
        },
        **GROUPS,
        quick=40,
        full=3000,
    ),
    *_of(
        "k of n key points are shown to rise or fall",
        "trend",
        "false",
        {
            "12 key points at 2 to 60 %, 6 even periods": moves(uneven=False),
            "12 key points, half of the rest in each of 6 periods": moves(uneven=True),
        },
        sizes=(20, 60, 240),
        unit="comments",
        quick=5,
        full=400,
    ),
    *_of(
        "Change [low, high]",
        "trend",
        "covered",
        {
            "10 % throughout": change_holds([0.1] * 6),
            "85 % throughout": change_holds([0.85] * 6),
            "3 to 30 %": change_holds([0.03, 0.08, 0.14, 0.19, 0.25, 0.3]),
            "3 %, at last 30 %": change_holds([*[0.03] * 5, 0.3]),
            "20 % throughout, half of the rest in each period": change_holds([0.2] * 6, True),
            "40 to 5 %, half of the rest in each period": change_holds(
                [0.4, 0.33, 0.26, 0.19, 0.12, 0.05], True
            ),
        },
        sizes=(30, 60, 240),
        unit="comments in 6 periods",
        quick=60,
        full=3000,
    ),
)
