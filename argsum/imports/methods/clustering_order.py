"""Order of the arguments that stored cluster ids refer to, and checks of this order."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

import numpy as np

from argsum.scorers.methods.figures import index_of_pairs
from cqa_site.stats.arrays import FloatArray, IntArray

# Assignment of stored cluster ids to arguments if their file does not name the arguments.
#
# A clustering file of the argument summarization paper contains only ids. The ids of ArgKP follow
# the arguments of a cell sorted by key point and text, and the ids of Debate follow the rows of
# the processed file. Ids read in a wrong order still produce a figure, but a wrong one. An order
# is therefore judged by how well the ids agree with the reference key points, in standard
# deviations above random orders of the arguments. On the released files, the right order is at
# least 23 of them above chance, and at least 8 above every other order.

KEY_POINTS, ROWS, TEXTS = "key_points", "rows", "texts"
ORDERS = (KEY_POINTS, ROWS, TEXTS)
# Standard deviations from which an agreement is not due to chance, and one order beats another.
CLEAR, BETTER = 5.0, 3.0
_CHANCES = 20
# (key point, text) of an argument; cells store arguments in row order.
Given = tuple[str, str]


@dataclass(frozen=True)
class CellClusterings:
    """Arguments of one cell in row order, and their clusterings."""

    arguments: Sequence[Given]
    clusterings: Sequence[Sequence[int]]


@dataclass(frozen=True)
class OrderFit:
    """Agreement of ids with key points.

    Attributes
    ----------
    ari
        Mean over cells of the best clustering's adjusted Rand index, including noise.
    strength
        The same index in standard deviations above the mean of random orders.
    """

    ari: float
    strength: float


def positions(order: str, arguments: Sequence[Given]) -> list[int]:
    """Return the positions of a cell's arguments in the order of stored cluster ids.

    Parameters
    ----------
    order
        One of `ORDERS`: by key point, then text; in row order; or by text.
    arguments
        Key point and text of each argument, in row order.

    Raises
    ------
    ValueError
        If the order is not in `ORDERS`.

    Examples
    --------
    >>> cell = [("b", "x"), ("a", "z"), ("a", "y")]
    >>> positions("key_points", cell), positions("rows", cell), positions("texts", cell)
    ([2, 1, 0], [0, 1, 2], [0, 2, 1])
    """
    places = range(len(arguments))
    if order == ROWS:
        return list(places)
    if order not in ORDERS:
        raise ValueError(f"{order!a} is not one of {', '.join(ORDERS)}")
    return sorted(
        places, key=lambda at: arguments[at] if order == KEY_POINTS else arguments[at][1]
    )


def order_fits(cells: Sequence[CellClusterings]) -> dict[str, OrderFit]:
    """Return the fit of every order in `ORDERS`; equivalent orders have the same fit.

    Raises
    ------
    ValueError
        If the length of a clustering differs from that of its cell.
    """
    cells = [cell for cell in cells if cell.clusterings and cell.arguments]
    # A fixed seed gives the same result for the same file, and the draws are not secret.
    draw = random.Random(0)  # noqa: S311
    tables = [_Table(cell) for cell in cells]
    chance = [_best(tables, [_shuffled(cell, draw) for cell in cells]) for _ in range(_CHANCES)]
    middle, spread = (fmean(chance), pstdev(chance)) if cells else (0.0, 0.0)
    fits = {}
    for order in ORDERS:
        ari = _best(tables, [positions(order, cell.arguments) for cell in cells])
        fits[order] = OrderFit(ari, (ari - middle) / spread if spread else 0.0)
    return fits


def better_order(order: str, fits: Mapping[str, OrderFit]) -> str:
    """Return the order that the ids follow more clearly than the given order, or ""."""
    best = max(fits, key=lambda name: fits[name].strength)
    strength = fits[best].strength
    is_better = strength >= CLEAR and strength >= fits[order].strength + BETTER
    return best if is_better else ""


def is_confirmed(
    order: str, fits: Mapping[str, OrderFit], cells: Sequence[CellClusterings]
) -> bool:
    """Return whether ids agree with key points, and clearly better in this order than in others.

    The result is also true if every order puts all arguments in the same positions.
    """
    own = [positions(order, clusterings.arguments) for clusterings in cells]
    others = [
        name for name in ORDERS if [positions(name, cell.arguments) for cell in cells] != own
    ]
    if not others:
        return True
    strength = fits[order].strength
    return strength >= CLEAR and all(strength >= fits[name].strength + BETTER for name in others)


def _shuffled(cell: CellClusterings, draw: random.Random) -> list[int]:
    return draw.sample(range(len(cell.arguments)), len(cell.arguments))


class _Table:
    """Contingency tables of key points × clusters for a cell, recounted for many orders."""

    def __init__(self, cell: CellClusterings) -> None:
        self.n = len(cell.arguments)
        if any(len(ids) != self.n for ids in cell.clusterings):
            raise ValueError("the length of a clustering differs from that of its cell")
        # A dictionary distinguishes them, because arrays of texts drop NULs at the end.
        numbers: dict[str, int] = {}
        self.points = np.array(
            [numbers.setdefault(point, len(numbers)) for point, _text in cell.arguments]
        )
        clusters = [np.unique(ids, return_inverse=True)[1] for ids in cell.clusterings]
        widths = [len(numbers) * (int(cluster.max()) + 1) for cluster in clusters]
        self.starts = np.cumsum([0, *widths[:-1]])
        self.width = sum(widths)
        # Where an argument of the first key point is counted.
        self.counted_at = np.array(clusters) * len(numbers) + self.starts[:, None]
        self.rows = int(_pairs(np.bincount(self.points)).sum())
        self.columns = [int(_pairs(np.bincount(cluster)).sum()) for cluster in clusters]

    def best(self, order: Sequence[int]) -> float:
        """Return the largest index among the clusterings for an order of the arguments."""
        if self.n < 2:
            return 0.0
        at = self.counted_at + self.points[list(order)]
        pairs = _pairs(np.bincount(at.ravel(), minlength=self.width))
        together = np.add.reduceat(pairs, self.starts).tolist()
        return max(
            index_of_pairs(self.n, both, self.rows, columns)
            for both, columns in zip(together, self.columns, strict=True)
        )


def _pairs(sizes: IntArray) -> IntArray:
    return sizes * (sizes - 1) // 2


def _best(tables: Sequence[_Table], orders: Sequence[Sequence[int]]) -> float:
    """Return the mean over cells of the largest index among each cell's clusterings."""
    best = [table.best(order) for table, order in zip(tables, orders, strict=True)]
    return fmean(best) if best else 0.0


