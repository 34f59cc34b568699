"""One set of resamples for every interval of an agreement report, and figures short to keep.

A report holds thousands of intervals over the same questions. `bootstrap_interval` draws its
weights anew for each; here they are drawn once for each number of questions, from the same
generator and seed, so that the intervals are the same ones.
"""

from __future__ import annotations

import numpy as np

from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import UNDEFINED_SHARE
from cqa_site.stats.ratings import FloatArray

from .figures import Figure

TOO_FEW_QUESTIONS = "fewer than 3 questions, too few for an interval"
UNSTABLE = "over 5 % of the resamples leave the statistic undefined"
NO_SPREAD = "no resample differs from the others, so there is no spread"
DIGITS = 6
# Cells of weights that are worth an interval; fewer resamples where there are more.
CELLS = 30_000_000
LEAST = 200
_KEPT = 4


class Draws:
    """Multinomial weights of resamples, kept for the numbers of units asked for last.

    Parameters
    ----------
    n_resamples, seed, confidence
        Resamples; seed of the generator; coverage of the percentile intervals.
    """

    def __init__(self, n_resamples: int = 1000, seed: int = 0, confidence: float = 0.95) -> None:
        self.n_resamples = n_resamples
        self.seed = seed
        self.confidence = confidence
        self._kept: dict[int, FloatArray] = {}

    def rows_for(self, cells: int) -> int:
        """How many resamples of so many cells each are affordable; at least `LEAST`."""
        return min(self.n_resamples, max(LEAST, CELLS // max(cells, 1)))

    def weights(self, n: int) -> FloatArray:
        """How often each of n units is drawn, shape (n_resamples, n); fewer rows for very many."""
        if n not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            generator = np.random.default_rng(self.seed)
            shares = np.ones(n) / n
            drawn = generator.multinomial(n, shares, size=self.rows_for(n))
            self._kept[n] = drawn.astype(float)
        return self._kept[n]

    def figure(self, value: float, resampled: FloatArray, n: int) -> Figure:
        """A value with its percentile interval; NaN and intervals that do not exist say why.

        Parameters
        ----------
        value
            NaN if undefined.
        resampled : shape (n_resamples,) or fewer
            The statistic under each row of weights.
        n
            Pairs or answers the value was made of.
        """
        if np.isnan(value):
            return figure(None, n=n, reason="the statistic is undefined for these values")
        undefined = np.isnan(resampled)
        if undefined.mean() > UNDEFINED_SHARE:
            return figure(value, n=n, reason=UNSTABLE)
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(resampled[~undefined], [tail, 1 - tail])
        if high - low < 1e-12:
            return figure(value, n=n, reason=NO_SPREAD)
        return figure(value, float(low), float(high), n=n)

    def ratio(self, tops: FloatArray, bottoms: FloatArray, n: int) -> Figure:
        """Sum of tops by sum of bottoms, whole questions resampled.

        Parameters
        ----------
        tops, bottoms : shape (n_questions,)
            What each question adds; a mean has sums over numbers of values.
        n
            As in `figure`.
        """
        whole = float(bottoms.sum())
        if abs(whole) < 1e-12:
            return figure(None, n=n, reason="there is nothing to divide by")
        value = float(tops.sum()) / whole
        if len(tops) < 3:
            return figure(value, n=n, reason=TOO_FEW_QUESTIONS)
        weights = self.weights(len(tops))
        below = weights @ bottoms
        found = np.divide(
            weights @ tops, below, out=np.full(len(below), np.nan), where=np.abs(below) > 1e-12
        )
        return self.figure(value, found, n)


def figure(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    n: int,
    reason: str = "",
) -> Figure:
    """A value ready for JSON: never NaN, and a reason wherever a part is missing."""
    return Figure(
        value=_short(value), low=_short(low), high=_short(high), n=n, reason=reason or None
    )


def figure_of(estimate: Estimate) -> Figure:
    """The short form of an estimate; recipes stand once in the report."""
    return figure(
        estimate.value,
        estimate.low,
        estimate.high,
        n=estimate.n_pairable_items,
        reason=estimate.reason or "",
    )


def _short(value: float | None) -> float | None:
    return None if value is None else round(float(value), DIGITS)
