"""Shares, differences and tests, against published examples and independent computations."""

from datetime import date, timedelta

import numpy as np
import pytest
from scipy import stats

from argsum.analysis.methods import prevalence, trends
from argsum.analysis.methods.prevalence import (
    Share,
    compare_groups,
    equal_shares,
    share_difference,
)


@pytest.mark.parametrize(
    ("k1", "n1", "k2", "n2"), [(56, 70, 48, 80), (0, 10, 0, 20), (7, 7, 1, 7), (1, 60, 81, 263)]
)
def test_shares_have_exact_intervals_and_differences_join_them(k1, n1, k2, n2):
    """Wilson's covered .83 to .89 of rare key points."""
    shares = Share(k1, n1), Share(k2, n2)
    (low1, high1), (low2, high2) = ((share.low, share.high) for share in shares)
    assert (low1, high1) == pytest.approx(tuple(exact(k1, n1)))
    assert (low2, high2) == pytest.approx(tuple(exact(k2, n2)))
    found = share_difference(*shares)
    p1, p2 = k1 / n1, k2 / n2
    assert found.value == pytest.approx(p1 - p2)
    assert found.low == pytest.approx(p1 - p2 - np.hypot(p1 - low1, high2 - p2))
    assert found.high == pytest.approx(p1 - p2 + np.hypot(high1 - p1, p2 - low2))
    assert (Share(0, 0).value, Share(0, 0).low) == (None, None)


def exact(k, n):
    return stats.binomtest(k, n).proportion_ci(method="exact")


@pytest.mark.parametrize(
    ("k", "n"), [((2, 7), (15, 20)), ((0, 6), (12, 14)), ((29, 250), (1000, 20_000))]
)
def test_two_small_groups_are_tested_exactly(k, n):
    """Chi-squared of 13 expected in the smaller group was 1.8 times too often below .0005."""
    k, n = np.array(k), np.array(n)
    found = equal_shares(k, n)
    assert found.test == prevalence.FISHER
    assert found.p == pytest.approx(stats.fisher_exact([k, n - k]).pvalue)


def test_large_groups_are_tested_by_chi_squared_and_others_not_at_all():
    k, n = np.array([300, 180, 250]), np.array([800, 700, 1200])
    found = equal_shares(k, n)
    assert found.test == prevalence.CHI_SQUARED
    assert found.p == pytest.approx(stats.chi2_contingency([k, n - k], correction=False).pvalue)
    # Nothing can differ.
    for hits, sizes in (((0, 0), (9, 9)), ((9, 9), (9, 9)), ((3,), (9,))):
        assert equal_shares(np.array(hits), np.array(sizes)) is None


def test_several_small_groups_are_tested_by_random_tables():
    """Against all tables with the same margins, one by one."""
    k, n = np.array([5, 1, 0]), np.array([7, 6, 8])
    found = equal_shares(k, n)
    assert found.test == prevalence.PERMUTATION
    exact = exact_p(k, n)
    assert found.p == pytest.approx(exact, abs=4 * (exact / prevalence.DRAWS) ** 0.5)
    assert equal_shares(k, n) == found


def exact_p(k, n):
    total, hits = int(n.sum()), int(k.sum())

    def distance(row):
        expected = n * hits / total
        return (((row - expected) ** 2) / expected).sum()

    p = 0.0
    for first in range(min(hits, n[0]) + 1):
        for second in range(min(hits - first, n[1]) + 1):
            row = np.array([first, second, hits - first - second])
            if row[2] <= n[2] and distance(row) >= distance(k) - 1e-9:
                p += stats.multivariate_hypergeom.pmf(row, n, hits)
    return p


def test_two_groups_are_compared_with_each_other():
    found = compare_groups([100, 100], [[40, 20], [10, 12]])
    first, second = found[0].groups
    assert first.difference == share_difference(Share(40, 100), Share(20, 100))
    assert second.difference.value == pytest.approx(-0.2)
    # Holm: the smaller of two p values twice, the larger as it is.
    assert found[0].p == pytest.approx(2 * found[0].p_alone)
    assert found[1].p == pytest.approx(found[1].p_alone)
    assert [each.p for each in found[0].groups] == [found[0].p, found[0].p]
    assert [row.differs for row in found] == [True, False]
    assert found[0].all == Share(60, 200)
    # Small groups are shown and enter no test.
    found = compare_groups([4, 50, 60], [[4, 10, 12]])
    small, one, other = found[0].groups
    assert small.share == Share(4, 4)
    assert (small.difference, small.p) == (None, None)
    # Two groups are left, and these are a pair.
    assert one.other == Share(12, 60)
    assert other.other == Share(10, 50)
    assert compare_groups([4, 50], [[1, 9]])[0].p is None


