"""Latent labels from the votes of many raters: Dawid-Skene and MACE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.ratings import Ratings, RatingsError

# Code shared by the latent-label models: votes sorted by item, and the form of the result.

# Posteriors this close are tied; the higher label wins the tie.
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class LatentLabels:
    """Labels inferred together with the quality of the raters.

    Attributes
    ----------
    model : name of the model
    labels : Series indexed by item; the most probable value, or the higher value on a tie
    posteriors : DataFrame, items × scale, rows sum to 1
    raters : DataFrame indexed by rater
        n : number of ratings
        accuracy : expected share of ratings that equal the inferred label, in 0..1
        and any further columns that the model adds
    iterations : number of EM steps (of the best restart)
    converged : whether the log-likelihood settled within the maximum number of steps
    log_likelihood : natural logarithm of the likelihood of the ratings, given the parameters
    """

    model: str
    labels: pd.Series
    posteriors: pd.DataFrame
    raters: pd.DataFrame
    iterations: int
    converged: bool
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Votes:
    """Ratings on a scale of k categories, sorted by item.

    Attributes
    ----------
    item, rater, label : int arrays, shape (n_values,)
    starts : first vote of each item, shape (n_items,)
    scale : the k categories, ascending
    """

    item: IntArray
    rater: IntArray
    label: IntArray
    starts: IntArray
    scale: FloatArray
    items: pd.Index
    raters: pd.Index

    @classmethod
    def from_ratings(cls, ratings: Ratings, categories: Sequence[float] | None) -> Votes:
        """Sort the ratings.

        Raises RatingsError if there are none, and UnknownCategoryError for values off the scale.
        """
        if ratings.n_values == 0:
            raise RatingsError("there are no ratings to aggregate")
        scale = ratings.categories() if categories is None else np.asarray(categories, dtype=float)
        order = np.argsort(ratings.item_codes, kind="stable")
        item = ratings.item_codes[order]
        return cls(
            item,
            ratings.rater_codes[order],
            ratings.value_codes(scale)[order],
            np.searchsorted(item, np.arange(ratings.n_items)),
            scale,
            ratings.items,
            ratings.raters,
        )

    @property
    def cell(self) -> IntArray:
        """The rater and the label as one number, rater × k + label."""
        return self.rater * len(self.scale) + self.label

    def sum_by_item(self, rows: FloatArray) -> FloatArray:
        """Sum the rows of each item's votes: (n_values, k) -> (n_items, k)."""
        return np.asarray(np.add.reduceat(rows, self.starts, axis=0), dtype=np.float64)

    def sum_by_cell(self, weights: FloatArray) -> FloatArray:
        """Sum weights of votes by rater and label: (n_values,) -> (n_raters, k)."""
        shape = (len(self.raters), len(self.scale))
        sums = np.bincount(self.cell, weights=weights, minlength=shape[0] * shape[1])
        return sums.reshape(shape).astype(np.float64)

    def vote_shares(self) -> FloatArray:
        """Return the share of each label among the votes of each item, shape (n_items, k)."""
        counts = self.sum_by_item(np.eye(len(self.scale))[self.label])
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def answer(
        self,
        model: str,
        posteriors: FloatArray,
        *,
        iterations: int,
        converged: bool,
        log_likelihood: float,
        rater_columns: dict[str, FloatArray] | None = None,
    ) -> LatentLabels:
        """Name rows and columns, and derive labels and accuracies from the posteriors."""
        near_top = posteriors >= posteriors.max(axis=1, keepdims=True) - _TIE
        best = len(self.scale) - 1 - near_top[:, ::-1].argmax(axis=1)
        n = np.bincount(self.rater, minlength=len(self.raters))
        right = self.sum_by_cell(posteriors[self.item, self.label]).sum(axis=1)
        columns = {"n": n, "accuracy": right / n, **(rater_columns or {})}
        return LatentLabels(
            model,
            pd.Series(self.scale[best], index=self.items, name="label"),
            pd.DataFrame(posteriors, index=self.items, columns=pd.Index(self.scale)),
            pd.DataFrame(columns, index=self.raters),
            iterations,
            converged,
            log_likelihood,
        )


def normalise(log_joint: FloatArray) -> tuple[FloatArray, float]:
    """Return posteriors by row, and the summed log of the divisors.

    Parameters
    ----------
    log_joint : shape (n_items, k)
        Log of prior × likelihood. The row maximum is subtracted first, because products of many
        small probabilities underflow.
    """
    highest = log_joint.max(axis=1, keepdims=True)
    scaled = np.exp(log_joint - highest)
    total = scaled.sum(axis=1, keepdims=True)
    return np.asarray(scaled / total), float((np.log(total) + highest).sum())


# Dawid-Skene: labels and one confusion matrix for each rater, by expectation-maximisation.
#
# Source: Dawid and Skene (1979), Applied Statistics 28(1), 20-28. Departure: counts are
# smoothed before they are normalised, so a rater with few ratings never gets a probability of 0.


@dataclass(frozen=True, eq=False)
class DawidSkene(LatentLabels):
    """`LatentLabels` with the parameters of the Dawid-Skene model.

    Attributes
    ----------
    class_shares : Series indexed by value; the share of each true label
    confusions : DataFrame, rows (rater, true value), columns given value; rows sum to 1
    """

    class_shares: pd.Series
    confusions: pd.DataFrame


