"""Compute the frequency of key points over time, and test for a rise or fall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from scipy import special

from cqa_site.stats.intervals import mean_bounds
from cqa_site.stats.verdicts import LEVEL, RULES, holm
from .prevalence import PERMUTATION, HypothesisTest, Share, ShareDifference, draw_tables

DAY, WEEK, MONTH, QUARTER, YEAR = PERIODS = ("day", "week", "month", "quarter", "year")
# Minimum and maximum number of periods in a chart, and average number of comments in each.
FEWEST, MOST, ENOUGH = 6, 24, 10
# Maximum number of periods to count. More would be too fine for a chart or a table.
MOST_COUNTED = 120
# If fewer comments have or lack a key point, the trend is tested by permutation. If most comments
# are early, the chi-squared test with 10 hits gives p < .0005 up to six times too often.
LEAST_HITS = 100
ARMITAGE = "Cochran–Armitage"
TOO_FEW = "too few comments have the key point, or lack it"


def start_of(day: date, period: str) -> date:
    """Return the first day of the period that contains a day. Weeks begin on Monday."""
    if period == WEEK:
        return day - timedelta(days=day.weekday())
    if period == MONTH:
        return day.replace(day=1)
    if period == QUARTER:
        return day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
    return day.replace(month=1, day=1) if period == YEAR else day


def next_start(start: date, period: str) -> date:
    """Return the first day of the next period."""
    if period in (DAY, WEEK):
        return start + timedelta(days=1 if period == DAY else 7)
    months = {MONTH: 1, QUARTER: 3, YEAR: 12}[period]
    at = start.year * 12 + start.month - 1 + months
    return date(at // 12, at % 12 + 1, 1)


def periods_between(first: date, last: date, period: str) -> list[date]:
    """Return the first days of all periods between two days, including empty periods.

    Returns at most `MOST_COUNTED` + 1 days, so that the caller can detect too many periods.
    """
    dates: list[date] = []
    at = start_of(first, period)
    while at <= last and len(dates) <= MOST_COUNTED:
        dates.append(at)
        at = next_start(at, period)
    return dates


def countable(first: date, last: date) -> list[str]:
    """Return the period lengths that divide a span into 2 to `MOST_COUNTED` periods."""
    counts = ((period, len(periods_between(first, last, period))) for period in PERIODS)
    return [period for period, n in counts if 2 <= n <= MOST_COUNTED]


def usual_period(first: date, last: date, comments: int) -> str:
    """Return the default period for a span.

    Among lengths that give `FEWEST` to `MOST` periods, this is the shortest with `ENOUGH` comments
    per period on average, or the longest if no length has as many. If no length gives that many
    periods, this is the longest with more than `MOST` periods, or days if there is no such length.
    """
    numbers = {period: len(periods_between(first, last, period)) for period in PERIODS}
    fitting = [period for period in PERIODS if FEWEST <= numbers[period] <= MOST]
    full = [period for period in fitting if comments >= ENOUGH * numbers[period]]
    if fitting:
        return full[0] if full else fitting[-1]
    many = [period for period in PERIODS if numbers[period] > MOST]
    return many[-1] if many else DAY


@dataclass(frozen=True)
class Trend:
    """Trend of a key point over periods.

    Attributes
    ----------
    shares
        The share in each period.
    change
        The change along a straight line, from the middle of the first period to the middle of the
        last, as a difference of shares with its interval. None if fewer than two periods have
        comments.
    p_alone, p
        The p-value of the test for a rise or fall, uncorrected and corrected over all key points
        (Holm). None if there is nothing to test.
    test
        The name of the test.
    """

    point: int
    all: Share
    shares: Sequence[Share]
    change: ShareDifference | None
    p_alone: float | None
    p: float | None
    test: str

    def change_among(self, m: int) -> ShareDifference | None:
        """Return the change, with a Bonferroni interval for the largest of m changes."""
        counts = ([share.k for share in self.shares], [share.n for share in self.shares])
        return linear_change(*counts, LEVEL / m)

    @property
    def moves(self) -> bool:
        """Whether the rise or fall is significant."""
        return self.p is not None and self.p < LEVEL


def trends_of(sizes: Sequence[int], counts: Iterable[Sequence[int]]) -> list[Trend]:
    """Return the trend of every key point over time.

    Parameters
    ----------
    sizes : length t
        Number of comments in each period, in chronological order.
    counts : shape (points, t)
        Number of comments in each period that mention the key point.
    """
    rows = [list(row) for row in counts]
    tests = [trend_test(row, sizes) for row in rows]
    known = [test.p for test in tests if test is not None]
    adjusted = iter(holm(np.array(known)) if known else ())
    return [
        Trend(
            point=at,
            all=Share(sum(row), sum(sizes)),
            shares=[Share(k, n) for k, n in zip(row, sizes, strict=True)],
            change=linear_change(row, sizes),
            p_alone=None if tested is None else tested.p,
            p=None if tested is None else float(next(adjusted)),
            test="" if tested is None else tested.test,
        )
        for at, (row, tested) in enumerate(zip(rows, tests, strict=True))
    ]


def trend_test(k: Sequence[int], n: Sequence[int]) -> HypothesisTest | None:
    """Test for a linear trend in shares over periods numbered 0, 1, 2 … (Cochran–Armitage).

    This is the score test of the slope in a logistic regression on the number of the period. If
    fewer than `LEAST_HITS` comments have or lack the key point, it is a permutation test of their
    periods with a fixed seed. Returns None if every comment or no comment has the key point, or if
    all comments are in one period. Armitage (1955), Biometrics 11, 375–386.
    """
    hits, sizes = np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64)
    total, n_hits = int(sizes.sum()), int(hits.sum())
    if n_hits in (0, total) or int((sizes > 0).sum()) < 2:
        return None
    place = np.arange(len(sizes), dtype=float)
    place -= float(place @ sizes) / total
    score = float(place @ hits)
    if min(n_hits, total - n_hits) < LEAST_HITS:
        drawn = np.abs(draw_tables(sizes, n_hits) @ place)
        as_far = int((drawn >= abs(score) - 1e-9).sum())
        return HypothesisTest((1 + as_far) / (1 + len(drawn)), PERMUTATION)
    share = n_hits / total
    spread = share * (1 - share) * float(place**2 @ sizes)
    return HypothesisTest(float(special.chdtrc(1, score**2 / spread)), ARMITAGE)


def linear_change(
    k: Sequence[int], n: Sequence[int], level: float = LEVEL
) -> ShareDifference | None:
    """Return the rise of a straight line through all comments from the first period to the last.

    The line is a least-squares fit over comments (1 with the key point, 0 without) on the number
    of the period. Its rise is limited to -1 to 1, the range of a difference of shares. The
    interval leaves out one comment at a time, with t corrected for skewness (Hall 1992). Comments
    far from the middle have the largest weights, so a few of them may decide the result. The
    degrees of freedom are therefore those of a sum of squares with such weights (Satterthwaite
    1946), given the kurtosis of hits. There is no interval if fewer comments have or lack the key
    point than the rule "trend" requires, or if their weight is less than that of one comment.
    """
    hits, sizes = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    filled = np.flatnonzero(sizes)
    if len(filled) < 2:
        return None
    total, share = float(sizes.sum()), float(hits.sum() / sizes.sum())
    place = np.arange(len(sizes), dtype=float)
    centred = place - float(place @ sizes) / total
    squares = float(centred**2 @ sizes)
    slope, span = float(centred @ hits) / squares, float(filled[-1] - filled[0])
    value = float(np.clip(slope * span, -1, 1))
    weighing, rarer = squares**2 / float(centred**4 @ sizes), min(share, 1 - share)
    if round(rarer * total) < RULES["trend"].least or rarer * weighing < 1:
        return ShareDifference(value=value, reason=TOO_FEW)
    kurtosis = (1 - 4 * share * (1 - share)) / (2 * share * (1 - share))
    freedom = max(2, int(weighing / max(1.0, kurtosis)))
    # Leaving out a comment moves the slope by its residual times its distance, over the rest.
    left = 1 - 1 / total - centred**2 / squares
    moved = np.divide(centred / squares, left, out=np.zeros_like(left), where=left > 1e-9)
    residuals = np.concatenate([1 - share - slope * centred, -share - slope * centred])
    pseudo = span * (slope + (total - 1) * np.tile(moved, 2) * residuals)
    often = np.concatenate([hits, sizes - hits]).astype(np.int64)
    bounds = mean_bounds(np.repeat(pseudo, often)[:, None], 1 - level, freedom)
    low, high = (float(bound[0]) for bound in bounds)
    if np.isnan(low):
        return ShareDifference(value=value, reason=TOO_FEW)
    low, high = max(-1.0, min(low, value)), min(1.0, max(high, value))
    return ShareDifference(value=value, low=low, high=high)
