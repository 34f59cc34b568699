"""MACE: each rater either knows the label or answers from a habit of their own.

Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning Whom to Trust with MACE,
NAACL; plain expectation-maximisation with smoothing, the best of several seeded restarts.
True labels are uniform a priori. Departure: the first restart is deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cqa_site.stats.latent.shared import LatentLabels, Votes, normalise
from cqa_site.stats.ratings import FloatArray, Ratings


class _Parameters(NamedTuple):
    competence: FloatArray  # shape (n_raters,): probability of knowing the label
    habit: FloatArray  # shape (n_raters, k): answers when not knowing, rows sum to 1


class _Fit(NamedTuple):
    parameters: _Parameters
    posteriors: FloatArray
    log_likelihood: float
    iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Mace(LatentLabels):
    """`LatentLabels` whose `raters` also have `competence`, the probability of knowing.

    Attributes
    ----------
    restarts, seed : how the best fit was searched
    """

    restarts: int
    seed: int


def mace(
    ratings: Ratings,
    *,
    categories: Sequence[float] | None = None,
    restarts: int = 10,
    max_iterations: int = 200,
    tolerance: float = 1e-7,
    smoothing: float | None = None,
    seed: int = 0,
) -> Mace:
    """Infer labels with MACE.

    Parameters
    ----------
    ratings
        Any number of raters and gaps.
    categories
        The scale; by default the values used.
    restarts, seed
        Starting points, the first even, the others drawn; the most likely fit is returned.
    max_iterations, tolerance
        A fit stops when the log-likelihood for each rating gains less than `tolerance`.
    smoothing
        Added to expected counts, above 0; by default 0.01 / k as in the paper's program.

    Raises
    ------
    RatingsError
        Without ratings, or with a value off the scale.
    ValueError
        If `restarts` or `smoothing` is not positive.
    """
    votes = Votes.from_ratings(ratings, categories)
    added = 0.01 / len(votes.scale) if smoothing is None else smoothing
    if restarts < 1 or added <= 0:
        raise ValueError("restarts and smoothing must be above 0")
    generator = np.random.default_rng(seed)
    starts = [_even_start(votes)] + [_random_start(votes, generator) for _ in range(restarts - 1)]
    fits = [_fit(votes, start, added, max_iterations, tolerance) for start in starts]
    best = max(fits, key=lambda fit: fit.log_likelihood)
    answer = votes.answer(
        "MACE",
        best.posteriors,
        iterations=best.iterations,
        converged=best.converged,
        log_likelihood=best.log_likelihood,
        rater_columns={"competence": best.parameters.competence},
    )
    return Mace(**vars(answer), restarts=restarts, seed=seed)


def _even_start(votes: Votes) -> _Parameters:
    shape = (len(votes.raters), len(votes.scale))
    return _Parameters(np.full(shape[0], 0.5), np.full(shape, 1 / shape[1]))


def _random_start(votes: Votes, generator: np.random.Generator) -> _Parameters:
    shape = (len(votes.raters), len(votes.scale))
    habit = generator.uniform(1, 2.5, shape)
    return _Parameters(
        generator.uniform(0.3, 0.7, shape[0]), habit / habit.sum(axis=1, keepdims=True)
    )


def _fit(
    votes: Votes, start: _Parameters, smoothing: float, max_iterations: int, tolerance: float
) -> _Fit:
    parameters = start
    posteriors, previous = _expect(votes, parameters)
    gain, step = np.inf, 0
    while step < max_iterations and gain >= tolerance:
        step += 1
        parameters = _maximise(votes, posteriors, parameters, smoothing)
        posteriors, log_likelihood = _expect(votes, parameters)
        gain = abs(log_likelihood - previous) / len(votes.item)
        previous = log_likelihood
    return _Fit(parameters, posteriors, previous, step, bool(gain < tolerance))


def _expect(votes: Votes, parameters: _Parameters) -> tuple[FloatArray, float]:
    by_habit = _habit_probability(votes, parameters)
    k = len(votes.scale)
    likelihood = np.repeat(by_habit[:, None], k, axis=1)
    likelihood[np.arange(len(votes.label)), votes.label] += parameters.competence[votes.rater]
    return normalise(votes.sum_by_item(np.log(likelihood)) - np.log(k))


def _maximise(
    votes: Votes, posteriors: FloatArray, old: _Parameters, smoothing: float
) -> _Parameters:
    known = old.competence[votes.rater]
    # A rating that equals the label was known or guessed; any other was a guess.
    right = posteriors[votes.item, votes.label]
    knowing = right * known / (known + _habit_probability(votes, old))
    by_knowing = votes.sum_by_cell(knowing).sum(axis=1) + smoothing
    by_habit = votes.sum_by_cell(1 - knowing)
    guessed = by_habit.sum(axis=1) + smoothing
    habit = by_habit + smoothing
    competence = by_knowing / (by_knowing + guessed)
    return _Parameters(competence, habit / habit.sum(axis=1, keepdims=True))


def _habit_probability(votes: Votes, parameters: _Parameters) -> FloatArray:
    """Probability that the rater does not know and still gives this label, shape (n_values,)."""
    guessing = 1 - parameters.competence[votes.rater]
    return np.asarray(guessing * parameters.habit[votes.rater, votes.label])
