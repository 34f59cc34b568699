"""Agreement, correlation and differences of two raters, by column and in total."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.correlation import (
    TOO_FEW_PAIRS,
    Correlation,
    bland_altman,
    in_chunks,
    weighted_correlations,
)
from cqa_site.stats.cross_alpha import cross_alpha, shuffled_baseline
from cqa_site.stats.estimate import NO_OVERLAP
from cqa_site.stats.intervals import LEAST_RATED, too_few
from cqa_site.stats.ranking import within_and_across
from cqa_site.stats.ratings import Ratings, alpha_from_counts, distances
from .figures import (
    AgreementFigure,
    BlandAltmanPlot,
    ColumnAgreement,
    ConcatenatedAlpha,
    PointsConfusion,
    RaterPairFigures,
    SystemAgreement,
    TooFew,
)
from .grid import PointsGrid
from .jackknife import Jackknife, across_sums, alpha_figure, figure, figure_of

# Agreement, correlation and difference of two raters on one column of points
#
# Intervals leave out one question at a time (see `Jackknife`).

CONSTANT = "one of the two raters gave the same value every time"
# Kendall's tau compares every two distinct pairs of values in every resample.
MOST_KENDALL_KINDS = 1_200
# Largest table of questions by distinct pairs.
DENSE_CELLS = 2_000_000
KINDS: tuple[Correlation, ...] = ("pearson", "spearman", "kendall")


def column_figures(
    x: FloatArray, y: FloatArray, questions: IntArray, maximum: float, draws: Jackknife
) -> ColumnAgreement:
    """Return the agreement of two raters on one column.

    Parameters
    ----------
    x, y : shape (n,)
        Points; pairs with a missing value do not count.
    questions : shape (n,)
        Question of each answer; intervals leave out one question at a time.
    maximum
        Maximum points of the column.
    draws
        Jackknife for the intervals.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    codes = np.unique(questions[both], return_inverse=True)[1].astype(np.int64)
    n = len(x)
    n_questions = int(codes.max()) + 1 if n else 0
    related = correlations(x, y, codes, draws)
    sums = np.bincount(codes, weights=x - y).astype(float)
    counts = np.bincount(codes).astype(float)
    if not n:
        sums, counts = np.zeros(0), np.zeros(0)
    both_values = np.concatenate([x, y])
    sums_of_alpha = across_sums(x[:, None], y, codes, n_questions)
    return ColumnAgreement(
        n=n,
        n_questions=n_questions,
        exact=round(float(np.mean(np.abs(x - y) < 1e-9)), 6) if n else None,
        alpha_interval=alpha_figure(sums_of_alpha, n, draws, both_values),
        alpha_ordinal=ordinal_alpha(x[:, None], y, codes, draws),
        pearson=related["pearson"],
        spearman=related["spearman"],
        kendall=related["kendall"],
        bias=draws.ratio(sums, counts, n),
        leniency=draws.ratio(sums / maximum, counts, n),
    )


def ordinal_alpha(
    people: FloatArray, judge: FloatArray, codes: IntArray, draws: Jackknife
) -> AgreementFigure:
    """Return a judge's ordinal alpha with individual people, who are the columns of ``people``."""
    clusters: dict[Hashable, Hashable] = dict(enumerate(codes.tolist()))
    ratings, own = ratings_of(people), pd.Series(judge)
    return figure_of(cross_alpha(ratings, own, "ordinal", draws.confidence, clusters))


def ratings_of(people: FloatArray) -> Ratings:
    """Convert a table of answers (rows) and people (columns) to ratings; NaN marks gaps."""
    answers, raters = np.nonzero(~np.isnan(people))
    return Ratings.from_frame(
        pd.DataFrame({"item": answers, "rater": raters, "value": people[answers, raters]})
    )


def correlations(
    x: FloatArray,
    y: FloatArray,
    codes: IntArray,
    draws: Jackknife,
    wanted: Sequence[Correlation] = KINDS,
) -> dict[Correlation, AgreementFigure]:
    """Return correlations by kind. Grouping identical pairs does not change the result.

    Parameters
    ----------
    x, y, codes : shape (n,)
        Paired values without gaps, and the codes of their questions, consecutive from 0.
    draws
        Jackknife for the intervals.
    wanted
        The correlations to compute.
    """
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = NO_OVERLAP if not n else TOO_FEW_PAIRS if n < 3 else CONSTANT
        return {kind: figure(None, n=n, reason=reason) for kind in wanted}
    pairs, kinds = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    # The questions in which each distinct pair occurs, and its frequency.
    cells, counts = np.unique(codes * len(pairs) + kinds.ravel(), return_counts=True)
    met = _PairKinds(*np.divmod(cells, len(pairs)), counts.astype(float), int(codes.max()) + 1)
    return {kind: _correlation(kind, pairs, met, n, draws) for kind in wanted}


