"""Arguments compared by what they match: the likeness of two rows of a matrix of match scores.

Two arguments that make the same point score alike against all the others of their cell, also
where their own score is low because they say it in other words. Not part of the paper: found
here to help clustering, see docs/papers/argsum.md.
"""

import numpy as np

from cqa_site.stats.arrays import FloatArray

from .scoring import ROWS_AT_ONCE, Scores

# A row of length below this is the same score everywhere, but for what rounding left.
FLAT = 1e-6


def profile_scores(match: FloatArray | Scores, *, weight: float = 1.0) -> Scores:
    """Pearson correlation of rows, mixed with the scores themselves.

    Parameters
    ----------
    match : float array, shape (n, n)
        Symmetric scores of arguments with arguments.
    weight
        1 takes the correlations only, 0 returns the scores.

    Returns
    -------
    float32 array, shape (n, n)
        ``weight * correlation + (1 - weight) * match``; symmetric. A row without variance
        correlates with nothing (0).

    Notes
    -----
    Beside the scores and the result this takes 4 n² bytes.

    Examples
    --------
    >>> scores = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> profile_scores(scores).round(2).tolist()
    [[1.0, 0.29, -0.8], [0.29, 1.0, -0.8], [-0.8, -0.8, 1.0]]
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"A weight lies between 0 and 1, not {weight}.")
    unit = np.array(match, dtype=np.float32)
    unit -= unit.mean(axis=1, keepdims=True, dtype=np.float64)
    lengths = np.linalg.norm(unit, axis=1, keepdims=True)
    flat = lengths[:, 0] <= FLAT
    lengths[flat] = 1
    unit /= lengths
    unit[flat] = 0
    mixed: Scores = np.empty_like(unit)
    for start in range(0, len(unit), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        np.matmul(unit[rows], unit.T, out=mixed[rows])
        mixed[rows] *= weight
        mixed[rows] += (1 - weight) * np.asarray(match[rows], dtype=np.float32)
    return mixed
