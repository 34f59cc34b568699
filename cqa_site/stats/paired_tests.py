"""Means of paired differences tested together: which are shown, and how many units would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.intervals import Interval
from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.skewed_means import mean_bounds, mean_p
from cqa_site.stats.verdicts import LEVEL, RULES, Bounds, Direction

# A number of units that nobody plans with is not said.
MOST_UNITS = 10_000


class PairedTest(NamedTuple):
    """Direction of a mean at the corrected level; ``enough`` units would show one of its size."""

    direction: Direction
    n: int
    enough: int | None


def paired_tests(family: Sequence[Sequence[float]]) -> list[PairedTest]:
    """Test means of differences against 0, corrected for all of them after Holm (1979).

    Parameters
    ----------
    family
        For each mean the differences of independent units, such as questions. Means of fewer
        units than rule "paired means" asks for are not tested.

    Notes
    -----
    Student's t corrected for skewness (`skewed_means.mean_p`).
    """
    columns = [np.asarray(differences, dtype=np.float64) for differences in family]
    tested = [each for each in columns if RULES["paired means"].allows(len(each))]
    level = LEVEL / max(1, len(tested))
    p = iter(holm(np.array([float(mean_p(each[:, None])[0]) for each in tested])))
    return [
        _test(each, next(p), level)
        if RULES["paired means"].allows(len(each))
        else PairedTest("not_shown", len(each), None)
        for each in columns
    ]


def _test(values: FloatArray, p_holm: float, level: float) -> PairedTest:
    mean, n = float(values.mean()), len(values)
    if p_holm < LEVEL:
        return PairedTest("above" if mean > 0 else "below", n, None)
    low, high = mean_bounds(values[:, None], 1 - level)
    if np.isnan(low[0]):
        return PairedTest("not_shown", n, None)
    bounds = Interval(float(low[0]), float(high[0]))
    return PairedTest("not_shown", n, units_that_tell(mean, bounds, n, level))


def least_units(n_tests: int) -> int:
    """Units from which any of so many means can be shown.

    >>> [least_units(n) for n in (1, 100)]
    [10, 12]
    """
    return max(RULES["paired means"].least, 2 + math.floor(math.log2(max(n_tests, 1) / LEVEL)))


def units_that_tell(value: float, bounds: Bounds, n: int, level: float) -> int | None:
    """Units with which a value would be shown with power .8, from its interval of n units."""
    from scipy import special

    if not value or bounds.low is None or bounds.high is None:
        return None
    more = 1 + float(special.ndtri(0.8) / special.ndtri(1 - level / 2))
    needed = n * (more * (bounds.high - bounds.low) / 2 / value) ** 2
    return math.ceil(needed) if needed <= MOST_UNITS else None
