"""Shares of comments by key point, and tests for differences between groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special  # scipy.stats would cost another 50 MB and 0.4 s at start

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import Bounded
from cqa_site.stats.intervals import Interval, clopper_pearson_interval
from cqa_site.stats.verdicts import LEVEL, RULES, holm

# A share is k of n comments, 0–1. All p values are two-sided.

# With fewer expected comments in a cell, chi-squared is not used: of several groups, and of two.
# Cochran (1954) asks for 5 at a level of .05. At the levels of Holm's correction over 100 key
# points, 12 in the smaller of two unequal groups reject 1.9 times too often, and 100 hardly; 10 in
# the smallest of several reject 1.3 to 1.6 times too often, and 30 at most 1.2 times.
LEAST_EXPECTED, LEAST_OF_TWO = 30, 100
# Tables that are drawn where the exact distribution is not enumerated; their seed is fixed, so
# equal counts give equal p values.
DRAWS = 9999
CHI_SQUARED, FISHER, PERMUTATION = "chi-squared", "Fisher", "permutation"


@dataclass(frozen=True)
class Share:
    """k of n with its exact 95 % interval; the share is undefined without comments.

    Wilson's interval is narrower, but of shares near 0 or 1, which most key points have, it covers
    .83 to .89.
    """

    k: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None without comments."""
        return self.k / self.n if self.n else None

    @property
    def reason(self) -> str | None:
        """Why there is no share."""
        return None if self.n else "there are no comments"

    @property
    def low(self) -> float | None:
        """Lower bound of the interval; None without comments."""
        return self._interval.low if self.n else None

    @property
    def high(self) -> float | None:
        """Upper bound of the interval; None without comments."""
        return self._interval.high if self.n else None

    @property
    def _interval(self) -> Interval:
        return _exact(self.k, self.n)


# Tables and charts ask for each several times.
_exact = lru_cache(maxsize=50_000)(clopper_pearson_interval)


@dataclass(frozen=True, kw_only=True)
class ShareDifference(Bounded):
    """Difference of two shares with its interval."""

    value: float


@dataclass(frozen=True)
class HypothesisTest:
    """A p value and the name of its test."""

    p: float
    test: str


def share_difference(share: Share, other: Share, confidence: float = 0.95) -> ShareDifference:
    """Return the difference of two independent shares, with an interval from their intervals.

    Zou and Donner (2008), Statistics in Medicine 27, 1693–1702: distances of both intervals from
    their shares, joined as the sides of a right angle; here of exact intervals, in Newcombe's
    method 10 of Wilson's. Both have n > 0.
    """
    p1, p2 = share.k / share.n, other.k / other.n
    first, second = (_exact(side.k, side.n, confidence) for side in (share, other))
    below = float(np.hypot(p1 - first.low, second.high - p2))
    above = float(np.hypot(first.high - p1, p2 - second.low))
    return ShareDifference(value=p1 - p2, low=p1 - p2 - below, high=p1 - p2 + above)


def equal_shares(k: IntArray, n: IntArray) -> HypothesisTest | None:
    """Test that the shares of g groups are equal.

    Parameters
    ----------
    k, n : shape (g,)
        Comments with the key point, and all comments, of each group; 0 <= k <= n, n > 0.

    Returns
    -------
    Pearson's chi-squared without a continuity correction where enough comments are expected in
    every cell of the table; otherwise Fisher's exact test for two groups and a permutation test
    of chi-squared for more. None where there is nothing to test: one group only, or no
    comment, or every one, has the key point.
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
    """Fisher's exact test of two shares: sums all tables no likelier than the observed one."""
    first, second, hits = int(n[0]), int(n[1]), int(np.sum(k))
    inside = np.arange(max(0, hits - second), min(hits, first) + 1)
    logs = _log_choose(first, inside) + _log_choose(second, hits - inside)
    logs -= _log_choose(first + second, np.array(hits))
    here = logs[int(k[0]) - int(inside[0])]
    # Equal ones differ in the last digits.
    return float(min(1.0, np.exp(logs[logs <= here + 1e-7]).sum()))


def draw_tables(n: IntArray, hits: int) -> IntArray:
    """Draw the hits of each group at random, shape (DRAWS, g)."""
    generator = np.random.default_rng(0)
    drawn: IntArray = generator.multivariate_hypergeometric(n, hits, size=DRAWS)
    return drawn


def _chi_squared(k: IntArray, n: IntArray) -> FloatArray:
    """Pearson's statistic of g × 2 tables; ``k`` may have leading axes before the groups."""
    share = k.sum(axis=-1, keepdims=True) / n.sum()
    statistic: FloatArray = ((k - n * share) ** 2 / (n * share * (1 - share))).sum(axis=-1)
    return statistic


def _log_choose(n: int, k: IntArray) -> FloatArray:
    log_choose: FloatArray = special.gammaln(n + 1) - special.gammaln(k + 1)
    log_choose = log_choose - special.gammaln(n - k + 1)
    return log_choose


# The prevalence of a key point in a group is the share of the group's comments of which at least
# one statement stands behind the point. Comments are the unit: a comment that says a thing twice
# counts once.

# Groups of fewer comments are shown, and enter no test.
LEAST = RULES["groups"].least


@dataclass(frozen=True)
class InGroup:
    """Figures of a key point in one group.

    Attributes
    ----------
    other, difference
        What the group is compared with, and the difference: the other group where two are
        compared, else all others together. None in a group that is too small.
    p
        That the difference is none, corrected together with all others (Holm); None where
        nothing was tested.
    """

    share: Share
    other: Share | None = None
    difference: ShareDifference | None = None
    p: float | None = None

    @property
    def distance(self) -> float:
        """Signed difference in percentage points; 0 if nothing is compared."""
        return 0.0 if self.difference is None else 100 * self.difference.value

    def difference_among(self, m: int) -> ShareDifference | None:
        """Return the difference; its interval holds for the largest of m, too (Bonferroni)."""
        return share_difference(self.share, self.other, 1 - LEVEL / m) if self.other else None

    @property
    def differs(self) -> bool:
        """Whether the difference is significant."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True)
class PointByGroup:
    """Figures of a key point in all groups.

    Attributes
    ----------
    all
        Over the comments of all groups.
    groups
        In the order of the groups.
    p_alone, p
        That all tested groups mention it equally often: by itself, and corrected over all key
        points (Holm). None where nothing was tested.
    test
        Which test that was.
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
        """Index of the group that differs most from the others; None without a difference."""
        known = [at for at, group in enumerate(self.groups) if group.difference is not None]
        return max(known, key=lambda at: abs(self.groups[at].distance)) if known else None


def compare_groups(sizes: Sequence[int], counts: Sequence[Sequence[int]]) -> list[PointByGroup]:
    """Compare the prevalence of every key point between groups.

    Parameters
    ----------
    sizes : length g
        Comments of each group.
    counts : shape (points, g)
        Of these, those that mention the key point.

    Returns
    -------
    One for each key point, in their order. Of two groups the difference is the first minus the
    second, and its p is that of the key point. Of more, each is compared with all others
    together: these p values are corrected over all key points and groups at once, and the
    intervals of a key point hold together (Bonferroni), because pages show the widest difference.
    Groups of fewer than `LEAST` comments are left out of both.
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
    """Compare two groups that are large enough, each with the other."""
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
    """Return p values adjusted by Holm's method; untested ones (None) are ignored."""
    known = [value for value in p if value is not None]
    adjusted = iter(holm(np.array(known)) if known else ())
    return [None if value is None else float(next(adjusted)) for value in p]
