"""A quality score as a line through sentence vectors, fitted by ridge regression."""

from collections.abc import Sequence

import numpy as np

from cqa_site.stats.arrays import FloatArray, Floats

# Penalties tried; the dev split chooses.
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def fit_ridge(vectors: Floats, values: Floats, penalty: float) -> tuple[FloatArray, float]:
    """Weights, shape (d,), and bias with the least squared error plus penalty × |weights|².

    Parameters
    ----------
    vectors : float array, shape (n, d)
        What the line goes through.
    values : float array, shape (n,)
        Known qualities.
    penalty
        At least 0; the bias is not penalised.

    Examples
    --------
    >>> weights, bias = fit_ridge(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), 0)
    >>> weights.round(6).tolist(), round(bias, 6)
    ([2.0], 1.0)
    """
    x, y = np.asarray(vectors, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(x) != len(y) or not len(y):
        raise ValueError(f"{len(x)} vectors for {len(y)} values")
    middle, mean = x.mean(axis=0), float(y.mean())
    centred = x - middle
    left = centred.T @ centred + penalty * np.eye(x.shape[1])
    weights = np.linalg.lstsq(left, centred.T @ (y - mean), rcond=None)[0]
    return weights, mean - float(middle @ weights)


def best_penalty(
    train: tuple[Floats, Floats],
    dev: tuple[Floats, Floats],
    penalties: Sequence[float] = PENALTIES,
) -> float:
    """The penalty with the smallest squared error on dev; the smallest wins a tie."""
    errors = {}
    for penalty in penalties:
        weights, bias = fit_ridge(*train, penalty)
        errors[penalty] = float(((dev[0] @ weights + bias - dev[1]) ** 2).mean())
    return min(penalties, key=lambda each: (errors[each], each))
