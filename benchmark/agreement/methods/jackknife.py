"""Jackknife intervals over questions, and the interval alpha of grids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.cross_alpha import alpha_interval
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import (
    LEAST_CLUSTERS,
    LEAST_RATED,
    UndefinedIntervalError,
    least_items,
    mean_interval,
    too_few,
)
from cqa_site.stats.verdicts import p_above, p_below, pseudo_values
from .figures import AgreementFigure

# Intervals in agreement reports, from every statistic without each question in turn
#
# Answers to the same question resemble each other, so the question is the sampling unit.

UNDEFINED = "the statistic is undefined without one of the questions"
DIGITS = 6
# With more questions than this, groups of equal size are left out instead.
MOST_GROUPS = 200

Scale = Callable[[FloatArray], FloatArray]


def identity(values: FloatArray) -> FloatArray:
    """Return the values unchanged."""
    return values


class Jackknife:
    """Groups of questions that are left out together, for any number of questions.

    Parameters
    ----------
    seed
        Seed for drawing groups if there are more than `MOST_GROUPS` questions.
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
        """Return 1 for included and 0 for left-out questions, shape (n_groups, n)."""
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
    ) -> AgreementFigure:
        """Return a value with its interval, or with the reason for the missing interval.

        Parameters
        ----------
        value, left_out
            The statistic (NaN if undefined), and its values without each group of questions.
        n
            Number of pairs or answers that the value is based on.
        scale, back
            Transformation to the scale of the interval, and its inverse.
        least
            Minimum number of questions for an interval. The default suits alphas, correlations
            and variances; means need fewer questions.
        """
        if np.isnan(value):
            return figure(None, n=n, reason="the statistic is undefined for these values")
        if len(left_out) < least:
            return figure(value, n=n, reason=too_few(least, "questions"))
        if np.isnan(left_out).any():
            return figure(value, n=n, reason=UNDEFINED)
        scaled = scale(np.append(left_out, value))
        if not np.isfinite(scaled).all():
            return figure(value, n=n, reason="the statistic is at the end of its scale")
        values = pseudo_values(float(scaled[-1]), scaled[:-1])
        try:
            low, high = mean_interval(values, confidence=self.confidence, least=least)
        except UndefinedIntervalError as error:
            return figure(value, n=n, reason=str(error))
        bounds = sorted([value, *back(np.array([low, high])).tolist()])
        return figure(value, bounds[0], bounds[-1], n=n)

    def ratio(self, tops: FloatArray, bottoms: FloatArray, n: int) -> AgreementFigure:
        """Return the sum of ``tops`` divided by the sum of ``bottoms``, for example a mean.

        Parameters
        ----------
        tops, bottoms : shape (n_questions,)
            Contribution of each question.
        n
            See `figure`.
        """
        whole = float(bottoms.sum())
        if abs(whole) < 1e-12:
            return figure(None, n=n, reason="the denominator is 0")
        ratios = self.ratios(tops, bottoms)
        return self.figure(float(tops.sum()) / whole, ratios, n, least=LEAST_CLUSTERS)

    def ratios(self, tops: FloatArray, bottoms: FloatArray) -> FloatArray:
        """Return the ratio without each group; NaN if the remaining denominator is 0."""
        weights = self.weights(len(tops))
        below = weights @ bottoms
        undefined = np.full(len(below), np.nan)
        ratios = np.divide(weights @ tops, below, out=undefined, where=np.abs(below) > 1e-12)
        return np.asarray(ratios, dtype=np.float64)


def tested(
    figure: AgreementFigure, left_out: FloatArray, least: int, *, above: float, below: float
) -> AgreementFigure:
    """Return the figure with p values for being above one threshold and below the other."""
    figure = replace(figure, units=len(left_out))
    if figure.value is None or len(left_out) < least or np.isnan(left_out).any():
        return figure
    values = pseudo_values(figure.value, left_out)
    p = p_above(values, above), p_below(values, below)
    return replace(figure, p_yes=p[0], p_no=p[1])


def figure(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    n: int,
    reason: str = "",
) -> AgreementFigure:
    """Return a figure for JSON, without NaN and with a reason for every missing part."""
    return AgreementFigure(
        value=_short(value), low=_short(low), high=_short(high), n=n, reason=reason or None
    )


def figure_of(estimate: Estimate) -> AgreementFigure:
    """Return an estimate without its recipe, which the report states only once."""
    return figure(
        estimate.value,
        estimate.low,
        estimate.high,
        n=estimate.n_pairable_items,
        reason=estimate.reason or "",
    )


def _short(value: float | None) -> float | None:
    return None if value is None else round(float(value), DIGITS)


# Interval alpha from sums by question, so that leaving out questions is fast
#
# The interval metric makes Krippendorff's alpha a function of four sums over values (Krippendorff
# 2011, with squared differences): numbers, values, squares, and squared differences of pairs.
# These sums add up over questions, even if the questions have different answers and raters.


