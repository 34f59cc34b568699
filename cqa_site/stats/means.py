"""Means of clustered values and of paired differences, with corrected tests."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import NO_VALUES, Bounded, BoundedMean, Estimate
from cqa_site.stats.intervals import (
    LEAST_CLUSTERS,
    estimated,
    jackknife_t_interval,
    mean_bounds,
    mean_p,
    with_skewness,
)
from cqa_site.stats.verdicts import LEVEL, RULES, Bounds, Direction, holm


def clustered_mean(
    clusters: Sequence[Hashable],
    sums: Sequence[float],
    counts: Sequence[int],
    *,
    confidence: float = 0.95,
    limits: tuple[float, float] = (-math.inf, math.inf),
    unit: str = "questions",
) -> Estimate:
    """Compute the mean over all values, with an interval based on whole clusters.

    Values in one cluster resemble each other, so an interval based on single values would be too
    narrow. The mean gives every value the same weight, whatever its cluster's size.

    Parameters
    ----------
    clusters : length n
        The cluster of each row; a cluster may have several rows.
    sums, counts : length n
        Sum and number of the values of each row; a row without values has the count 0.
    confidence
        Nominal coverage.
    limits
        The smallest and the largest possible mean, such as 0 and 1 for a share; the interval is
        truncated at these limits.
    unit
        Name of the clusters.

    Returns
    -------
    Estimate
        The mean of ``n_values`` values in ``n_items`` clusters, ``n_pairable_items`` of them with
        a value. Undefined if there are no values; has no interval if fewer than 10 clusters have a
        value.

    Notes
    -----
    The clusters are left out one at a time (`jackknife_t_interval`). The interval is simulated in
    `benchmarks.verdicts`.

    Examples
    --------
    >>> found = clustered_mean("aab", [1.0, 2.0, 6.0], [1, 1, 2])
    >>> found.value, found.n_items, found.n_values
    (2.25, 2, 4)
    """
    totals, sizes = _per_cluster(clusters, sums, counts)
    known = sizes > 0
    n_values = int(sizes.sum())
    about: dict[str, Any] = {
        "statistic": "mean",
        "recipe": f"sum of all values divided by their number; the interval is over {unit}",
        "confidence": confidence,
        "n_items": len(sizes),
        "n_pairable_items": int(known.sum()),
        "n_raters": 1,
        "n_values": n_values,
    }
    if n_values == 0:
        return Estimate(value=None, reason=NO_VALUES, **about)
    value = float(totals.sum() / n_values)
    n_known = int(known.sum())
    # A mean without its only cluster has no values, but one cluster gives no interval anyway.
    others = np.maximum(n_values - sizes[known], 1)
    left_out, once = (totals.sum() - totals[known]) / others, np.ones(n_known, dtype=np.int64)
    interval = partial(
        jackknife_t_interval, value, left_out, once, confidence, least=LEAST_CLUSTERS, unit=unit
    )
    how = f"t over {unit}, corrected for skewness"
    return estimated(value, interval, about, how=how, limits=limits)


def _per_cluster(
    clusters: Sequence[Hashable], sums: Sequence[float], counts: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Return the sum and number of values by cluster (n_clusters,), in order of appearance."""
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    rows = np.array([places[cluster] for cluster in clusters], dtype=np.int64)
    totals = np.bincount(rows, weights=np.asarray(sums, dtype=float), minlength=len(places))
    sizes = np.bincount(rows, weights=np.asarray(counts, dtype=float), minlength=len(places))
    # With weights, these are floats, but the type annotations of numpy do not show it.
    return totals.astype(np.float64, copy=False), sizes.astype(np.float64, copy=False)


# Comparison of systems: paired differences, Holm's correction, tie groups.
#
# Differences are taken question by question, so the difficulty of a question for all systems
# cancels out.
#
# Source: Miller (2024), Adding Error Bars to Evals, on paired differences over questions.

_CHUNK_CELLS = 8_000_000
# Number of points of each distribution over which power is averaged.
_POINTS = 32


