"""Which systems differ: paired differences over the topics of both, corrected over all pairs.

A cell that is hard for one system is hard for the others, too. So intervals of two systems may
overlap where their difference is clear; only the difference within cells tells. Both sides of a
topic are one unit: their differences resemble each other (intraclass correlation .27 in the counts
that the paper released), and as units of their own they made 7 % of leads false at 24 cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.paired_tests import PairedTest, paired_tests

from .system_board import NO_TOPICS, SystemRow, Topics

# Figures by which one system is above another, the first that is known, and those of them of
# which less is better. Seconds and the share clustered say nothing about quality.
JUDGED = ("weighted", "coverage", "redundancy", "excluding", "including")
LOWER_IS_BETTER = ("redundancy",)


class TopicDifference(NamedTuple):
    """One system minus another, over the topics on which both have a value."""

    first: str
    second: str
    test: PairedTest


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
    pairs = list(combinations(rows, 2))
    tests = paired_tests([_apart(*pair, name, topics) for pair in pairs], "difference")
    return [
        TopicDifference(one.system, other.system, test)
        for (one, other), test in zip(pairs, tests, strict=True)
    ]


def not_below(rows: Sequence[SystemRow], pairs: Sequence[TopicDifference], name: str) -> list[str]:
    """Systems that the first is not shown to be better than; if there are none, it leads."""
    better = "below" if name in LOWER_IS_BETTER else "above"
    return [each.second for each in pairs[: len(rows) - 1] if each.test.direction != better]


def _apart(one: SystemRow, other: SystemRow, name: str, topics: Topics) -> FloatArray:
    """Mean differences of the topics on which both have the figure, shape (n,)."""
    by_topic: dict[str, list[float]] = {}
    for cell in one.by_cell.keys() & other.by_cell.keys():
        mine, theirs = one.by_cell[cell][name], other.by_cell[cell][name]
        if mine is not None and theirs is not None:
            by_topic.setdefault(topics.get(cell, cell), []).append(mine - theirs)
    return np.array([np.mean(by_topic[topic]) for topic in sorted(by_topic)], dtype=np.float64)