def within_sums(people: FloatArray, codes: IntArray, n_questions: int) -> FloatArray:
    """Return the terms of people's own alpha by question, shape (4, n_questions).

    Parameters
    ----------
    people : shape (n, n_people)
        Values with NaN for gaps; answers with fewer than two values do not count.
    codes : shape (n,)
        Code of each answer's question, starting at 0.
    n_questions
        Number of questions.
    """
    known = ~np.isnan(people)
    size = known.sum(axis=1)
    use = size >= 2
    values, size = np.nan_to_num(people[use]), size[use]
    total, squares = values.sum(axis=1), (values**2).sum(axis=1)
    # Every ordered pair within an answer, weighted by the number of partners of each value.
    apart = 2 * (size * squares - total**2) / np.maximum(size - 1, 1)
    return _by_question((size, total, squares, apart), codes[use], n_questions)


def across_sums(
    people: FloatArray, judge: FloatArray, codes: IntArray, n_questions: int
) -> FloatArray:
    """Return the terms of alpha from pairs of a person and the judge; see `within_sums`."""
    known = ~np.isnan(people) & ~np.isnan(judge)[:, None]
    size, own = known.sum(axis=1), np.nan_to_num(judge)
    values = np.where(known, people, 0.0)
    total, squares = values.sum(axis=1), (values**2).sum(axis=1)
    apart = 2 * (squares - 2 * own * total + size * own**2)
    terms = (2 * size, total + size * own, squares + size * own**2, apart)
    return _by_question(terms, codes, n_questions)


def alpha_of(sums: FloatArray) -> FloatArray:
    """Return interval alpha from sums, shape (4, ...); NaN if all values are equal."""
    n, total, squares, apart = sums
    expected = 2 * (n * squares - total**2)
    undefined = np.full(np.shape(n), np.nan)
    scale = 1e-9 * np.maximum(1.0, n * squares)
    share = np.divide((n - 1) * apart, expected, out=undefined, where=expected > scale)
    return np.asarray(1 - share, dtype=np.float64)


def left_out(sums: FloatArray, draws: Jackknife) -> FloatArray:
    """Return alpha without each group of questions."""
    return alpha_of(sums @ draws.weights(sums.shape[1]).T)


def alpha_figure(
    sums: FloatArray, n: int, draws: Jackknife, values: FloatArray
) -> AgreementFigure:
    """Return alpha with its interval over questions, based on ``n`` answers.

    If nearly all ``values`` are the same, the interval needs more questions (`least_items`).
    """
    value, without = float(alpha_of(sums.sum(axis=1))), left_out(sums, draws)
    if not value < 1 or np.isnan(without).any():
        return draws.figure(value, without, n)
    once = np.ones(len(without), dtype=np.int64)
    try:
        low, high = alpha_interval(
            value, without, once, draws.confidence, least=least_for(values), unit="questions"
        )
    except UndefinedIntervalError as error:
        return figure(value, n=n, reason=str(error))
    return figure(value, low, high, n=n)


def difference_figure(
    first: FloatArray,
    second: FloatArray,
    n: int,
    draws: Jackknife,
    *,
    margin: float = 0.0,
    least: int,
) -> AgreementFigure:
    """Return the first alpha minus the second, from sums over the same ``n`` answers.

    Its p values are for a difference above ``-margin`` and below it. Each is the larger p of two
    tests, one of the difference and one of the corresponding ratio of disagreements: with few
    questions and skewed values, either test alone is wrong too often.
    """
    ends = alpha_of(first.sum(axis=1)), alpha_of(second.sum(axis=1))
    without = left_out(first, draws), left_out(second, draws)
    value, apart = float(ends[0] - ends[1]), without[0] - without[1]
    figure = replace(draws.figure(value, apart, n, least=least), units=len(apart))
    if figure.low is None:
        return figure
    ratio = _log_ratio(*ends, margin), _log_ratio(*without, margin)
    values, ratios = pseudo_values(value, apart), pseudo_values(float(ratio[0]), ratio[1])
    return replace(
        figure,
        p_yes=max(p_above(values, -margin), p_below(ratios, 0.0)),
        p_no=max(p_below(values, -margin), p_above(ratios, 0.0)),
    )


def _log_ratio(first: FloatArray, second: FloatArray, margin: float) -> FloatArray:
    """Return log ratios, below 0 if the first alpha exceeds the second minus the margin."""
    rest = (np.maximum(remainder, 1e-12) for remainder in (1 - first, 1 - second + margin))
    return np.asarray(np.log(next(rest)) - np.log(next(rest)))


def least_for(values: FloatArray) -> int:
    """Return how many questions an agreement interval for these values needs, ignoring NaN."""
    known = values[~np.isnan(values)]
    return least_items(np.unique(known, return_counts=True)[1] if len(known) else np.ones(1))


def _by_question(
    terms: tuple[FloatArray | IntArray, ...], codes: IntArray, n_questions: int
) -> FloatArray:
    return np.array([np.bincount(codes, weights=term, minlength=n_questions) for term in terms])
