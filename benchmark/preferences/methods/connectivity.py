"""Which systems verdicts can rank at all: components, and whether strengths are finite.

A system that never loses, nor ties, has no finite strength, whatever the number of verdicts: the
likelihood grows with it for ever. So likeliest strengths exist only where all systems are linked
by verdicts in both directions.

Source: Ford (1957), Solution of a ranking problem from binary comparisons: without ties, finite
strengths exist if and only if the graph of wins is strongly connected. `has_finite_ties` adds
what ties need; it follows from the log-likelihood being concave, see there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmark.preferences.methods.verdicts import DRAW, LOSS, WIN
from cqa_site.stats.ratings import FloatArray, IntArray

BoolArray = NDArray[np.bool_]


def was_as_good(first: IntArray, second: IntArray, counts: FloatArray, n: int) -> BoolArray:
    """Whether a verdict had a system at least as good as another.

    Parameters
    ----------
    first, second : shape (n_pairs,)
        Places of the systems of each pair.
    counts : shape (..., n_pairs, 3)
        Weights of wins of the first, of the second, and draws.
    n
        Number of systems.

    Returns
    -------
    shape (..., n, n)
        Row as good as column at least once.
    """
    found = np.zeros((*counts.shape[:-2], n, n), dtype=bool)
    drawn = counts[..., DRAW] > 0
    found[..., first, second] = (counts[..., WIN] > 0) | drawn
    found[..., second, first] = (counts[..., LOSS] > 0) | drawn
    return found


def reachable(links: BoolArray) -> BoolArray:
    """Whether a path of links leads from row to column; every place reaches itself."""
    n = links.shape[-1]
    paths = links | np.eye(n, dtype=bool)
    # Each squaring doubles the length of the paths that are known.
    for _ in range(max(n - 1, 1).bit_length()):
        paths = (paths.astype(np.float32) @ paths.astype(np.float32)) > 0
    return paths


def strong_components(links: BoolArray) -> list[IntArray]:
    """Places that reach each other, the largest component first, then by the first place."""
    paths = reachable(links)
    label = (paths & paths.T).argmax(axis=1)
    parts = [np.flatnonzero(label == each) for each in np.unique(label)]
    return sorted(parts, key=lambda each: (-len(each), each[0]))


def has_finite_ties(first: IntArray, second: IntArray, counts: FloatArray, n: int) -> bool:
    """Whether strengths and the tie parameter of a strongly connected graph are finite.

    Notes
    -----
    Along a direction (u, v) of log strengths and log tie parameter the log-likelihood never
    falls if and only if ``u_i - u_j >= 2 v`` for every win of i over j and ``|u_i - u_j| <= 2 v``
    for every tie. In a strongly connected graph only ``v > 0`` can satisfy this, and by the
    theory of difference constraints it does unless some circle of verdicts has more wins, each
    followed from winner to loser, than ties. Two systems that beat each other are such a circle.
    Without ties the tie parameter is 0 and strengths are finite.
    """
    if not (counts[:, DRAW] > 0).any():
        return True
    length = np.full((n, n), np.inf)
    drawn = counts[:, DRAW] > 0
    length[first[drawn], second[drawn]] = length[second[drawn], first[drawn]] = 1.0
    for better, worse, column in ((first, second, WIN), (second, first, LOSS)):
        won = counts[:, column] > 0
        length[better[won], worse[won]] = -1.0
    # Floyd and Warshall; a circle shorter than nothing shows on the diagonal.
    for middle in range(n):
        length = np.minimum(length, length[:, [middle]] + length[[middle], :])
    return bool((np.diag(length) < 0).any())
