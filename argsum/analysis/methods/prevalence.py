"""Compute shares of comments by key point, and test for differences between groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special  # scipy.stats would take another 50 MB and 0.4 s at start

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import Bounded
from cqa_site.stats.intervals import Interval, clopper_pearson_interval
from cqa_site.stats.verdicts import LEVEL, RULES, holm

# A share (0–1) is k of n comments. All p-values are two-sided.

# Minimum expected comments in a cell for chi-squared, with several groups and with two. Cochran
# (1954) asks for 5 at a level of .05. At the levels of Holm's correction over 100 key points, the
# test rejects 1.9 times too often with 12 in the smaller of two unequal groups, and hardly too
# often with 100. With several groups, it rejects 1.3 to 1.6 times too often with 10 in the
# smallest, and at most 1.2 times with 30.
LEAST_EXPECTED, LEAST_OF_TWO = 30, 100
# Number of tables to draw if the exact distribution is not enumerated. The seed is fixed, so that
# equal counts give equal p-values.
DRAWS = 9999
CHI_SQUARED, FISHER, PERMUTATION = "chi-squared", "Fisher", "permutation"


@dataclass(frozen=True)
class Share:
    """k of n with its exact 95 % interval. The share is undefined if there are no comments.

    Wilson's interval is narrower, but for shares near 0 or 1, which most key points have, its
    coverage is .83 to .89.
    """

    k: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None if there are no comments."""
        return self.k / self.n if self.n else None

    @property
    def reason(self) -> str | None:
        """Reason for a missing share."""
        return None if self.n else "there are no comments"

    @property
    def low(self) -> float | None:
        """Lower bound of the interval; None if there are no comments."""
        return self._interval.low if self.n else None

    @property
    def high(self) -> float | None:
        """Upper bound of the interval; None if there are no comments."""
        return self._interval.high if self.n else None

    @property
    def _interval(self) -> Interval:
        return _exact(self.k, self.n)


# Cached, because tables and charts use each interval several times.
_exact = lru_cache(maxsize=50_000)(clopper_pearson_interval)


@dataclass(frozen=True, kw_only=True)
class ShareDifference(Bounded):
    """Difference between two shares, with its interval."""

    value: float


@dataclass(frozen=True)
class HypothesisTest:
    """A p-value and the name of its test."""

    p: float
    test: str


def share_difference(share: Share, other: Share, confidence: float = 0.95) -> ShareDifference:
    """Return the difference between independent shares, with an interval from their intervals.

    Zou and Donner (2008), Statistics in Medicine 27, 1693–1702: the distances of both bounds from
    their shares are combined like the legs of a right triangle. The intervals are exact, whereas
    Newcombe's method 10 uses Wilson's. Both shares must have n > 0.
    """
    p1, p2 = share.k / share.n, other.k / other.n
    first, second = (_exact(side.k, side.n, confidence) for side in (share, other))
    below = float(np.hypot(p1 - first.low, second.high - p2))
    above = float(np.hypot(first.high - p1, p2 - second.low))
    return ShareDifference(value=p1 - p2, low=p1 - p2 - below, high=p1 - p2 + above)


def equal_shares(k: IntArray, n: IntArray) -> HypothesisTest | None:
    """Test whether the shares of g groups are equal.

    Parameters
    ----------
    k, n : shape (g,)
        Comments with the key point, and all comments, in each group; 0 <= k <= n, n > 0.

    Returns
    -------
    Pearson's chi-squared test without continuity correction if enough comments are expected in
    every cell of the table; otherwise Fisher's exact test for two groups, and a permutation test
    of chi-squared for more. None if there is nothing to test, because there is only one group, or
    because no comment or every comment has the key point.
    """
    k, n = np.asarray(k), np.asarray(n)
    hits, total = int(k.sum()), int(n.sum())
    if len(n) < 2 or hits in (0, total):
        return None
    share = hits / total
    least = LEAST_OF_TWO if len(n) == 2 else LEAST_EXPECTED
    if float(n.min()) * min(share, 1 - share) >= least:
        p = float(special.chdtrc(len(n) - 1, float(_chi_squared(k, n))))
        return HypothesisTest(p, CHI_SQUARED)
    if len(n) == 2:
        return HypothesisTest(fisher_exact(k, n), FISHER)
    drawn = draw_tables(n, hits)
    statistic = float(_chi_squared(k, n))
    as_far = int((_chi_squared(drawn, n) >= statistic - 1e-9 * max(1.0, statistic)).sum())
    return HypothesisTest((1 + as_far) / (1 + DRAWS), PERMUTATION)


def fisher_exact(k: IntArray, n: IntArray) -> float:
    """Return Fisher's exact p-value, summed over tables no likelier than the observed one."""
    first, second, hits = int(n[0]), int(n[1]), int(np.sum(k))
    inside = np.arange(max(0, hits - second), min(hits, first) + 1)
    logs = _log_choose(first, inside) + _log_choose(second, hits - inside)
    logs -= _log_choose(first + second, np.array(hits))
    here = logs[int(k[0]) - int(inside[0])]
    # Equal probabilities can differ in their last digits.
    return float(min(1.0, np.exp(logs[logs <= here + 1e-7]).sum()))


def draw_tables(n: IntArray, hits: int) -> IntArray:
    """Draw random hits for each group, shape (DRAWS, g)."""
    generator = np.random.default_rng(0)
    drawn: IntArray = generator.multivariate_hypergeometric(n, hits, size=DRAWS)
    return drawn


def _chi_squared(k: IntArray, n: IntArray) -> FloatArray:
    """Return Pearson's statistic of g × 2 tables. ``k`` may have axes before the groups."""
    share = k.sum(axis=-1, keepdims=True) / n.sum()
    statistic: FloatArray = ((k - n * share) ** 2 / (n * share * (1 - share))).sum(axis=-1)
    return statistic


