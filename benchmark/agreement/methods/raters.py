"""Self-consistency, self-preference and effect of length for single raters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from benchmark.scoring.methods import SIZES
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import FIRM, TENTATIVE
from cqa_site.stats.verdicts import LEVEL, RULES
from .figures import (
    AgreementFigure,
    Consistency,
    Length,
    LengthOf,
    MeanOf,
    Preference,
    Surplus,
    VarianceComponents,
)
from .grid import PEOPLE, PointsGrid, SheetRater, nan_mean
from .jackknife import Jackknife, figure, tested
from .pairs import correlations

# Self-consistency: similarity of one rater's several sheets for the same answer
#
# The sheets are blind repeats for people and replicates for judges. The variance of points is
# split into variance between answers and variance between sheets of one answer (one-way random
# effects); the share between answers is the reliability of a single sheet.
#
# Source: Shrout and Fleiss (1979), ICC(1); Spearman (1910) and Brown (1910) for the mean of k.

TOO_FEW = "fewer than 3 answers have several sheets"
ALL_ALIKE = "all answers got the same points"


@dataclass(frozen=True, eq=False)
class _Sums:
    """Each answer's contribution to the analysis of variance, in arrays of shape (n_answers,)."""

    sizes: FloatArray
    means: FloatArray
    within: FloatArray
    questions: IntArray

    def by_question(self, n_questions: int) -> FloatArray:
        """Return the sums from which the variances are computed, shape (6, n_questions).

        The rows are the sums of answers, sheets, squared numbers of sheets, squares within
        answers, sheets times mean, and sheets times squared mean. Means are centred, which keeps
        differences of squares exact.
        """
        k, centred = self.sizes, self.means - np.average(self.means, weights=self.sizes)
        terms = (np.ones(len(k)), k, k**2, self.within, k * centred, k * centred**2)
        return np.array(
            [np.bincount(self.questions, weights=term, minlength=n_questions) for term in terms]
        )


def self_consistency(
    sheets: pd.DataFrame, columns: tuple[str, ...], draws: Jackknife
) -> Consistency:
    """Split the variance of one rater's repeated sheets.

    Parameters
    ----------
    sheets
        One rater's rows, with answer, question and the columns of points.
    columns
        The columns to use.
    draws
        Jackknife for the intervals.
    """
    counted = sheets.groupby("answer")["answer"].transform("size")
    repeated = sheets[(counted > 1).to_numpy(dtype=bool)]
    per_answer = repeated.groupby("answer").size()
    scored = sheets[sheets[list(columns)].notna().any(axis=1)]
    sizes = scored.groupby("answer").size().to_numpy(dtype=float)
    sheets_each = round(float(len(sizes) / (1 / sizes).sum()), 2) if len(sizes) else None
    return Consistency(
        answers=len(per_answer),
        replicates=round(float(per_answer.mean()), 2) if len(per_answer) else None,
        each=sheets_each,
        columns={name: _split(repeated, name, sheets_each or 1.0, draws) for name in columns},
    )


def spearman_brown(reliability: float, k: float) -> float:
    """Return the reliability of the mean of k sheets, given the reliability of one sheet.

    >>> round(spearman_brown(0.5, 2), 4)
    0.6667
    """
    return k * reliability / (1 + (k - 1) * reliability)


def _split(
    sheets: pd.DataFrame, column: str, replicates: float, draws: Jackknife
) -> VarianceComponents:
    sums = _sums(sheets[["answer", "question", column]].dropna(), column)
    n = len(sums.sizes)
    exact = round(float(np.mean(sums.within < 1e-9)), 6) if n else None
    if n < 3:
        return _no_split(n, exact, TOO_FEW)
    n_questions = int(sums.questions.max()) + 1
    terms = sums.by_question(n_questions)
    ones = np.ones((1, n_questions))
    between, within = (float(component[0]) for component in _components(terms, ones))
    if between + within < 1e-12:
        return _no_split(n, exact, ALL_ALIKE)
    single = between / (between + within)
    size = round(float(sums.sizes.mean()), 2)
    curve = tuple(
        MeanOf(
            k=k,
            reliability=round(spearman_brown(single, k), 6),
            error=round((within / k) ** 0.5, 6),
            is_present=k == size,
        )
        for k in sorted({*map(float, SIZES), size})
    )
    return VarianceComponents(
        n=n,
        exact=exact,
        between=round(between, 6),
        within=round(within, 6),
        curve=curve,
        reliability=_reliability(single, sums, replicates, draws),
    )