# Check whether stored cluster ids refer to these texts or to others with the same key points.
#
# A random half of Debate has as many arguments per reason as the released half, in the same order
# of reasons. Ids without texts fit it equally well, but refer to other texts. Only words
# distinguish the two: arguments in the same cluster share more words than others of the same key
# point. The ids are therefore compared with the result when texts change places within their key
# point. On the released clusterings, the right texts are 6 to 41 standard deviations above chance,
# and other texts at most 3.

# Standard deviations from which words prove that the texts are the right ones.
LEAST_STRENGTH = 4.0
_WORD_CHANCES = 30
# Comparing larger cells pair by pair would need too much memory.
_LARGEST = 5_000
_WORD = re.compile(r"[^\W_]+")


def word_strength(order: str, cells: Sequence[CellClusterings]) -> float | None:
    """Return how far the words shared within clusters exceed chance, given the key points.

    Parameters
    ----------
    order
        Order of the arguments that the ids follow; one of `ORDERS`.
    cells
        Arguments with their clusterings.

    Returns
    -------
    float or None
        In standard deviations above the mean after random shuffling within key points; None if
        shuffling makes no difference, for example because every cluster is a key point.

    Raises
    ------
    ValueError
        For an unknown order, or if a clustering and its cell differ in length.
    """
    draw = np.random.default_rng(0)
    strength, chances = 0.0, np.zeros(_WORD_CHANCES)
    for cell in cells:
        if not cell.clusterings or not 1 < len(cell.arguments) <= _LARGEST:
            continue
        ordered = [cell.arguments[place] for place in positions(order, cell.arguments)]
        alike, weights = _likeness([text for _point, text in ordered]), _together(cell)
        strength += float((alike * weights).sum())
        groups: dict[str, list[int]] = defaultdict(list)
        for place, (point, _text) in enumerate(ordered):
            groups[point].append(place)
        for at in range(_WORD_CHANCES):
            places = np.arange(len(ordered))
            for group in groups.values():
                places[group] = draw.permutation(group)
            chances[at] += (alike[np.ix_(places, places)] * weights).sum()
    spread = float(chances.std())
    return (strength - float(chances.mean())) / spread if spread > 1e-9 else None


def _together(cell: CellClusterings) -> FloatArray:
    """Return how often each pair shares a cluster; every clustering has the same weight."""
    size = len(cell.arguments)
    weights = np.zeros((size, size))
    for ids in cell.clusterings:
        if len(ids) != size:
            raise ValueError("the length of a clustering differs from that of its cell")
        named = np.asarray(ids)
        same = (named[:, None] == named[None, :]) & (named >= 0)
        np.fill_diagonal(same, val=False)
        weights += same / max(1, same.sum())
    return weights


def _likeness(texts: Sequence[str]) -> FloatArray:
    """Return the cosine of the words of every pair of texts; rare words weigh more."""
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
