"""Whether stored cluster ids stand for these very texts, or for others with the same key points.

A seeded half of Debate has as many arguments of every reason as the released half, in the same
order of reasons: bare ids fit it as well, and are about other texts. What tells them apart are
words. Arguments that were clustered together share more words than others of the same key point,
so the ids are compared with what they come to when texts change places within their key point. On
the released clusterings that is 6 to 41 standard deviations above chance for the right texts, and
at most 3 for others.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from argsum.imports.methods.clustering_order import Clustered, positions

# Standard deviations from which on words show that the texts are the right ones.
SHOWN = 4.0
_CHANCES = 30
# Cells that are larger cost too much memory to be compared pair by pair.
_LARGEST = 5_000
_WORD = re.compile(r"[^\W_]+")
Matrix = NDArray[np.float64]


def word_strength(order: str, cells: Sequence[Clustered]) -> float | None:
    """How much more words clusters share than by chance within key points.

    Parameters
    ----------
    order
        One of `clustering_order.ORDERS`, in which the ids follow the arguments.
    cells
        Arguments with their clusterings.

    Returns
    -------
    float or None
        In standard deviations above the mean of texts that changed places; None where no change
        of places makes a difference, as where every cluster is a key point.

    Raises
    ------
    ValueError
        For another order, or a clustering of another length than its cell.
    """
    draw = np.random.default_rng(0)
    found, chances = 0.0, np.zeros(_CHANCES)
    for cell in cells:
        if not cell.clusterings or not 1 < len(cell.arguments) <= _LARGEST:
            continue
        ordered = [cell.arguments[place] for place in positions(order, cell.arguments)]
        alike, weights = _likeness([text for _point, text in ordered]), _together(cell)
        found += float((alike * weights).sum())
        groups: dict[str, list[int]] = defaultdict(list)
        for place, (point, _text) in enumerate(ordered):
            groups[point].append(place)
        for at in range(_CHANCES):
            places = np.arange(len(ordered))
            for group in groups.values():
                places[group] = draw.permutation(group)
            chances[at] += (alike[np.ix_(places, places)] * weights).sum()
    spread = float(chances.std())
    return (found - float(chances.mean())) / spread if spread > 1e-9 else None


def _together(cell: Clustered) -> Matrix:
    """For each pair of places how often it is in one cluster; every clustering weighs the same."""
    size = len(cell.arguments)
    weights = np.zeros((size, size))
    for ids in cell.clusterings:
        if len(ids) != size:
            raise ValueError("a clustering has another length than its cell")
        named = np.asarray(ids)
        same = (named[:, None] == named[None, :]) & (named >= 0)
        np.fill_diagonal(same, val=False)
        weights += same / max(1, same.sum())
    return weights


def _likeness(texts: Sequence[str]) -> Matrix:
    """Cosine of every pair of texts over their words, rare ones counting more."""
    counted = [Counter(_WORD.findall(text.lower())) for text in texts]
    texts_with = Counter(word for words in counted for word in words)
    columns = {word: at for at, word in enumerate(texts_with)}
    table = np.zeros((len(texts), max(1, len(columns))))
    for row, words in enumerate(counted):
        for word, times in words.items():
            rarity = np.log(len(texts) / texts_with[word])
            table[row, columns[word]] = (1 + np.log(times)) * rarity
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(lengths > 0, lengths, 1)
    return table @ table.T
