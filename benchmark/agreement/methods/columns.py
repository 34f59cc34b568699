"""Two raters on one column of points: how far they agree, correlate and lie apart.

Intervals leave out one question at a time (see `Jackknife`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cqa_site.stats.correlation import TOO_FEW_PAIRS, in_chunks
from cqa_site.stats.estimate import NO_OVERLAP
from cqa_site.stats.ratings import FloatArray, IntArray, Ratings
from cqa_site.stats.reliability.cross_alpha import cross_alpha
from cqa_site.stats.weighted_correlation import Correlation, weighted_correlations

from .alphas import across_sums, alpha_figure
from .figures import Figure, OfColumn
from .jackknife import Jackknife, figure, figure_of

CONSTANT = "one of the two gave one value only, so nothing can vary with it"
# Kendall's tau compares every two kinds of pairs in every resample.
MOST_KENDALL_KINDS = 1_200
# Largest table of questions by kinds of pairs.
DENSE_CELLS = 2_000_000
KINDS: tuple[Correlation, ...] = ("pearson", "spearman", "kendall")


def column_figures(
    x: FloatArray, y: FloatArray, questions: IntArray, maximum: float, draws: Jackknife
) -> OfColumn:
    """Agreement of two raters on one column.

    Parameters
    ----------
    x, y : shape (n,)
        Points; pairs that lack one do not count.
    questions : shape (n,)
        What the intervals leave out in turn.
    maximum
        Most points of the column.
    draws
        Of the intervals.
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
    return OfColumn(
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
) -> Figure:
    """Ordinal alpha of a judge's values with single people's, columns of ``people``."""
    clusters: dict[Hashable, Hashable] = dict(enumerate(codes.tolist()))
    ratings, own = ratings_of(people), pd.Series(judge)
    return figure_of(cross_alpha(ratings, own, "ordinal", draws.confidence, clusters))


def ratings_of(people: FloatArray) -> Ratings:
    """Values of answers (rows) by people (columns), NaN for gaps, as ratings."""
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
) -> dict[Correlation, Figure]:
    """Correlations by kind; equal pairs of values are handled once, which changes nothing.

    Parameters
    ----------
    x, y, codes : shape (n,)
        Paired values without gaps; the question of each, from 0 without gaps.
    draws
        Of the intervals.
    wanted
        Which of the three.
    """
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = NO_OVERLAP if not n else TOO_FEW_PAIRS if n < 3 else CONSTANT
        return {kind: figure(None, n=n, reason=reason) for kind in wanted}
    pairs, kinds = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    # Which question each kind of pair stands in, and how often.
    cells, counts = np.unique(codes * len(pairs) + kinds.ravel(), return_counts=True)
    met = _Met(*np.divmod(cells, len(pairs)), counts.astype(float), int(codes.max()) + 1)
    return {kind: _correlation(kind, pairs, met, n, draws) for kind in wanted}


def _correlation(
    kind: Correlation, pairs: FloatArray, met: _Met, n: int, draws: Jackknife
) -> Figure:
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
    """Fisher's z; beyond every bound where the correlation is perfect."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.arctanh(np.clip(correlation, -1, 1)))


@dataclass(frozen=True, eq=False)
class _Met:
    """Kinds of pairs in questions, shape (n_cells,) each: question, kind, how often."""

    questions: IntArray
    kinds: IntArray
    counts: FloatArray
    n_questions: int

    def weights(self, drawn: FloatArray, n_kinds: int) -> FloatArray:
        """How often each kind comes in rows of questions, shape (n_rows, n_kinds)."""
        if self.n_questions * n_kinds <= DENSE_CELLS:
            table = np.zeros((self.n_questions, n_kinds))
            table[self.questions, self.kinds] = self.counts
            return np.asarray(drawn @ table)
        found = np.zeros((len(drawn), n_kinds))
        if len(self.kinds) == n_kinds:  # every kind in one question only
            found[:, self.kinds] = drawn[:, self.questions] * self.counts
            return found
        for row, own in zip(found, drawn, strict=True):
            row += np.bincount(
                self.kinds, weights=own[self.questions] * self.counts, minlength=n_kinds
            )
        return found
