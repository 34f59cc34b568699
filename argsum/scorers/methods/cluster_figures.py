"""How well clusters of arguments separate what people put under different key points.

Source: argument summarization paper, section 4.2.1; Warrens and van der Hoef (2022) for the
adjusted Rand index. Higher is better.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

from argsum.systems.methods.mcargsum import UNCLUSTERED

Noise = Literal["exclude", "include"]

# The paper prints 70 %; its released clusterings give its figures with 75 %.
LEAST_SHARE = 0.75


@dataclass(frozen=True)
class ClusterFigure:
    """One clustering of one cell against the reference.

    Attributes
    ----------
    setting
        What the clusters were made with.
    excluding, including
        Adjusted Rand index without unclustered arguments, and with them as one more cluster;
        None where it is not defined.
    share
        Of the arguments that are clustered, 0–1.
    """

    setting: str
    excluding: float | None
    including: float | None
    share: float


@dataclass(frozen=True)
class OverCells:
    """A mean over cells of which some may have no index.

    Attributes
    ----------
    mean
        Over the cells that have one; None without any.
    with_zeros
        Over all cells, 0 for those without: what settings are chosen and ranked by, so that none
        wins by leaving cells out. None without any cell.
    n, cells
        Cells that have one; all.
    """

    mean: float | None
    with_zeros: float | None
    n: int
    cells: int


def over_cells(values: Iterable[float | None]) -> OverCells:
    """The mean of an index over cells; None is a cell without one.

    Examples
    --------
    >>> over_cells([0.5, None, 0.4])
    OverCells(mean=0.45, with_zeros=0.3, n=2, cells=3)
    """
    every = list(values)
    known = [each for each in every if each is not None]
    total = sum(known)
    return OverCells(
        mean=total / len(known) if known else None,
        with_zeros=total / len(every) if every else None,
        n=len(known),
        cells=len(every),
    )


def has_enough(share: float | None, least_share: float = LEAST_SHARE) -> bool:
    """Whether enough is clustered for an index without the unclustered arguments."""
    return (share or 0.0) >= least_share - 1e-12


@dataclass(frozen=True)
class BestPerCell:
    """The best clustering of every cell, chosen by the figure it is judged by: an oracle.

    Attributes
    ----------
    over
        The mean over cells, and over how many.
    chosen
        cell → the clustering.
    without
        Cells in which no clustering has a figure and a large enough share.
    """

    over: OverCells
    chosen: dict[str, ClusterFigure]
    without: tuple[str, ...]

    @property
    def mean(self) -> float | None:
        """Over the cells that have one; None without any."""
        return self.over.mean


def cluster_figure(setting: str, reference: Sequence[str], ids: Sequence[int]) -> ClusterFigure:
    """All figures of one clustering; both sequences have length n."""
    return ClusterFigure(
        setting,
        excluding=adjusted_rand(reference, ids, noise="exclude"),
        including=adjusted_rand(reference, ids, noise="include"),
        share=share_clustered(ids),
    )


def adjusted_rand(
    reference: Sequence[str], ids: Sequence[int], *, noise: Noise = "include"
) -> float | None:
    """Adjusted Rand index of cluster ids against the reference key points.

    Parameters
    ----------
    reference : length n
        The key point of each argument.
    ids : length n
        Clusters; -1 is unclustered.
    noise
        ``"exclude"`` leaves unclustered arguments out; ``"include"`` takes them as one more
        cluster.

    Returns
    -------
    float or None
        At most 1, about 0 for clusters by chance. 1 where both sides are a single cluster or
        both are single arguments only. None with fewer than 2 arguments.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> adjusted_rand("aabbc", [0, 0, 1, -1, -1], noise="exclude")
    1.0
    >>> adjusted_rand("aabbc", [0, 0, 1, -1, -1], noise="include")
    0.375
    """
    pairs = [
        pair
        for pair in zip(reference, ids, strict=True)
        if noise == "include" or pair[1] != UNCLUSTERED
    ]
    if len(pairs) < 2:
        return None
    together = _pairs(pairs)
    rows, columns = (_pairs(side) for side in zip(*pairs, strict=True))
    return index_of_pairs(len(pairs), together, rows, columns)


def index_of_pairs(n: int, together: int, rows: int, columns: int) -> float:
    """Adjusted Rand index of n arguments, from the pairs that share both labels or one of them."""
    if together == rows == columns:
        # The same partition; also where chance could do no worse and the index is 0 / 0.
        return 1.0
    # In whole numbers, so that the order of operations rounds nothing.
    total, chance = comb(n, 2), rows * columns
    return 2 * (together * total - chance) / ((rows + columns) * total - 2 * chance)


def share_clustered(ids: Sequence[int]) -> float:
    """Share of the arguments that are clustered; 0 without arguments."""
    return sum(each != UNCLUSTERED for each in ids) / len(ids) if ids else 0.0


def best_per_cell(
    cells: Mapping[str, Sequence[ClusterFigure]],
    *,
    noise: Noise,
    least_share: float = LEAST_SHARE,
) -> BestPerCell:
    """The clustering with the largest index in every cell, and the mean over cells.

    Parameters
    ----------
    cells
        cell → its clusterings.
    noise
        ``"exclude"`` judges by `excluding`, among clusterings with at least `least_share`
        clustered; ``"include"`` by `including`, among all.
    least_share
        0–1, inclusive.

    Notes
    -----
    The figure that chooses is the figure that is reported: it is an oracle. Equal figures
    leave the clustering that comes first.
    """
    chosen: dict[str, ClusterFigure] = {}
    values: dict[str, float | None] = {}
    for cell, figures in cells.items():
        valued = [
            (value, figure)
            for figure in figures
            if (value := index_of(figure, noise, least_share)) is not None
        ]
        if any(each.including is not None for each in figures):
            # Others have fewer than two arguments to judge: there is no index to miss.
            values[cell] = None
        if valued:
            values[cell], chosen[cell] = max(valued, key=lambda pair: pair[0])
    return BestPerCell(
        over=over_cells(values.values()),
        chosen=chosen,
        without=tuple(cell for cell in cells if cell not in chosen),
    )


def index_of(
    figure: ClusterFigure, noise: Noise, least_share: float = LEAST_SHARE
) -> float | None:
    """The index of a clustering as it counts everywhere; None where too little is clustered."""
    if noise == "include":
        return figure.including
    return figure.excluding if has_enough(figure.share, least_share) else None


def _pairs(labels: Sequence[object]) -> int:
    """Pairs of arguments that share a label."""
    return sum(comb(size, 2) for size in Counter(labels).values())
