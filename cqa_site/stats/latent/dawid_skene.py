"""Dawid-Skene: labels and one confusion matrix for each rater, by expectation-maximisation.

Source: Dawid and Skene (1979), Applied Statistics 28(1), 20-28. Departure: counts are
smoothed before they are normalised, so a rater with few ratings never gets a probability of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cqa_site.stats.latent.shared import LatentLabels, Votes, normalise
from cqa_site.stats.ratings import FloatArray, Ratings


@dataclass(frozen=True, eq=False)
class DawidSkene(LatentLabels):
    """`LatentLabels` with the parameters of the model.

    Attributes
    ----------
    class_shares : Series indexed by value; how frequent each true label is
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
    """Infer labels with Dawid-Skene; deterministic, it starts from the vote shares.

    Parameters
    ----------
    ratings
        Any number of raters and gaps.
    categories
        The scale; by default the values used.
    smoothing
        Added to each cell of each rater's confusion counts; above 0.
    max_iterations, tolerance
        Stop when the log-likelihood for each rating gains less than `tolerance`.

    Raises
    ------
    RatingsError
        Without ratings, or with a value off the scale.
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
        confusions, shares = _maximise(votes, posteriors, smoothing)
        posteriors, log_likelihood = _expect(votes, confusions, shares)
        gain = abs(log_likelihood - previous) / len(votes.item)
        previous = log_likelihood
    confusions, shares = _maximise(votes, posteriors, smoothing)
    answer = votes.answer(
        "Dawid-Skene",
        posteriors,
        iterations=step,
        converged=gain < tolerance,
        log_likelihood=previous,
    )
    return DawidSkene(
        **vars(answer),
        class_shares=pd.Series(shares, index=pd.Index(votes.scale), name="share"),
        confusions=_named(votes, confusions),
    )


def _maximise(
    votes: Votes, posteriors: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Confusions, shape (n_raters, k given, k true), and class shares, shape (k,)."""
    by_vote = posteriors[votes.item]
    counts = np.stack([votes.sum_by_cell(column) for column in by_vote.T], axis=2) + smoothing
    # A category nobody is likely to have must keep a finite logarithm.
    shares = posteriors.mean(axis=0) + 1e-12
    return counts / counts.sum(axis=1, keepdims=True), shares / shares.sum()


def _expect(votes: Votes, confusions: FloatArray, shares: FloatArray) -> tuple[FloatArray, float]:
    log_confusions = np.log(confusions).reshape(-1, len(votes.scale))
    return normalise(np.log(shares) + votes.sum_by_item(log_confusions[votes.cell]))


def _named(votes: Votes, confusions: FloatArray) -> pd.DataFrame:
    k = len(votes.scale)
    rows = pd.MultiIndex.from_product([votes.raters, votes.scale], names=["rater", "true"])
    given = confusions.transpose(0, 2, 1).reshape(-1, k)
    return pd.DataFrame(given, index=rows, columns=pd.Index(votes.scale, name="given"))