@dataclass(frozen=True, kw_only=True)
class PairDifference(BoundedMean):
    """One system minus another, over the questions that all systems share.

    Attributes
    ----------
    first, second
        The two systems; `first` is not below `second` on the board.
    mean, low, high
        Mean paired difference and its interval for this pair alone; None if undefined.
    p, p_holm
        Two-sided p value of the paired test, and the same p value after Holm's correction for all
        pairs compared.
    is_separable
        Whether `p_holm` is below 1 - confidence and there are enough questions for a verdict.
    detectable
        Smallest true difference that can be detected with this many questions at a power of .8
        after the correction (`smallest_detectable`); None if no difference can be detected.
    """

    first: str
    second: str
    mean: float
    p: float
    p_holm: float
    is_separable: bool
    detectable: float | None


def compare_pairs(
    names: list[str], common: FloatArray, confidence: float
) -> tuple[PairDifference, ...]:
    """Compute the differences between all pairs of systems.

    Parameters
    ----------
    names
        Systems, best first.
    common : shape (n_systems, n_questions)
        Scores without gaps, at least 2 questions.
    confidence
        Confidence of the intervals; 1 - confidence is the level of Holm's correction.
    """
    first, second = np.triu_indices(len(names), k=1)
    if not len(first):
        return ()
    n, level = common.shape[1], 1 - confidence
    columns: list[FloatArray] = []
    for block in _blocks(len(first), n):
        differences = (common[first[block]] - common[second[block]]).T
        (low, high), p = mean_bounds(differences, confidence), mean_p(differences)
        # If few questions differ, sign flips do not reject 0, so the interval includes 0.
        low, high = np.where(p >= level, [np.minimum(low, 0), np.maximum(high, 0)], [low, high])
        sd = differences.std(axis=0, ddof=1)
        columns.append(np.array([differences.mean(axis=0), low, high, p, sd]))
    mean, low, high, p, sd = np.concatenate(columns, axis=1)
    adjusted = holm(p)
    is_enough = RULES["leader"].allows(n)
    effects = smallest_detectable(sd, n, level=level / len(first))
    return tuple(
        PairDifference(
            first=names[first[place]],
            second=names[second[place]],
            mean=float(mean[place]),
            low=_known(low[place], is_enough),
            high=_known(high[place], is_enough),
            p=float(p[place]),
            p_holm=float(adjusted[place]),
            is_separable=bool(is_enough and adjusted[place] < level),
            detectable=_known(effects[place], is_enough),
        )
        for place in range(len(first))
    )


def _known(value: float, is_enough: bool) -> float | None:
    return float(value) if is_enough and math.isfinite(value) else None


def tie_groups(separable: np.ndarray) -> IntArray:
    """Return each system's group, from 1; systems in the same group cannot be told apart.

    Parameters
    ----------
    separable : bool, shape (n_systems, n_systems), symmetric
        Systems in the order of the board.

    Notes
    -----
    Each system joins the first group in which it cannot be told apart from any member, or starts a
    new group. Two systems in different groups are therefore not always separable, and a system
    with uncertain differences may be in a higher group than a system above it on the board.
    """
    groups: list[list[int]] = []
    for system in range(len(separable)):
        for members in groups:
            if not separable[system, members].any():
                members.append(system)
                break
        else:
            groups.append([system])
    numbers = np.zeros(len(separable), dtype=np.int64)
    for number, members in enumerate(groups, start=1):
        numbers[members] = number
    return numbers


def smallest_detectable(
    sd: FloatArray, n_questions: int, *, level: float = 0.05, power: float = 0.8
) -> FloatArray:
    """Return the smallest true mean difference that a new study can detect with this power.

    Parameters
    ----------
    sd
        Standard deviation of the paired differences, estimated from `n_questions` questions.
    n_questions, level, power
        Settings of the two-sided test `mean_p`; for Holm's correction over m pairs, use the level
        of the first step, level / m. The result is infinite if no p value from so few questions is
        below the level.

    Notes
    -----
    The power is averaged over random variation in the estimated sd, the sd of the new study and
    its skewness, for normally distributed differences.

    >>> smallest_detectable(np.array([2.0]), 100).round(2)
    array([0.57])
    """
    if n_questions < 2 or 2.0 ** (1 - n_questions) >= level:
        return np.full(np.shape(sd), np.inf)
    return np.asarray(sd * _detectable_sds(n_questions, level, power))


