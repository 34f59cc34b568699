"""Intervals of snapshots before version 2, so that frozen ones can be computed again."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import UndefinedIntervalError, bootstrap_interval

RESAMPLES = 2000


def resampled_mean(found: Estimate, values: Sequence[float | None]) -> Estimate:
    """A mean over cells with the percentiles of resampled cells."""
    recipe = "sum of all values divided by their number; the interval resamples clusters"
    found = replace(found, low=None, high=None, interval=None, recipe=recipe)
    known = np.array([value for value in values if value is not None])
    if not len(known):
        return found
    if len(known) < 3:
        reason = "fewer than 3 clusters have a value, too few for an interval"
        return replace(found, reason=reason)
    try:
        low, high = bootstrap_interval(
            lambda weights: (weights @ known) / weights.sum(axis=1),
            np.ones(len(known), dtype=np.int64),
            n_resamples=RESAMPLES,
        )
    except UndefinedIntervalError as error:
        return replace(found, reason=str(error))
    interval = f"cluster bootstrap, percentile, {RESAMPLES} resamples, seed 0"
    return replace(found, low=low, high=high, interval=interval, reason=None)
