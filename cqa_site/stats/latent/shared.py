"""What the latent-label models share: votes sorted by item, and the shape of their answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cqa_site.stats.ratings import FloatArray, IntArray, Ratings, RatingsError

# Posteriors this close are a tie; the higher label wins it.
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class LatentLabels:
    """Labels inferred together with the quality of the raters.

    Attributes
    ----------
    model : name of the model
    labels : Series indexed by item; the most probable value, the higher one on a tie
    posteriors : DataFrame, items × scale, rows sum to 1
    raters : DataFrame indexed by rater
        n : ratings given
        accuracy : expected share of them that equal the inferred label, in 0..1
        and the columns the model adds
    iterations : EM steps taken (of the best restart)
    converged : whether the log-likelihood settled before the limit of steps
    log_likelihood : of the ratings given the parameters, natural logarithm
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
        """Sort; raises RatingsError without ratings, UnknownCategoryError off the scale."""
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
        """Rater and label in one number, rater × k + label."""
        return self.rater * len(self.scale) + self.label

    def sum_by_item(self, rows: FloatArray) -> FloatArray:
        """Sum the rows of each item's votes: (n_values, k) -> (n_items, k)."""
        return np.asarray(np.add.reduceat(rows, self.starts, axis=0), dtype=np.float64)

    def sum_by_cell(self, weights: FloatArray) -> FloatArray:
        """Sum a weight of each vote by rater and label: (n_values,) -> (n_raters, k)."""
        shape = (len(self.raters), len(self.scale))
        sums = np.bincount(self.cell, weights=weights, minlength=shape[0] * shape[1])
        return sums.reshape(shape).astype(np.float64)

    def vote_shares(self) -> FloatArray:
        """Share of each label among the votes of each item, shape (n_items, k)."""
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
        """Name the rows and columns, and read labels and accuracies off the posteriors."""
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
    """Posteriors by row, and the summed log of what was divided by.

    Parameters
    ----------
    log_joint : shape (n_items, k)
        Log of prior × likelihood. Its row maximum is taken out first: products of many
        small probabilities underflow.
    """
    highest = log_joint.max(axis=1, keepdims=True)
    scaled = np.exp(log_joint - highest)
    total = scaled.sum(axis=1, keepdims=True)
    return np.asarray(scaled / total), float((np.log(total) + highest).sum())
