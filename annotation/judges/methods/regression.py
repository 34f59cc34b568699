"""Multinomial logistic regression on the principal components of one block of features.

Scaling, components and regression are all linear, so the fitted whole is one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.judges.methods.probabilities import FloatArray, IntArray, softmax

# The score of a level without a label in the training part.
_NEVER = -30.0


@dataclass(frozen=True, eq=False)
class LinearMember:
    """Scores are ``block @ weights + offsets``, probabilities their softmax.

    Attributes
    ----------
    weights : float array, shape (d, k)
    offsets : float array, shape (k,)
    """

    weights: FloatArray
    offsets: FloatArray

    def predict_proba(self, block: NDArray[np.floating]) -> FloatArray:
        """Probabilities, shape (n, k), of features of shape (n, d)."""
        return softmax(np.asarray(block @ self.weights, dtype=np.float64) + self.offsets)


@dataclass(frozen=True, eq=False)
class Components:
    """A block of features, shape (n, d), on its m strongest components.

    Attributes
    ----------
    values : float array, shape (n, m)
    centre : float array, shape (d,); the mean of each feature
    basis : float array, shape (d, m); ``(block - centre) @ basis`` gives `values`
    """

    values: FloatArray
    centre: FloatArray
    basis: FloatArray


def find_components(block: NDArray[np.floating], at_most: int) -> Components:
    """Scale every feature to variance 1/d, then keep the strongest directions.

    No labels take part. With all directions kept this is a rotation, which a regression with
    a ridge penalty does not notice.
    """
    block = np.asarray(block, dtype=np.float64)
    centre, spread = block.mean(axis=0), block.std(axis=0)
    # A constant feature says nothing; it must not be blown up by its rounding errors.
    scale = np.where(spread > 1e-9, spread, np.inf) * np.sqrt(block.shape[1])
    scaled = (block - centre) / scale
    directions = _strongest_directions(scaled, at_most)
    return Components(scaled @ directions, centre, directions / scale[:, None])


def fit_member(
    components: Components, rows: IntArray, codes: IntArray, n_levels: int, inverse_penalty: float
) -> LinearMember:
    """Fit a regression to some rows.

    Parameters
    ----------
    components
        Of all rows.
    rows
        Positions of the rows to learn from.
    codes
        Position on the scale of the label of every row of `components`.
    n_levels
        k; a level without a label among the rows gets practically no probability.
    inverse_penalty
        scikit-learn's ``C`` for features whose variances sum to about 1.
    """
    seen = np.unique(codes[rows])
    inner = np.zeros((components.values.shape[1], n_levels))
    offsets = np.full(n_levels, _NEVER)
    offsets[seen] = 0.0
    if len(seen) > 1:
        inner[:, seen], offsets[seen] = _regress(
            components.values[rows], codes[rows], inverse_penalty
        )
    weights = components.basis @ inner
    return LinearMember(weights, offsets - components.centre @ weights)


def _regress(
    values: FloatArray, codes: IntArray, inverse_penalty: float
) -> tuple[FloatArray, FloatArray]:
    from sklearn.linear_model import LogisticRegression

    found = LogisticRegression(C=inverse_penalty, max_iter=2000).fit(values, codes)
    if len(found.classes_) > 2:
        return found.coef_.T, found.intercept_
    # Two classes: scikit-learn keeps only the score of the second.
    return np.vstack([-found.coef_, found.coef_]).T / 2, np.array([-1, 1]) * found.intercept_ / 2


def _strongest_directions(scaled: FloatArray, at_most: int) -> FloatArray:
    """Orthonormal columns, shape (d, m), strongest first, m limited by rank."""
    from scipy.linalg import eigh

    n, d = scaled.shape
    is_wide = d > n
    gram = scaled @ scaled.T if is_wide else scaled.T @ scaled
    last = len(gram) - 1
    strengths, found = eigh(gram, subset_by_index=[max(0, last + 1 - at_most), last])
    kept = strengths > strengths[-1] * 1e-10
    kept[-1] = True  # of constant features one empty direction is left
    strengths, found = strengths[kept][::-1], found[:, kept][:, ::-1]
    return np.asarray(
        (scaled.T @ found) / np.sqrt(np.maximum(strengths, 1e-12)) if is_wide else found
    )
