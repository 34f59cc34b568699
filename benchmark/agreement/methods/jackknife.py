"""Intervals of an agreement report: every statistic without each question in turn.

Answers to one question resemble each other, so questions are the units that were drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import (
    LEAST_CLUSTERS,
    LEAST_RATED,
    UndefinedIntervalError,
    mean_interval,
    too_few,
)
from cqa_site.stats.one_sided_tests import p_above, p_below, pseudo_values
from cqa_site.stats.ratings import FloatArray

from .figures import Figure

UNDEFINED = "leaving out one of the questions leaves the statistic undefined"
DIGITS = 6
# More questions than this are left out in groups of equal size.
MOST_GROUPS = 200

Scale = Callable[[FloatArray], FloatArray]


def identity(values: FloatArray) -> FloatArray:
    """No other scale."""
    return values


class Jackknife:
    """Which questions are left out together, for every number of questions.

    Parameters
    ----------
    seed
        Of the groups where there are more questions than `MOST_GROUPS`.
    confidence
        Nominal coverage of the intervals.

    Notes
    -----
    Delete-a-group jackknife: Kott (2001), Journal of Official Statistics 17, 521-526.
    """

    def __init__(self, seed: int = 0, confidence: float = 0.95) -> None:
        self.seed = seed
        self.confidence = confidence

    def weights(self, n: int) -> FloatArray:
        """1 for what stays and 0 for what is left out, shape (n_groups, n)."""
        groups = np.arange(n) % MOST_GROUPS
        if n > MOST_GROUPS:
            np.random.default_rng(self.seed).shuffle(groups)
        stays = groups != np.arange(min(n, MOST_GROUPS))[:, None]
        return np.asarray(stays, dtype=np.float64)

    def figure(
        self,
        value: float,
        left_out: FloatArray,
        n: int,
        *,
        scale: Scale = identity,
        back: Scale = identity,
        least: int = LEAST_RATED,
    ) -> Figure:
        """A value with its interval, or the reason why it has none.

        Parameters
        ----------
        value, left_out
            The statistic, NaN where undefined; without each group of questions.
        n
            Pairs or answers the value was made of.
        scale, back
            Where the interval is made, and the way back from there.
        least
            With fewer questions there is no interval: by default those that alphas, correlations
            and variances need; means need fewer.
        """
        if np.isnan(value):
            return figure(None, n=n, reason="the statistic is undefined for these values")
        if len(left_out) < least:
            return figure(value, n=n, reason=too_few(least, "questions"))
        if np.isnan(left_out).any():
            return figure(value, n=n, reason=UNDEFINED)
        scaled = scale(np.append(left_out, value))
        if not np.isfinite(scaled).all():
            return figure(value, n=n, reason="the statistic lies at the end of its scale")
        values = pseudo_values(float(scaled[-1]), scaled[:-1])
        try:
            low, high = mean_interval(values, confidence=self.confidence, least=least)
        except UndefinedIntervalError as error:
            return figure(value, n=n, reason=str(error))
        bounds = sorted([value, *back(np.array([low, high])).tolist()])
        return figure(value, bounds[0], bounds[-1], n=n)

    def ratio(self, tops: FloatArray, bottoms: FloatArray, n: int) -> Figure:
        """Sum of tops by sum of bottoms; a mean has sums over numbers of values.

        Parameters
        ----------
        tops, bottoms : shape (n_questions,)
            What each question adds.
        n
            As in `figure`.
        """
        whole = float(bottoms.sum())
        if abs(whole) < 1e-12:
            return figure(None, n=n, reason="there is nothing to divide by")
        ratios = self.ratios(tops, bottoms)
        return self.figure(float(tops.sum()) / whole, ratios, n, least=LEAST_CLUSTERS)

    def ratios(self, tops: FloatArray, bottoms: FloatArray) -> FloatArray:
        """The ratio without each group; NaN where nothing is left to divide by."""
        weights = self.weights(len(tops))
        below = weights @ bottoms
        undefined = np.full(len(below), np.nan)
        ratios = np.divide(weights @ tops, below, out=undefined, where=np.abs(below) > 1e-12)
        return np.asarray(ratios, dtype=np.float64)


def tested(
    found: Figure, left_out: FloatArray, least: int, *, above: float, below: float
) -> Figure:
    """The figure with the p values of its rule: that it lies above one mark, below the other."""
    found = replace(found, units=len(left_out))
    if found.value is None or len(left_out) < least or np.isnan(left_out).any():
        return found
    values = pseudo_values(found.value, left_out)
    p = p_above(values, above), p_below(values, below)
    return replace(found, p_yes=p[0], p_no=p[1])


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
