"""Strengths that are always finite, with and without each question.

A system that never lost has no finite strength. So every system gets half a win and half a loss
against one average opponent more, whose weight vanishes as verdicts come in. What the strengths
owe to each question, all raters' verdicts on it together, is what leaving it out changes.

Source: Greenland and Mansournia (2015), Penalization, bias reduction, and default priors in
logistic and related categorical and survival regressions, section 4, for the half win and half
loss; Tukey (1958), Bias and confidence in not-quite large samples, for what is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmark.preferences.methods.davidson_newton import LOG_NOTHING, maximise
from benchmark.preferences.methods.paired import PairCounts
from cqa_site.stats.ratings import FloatArray, IntArray

# Wins and losses of each system against the average opponent.
HALF = 0.5
# Beyond these, questions are left out several at a time, as many as there are too many.
MOST_LEFT_OUT = 1000
_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Penalized:
    """Penalized log strengths, mean 0, and log nu: of all verdicts, then without each question.

    Attributes
    ----------
    log_strengths : shape (1 + n_left_out, n_systems)
        NaN where the search did not converge.
    log_nu : shape (1 + n_left_out,)
    """

    log_strengths: FloatArray
    log_nu: FloatArray


def penalized(
    first: IntArray, second: IntArray, tables: FloatArray, start: FloatArray | None = None
) -> Penalized:
    """Fit tables of counts, shape (n_tables, n_pairs, 3), with the average opponent added."""
    n = int(max(first.max(), second.max())) + 1
    systems = np.arange(n)
    first = np.concatenate([first, systems])
    second = np.concatenate([second, np.full(n, n)])
    against = np.broadcast_to(np.array([HALF, HALF, 0.0]), (len(tables), n, 3))
    best = maximise(first, second, np.concatenate([tables, against], axis=1), start)
    strengths = best.log_strengths[:, :n]
    nu = np.where(tables[:, :, 2].sum(axis=1) > 0, best.log_nu, LOG_NOTHING)
    return Penalized(strengths - strengths.mean(axis=1, keepdims=True), nu)


def leave_out_questions(counts: PairCounts) -> Penalized:
    """Penalized strengths of all verdicts in the first row, then without each question."""
    cells = counts.by_question
    if len(cells) > MOST_LEFT_OUT:
        groups = np.zeros((MOST_LEFT_OUT, *cells.shape[1:]))
        np.add.at(groups, np.arange(len(cells)) % MOST_LEFT_OUT, cells)
        cells = groups
    total = cells.sum(axis=0)
    whole = penalized(counts.first, counts.second, total[None])
    # The average opponent is average.
    start = np.concatenate([whole.log_strengths[0], [0.0], whole.log_nu])
    rows = max(1, _CHUNK_CELLS // max(total.size, len(start) ** 2))
    parts = [whole] + [
        # Counts are whole or weighted; what is left of a question is never below 0.
        penalized(counts.first, counts.second, np.maximum(total - cells[at : at + rows], 0), start)
        for at in range(0, len(cells), rows)
    ]
    return Penalized(
        np.concatenate([part.log_strengths for part in parts]),
        np.concatenate([part.log_nu for part in parts]),
    )


def centred_pseudo_values(figures: FloatArray) -> FloatArray:
    """How each question pulls at a figure, with the figure of all verdicts as their mean.

    Parameters
    ----------
    figures : shape (1 + n_left_out, n_figures)
        Of all verdicts, then without each question.
    """
    whole, left = figures[0], figures[1:]
    return np.asarray(whole + (len(left) - 1) * (left.mean(axis=0) - left))