def dawid_skene(
    ratings: Ratings,
    *,
    categories: Sequence[float] | None = None,
    smoothing: float = 0.01,
    max_iterations: int = 500,
    tolerance: float = 1e-7,
) -> DawidSkene:
    """Infer labels with Dawid-Skene; deterministic, because it starts from the vote shares.

    Parameters
    ----------
    ratings
        Ratings by any number of raters; gaps are allowed.
    categories
        The scale; by default the values used.
    smoothing
        Added to each cell of each rater's confusion counts; above 0.
    max_iterations, tolerance
        Stop when the log-likelihood per rating increases by less than `tolerance`.

    Raises
    ------
    RatingsError
        If there are no ratings, or if a value lies outside the scale.
    ValueError
        If `smoothing` is not positive.
    """
    if smoothing <= 0:
        raise ValueError("smoothing must be above 0")
    votes = Votes.from_ratings(ratings, categories)
    posteriors = votes.vote_shares()
    previous, gain, step = -np.inf, np.inf, 0
    while step < max_iterations and gain >= tolerance:
        step += 1
        confusions, shares = _likeliest_confusions(votes, posteriors, smoothing)
        log_confusions = np.log(confusions).reshape(-1, len(votes.scale))
        posteriors, log_likelihood = normalise(
            np.log(shares) + votes.sum_by_item(log_confusions[votes.cell])
        )
        gain = abs(log_likelihood - previous) / len(votes.item)
        previous = log_likelihood
    confusions, shares = _likeliest_confusions(votes, posteriors, smoothing)
    answer = votes.answer(
        "Dawid-Skene",
        posteriors,
        iterations=step,
        converged=gain < tolerance,
        log_likelihood=previous,
    )
    k = len(votes.scale)
    rows = pd.MultiIndex.from_product([votes.raters, votes.scale], names=["rater", "true"])
    matrix = confusions.transpose(0, 2, 1).reshape(-1, k)
    return DawidSkene(
        **vars(answer),
        class_shares=pd.Series(shares, index=pd.Index(votes.scale), name="share"),
        confusions=pd.DataFrame(matrix, index=rows, columns=pd.Index(votes.scale, name="given")),
    )


def _likeliest_confusions(
    votes: Votes, posteriors: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Return confusions, shape (n_raters, k given, k true), and class shares, shape (k,)."""
    by_vote = posteriors[votes.item]
    counts = np.stack([votes.sum_by_cell(column) for column in by_vote.T], axis=2) + smoothing
    # A category that is unlikely for every item still needs a finite logarithm.
    shares = posteriors.mean(axis=0) + 1e-12
    return counts / counts.sum(axis=1, keepdims=True), shares / shares.sum()


# MACE: each rater either knows the label or answers by habit.
#
# Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning Whom to Trust with MACE,
# NAACL; plain expectation-maximisation with smoothing, the best of several seeded restarts.
# True labels are uniform a priori. Departure: the first restart is deterministic.


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
    """`LatentLabels` whose `raters` also have `competence`, the probability of knowing the label.

    Attributes
    ----------
    restarts, seed : settings of the search for the best fit
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
        Ratings by any number of raters; gaps are allowed.
    categories
        The scale; by default the values used.
    restarts, seed
        Number of starting points (the first is uniform, the others are random), and the seed; the
        most likely fit is returned.
    max_iterations, tolerance
        A fit stops when the log-likelihood per rating increases by less than `tolerance`.
    smoothing
        Added to expected counts, above 0; by default 0.01 / k as in the paper's program.

    Raises
    ------
    RatingsError
        If there are no ratings, or if a value lies outside the scale.
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
    posteriors, previous = _expected_knowledge(votes, parameters)
    gain, step = np.inf, 0
    while step < max_iterations and gain >= tolerance:
        step += 1
        parameters = _likeliest_competence(votes, posteriors, parameters, smoothing)
        posteriors, log_likelihood = _expected_knowledge(votes, parameters)
        gain = abs(log_likelihood - previous) / len(votes.item)
        previous = log_likelihood
    return _Fit(parameters, posteriors, previous, step, bool(gain < tolerance))


def _expected_knowledge(votes: Votes, parameters: _Parameters) -> tuple[FloatArray, float]:
    by_habit = _habit_probability(votes, parameters)
    k = len(votes.scale)
    likelihood = np.repeat(by_habit[:, None], k, axis=1)
    likelihood[np.arange(len(votes.label)), votes.label] += parameters.competence[votes.rater]
    return normalise(votes.sum_by_item(np.log(likelihood)) - np.log(k))


def _likeliest_competence(
    votes: Votes, posteriors: FloatArray, old: _Parameters, smoothing: float
) -> _Parameters:
    known = old.competence[votes.rater]
    # A rating that equals the label was known or guessed; any other rating was a guess.
    right = posteriors[votes.item, votes.label]
    knowing = right * known / (known + _habit_probability(votes, old))
    by_knowing = votes.sum_by_cell(knowing).sum(axis=1) + smoothing
    by_habit = votes.sum_by_cell(1 - knowing)
    guessed = by_habit.sum(axis=1) + smoothing
    habit = by_habit + smoothing
    competence = by_knowing / (by_knowing + guessed)
    return _Parameters(competence, habit / habit.sum(axis=1, keepdims=True))


def _habit_probability(votes: Votes, parameters: _Parameters) -> FloatArray:
    """Return the probability that each vote was given without knowledge, shape (n_values,)."""
    guessing = 1 - parameters.competence[votes.rater]
    return np.asarray(guessing * parameters.habit[votes.rater, votes.label])
