"""Tests of whether a rater's accuracy is below a mark at any look, or falls over time (CUSUM)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

import numpy as np

from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.verdicts import LEVEL

# Average number of answers between two false alarms for a rater with the usual accuracy.
RUN_LENGTH = 1_000


@dataclass(frozen=True)
class AccuracyChart:
    """A one-sided CUSUM chart of right and wrong answers.

    Every right answer lowers the sum by 1, but never below 0; every wrong answer raises it by
    ``rise``. The sum signals a fall when it reaches ``limit``.

    Attributes
    ----------
    usual, fallen
        Shares of right answers before and after the fall that the chart is tuned to find;
        0 < fallen < usual < 1.
    rise
        Points for a wrong answer. With one point off for a right answer, it is the log-likelihood
        ratio of the two accuracies, rounded to whole numbers so that run lengths can be computed
        exactly.
    limit
        The smallest limit at which a rater with the usual accuracy gives at least `RUN_LENGTH`
        answers on average before a false alarm.

    References
    ----------
    Reynolds and Stoumbos (1999), A CUSUM chart for monitoring a proportion when inspecting
    continuously, Journal of Quality Technology 31.
    """

    usual: float
    fallen: float
    rise: int
    limit: int

    def sums(self, answers: Sequence[bool]) -> list[int]:
        """Return the sum after each answer; True means right."""
        sums, last = [], 0
        for is_right in answers:
            last = max(0, last - 1) if is_right else last + self.rise
            sums.append(last)
        return sums

    def run_length(self, accuracy: float) -> float:
        """Return the mean number of answers before a signal for a rater with this accuracy."""
        moves = self._moves(accuracy)
        ones = np.ones(self.limit)
        return float(np.linalg.solve(np.eye(self.limit) - moves, ones)[0])

    def signal_share(self, accuracy: float, answers: int, *, before: int = 0) -> float:
        """Return the share of raters who get a signal within a number of answers.

        ``accuracy`` applies to these answers. ``before`` is the number of earlier answers at the
        usual accuracy without a signal.
        """
        start = np.zeros(self.limit)
        start[0] = 1
        start = _walk(start, self._moves(self.usual), before)
        start /= start.sum()
        return float(1 - _walk(start, self._moves(accuracy), answers).sum())

    def _moves(self, accuracy: float) -> FloatArray:
        """Return the probabilities of moving between sums below the limit, without a signal."""
        moves = np.zeros((self.limit, self.limit))
        for at in range(self.limit):
            moves[at, max(0, at - 1)] += accuracy
            if at + self.rise < self.limit:
                moves[at, at + self.rise] += 1 - accuracy
        return moves


@lru_cache(maxsize=256)
def accuracy_chart(usual: float, fallen: float) -> AccuracyChart:
    """Return the chart for a fall from one accuracy to another.

    Raises ValueError unless 0 < fallen < usual < 1.

    Examples
    --------
    >>> chart = accuracy_chart(0.92, 0.78)
    >>> chart.rise, chart.limit
    (6, 24)
    >>> round(chart.run_length(0.92)), round(chart.run_length(0.78))
    (1152, 37)
    """
    if not 0 < fallen < usual < 1:
        raise ValueError("The accuracy after a fall must be below the usual one.")
    wrong = math.log((1 - fallen) / (1 - usual))
    right = math.log(usual / fallen)
    # A rise that is rounded up also finds smaller falls. At 0, the sum would never rise.
    rise = max(1, round(wrong / right))
    charts = (AccuracyChart(usual, fallen, rise, limit) for limit in count(rise + 1))
    return next(chart for chart in charts if chart.run_length(usual) >= RUN_LENGTH)


@dataclass(frozen=True)
class AccuracyFall:
    """The position in a rater's answers at which a chart signalled a fall.

    Attributes
    ----------
    signal
        Number of the answer at which the sum reached the limit, from 1.
    start
        Number of the first answer after the sum was last 0, the estimated start of the fall.
    """

    signal: int
    start: int


def find_fall(chart: AccuracyChart, answers: Sequence[bool]) -> AccuracyFall | None:
    """Return the first fall that the chart signals, or None.

    Examples
    --------
    >>> find_fall(accuracy_chart(0.92, 0.78), [True] * 10 + [False] * 4)
    AccuracyFall(signal=14, start=11)
    """
    start = 1
    for number, total in enumerate(chart.sums(answers), 1):
        if total >= chart.limit:
            return AccuracyFall(number, start)
        if total == 0:
            start = number + 1
    return None


def is_below(right: int, n: int, mark: float) -> bool:
    """Test at any look whether ``right`` correct answers out of ``n`` show a share below the mark.

    Of raters exactly at the mark, at most 5 % are ever reported as below it; an interval checked
    after each of 50 answers would report 9 %.

    Notes
    -----
    The likelihood of a share drawn uniformly from below the mark must be 20 times the likelihood
    of the mark, a ratio that occurs in at most one in 20 sequences. Robbins (1970), Statistical
    methods related to the law of the iterated logarithm, section 3.

    >>> is_below(0, 6, 0.5), is_below(0, 7, 0.5)
    (False, True)
    """
    from scipy import special

    if not 0 < mark < 1:
        return bool(n) and right / n < mark
    wrong = n - right
    share = float(special.betainc(right + 1, wrong + 1, mark)) / mark
    if not share:
        return False
    mixture = math.log(share) + float(special.betaln(right + 1, wrong + 1))
    return mixture - right * math.log(mark) - wrong * math.log(1 - mark) >= -math.log(LEVEL)


def _walk(start: FloatArray, moves: FloatArray, steps: int) -> FloatArray:
    for _step in range(steps):
        start = start @ moves
    return start
