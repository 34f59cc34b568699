"""Strengths under random weights of the questions: what the fit owes to those that were asked.

Verdicts on one question resemble each other, whoever gives them, so whole questions are weighted;
single verdicts would promise too narrow intervals. All systems share the weights.

Drawing questions with replacement would often leave out the only question on which a weak system
was not beaten, and with it every finite strength. Fractional weights, none of them zero, vary
just as much and keep all systems linked.

Source: Rubin (1981), The Bayesian bootstrap, for the weights; Xu, Gotwalt, Hong, King and Meeker
(2020), Applications of the fractional-random-weight bootstrap, for their use in such models.
"""

from __future__ import annotations

import numpy as np

from benchmark.preferences.methods.davidson import Strengths
from benchmark.preferences.methods.davidson_newton import maximise
from benchmark.preferences.methods.paired import PairCounts
from cqa_site.stats.ratings import FloatArray

# Strengths that differ by less are equal; the digits after that are the search's.
DECIMALS = 7
_CHUNK_CELLS = 4_000_000


def draw_weights(n_questions: int, n_resamples: int, seed: int) -> FloatArray:
    """Weights of the questions in each resample, above zero with the mean 1 (Dirichlet).

    Returns
    -------
    shape (n_resamples, n_questions)
    """
    generator = np.random.default_rng(seed)
    return n_questions * generator.dirichlet(np.ones(n_questions), size=n_resamples)


def strength_draws(counts: PairCounts, strengths: Strengths, weights: FloatArray) -> FloatArray:
    """Log strengths in each resample.

    Parameters
    ----------
    counts
        Of the ranked systems alone.
    strengths
        Fitted to them; the search starts there.
    weights : shape (n_resamples, n_questions)
        Of the questions of ``counts``; see `draw_weights`.

    Returns
    -------
    shape (n_resamples, n_systems)
        Systems in the order of ``strengths``, mean 0; NaN where the search did not converge.
    """
    places = [counts.systems.index(name) for name in strengths.systems]
    start = np.empty(len(places))
    start[places] = strengths.log_strengths
    cells = counts.by_question.reshape(len(counts.by_question), -1)
    rows = max(1, _CHUNK_CELLS // max(cells.shape[1], len(places) ** 2))
    blocks = []
    for at in range(0, len(weights), rows):
        tables = (weights[at : at + rows] @ cells).reshape(-1, len(counts.first), 3)
        blocks.append(maximise(counts.first, counts.second, tables, start).log_strengths)
    return np.asarray(np.round(np.concatenate(blocks)[:, places], DECIMALS))
