"""Whether the references of a file are those of a dataset, also where they are worded otherwise.

People's counts are about references, and their number alone enters a figure. So the references of
a file may differ in their words from those of the dataset, as long as it is clear which stands for
which: first by equal texts, then by texts that differ in case, punctuation and white space alone,
then, one to one, by the words that they share.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argsum.datasets.methods.same_text import plain, words

# Shared words (twice their number over that of both texts) that two wordings need at least, and
# by how much every other reference has to share less.
FLOOR, MARGIN = 0.4, 0.15


class OtherReferences(ValueError):
    """The references are others, or it is not clear which stands for which."""


@dataclass(frozen=True)
class Taken:
    """A reference of the file that is worded otherwise; ``shared`` is None for equal words."""

    given: str
    known: str
    shared: float | None


def same_references(given: Sequence[str], known: Sequence[str]) -> list[Taken]:
    """Which references of a file stand for which of a dataset; equal texts are not named.

    Raises
    ------
    OtherReferences
        If there are more or fewer of them, one shares too few words with all that are left, or
        another one shares nearly as many.

    Examples
    --------
    >>> [each.known for each in same_references(["buses are SAFE"], ["Buses are safe."])]
    ['Buses are safe.']
    """
    if len(given) != len(known):
        raise OtherReferences(f"{len(given)} references, and the dataset has {len(known)}")
    found, left, there = [], [], list(known)
    for text in given:
        if text in there:
            there.remove(text)
        else:
            left.append(text)
    others = []
    for text in left:
        fitting = [each for each in there if plain(each) == plain(text)]
        if len(fitting) == 1:
            there.remove(fitting[0])
            found.append(Taken(text, fitting[0], None))
        else:
            others.append(text)
    return [*found, *_by_words(others, there)] if others else found


def by_order(given: Sequence[str], known: Sequence[str]) -> list[Taken]:
    """The first of the file for the first of the dataset, and so on, because somebody said so."""
    if len(given) != len(known):
        raise OtherReferences(f"{len(given)} references, and the dataset has {len(known)}")
    pairs = zip(given, known, strict=True)
    return [Taken(one, two, _shared(one, two)) for one, two in pairs if one != two]


def _by_words(given: Sequence[str], known: Sequence[str]) -> list[Taken]:
    # Readers of files are loaded at start.
    from scipy.optimize import linear_sum_assignment

    shared: NDArray[np.float64] = np.array([[_shared(one, two) for two in known] for one in given])
    rows, columns = linear_sum_assignment(-shared)
    found = []
    for row, column in zip(rows, columns, strict=True):
        own = float(shared[row, column])
        if own < FLOOR:
            raise OtherReferences(f"no reference is like “{given[row]}”")
        beside = [*np.delete(shared[row], column), *np.delete(shared[:, column], row)]
        if max(beside, default=0.0) > own - MARGIN:
            raise OtherReferences(f"several references are like “{given[row]}”")
        found.append(Taken(given[row], known[column], own))
    return found


def _shared(one: str, two: str) -> float:
    """Twice the number of shared words over that of both texts, 0–1."""
    first, second = set(words(one)), set(words(two))
    return 2 * len(first & second) / max(1, len(first) + len(second))
