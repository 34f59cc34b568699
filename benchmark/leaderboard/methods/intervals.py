"""Intervals of a board's means and ratios; questions are the clusters.

A question counts by what it adds to a figure, whatever the figure is the mean of: several
scenarios, or answers that are spread unevenly over questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmark.leaderboard.methods.data import FloatArray
from benchmark.leaderboard.methods.options import BoardOptions
from cqa_site.stats.skewed_means import mean_bounds
from cqa_site.stats.verdicts import RULES

TOO_FEW_QUESTIONS = "fewer than {} questions have a score, too few for an interval"
NO_SPREAD = "the scores do not vary, so there is no spread"


class Interval(NamedTuple):
    """Bounds, or why there are none."""

    low: float | None = None
    high: float | None = None
    reason: str | None = None


def mean_intervals(
    values: FloatArray, groups: Sequence[Sequence[int]], options: BoardOptions, highest: float
) -> list[Interval]:
    """Interval of the mean of the column means of each group.

    Parameters
    ----------
    values : shape (n_questions, n_columns)
        NaN where a question has no value.
    groups
        Places of columns.
    options
        Confidence.
    highest
        Most points: intervals end there, and at 0.
    """
    return [_of_columns(values[:, list(group)], options, highest) for group in groups]


def ratio_interval(tops: FloatArray, bottoms: FloatArray, options: BoardOptions) -> Interval:
    """Interval of the sum of tops by the sum of bottoms; one of each for every question."""
    known = bottoms > 0
    value = tops.sum() / bottoms.sum()
    # Divided by what the others weigh: a question that weighs much pulls the ratio to itself.
    others = np.maximum(bottoms.sum() - bottoms[known], 1e-12)
    added = (tops - value * bottoms)[known] / others
    return _interval(float(value), added - added.mean(), int(known.sum()), options)


def _of_columns(values: FloatArray, options: BoardOptions, highest: float) -> Interval:
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    if not counts.all():
        return Interval(reason=TOO_FEW_QUESTIONS.format(RULES["mean"].least))
    means = np.where(known, values, 0).sum(axis=0) / counts
    added = (np.where(known, values - means, 0) / counts).mean(axis=1)[known.any(axis=1)]
    found = _interval(float(means.mean()), added, int(counts.min()), options)
    if found.low is None or found.high is None:
        return found
    return Interval(max(found.low, 0.0), min(found.high, highest))


def _interval(value: float, added: FloatArray, fewest: int, options: BoardOptions) -> Interval:
    """Interval of a figure to which each question adds something, all of them 0 together."""
    if not RULES["mean"].allows(fewest):
        return Interval(reason=TOO_FEW_QUESTIONS.format(RULES["mean"].least))
    single = (value + len(added) * added)[:, None]
    low, high = mean_bounds(single, options.confidence, fewest - 1)
    if np.isnan(low[0]):
        return Interval(reason=NO_SPREAD)
    return Interval(float(low[0]), float(high[0]))