def _no_split(n: int, exact: float | None, reason: str) -> VarianceComponents:
    unknown = figure(None, n=n, reason=reason)
    return VarianceComponents(
        n=n, exact=exact, between=None, within=None, curve=(), reliability=unknown
    )


def _sums(sheets: pd.DataFrame, column: str) -> _Sums:
    by = sheets.groupby("answer", sort=True)
    table = pd.DataFrame(
        {
            "size": by[column].size(),
            "mean": by[column].mean(),
            "within": by[column].var(ddof=0) * by[column].size(),
            "question": by["question"].first(),
        }
    )
    table = table[table["size"] > 1]
    return _Sums(
        table["size"].to_numpy(dtype=float),
        table["mean"].to_numpy(dtype=float),
        table["within"].to_numpy(dtype=float),
        pd.factorize(table["question"])[0].astype(np.int64),
    )


def _components(
    terms: FloatArray, weights: FloatArray, *, least: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return the variances between (at least ``least``) and within answers per row of weights.

    The variance between answers is NaN if a row leaves only one answer.
    """
    answers, sheets, squared, inside, sums, squares = (weights @ term for term in terms)
    within = inside / np.maximum(sheets - answers, 1)
    usual = (sheets - squared / np.maximum(sheets, 1)) / np.maximum(answers - 1, 1)
    outside = (squares - sums**2 / np.maximum(sheets, 1)) / np.maximum(answers - 1, 1)
    # A single answer has no variance between answers.
    undefined = np.full(len(usual), np.nan)
    between = np.divide(outside - within, usual, out=undefined, where=usual > 1e-12)
    return np.maximum(between, least), within


def _reliability(
    single: float, sums: _Sums, replicates: float, draws: Jackknife
) -> AgreementFigure:
    """Return the reliability of one sheet.

    Its p values are those of the consistency rule for a mean of ``replicates`` sheets.

    The interval is computed for the logarithm of F, the ratio of the two mean squares (Shrout and
    Fleiss 1979); F - 1 is k times the odds of the reliability.
    """
    n, size = len(sums.sizes), float(sums.sizes.mean())
    if not sums.within.any():
        return _without_disagreement(sums, replicates)
    n_questions = int(sums.questions.max()) + 1
    terms = sums.by_question(n_questions)

    def log_f(weights: FloatArray) -> FloatArray:
        between, within = _components(terms, weights, least=-np.inf)
        ratio = np.divide(between, within, out=np.full(len(within), np.nan), where=within > 0)
        return np.asarray(np.log(np.maximum(1 + size * ratio, 1e-9)))

    def back(logarithm: FloatArray) -> FloatArray:
        odds = np.maximum(0.0, np.expm1(logarithm)) / size
        return np.asarray(odds / (1 + odds))

    value, left_out = float(log_f(np.ones((1, n_questions)))[0]), log_f(draws.weights(n_questions))
    figure = draws.figure(value, left_out, n)
    marks = [np.log1p(size * mark / (1 - mark) / replicates) for mark in (FIRM, TENTATIVE)]
    least = RULES["consistency of a judge"].least
    ends = tested(figure, left_out, least, above=float(marks[0]), below=float(marks[1]))
    if figure.low is None or figure.high is None:
        return replace(ends, value=round(single, 6))
    low, high = back(np.array([figure.low, figure.high])).round(6).tolist()
    return replace(ends, value=round(single, 6), low=low, high=high)


def _without_disagreement(sums: _Sums, replicates: float) -> AgreementFigure:
    """Return the reliability when every answer got the same points each time.

    The interval allows for rare disagreement: if a share of more than ``1 - low`` of the n answers
    had points drawn at random, a difference would probably have occurred.
    """
    n = len(sums.means)
    shares = np.unique(sums.means.round(6), return_counts=True)[1] / n
    differ = 1 - float((shares**2).sum())
    low = 1 - (1 - (LEVEL / 2) ** (1 / n)) / differ
    odds = FIRM / (1 - FIRM) / replicates
    p = (1 - differ / (1 + odds)) ** n
    estimate = figure(1.0, max(0.0, low), 1.0, n=n)
    return replace(estimate, p_yes=p, p_no=1.0, units=n)


# Self-preference: extra points for answers of a judge's own family
#
# A plain mean is not informative, because a judge's family may simply write better answers.
# Therefore another rater's points for the same answer are subtracted first, and then own answers
# are compared with all others. A judge that is lenient throughout gets 0.

NO_FAMILY = "the judge's name does not indicate a known family"
# Fewest questions for its interval; one of its two means may be over few answers.
LEAST_SURPLUS = 10
NO_OTHERS = "no judge from another family scored these answers"


def self_preference(grid: PointsGrid, judge: SheetRater, draws: Jackknife) -> Preference:
    """Return a judge's surplus for answers from its own model family, in total points.

    It is measured against people and against judges from other families, averaged for each answer.
    Intervals leave out one question at a time.
    """
    if judge.family is None:
        missing = _of_own(figure(None, n=0, reason=NO_FAMILY), 0)
        return Preference(
            key=judge.key, family=None, against_people=missing, against_judges=missing
        )
    points = grid.column(judge.key, "total")
    own = np.array([family == judge.family for family in grid.families], dtype=bool)
    others = [
        grid.column(rater.key, "total")
        for rater in grid.judges
        if rater.key != judge.key and rater.family != judge.family
    ]
    rivals = nan_mean(others, points.shape)
    return Preference(
        key=judge.key,
        family=judge.family,
        against_people=_surplus(grid, points - grid.column(PEOPLE, "total"), own, draws),
        against_judges=_surplus(grid, points - rivals, own, draws)
        if others
        else _of_own(figure(None, n=0, reason=NO_OTHERS), 0),
    )


def _surplus(
    grid: PointsGrid, differences: FloatArray, own: np.ndarray, draws: Jackknife
) -> Surplus:
    """Return the mean difference for own-family answers minus that for others, in points."""
    known = ~np.isnan(differences)
    differences, mine = differences[known], own[known]
    n, n_own = len(differences), int(mine.sum())
    if not n_own or n_own == n:
        group = "of its own family" if not n_own else "of other families"
        reason = f"no answer {group} was scored by both sides"
        return _of_own(figure(None, n=n, reason=reason), n_own)
    value = float(differences[mine].mean() - differences[~mine].mean())
    questions, codes = np.unique(grid.questions[known], return_inverse=True)
    weights = draws.weights(len(questions))[:, codes]
    left_out = _means(differences, mine, weights) - _means(differences, ~mine, weights)
    return _of_own(draws.figure(value, left_out, n, least=LEAST_SURPLUS), n_own)


def _of_own(figure: AgreementFigure, own: int) -> Surplus:
    return Surplus(**vars(figure), own=own)


def _means(values: FloatArray, chosen: np.ndarray, weights: FloatArray) -> FloatArray:
    """Return the mean of the chosen values for each row of weights; NaN if no value is left."""
    part = weights[:, chosen]
    total = part.sum(axis=1)
    undefined = np.full(len(total), np.nan)
    return np.asarray(np.divide(part @ values[chosen], total, out=undefined, where=total > 0))


# Effect of length on points, for a judge and for people
#
# People may also prefer longer answers. This does not justify a judge's slope, but shows how much
# of it people share, so both slopes are reported, also for the answers that both scored.

PER_CHARACTERS = 100


def length_figures(grid: PointsGrid, key: str, draws: Jackknife) -> Length:
    """Relate a rater's totals to the length of the answers."""
    totals = grid.column(key, "total")
    shared = np.where(np.isnan(grid.column(PEOPLE, "total")), np.nan, totals)
    return Length(
        own=_about_length(grid, totals, draws), common=_about_length(grid, shared, draws)
    )


def _about_length(grid: PointsGrid, totals: FloatArray, draws: Jackknife) -> LengthOf:
    known = ~np.isnan(totals)
    totals, length = totals[known], grid.characters[known]
    codes = np.unique(grid.questions[known], return_inverse=True)[1].astype(np.int64)
    coefficients = correlations(totals, length, codes, draws, ("pearson", "spearman"))
    return LengthOf(
        n=len(totals),
        pearson=coefficients["pearson"],
        spearman=coefficients["spearman"],
        slope=_slope(totals, length / PER_CHARACTERS, codes, draws),
    )


def _slope(y: FloatArray, x: FloatArray, codes: np.ndarray, draws: Jackknife) -> AgreementFigure:
    """Return the least squares slope with a separate intercept for each question."""
    if not len(y):
        return draws.ratio(np.zeros(0), np.zeros(0), 0)
    sizes = np.bincount(codes)
    dx, dy = (
        variable - (np.bincount(codes, weights=variable) / sizes)[codes] for variable in (x, y)
    )
    over, under = (
        np.bincount(codes, weights=dx * deviation).astype(float) for deviation in (dy, dx)
    )
    return draws.ratio(over, under, len(y))
