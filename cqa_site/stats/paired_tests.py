"""Means of paired differences tested together: which are shown, and how many units would tell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.ranks.multiple_tests import holm
from cqa_site.stats.ranks.paired_differences import smallest_detectable
from cqa_site.stats.skewed_means import mean_bounds, mean_p
from cqa_site.stats.verdicts import LEVEL, RULES, Bounds, Direction

# A number of units that nobody plans with is not said.
MOST_UNITS = 10_000
POWER = 0.8


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """The mean of paired differences over n units.

    Attributes
    ----------
    n, value, low, high
        Units, mean and its 95 % interval, of this mean alone.
    p
        After Holm over all means that are tested together; None without a test.
    enough
        Units that show a mean as large as this one with power .8 after the correction; None where
        more than `MOST_UNITS`, or none, would.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    enough: int | None = None

    @property
    def direction(self) -> Direction:
        """What is shown of the mean at the corrected level."""
        if self.p is None or self.p >= LEVEL:
            return "not_shown"
        return "above" if (self.value or 0) > 0 else "below"


def paired_tests(
    family: Sequence[Sequence[float] | FloatArray], rule: str = "paired means"
) -> list[PairedTest]:
    """Test means of differences against 0, corrected for all of them after Holm (1979).

    Parameters
    ----------
    family
        For each mean the differences of independent units, such as questions.
    rule
        Means of fewer units than it asks for are not tested.

    Notes
    -----
    Student's t corrected for skewness (`skewed_means.mean_p`).
    """
    columns = [np.asarray(differences, dtype=np.float64) for differences in family]
    is_enough = [RULES[rule].allows(len(each)) for each in columns]
    tested = [each for each, enough in zip(columns, is_enough, strict=True) if enough]
    p = iter(holm(np.array([float(mean_p(each[:, None])[0]) for each in tested])))
    level = LEVEL / max(1, len(tested))
    return [_test(*each, p, level) for each in zip(columns, is_enough, strict=True)]


def _test(values: FloatArray, is_enough: bool, p: Iterator[float], level: float) -> PairedTest:
    n = len(values)
    if not is_enough:
        return PairedTest(n=n, value=float(values.mean()) if n else None)
    value = float(values.mean())
    low, high = (float(each[0]) for each in mean_bounds(values[:, None], 1 - LEVEL))
    if not value or math.isnan(low):
        return PairedTest(n=n, value=value, p=float(next(p)))
    least = float(smallest_detectable(values.std(ddof=1, keepdims=True), n, level=level)[0])
    # What n units find falls at least with the root of n.
    times = (least / value) ** 2
    enough = max(n + 1, math.ceil(n * times)) if n * times <= MOST_UNITS else None
    return PairedTest(n=n, value=value, low=low, high=high, p=float(next(p)), enough=enough)


def least_units(n_tests: int) -> int:
    """Units from which any of so many means can be shown.

    >>> [least_units(n) for n in (1, 100)]
    [10, 12]
    """
    return max(RULES["paired means"].least, 2 + math.floor(math.log2(max(n_tests, 1) / LEVEL)))


def units_that_tell(value: float, bounds: Bounds, n: int, level: float) -> int | None:
    """Units with which a value would be shown with power .8, from its interval of n units.

    ``level`` is that of the interval; None where more than `MOST_UNITS` would be needed.
    """
    from scipy import special

    if not value or bounds.low is None or bounds.high is None:
        return None
    more = 1 + float(special.ndtri(POWER) / special.ndtri(1 - level / 2))
    needed = n * (more * (bounds.high - bounds.low) / 2 / value) ** 2
    return math.ceil(needed) if needed <= MOST_UNITS else None