@lru_cache(maxsize=256)
def _detectable_sds(n: int, level: float, power: float) -> float:
    """Return the detectable difference in units of the estimated sd."""
    from scipy import special  # slow to import, and pages import this module at startup

    quantiles = (np.arange(_POINTS) + 0.5) / _POINTS
    sds = np.sqrt(2 * special.gammaincinv((n - 1) / 2, quantiles) / (n - 1))
    pull = special.ndtri(quantiles) * (6 * (n - 1) / ((n - 2) * (n + 1) * (n + 3))) ** 0.5
    reach = np.full(_POINTS, special.stdtrit(n - 1, 1 - level / 2))
    needed = np.maximum(reach, with_skewness(reach, pull))[:, None] * sds
    low, high = 0.0, 2 * float(needed.max()) + 4
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        share = float(special.ndtr(middle * sds[:, None, None] - needed).mean())
        low, high = (middle, high) if share < power else (low, middle)
    return float(high / n**0.5)


def _blocks(n: int, cells_each: int) -> Iterator[slice]:
    size = max(1, _CHUNK_CELLS // cells_each)
    return (slice(start, start + size) for start in range(0, n, size))


# Larger numbers are not reported, because nobody plans so many units.
MOST_UNITS = 10_000
POWER = 0.8


@dataclass(frozen=True, kw_only=True)
class PairedTest(Bounded):
    """The test of a mean of paired differences over n units.

    Attributes
    ----------
    n, value, low, high
        Number of units, mean, and the 95 % interval for this mean alone.
    p
        p value after Holm's correction over all means tested together; None if there is no test.
    enough
        Number of units needed to show a mean of this size with a power of .8 after the correction;
        None if it exceeds `MOST_UNITS`, or if no number would be enough.
    """

    n: int
    p: float | None = None
    enough: int | None = None

    @property
    def direction(self) -> Direction:
        """The direction of the mean, if the mean is significant at the corrected level."""
        if self.p is None or self.p >= LEVEL:
            return "not_shown"
        return "above" if (self.value or 0) > 0 else "below"


def paired_tests(
    family: Sequence[Sequence[float] | FloatArray], rule: str = "paired means"
) -> list[PairedTest]:
    """Test mean differences against 0, with p values corrected by Holm's method (1979).

    Parameters
    ----------
    family
        For each mean, the differences of independent units, such as questions.
    rule
        Means of fewer units than this rule requires are not tested.

    Notes
    -----
    The test is Student's t corrected for skewness (`intervals.mean_p`).
    """
    columns = [np.asarray(differences, dtype=np.float64) for differences in family]
    is_enough = [RULES[rule].allows(len(column)) for column in columns]
    tested = [column for column, enough in zip(columns, is_enough, strict=True) if enough]
    p = iter(holm(np.array([float(mean_p(sample[:, None])[0]) for sample in tested])))
    level = LEVEL / max(1, len(tested))
    return [_test(*pair, p, level) for pair in zip(columns, is_enough, strict=True)]


def _test(values: FloatArray, is_enough: bool, p: Iterator[float], level: float) -> PairedTest:
    n = len(values)
    if not is_enough:
        return PairedTest(n=n, value=float(values.mean()) if n else None)
    value = float(values.mean())
    low, high = (float(bound[0]) for bound in mean_bounds(values[:, None], 1 - LEVEL))
    if not value or math.isnan(low):
        return PairedTest(n=n, value=value, p=float(next(p)))
    least = float(smallest_detectable(values.std(ddof=1, keepdims=True), n, level=level)[0])
    # The difference that n units can detect shrinks at least with the root of n.
    times = (least / value) ** 2
    enough = max(n + 1, math.ceil(n * times)) if n * times <= MOST_UNITS else None
    return PairedTest(n=n, value=value, low=low, high=high, p=float(next(p)), enough=enough)


def least_units(n_tests: int) -> int:
    """Return the minimum number of units needed to show the direction of any of this many means.

    >>> [least_units(n) for n in (1, 100)]
    [10, 12]
    """
    return max(RULES["paired means"].least, 2 + math.floor(math.log2(max(n_tests, 1) / LEVEL)))


def units_that_tell(value: float, bounds: Bounds, n: int, level: float) -> int | None:
    """Return the number of units needed to show a value with a power of .8.

    ``bounds`` is the interval for the value from n units, and ``level`` is its level. Returns None
    if more than `MOST_UNITS` are needed.
    """
    from scipy import special

    if not value or bounds.low is None or bounds.high is None:
        return None
    more = 1 + float(special.ndtri(POWER) / special.ndtri(1 - level / 2))
    needed = n * (more * (bounds.high - bounds.low) / 2 / value) ** 2
    return math.ceil(needed) if needed <= MOST_UNITS else None