def test_each_of_several_groups_is_compared_with_the_rest():
    sizes, counts = [60, 80, 100], [[30, 16, 20], [9, 12, 15]]
    found = compare_groups(sizes, counts)
    each = found[0].groups[0]
    assert each.other == Share(36, 180)
    # The intervals of the three groups hold together.
    assert each.difference == share_difference(Share(30, 60), Share(36, 180), 1 - 0.05 / 3)
    assert each.difference_among(6) == share_difference(
        Share(30, 60), Share(36, 180), 1 - 0.05 / 6
    )
    alone = stats.fisher_exact([[30, 36], [30, 144]]).pvalue
    assert each.p == pytest.approx(6 * alone)
    assert found[0].widest == 0
    assert [one.differs for one in found[0].groups] == [True, False, False]
    assert not any(one.differs for one in found[1].groups)


def test_the_trend_is_that_of_armitage():
    """An independent formula: N r² of hit and place, against chi-squared with one degree."""
    k, n = [20, 28, 40, 62], [100, 120, 110, 140]
    place = np.repeat([0, 1, 2, 3], n)
    hit = np.concatenate([np.repeat([1, 0], (a, b - a)) for a, b in zip(k, n, strict=True)])
    r = np.corrcoef(place, hit)[0, 1]
    found = trends.trend_test(k, n)
    assert found.test == trends.ARMITAGE
    assert found.p == pytest.approx(stats.chi2.sf(len(hit) * r**2, 1))
    # Few mentions are tested by random orders.
    k, n = [0, 0, 1, 4], [30, 30, 30, 30]
    found = trends.trend_test(k, n)
    assert found.test == prevalence.PERMUTATION
    place = np.arange(4.0)
    far = abs(place @ k - 1.5 * 5)
    p = 0.0
    for row in np.ndindex(6, 6, 6, 6):
        if sum(row) == 5 and abs(place @ row - 7.5) >= far - 1e-9:
            p += stats.multivariate_hypergeom.pmf(row, n, 5)
    assert found.p == pytest.approx(p, abs=4 * (p / prevalence.DRAWS) ** 0.5)
    assert trends.trend_test([0, 0], [5, 5]) is None
    assert trends.trend_test([3, 0], [5, 0]) is None


def test_the_change_is_that_of_least_squares():
    """Its interval leaves out comments one by one, with t wider where they are skewed."""
    k, n = [10, 14, 20, 31], [50, 60, 55, 70]
    place = np.repeat([0, 1, 2, 3], n).astype(float)
    hit = np.concatenate([np.repeat([1.0, 0.0], (a, b - a)) for a, b in zip(k, n, strict=True)])

    def slope(rows):
        return 3 * np.polyfit(place[rows], hit[rows], 1)[0]

    every = np.arange(len(hit))
    value = slope(every)
    pseudo = np.array(
        [len(hit) * value - (len(hit) - 1) * slope(np.delete(every, at)) for at in every]
    )
    found = trends.linear_change(k, n)
    assert found.value == pytest.approx(value)
    reach = stats.t(140).ppf(0.975) * pseudo.std(ddof=1) / len(hit) ** 0.5
    assert (found.low, found.high) == pytest.approx((value - reach, value + reach), abs=0.006)
    assert trends.linear_change([3, 0], [9, 0]) is None
    # Few mentions have none: it was [0, 0] where no comment had the key point.
    """No comment with the key point gave +0 points with the interval [0, 0]."""
    for k, n in (([0, 0, 0], [30, 30, 30]), ([4, 0, 0], [200, 90, 40])):
        found = trends.linear_change(k, n)
        assert (found.low, found.high) == (None, None)


def test_trends_are_corrected_together():
    sizes = [40] * 6
    found = trends.trends_of(sizes, [[2, 6, 9, 14, 18, 25], [8, 9, 7, 8, 9, 8]])
    assert found[0].p == pytest.approx(2 * found[0].p_alone)
    assert [row.moves for row in found] == [True, False]
    assert found[0].shares[5] == Share(25, 40)
    assert found[0].change_among(1) == found[0].change
    assert found[0].change_among(2).low < found[0].change.low


PERIODS = [
    (5, 100, "day"), (20, 400, "day"), (20, 30, "day"), (30, 999, "day"), (100, 999, "week"),
    (160, 999, "week"), (160, 100, "month"), (400, 999, "month"), (900, 9999, "quarter"),
    (700, 30, "quarter"), (4000, 9999, "year"),
]  # fmt: skip


def test_the_period_follows_the_span():
    first = date(2024, 1, 1)
    for days, comments, period in PERIODS:
        last = first + timedelta(days=days - 1)
        assert trends.usual_period(first, last, comments) == period, (days, comments)


def test_periods_begin_where_people_expect_it():
    day = date(2026, 11, 26)
    found = {period: trends.start_of(day, period) for period in trends.PERIODS}
    starts = [day, *(date(2026, *each) for each in ((11, 23), (11, 1), (10, 1), (1, 1)))]
    names = ("day", "week", "month", "quarter", "year")
    assert found == dict(zip(names, starts, strict=True))
    starts = trends.periods_between(date(2025, 11, 30), date(2026, 2, 1), "month")
    days = [each.isoformat() for each in starts]
    assert days == ["2025-11-01", "2025-12-01", "2026-01-01", "2026-02-01"]
    assert trends.countable(day, day) == []
    assert trends.countable(day, day + timedelta(days=1)) == ["day"]
    assert "day" not in trends.countable(day, day + timedelta(days=1000))
