"""Interval alpha from sums of each question, so that questions can be left out at once.

The interval metric makes Krippendorff's alpha a function of four sums over values (Krippendorff
2011, with squared differences): numbers, values, squares, and squared differences of pairs. They
add up over questions, whichever answers and raters a question has.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cqa_site.stats.intervals import UndefinedIntervalError
from cqa_site.stats.one_sided_tests import p_above, p_below, pseudo_values
from cqa_site.stats.ratings import FloatArray, IntArray
from cqa_site.stats.reliability.cross_alpha import alpha_interval
from cqa_site.stats.reliability.item_jackknife import least_items

from .figures import Figure
from .jackknife import Jackknife, figure


def within_sums(people: FloatArray, codes: IntArray, n_questions: int) -> FloatArray:
    """Terms of several people's own alpha by question, shape (4, n_questions).

    Parameters
    ----------
    people : shape (n, n_people)
        NaN for gaps; answers with fewer than two values do not count.
    codes : shape (n,)
        Question of each answer, from 0.
    n_questions
        How many there are.
    """
    known = ~np.isnan(people)
    size = known.sum(axis=1)
    use = size >= 2
    values, size = np.nan_to_num(people[use]), size[use]
    total, squares = values.sum(axis=1), (values**2).sum(axis=1)
    # Every ordered pair of one answer, by the number of partners that each value has.
    apart = 2 * (size * squares - total**2) / np.maximum(size - 1, 1)
    return _by_question((size, total, squares, apart), codes[use], n_questions)


def across_sums(
    people: FloatArray, judge: FloatArray, codes: IntArray, n_questions: int
) -> FloatArray:
    """Terms of alpha from pairs of a person's and the judge's value; see `within_sums`."""
    known = ~np.isnan(people) & ~np.isnan(judge)[:, None]
    size, own = known.sum(axis=1), np.nan_to_num(judge)
    values = np.where(known, people, 0.0)
    total, squares = values.sum(axis=1), (values**2).sum(axis=1)
    apart = 2 * (squares - 2 * own * total + size * own**2)
    terms = (2 * size, total + size * own, squares + size * own**2, apart)
    return _by_question(terms, codes, n_questions)


def alpha_of(sums: FloatArray) -> FloatArray:
    """Interval alpha of sums, shape (4, ...); NaN where all values are the same."""
    n, total, squares, apart = sums
    expected = 2 * (n * squares - total**2)
    undefined = np.full(np.shape(n), np.nan)
    scale = 1e-9 * np.maximum(1.0, n * squares)
    share = np.divide((n - 1) * apart, expected, out=undefined, where=expected > scale)
    return np.asarray(1 - share, dtype=np.float64)


def left_out(sums: FloatArray, draws: Jackknife) -> FloatArray:
    """Alpha without each group of questions."""
    return alpha_of(sums @ draws.weights(sums.shape[1]).T)


def alpha_figure(sums: FloatArray, n: int, draws: Jackknife, values: FloatArray) -> Figure:
    """Alpha with its interval over questions; ``n`` answers carry it.

    Where one of the ``values`` holds nearly everywhere more questions are needed (`least_items`).
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
) -> Figure:
    """First alpha minus second, of sums over the same ``n`` answers.

    With the p values of lying above ``-margin`` and below it, each the larger one of a test of the
    difference and of one of the ratio of disagreements that it means: of few questions and skewed
    values either alone is false too often.
    """
    ends = alpha_of(first.sum(axis=1)), alpha_of(second.sum(axis=1))
    without = left_out(first, draws), left_out(second, draws)
    value, apart = float(ends[0] - ends[1]), without[0] - without[1]
    found = replace(draws.figure(value, apart, n, least=least), units=len(apart))
    if found.low is None:
        return found
    ratio = _log_ratio(*ends, margin), _log_ratio(*without, margin)
    values, ratios = pseudo_values(value, apart), pseudo_values(float(ratio[0]), ratio[1])
    return replace(
        found,
        p_yes=max(p_above(values, -margin), p_below(ratios, 0.0)),
        p_no=max(p_below(values, -margin), p_above(ratios, 0.0)),
    )


def _log_ratio(first: FloatArray, second: FloatArray, margin: float) -> FloatArray:
    """Below 0 where the first alpha lies above the second minus the margin."""
    rest = (np.maximum(each, 1e-12) for each in (1 - first, 1 - second + margin))
    return np.asarray(np.log(next(rest)) - np.log(next(rest)))


def least_for(values: FloatArray) -> int:
    """Questions that an interval of agreement about these values needs; NaN for gaps."""
    known = values[~np.isnan(values)]
    return least_items(np.unique(known, return_counts=True)[1] if len(known) else np.ones(1))


def _by_question(
    terms: tuple[FloatArray | IntArray, ...], codes: IntArray, n_questions: int
) -> FloatArray:
    return np.array([np.bincount(codes, weights=each, minlength=n_questions) for each in terms])
