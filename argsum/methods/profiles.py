"""Arguments compared by what they match: the likeness of two rows of a matrix of match scores.

Two arguments that make the same point score alike against all the others of their cell, also
where their own score is low because they say it in other words. Not part of the paper: found
here to help clustering, see docs/papers/argsum.md.
"""

import numpy as np

from cqa_site.stats.arrays import FloatArray


def profile_scores(match: FloatArray, *, weight: float = 1.0) -> FloatArray:
    """Pearson correlation of rows, mixed with the scores themselves.

    Parameters
    ----------
    match : float array, shape (n, n)
        Symmetric scores of arguments with arguments.
    weight
        1 takes the correlations only, 0 returns the scores.

    Returns
    -------
    float array, shape (n, n)
        ``weight * correlation + (1 - weight) * match``; symmetric. A row without variance
        correlates with nothing (0).

    Examples
    --------
    >>> scores = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> profile_scores(scores).round(2).tolist()
    [[1.0, 0.29, -0.8], [0.29, 1.0, -0.8], [-0.8, -0.8, 1.0]]
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"A weight lies between 0 and 1, not {weight}.")
    rows = np.asarray(match, dtype=np.float64)
    centred = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 1e-12)
    mixed: FloatArray = weight * (unit @ unit.T) + (1 - weight) * rows
    return mixed
