"""MCArgSum: arguments merged while their match scores are high enough.

Source: argument summarization paper, section 3.3 and appendix D.3.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from cqa_site.stats.arrays import FloatArray, Floats, IntArray

UNCLUSTERED = -1
MIN_SIZE = 3
# The published grid: .05 to .95 in steps of .025.
THRESHOLDS = tuple(round(0.05 + 0.025 * step, 3) for step in range(37))
# Takes 3.2 GB while it works.
MOST_ARGUMENTS = 20_000


class TooManyArguments(ValueError):
    """A cell is larger than the memory that clustering it may take."""


def merge_clusters(
    match: Floats, thresholds: Sequence[float], *, min_size: int = MIN_SIZE
) -> dict[float, list[int]]:
    """Cluster ids at every threshold, from one average linkage on 1 − match score.

    Two clusters are merged while the mean score between them is above the threshold m, that is
    while their distance is below 1 − m.

    Parameters
    ----------
    match : float array, shape (n, n)
        Scores of arguments with arguments; the diagonal is not read. A scorer that reads the
        order of two texts gives two scores for a pair: their mean counts.
    thresholds
        m, in any order.
    min_size
        Members of a smaller cluster are unclustered.

    Returns
    -------
    dict
        threshold → n ids, numbered from 0 by first appearance; -1 is unclustered.

    Raises
    ------
    ValueError
        If the matrix is not square or holds something that is no finite number.
    TooManyArguments
        Above `MOST_ARGUMENTS`.

    Notes
    -----
    Beside the matrix itself this takes 8 n² bytes while it works: 800 MB for 10,000 arguments.
    """
    n = len(match)
    if match.shape != (n, n):
        raise ValueError(f"Scores of arguments with arguments, not of shape {match.shape}")
    if n > MOST_ARGUMENTS:
        raise TooManyArguments(f"{n:,} arguments in one cell; at most {MOST_ARGUMENTS:,}")
    if n < 2:
        return {m: numbered([0] * n, min_size=min_size) for m in thresholds}
    from scipy.cluster.hierarchy import fcluster, linkage

    # Raises ValueError where a score is not finite.
    merges = linkage(distances(match), method="average")
    # A merge at exactly 1 − m is not made, and `fcluster` would make it.
    return {
        m: numbered(
            fcluster(merges, np.nextafter(1 - m, -np.inf), criterion="distance"),
            min_size=min_size,
        )
        for m in thresholds
    }


def distances(match: Floats) -> FloatArray:
    """1 − score of every pair, shape (n (n − 1) / 2,), as scipy wants them; never below 0.

    Row by row, so that nothing of the size of the matrix is made beside the result.
    """
    n = len(match)
    found = np.empty(n * (n - 1) // 2)
    start = 0
    for row in range(n - 1):
        stop = start + n - 1 - row
        found[start:stop] = match[row, row + 1 :]
        found[start:stop] += match[row + 1 :, row]
        start = stop
    found *= -0.5
    found += 1
    return np.maximum(found, 0, out=found)


def numbered(labels: Iterable[int] | IntArray, *, min_size: int = 1) -> list[int]:
    """Ids from 0 in the order in which clusters of at least `min_size` first appear.

    Negative labels are unclustered and stay -1.

    Examples
    --------
    >>> numbered([7, 2, 7, 2, 5, -1], min_size=2)
    [0, 1, 0, 1, -1, -1]
    """
    given = [int(label) for label in labels]
    sizes: dict[int, int] = {}
    for label in given:
        sizes[label] = sizes.get(label, 0) + 1
    names: dict[int, int] = {}
    for label, size in sizes.items():
        if label >= 0 and size >= min_size:
            names[label] = len(names)
    return [names.get(label, UNCLUSTERED) for label in given]


def is_summarizable(ids: Sequence[int]) -> bool:
    """Whether a cell has more than one cluster, and more than half of it is clustered."""
    held = [each for each in ids if each != UNCLUSTERED]
    return len(set(held)) > 1 and 2 * len(held) > len(ids)


def members(ids: Sequence[int]) -> dict[int, list[int]]:
    """Cluster id → positions of its arguments, in order; unclustered ones are in none."""
    found: dict[int, list[int]] = {}
    for place, each in enumerate(ids):
        if each != UNCLUSTERED:
            found.setdefault(each, []).append(place)
    return dict(sorted(found.items()))
