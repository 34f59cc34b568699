"""How well scores rank pairs of arguments: those with the same key point should come first.

No threshold is involved, so the figure moves smoothly while a scorer learns, where the adjusted
Rand index of a few cells jumps. It chooses the weights on the dev split.
"""

from collections.abc import Sequence

import numpy as np

from cqa_site.stats.arrays import FloatArray


def same_point_precision(match: FloatArray, reference: Sequence[str]) -> float | None:
    """Average precision of "same key point" over all pairs of arguments of a cell.

    Parameters
    ----------
    match : float array, shape (n, n)
        Symmetric scores; read above the diagonal. Equal scores keep their order of rows.
    reference : length n
        The key point of each argument.

    Returns
    -------
    float or None
        0–1, higher is better; by chance the share of such pairs. None without such a pair.

    Examples
    --------
    >>> scores = np.array([[1, 0.9, 0.2], [0.9, 1, 0.4], [0.2, 0.4, 1]])
    >>> same_point_precision(scores, ["a", "b", "b"])
    0.5
    """
    _names, codes = np.unique(np.array(reference), return_inverse=True)
    rows, columns = np.triu_indices(len(codes), 1)
    same = codes[rows] == codes[columns]
    if not same.any():
        return None
    ranked = same[np.argsort(-np.asarray(match)[rows, columns], kind="stable")]
    hits = np.cumsum(ranked)
    return float((hits / np.arange(1, len(ranked) + 1))[ranked].mean())
