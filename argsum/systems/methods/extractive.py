"""Key points taken from the arguments themselves, where no model writes them."""

from collections.abc import Sequence

import numpy as np

from cqa_site.stats.arrays import Floats

_ROWS_AT_ONCE = 512


def central_argument(match: Floats, members: Sequence[int]) -> int:
    """The member that the other members match best on average; the earlier one where equal.

    Parameters
    ----------
    match : float array, shape (n, n)
        Scores of arguments with arguments; column j is argument j in the place of a key point.
    members
        Positions of the arguments of one cluster.

    Raises
    ------
    ValueError
        Without members.
    """
    if not len(members):
        raise ValueError("A cluster without arguments has no central one.")
    places = np.asarray(members, dtype=np.int64)
    sums = -match[places, places].astype(np.float64)
    # Some rows at once: a cluster may be as large as the cell, and its scores a copy of all.
    for start in range(0, len(places), _ROWS_AT_ONCE):
        rows = places[start : start + _ROWS_AT_ONCE]
        sums += match[np.ix_(rows, places)].sum(axis=0, dtype=np.float64)
    # Rounded, so that the order of a sum does not decide.
    return members[int(sums.round(9).argmax())]


def by_quality(members: Sequence[int], quality: Sequence[float | None] | Floats) -> list[int]:
    """Members with the best argument first, as a generator reads them; without quality last.

    Examples
    --------
    >>> by_quality([0, 2, 3], [0.5, 0.9, None, 0.7])
    [3, 0, 2]
    """

    def worst_last(place: int) -> float:
        value = quality[place]
        return np.inf if value is None or np.isnan(value) else -float(value)

    return sorted(members, key=worst_last)