def _correlation(
    kind: Correlation, pairs: FloatArray, met: _PairKinds, n: int, draws: Jackknife
) -> AgreementFigure:
    x, y = pairs[:, 0], pairs[:, 1]
    if kind == "kendall" and len(pairs) > MOST_KENDALL_KINDS:
        reason = f"{len(pairs)} different pairs of values, too many for tau"
        return figure(None, n=n, reason=reason)
    whole = np.bincount(met.kinds, weights=met.counts, minlength=len(x)).astype(float)
    value = float(weighted_correlations(kind, x, y, whole[None, :])[0])
    left_out = in_chunks(
        lambda rows: weighted_correlations(kind, x, y, met.weights(rows, len(x))),
        draws.weights(met.n_questions),
        len(met.kinds),
    )
    return draws.figure(value, left_out, n, scale=_fisher, back=np.tanh)


def _fisher(correlation: FloatArray) -> FloatArray:
    """Return Fisher's z, which is infinite for a perfect correlation."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.arctanh(np.clip(correlation, -1, 1)))


@dataclass(frozen=True, eq=False)
class _PairKinds:
    """Counts of distinct pairs by question; all arrays have shape (n_cells,)."""

    questions: IntArray
    kinds: IntArray
    counts: FloatArray
    n_questions: int

    def weights(self, drawn: FloatArray, n_kinds: int) -> FloatArray:
        """Return counts of distinct pairs per row of question weights, shape (n_rows, n_kinds)."""
        if self.n_questions * n_kinds <= DENSE_CELLS:
            table = np.zeros((self.n_questions, n_kinds))
            table[self.questions, self.kinds] = self.counts
            return np.asarray(drawn @ table)
        totals = np.zeros((len(drawn), n_kinds))
        if len(self.kinds) == n_kinds:  # Every pair occurs in one question only.
            totals[:, self.kinds] = drawn[:, self.questions] * self.counts
            return totals
        for row, own in zip(totals, drawn, strict=True):
            row += np.bincount(
                self.kinds, weights=own[self.questions] * self.counts, minlength=n_kinds
            )
        return totals


# Comparison of two raters of the same answers
#
# If a judge is compared with people, the judge is the first rater, so a positive bias means a
# lenient judge.
# Intervals leave out one question at a time (see `Jackknife`); those of systems resample both.

# Total cells in all repeats of the shuffled baseline; larger tables get fewer repeats.
SHUFFLE_CELLS = 3_000_000
MOST_POINTS = 400
# Mean, difference and number of answers.
Point = tuple[float, float, int]


def compare(
    grid: PointsGrid,
    first: str,
    second: str,
    kind: str,
    draws: Jackknife,
    kinds: Sequence[Correlation] = KINDS,
) -> RaterPairFigures:
    """Return all figures for two raters; ``kinds`` names the correlations to compute by system."""
    a, b = grid.values[first], grid.values[second]
    both = ~np.isnan(a[:, 0]) & ~np.isnan(b[:, 0])
    parts = {"with": grid.has_aspect, "without": ~grid.has_aspect}
    return RaterPairFigures(
        first=first,
        second=second,
        kind=kind,
        columns={
            name: column_figures(a[:, at], b[:, at], grid.questions, maximum, draws)
            for at, (name, maximum) in enumerate(zip(grid.columns, grid.maxima, strict=True))
        },
        aspect={
            name: column_figures(
                a[chosen, 0], b[chosen, 0], grid.questions[chosen], grid.maxima[0], draws
            )
            for name, chosen in parts.items()
        },
        concatenated=concatenated(a[:, _criteria(grid)], b[:, _criteria(grid)], draws.seed),
        systems=_systems(grid, a[:, 0], b[:, 0], draws, kinds),
        bland_altman=_bland_altman(a[both, 0], b[both, 0], grid.questions[both], draws),
        confusion={
            name: _confusion(grid.column(first, name), grid.column(second, name))
            for name in grid.criteria
        },
    )


def concatenated(a: FloatArray, b: FloatArray, seed: int = 0) -> ConcatenatedAlpha | TooFew:
    """Return interval alpha of whole sheets with criteria as items, and its shuffled baseline.

    Parameters
    ----------
    a, b : shape (n, n_criteria)
        Points; answers without any points from one of the raters do not count.
    seed
        Seed of the shuffles.

    Notes
    -----
    The result equals `concatenated_alpha`, but the codes are computed only once, because every
    shuffle needs them. The baseline is the alpha that different ranges of criteria alone produce.
    """
    mask = ~(np.isnan(a).all(axis=1) | np.isnan(b).all(axis=1))
    a, b = a[mask], b[mask]
    if len(a) < 2:
        return TooFew(n=len(a), value=None, reason="fewer than 2 answers in common")
    scale = np.unique(np.concatenate([a[~np.isnan(a)], b[~np.isnan(b)]]))
    # One extra code for missing points.
    coded = [
        np.where(np.isnan(points), len(scale), np.searchsorted(scale, points)) for points in (a, b)
    ]
    repeats = int(np.clip(SHUFFLE_CELLS // a.size, 20, 100))
    baseline = shuffled_baseline(
        lambda first, second: _alpha_of_codes(first, second, scale),
        coded[0].astype(float),
        coded[1].astype(float),
        n_repeats=repeats,
        seed=seed,
    )
    return ConcatenatedAlpha(
        n=len(a),
        value=_rounded(baseline.observed),
        shuffled=_rounded(baseline.mean),
        shuffled_sd=_rounded(baseline.sd),
        repeats=baseline.n_repeats,
        reason=baseline.reason,
    )


def _alpha_of_codes(first: FloatArray, second: FloatArray, scale: FloatArray) -> float:
    k = len(scale)
    cells = (first * (k + 1) + second).astype(np.int64).ravel()
    met = np.bincount(cells, minlength=(k + 1) ** 2).reshape(k + 1, k + 1)[:k, :k]
    left, right = np.nonzero(met)
    rows = np.zeros((len(left), k), dtype=np.int64)
    np.add.at(rows, (np.arange(len(left)), left), 1)
    np.add.at(rows, (np.arange(len(left)), right), 1)
    multiplicity = met[left, right]
    distance = distances("interval", scale, multiplicity @ rows)
    return alpha_from_counts(rows, multiplicity, distance) if len(left) else float("nan")


def _systems(
    grid: PointsGrid, x: FloatArray, y: FloatArray, draws: Jackknife, kinds: Sequence[Correlation]
) -> dict[str, SystemAgreement]:
    table = pd.DataFrame(
        {"system": grid.systems, "question": grid.questions, "x": x, "y": y}
    ).dropna()
    agreements: dict[str, SystemAgreement] = {}
    for kind in kinds:
        both = within_and_across(table, kind, confidence=draws.confidence)
        agreements[kind] = SystemAgreement(
            across=_of_units(figure_of(both.across), both.n_systems),
            within=_of_units(figure_of(both.within), both.n_questions_used),
            within_sd=_rounded(both.within_sd),
            skipped=both.skipped,
        )
    return agreements


def _of_units(estimate: AgreementFigure, n: int) -> AgreementFigure:
    """Return a correlation over n systems or questions, without an interval if n is too small."""
    if n >= LEAST_RATED or estimate.value is None:
        return replace(estimate, n=n)
    return figure(estimate.value, n=n, reason=too_few(LEAST_RATED, "systems or questions"))


def _bland_altman(
    x: FloatArray, y: FloatArray, questions: IntArray, draws: Jackknife
) -> BlandAltmanPlot:
    altman = bland_altman(x.tolist(), y.tolist(), questions.tolist(), confidence=draws.confidence)
    points, step = _points(altman.means, altman.differences)
    return BlandAltmanPlot(
        bias=figure_of(altman.bias),
        lower=figure_of(altman.lower),
        upper=figure_of(altman.upper),
        slope=figure_of(altman.slope),
        points=points,
        step=step,
    )


def _points(means: FloatArray, differences: FloatArray) -> tuple[tuple[Point, ...], float]:
    """Return the plot's points and their answer counts, on a coarser grid if there are many."""
    step = 0.01
    while True:
        places = np.round(np.column_stack([means, differences]) / step) * step
        kinds, counts = np.unique(places, axis=0, return_counts=True)
        if len(kinds) <= MOST_POINTS:
            break
        # A coarser grid has fewer positions, so no answer is left out.
        step = 0.5 if step < 0.5 else 2 * step
    points = tuple(
        (round(float(mean), 2), round(float(difference), 2), int(count))
        for (mean, difference), count in zip(kinds, counts, strict=True)
    )
    return points, step


def _confusion(x: FloatArray, y: FloatArray) -> PointsConfusion:
    """Count pairs of points; means of replicates are rounded to the nearest half point."""
    both = ~(np.isnan(x) | np.isnan(y))
    first, second = (np.floor(points[both] * 2 + 0.5) / 2 for points in (x, y))
    values = np.union1d(first, second)
    places = [np.searchsorted(values, points) for points in (first, second)]
    cells = np.bincount(places[0] * len(values) + places[1], minlength=len(values) ** 2).reshape(
        len(values), len(values)
    )
    return PointsConfusion(values=tuple(values.tolist()), cells=tuple(map(tuple, cells.tolist())))


def _criteria(grid: PointsGrid) -> slice:
    return slice(len(grid.columns) - len(grid.criteria), None)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
