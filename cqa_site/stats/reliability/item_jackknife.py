"""Statistics of agreement with their item-jackknife intervals, and when there is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import (
    LEAST_RATED,
    estimated,
    jackknife_t_interval,
    too_few,
)

INTERVAL = "item jackknife, t corrected for skewness"
# Where one value holds over this share of all ratings, the few others decide, and whether they
# were drawn at all: intervals of 20 such items cover .83-.89, of 50 .93 or more.
MOST_OF_ONE, LEAST_ONE_SIDED = 0.8, 50

_CHUNK_CELLS = 4_000_000


def least_items(margins: IntArray | FloatArray) -> int:
    """Items that an interval of a chance-corrected statistic needs.

    Parameters
    ----------
    margins : shape (n_categories,)
        How often each value occurs.
    """
    is_one_sided = margins.max() > MOST_OF_ONE * margins.sum()
    return LEAST_ONE_SIDED if is_one_sided else LEAST_RATED


def jackknifed(
    value: float,
    left_out: FloatArray,
    multiplicity: IntArray,
    about: dict[str, Any],
    *,
    least: int = LEAST_RATED,
) -> Estimate:
    """A statistic whose largest value is 1, with its interval or the reason why there is none.

    Parameters
    ----------
    value, left_out, multiplicity
        As `jackknife_t_interval` takes them.
    about
        All else that an `Estimate` says.
    least
        Items that the interval needs.
    """
    given = (value, left_out, multiplicity, about["confidence"])
    interval = partial(jackknife_t_interval, *given, least=least)
    return estimated(value, interval, about, how=INTERVAL, limits=(-np.inf, 1.0))


def jackknifed_over(
    statistic: Callable[[FloatArray], FloatArray],
    multiplicity: IntArray,
    about: dict[str, Any],
    *,
    least: int = LEAST_RATED,
) -> Estimate:
    """A statistic of weighted items with its interval; see `jackknifed`.

    Parameters
    ----------
    statistic
        Maps weights, shape (n_rows, n_kinds), to values, shape (n_rows,).
    multiplicity : shape (n_kinds,)
        Items of each kind.
    about, least
        As `jackknifed` takes them.
    """
    weights = multiplicity.astype(np.float64)
    value, n = float(statistic(weights[None, :])[0]), len(weights)
    if multiplicity.sum() < least:
        return Estimate(value=value, reason=too_few(least, "items"), **about)
    rows = max(1, _CHUNK_CELLS // n)
    blocks = [
        statistic(weights - np.eye(min(rows, n - start), n, k=start))
        for start in range(0, n, rows)
    ]
    return jackknifed(value, np.concatenate(blocks), multiplicity, about, least=least)
