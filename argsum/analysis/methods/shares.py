"""Shares of comments, their differences, and tests that they are equal.

A share is k of n comments, 0–1. All p values are two-sided.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special  # scipy.stats would cost another 50 MB and 0.4 s at start

from cqa_site.stats.intervals import Interval, clopper_pearson_interval
from cqa_site.stats.ratings import FloatArray, IntArray

# With fewer expected comments in a cell, chi-squared is no longer trusted. Cochran (1954) asks
# for 5 at a level of .05; at the levels of Holm's correction 5 reject up to twice too often.
LEAST_EXPECTED = 10
# Tables that are drawn where the exact distribution is not enumerated; their seed is fixed, so
# equal counts give equal p values.
DRAWS = 9999
CHI_SQUARED, FISHER, PERMUTATION = "chi-squared", "Fisher", "permutation"


@dataclass(frozen=True)
class Share:
    """k of n with its exact 95 % interval; without comments there is no share.

    Wilson's interval is narrower, but of shares near 0 or 1, which most key points have, it covers
    .83 to .89.
    """

    k: int
    n: int

    @property
    def value(self) -> float | None:
        """The share itself."""
        return self.k / self.n if self.n else None

    @property
    def low(self) -> float | None:
        """Where the interval begins."""
        return self._interval.low if self.n else None

    @property
    def high(self) -> float | None:
        """Where the interval ends."""
        return self._interval.high if self.n else None

    @property
    def _interval(self) -> Interval:
        return _exact(self.k, self.n)


# Tables and charts ask for each several times.
_exact = lru_cache(maxsize=50_000)(clopper_pearson_interval)


@dataclass(frozen=True)
class Difference:
    """One share minus another, with its interval; None where there is too little for one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Tested:
    """A p value and the test it is from."""

    p: float
    test: str


def share_difference(one: Share, other: Share, confidence: float = 0.95) -> Difference:
    """Difference of two independent shares with an interval made of theirs.

    Zou and Donner (2008), Statistics in Medicine 27, 1693–1702: distances of both intervals from
    their shares, joined as the sides of a right angle; here of exact intervals, in Newcombe's
    method 10 of Wilson's. Both have n > 0.
    """
    p1, p2 = one.k / one.n, other.k / other.n
    first, second = (_exact(each.k, each.n, confidence) for each in (one, other))
    below = float(np.hypot(p1 - first.low, second.high - p2))
    above = float(np.hypot(first.high - p1, p2 - second.low))
    return Difference(p1 - p2, p1 - p2 - below, p1 - p2 + above)


def equal_shares(k: IntArray, n: IntArray) -> Tested | None:
    """Test that the shares of g groups are equal.

    Parameters
    ----------
    k, n : shape (g,)
        Comments with the key point, and all comments, of each group; 0 <= k <= n, n > 0.

    Returns
    -------
    Pearson's chi-squared without a continuity correction where 10 comments or more are expected
    in every cell of the table; otherwise Fisher's exact test for two groups and a permutation
    test of chi-squared for more. None where there is nothing to test: one group only, or no
    comment, or every one, has the key point.
    """
    k, n = np.asarray(k), np.asarray(n)
    hits, total = int(k.sum()), int(n.sum())
    if len(n) < 2 or hits in (0, total):
        return None
    share = hits / total
    if float(n.min()) * min(share, 1 - share) >= LEAST_EXPECTED:
        p = float(special.chdtrc(len(n) - 1, float(_chi_squared(k, n))))
        return Tested(p, CHI_SQUARED)
    if len(n) == 2:
        return Tested(fisher_exact(k, n), FISHER)
    drawn = draw_tables(n, hits)
    found = float(_chi_squared(k, n))
    as_far = int((_chi_squared(drawn, n) >= found - 1e-9 * max(1.0, found)).sum())
    return Tested((1 + as_far) / (1 + DRAWS), PERMUTATION)


def fisher_exact(k: IntArray, n: IntArray) -> float:
    """Fisher's exact test of two shares: all tables that are no likelier than the one at hand."""
    first, second, hits = int(n[0]), int(n[1]), int(np.sum(k))
    inside = np.arange(max(0, hits - second), min(hits, first) + 1)
    logs = _log_choose(first, inside) + _log_choose(second, hits - inside)
    logs -= _log_choose(first + second, np.array(hits))
    here = logs[int(k[0]) - int(inside[0])]
    # Equal ones differ in the last digits.
    return float(min(1.0, np.exp(logs[logs <= here + 1e-7]).sum()))


def draw_tables(n: IntArray, hits: int, *, seed: int = 0) -> IntArray:
    """Hits of each group if they fell at random, shape (DRAWS, g)."""
    generator = np.random.default_rng(seed)
    drawn: IntArray = generator.multivariate_hypergeometric(n, hits, size=DRAWS)
    return drawn


def _chi_squared(k: IntArray, n: IntArray) -> FloatArray:
    """Pearson's statistic of g × 2 tables; ``k`` may have further axes before the groups."""
    share = k.sum(axis=-1, keepdims=True) / n.sum()
    found: FloatArray = ((k - n * share) ** 2 / (n * share * (1 - share))).sum(axis=-1)
    return found


def _log_choose(n: int, k: IntArray) -> FloatArray:
    found: FloatArray = special.gammaln(n + 1) - special.gammaln(k + 1)
    found = found - special.gammaln(n - k + 1)
    return found