def _log_choose(n: int, k: IntArray) -> FloatArray:
    log_choose: FloatArray = special.gammaln(n + 1) - special.gammaln(k + 1)
    log_choose = log_choose - special.gammaln(n - k + 1)
    return log_choose


# The prevalence of a key point in a group is the share of the group's comments with at least one
# statement behind the point. A comment that makes a point twice counts once.

# Groups with fewer comments are shown but not tested.
LEAST = RULES["groups"].least


@dataclass(frozen=True)
class InGroup:
    """Figures for a key point in one group.

    Attributes
    ----------
    other, difference
        The share in the other group, or in all other groups together if there are more than two,
        and the difference from it. None if the group is too small.
    p
        The p-value of the difference, corrected together with all other p-values (Holm). None if
        there was no test.
    """

    share: Share
    other: Share | None = None
    difference: ShareDifference | None = None
    p: float | None = None

    @property
    def distance(self) -> float:
        """Signed difference in percentage points, or 0 if there is no comparison."""
        return 0.0 if self.difference is None else 100 * self.difference.value

    def difference_among(self, m: int) -> ShareDifference | None:
        """Return the difference, with a Bonferroni interval for the largest of m differences."""
        return share_difference(self.share, self.other, 1 - LEVEL / m) if self.other else None

    @property
    def differs(self) -> bool:
        """Whether the difference is significant."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True)
class PointByGroup:
    """Figures for a key point in all groups.

    Attributes
    ----------
    all
        The share in the comments of all groups.
    groups
        The figures for each group, in the order of the groups.
    p_alone, p
        The p-value of the test for equal shares in all tested groups, uncorrected and corrected
        over all key points (Holm). None if there was no test.
    test
        The name of the test.
    """

    point: int
    all: Share
    groups: Sequence[InGroup]
    p_alone: float | None
    p: float | None
    test: str

    @property
    def differs(self) -> bool:
        """Whether the groups differ significantly."""
        return self.p is not None and self.p < LEVEL

    @property
    def widest(self) -> int | None:
        """Index of the group that differs most from the others; None if no groups differ."""
        known = [at for at, group in enumerate(self.groups) if group.difference is not None]
        return max(known, key=lambda at: abs(self.groups[at].distance)) if known else None


def compare_groups(sizes: Sequence[int], counts: Sequence[Sequence[int]]) -> list[PointByGroup]:
    """Compare the prevalence of every key point between groups.

    Parameters
    ----------
    sizes : length g
        Number of comments in each group.
    counts : shape (points, g)
        Number of comments in each group that mention the key point.

    Returns
    -------
    The figures for each key point, in order. With two groups, the difference is the first minus
    the second, and its p-value is that of the key point. With more groups, each is compared with
    all others together. These p-values are corrected over all key points and groups at once, and
    the intervals of a key point are simultaneous (Bonferroni), because pages show the widest
    difference. Groups with fewer than `LEAST` comments are left out in both cases.
    """
    n = np.asarray(sizes, dtype=np.int64)
    k = np.asarray(counts, dtype=np.int64).reshape(len(counts), len(n))
    places = np.flatnonzero(n >= LEAST)
    tests = [equal_shares(row[places], n[places]) for row in k]
    alone = [None if test is None else test.p for test in tests]
    corrected = _holm(alone)
    groups = _two(k, n, places, corrected) if len(places) == 2 else _each_and_rest(k, n, places)
    return [
        PointByGroup(
            point=at,
            all=Share(int(row.sum()), int(n.sum())),
            groups=groups[at],
            p_alone=alone[at],
            p=corrected[at],
            test="" if (tested := tests[at]) is None else tested.test,
        )
        for at, row in enumerate(k)
    ]


def _two(
    k: IntArray, n: IntArray, places: IntArray, p: Sequence[float | None]
) -> list[list[InGroup]]:
    """Compare the only two groups that are large enough."""
    rows = []
    for row, corrected in zip(k, p, strict=True):
        groups = [InGroup(_share(row, n, at)) for at in range(len(n))]
        for place, other in (places, places[::-1]):
            mine, theirs = _share(row, n, place), _share(row, n, other)
            groups[int(place)] = InGroup(mine, theirs, share_difference(mine, theirs), corrected)
        rows.append(groups)
    return rows


def _each_and_rest(k: IntArray, n: IntArray, places: IntArray) -> list[list[InGroup]]:
    """Compare each group with all others that are large enough."""
    if len(places) < 2:
        return [[InGroup(_share(row, n, at)) for at in range(len(n))] for row in k]
    rest_n = n[places].sum() - n
    p: list[float | None] = []
    for row in k:
        rest_k = row[places].sum() - row
        for at in places:
            tested = equal_shares(np.array([row[at], rest_k[at]]), np.array([n[at], rest_n[at]]))
            p.append(None if tested is None else tested.p)
    corrected = iter(_holm(p))
    tables = []
    for row in k:
        rest_k = row[places].sum() - row
        groups = [InGroup(_share(row, n, at)) for at in range(len(n))]
        for at in places:
            mine, rest = _share(row, n, at), Share(int(rest_k[at]), int(rest_n[at]))
            difference = share_difference(mine, rest, 1 - LEVEL / len(places))
            groups[int(at)] = InGroup(mine, rest, difference, next(corrected))
        tables.append(groups)
    return tables


def _share(row: IntArray, n: IntArray, at: int) -> Share:
    return Share(int(row[at]), int(n[at]))


def _holm(p: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted by Holm's method, ignoring those without a test (None)."""
    known = [value for value in p if value is not None]
    adjusted = iter(holm(np.array(known)) if known else ())
    return [None if value is None else float(next(adjusted)) for value in p]
