"""Which systems differ: paired differences over the topics of both, corrected over all pairs.

A cell that is hard for one system is hard for the others, too. So intervals of two systems may
overlap where their difference is clear; only the difference within cells tells. Both sides of a
topic are one unit: their differences resemble each other (intraclass correlation .27 in the counts
that the paper released), and as units of their own they made 7 % of leads false at 24 cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.ranks.paired_differences import smallest_detectable
from cqa_site.stats.skewed_means import mean_bounds, mean_p
from cqa_site.stats.verdicts import LEVEL, RULES

from .system_board import NO_TOPICS, SystemRow, Topics

# A difference that needs more than this many times the topics is hardly one.
MOST_NEEDED = 10
# Figures by which one system is above another, the first that is known, and those of them of
# which less is better. Seconds and the share clustered say nothing about quality.
JUDGED = ("weighted", "coverage", "redundancy", "excluding", "including")
LOWER_IS_BETTER = ("redundancy",)


@dataclass(frozen=True)
class TopicDifference:
    """One system minus another, over the n topics on which both have a value.

    Attributes
    ----------
    value, low, high
        Mean difference and its 95 % interval, of this pair alone.
    p
        After Holm over all pairs that have enough topics; None without a test.
    needed
        Topics that show a difference as large as this one with power .8 after the correction;
        None where too many, or none, would.
    """

    first: str
    second: str
    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    needed: int | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the two are shown to differ."""
        return self.p is not None and self.p < LEVEL


def judged_figure(rows: Sequence[SystemRow]) -> str:
    """The first of `JUDGED` that some system has; empty without any."""
    known = {each for row in rows for each in JUDGED if row.figures[each].value is not None}
    return next((each for each in JUDGED if each in known), "")


def best_first(rows: Sequence[SystemRow], name: str) -> list[SystemRow]:
    """Systems that have a figure, the best mean first."""
    sign = 1 if name in LOWER_IS_BETTER else -1
    known = [row for row in rows if row.figures[name].value is not None]
    return sorted(known, key=lambda row: sign * (row.figures[name].value or 0.0))


def topic_differences(
    rows: Sequence[SystemRow], name: str, topics: Topics = NO_TOPICS
) -> list[TopicDifference]:
    """Compare every two systems by one figure, in the order of the rows; rule "difference".

    t over topics, corrected for skewness (`mean_p`); a topic counts with the mean of its cells.
    """
    pairs = [
        (one, other, _apart(one, other, name, topics)) for one, other in combinations(rows, 2)
    ]
    is_enough = RULES["difference"].allows
    alone = [mean_p(values[:, None])[0] for *_names, values in pairs if is_enough(len(values))]
    adjusted = iter(holm(np.array(alone)) if alone else ())
    found = []
    for one, other, values in pairs:
        n = len(values)
        pair = TopicDifference(one.system, other.system, n, float(values.mean()) if n else None)
        if is_enough(n):
            pair = _tested(pair, values, float(next(adjusted)), LEVEL / len(alone))
        found.append(pair)
    return found


def not_below(rows: Sequence[SystemRow], pairs: Sequence[TopicDifference], name: str) -> list[str]:
    """Systems that the first is not shown to be better than; if there are none, it leads."""
    sign = -1 if name in LOWER_IS_BETTER else 1
    own = pairs[: len(rows) - 1]
    return [each.second for each in own if not (each.is_shown and sign * (each.value or 0) > 0)]


def _apart(one: SystemRow, other: SystemRow, name: str, topics: Topics) -> FloatArray:
    """Mean differences of the topics on which both have the figure, shape (n,)."""
    by_topic: dict[str, list[float]] = {}
    for cell in one.by_cell.keys() & other.by_cell.keys():
        mine, theirs = one.by_cell[cell][name], other.by_cell[cell][name]
        if mine is not None and theirs is not None:
            by_topic.setdefault(topics.get(cell, cell), []).append(mine - theirs)
    return np.array([np.mean(by_topic[topic]) for topic in sorted(by_topic)], dtype=np.float64)


def _tested(pair: TopicDifference, values: FloatArray, p: float, level: float) -> TopicDifference:
    low, high = (float(each[0]) for each in mean_bounds(values[:, None], 1 - LEVEL))
    if not pair.value or math.isnan(low):
        return replace(pair, p=p)
    least = smallest_detectable(values.std(ddof=1, keepdims=True), pair.n, level=level)
    # What n topics find falls at least with the root of n.
    times = (float(least[0]) / pair.value) ** 2
    needed = max(pair.n + 1, math.ceil(pair.n * times)) if times < MOST_NEEDED else None
    return replace(pair, low=low, high=high, p=p, needed=needed)
