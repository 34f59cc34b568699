"""Correlation of a metric with people over summary sets, and of people with each other.

Source: argument summarization paper, sections 3.4 (people) and 4.1 (across and within).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cqa_site.stats.arrays import FloatArray

Values = Sequence[float | None] | FloatArray
# Any two points lie on a line, so a correlation of two says nothing.
LEAST = 3


@dataclass(frozen=True)
class Correlations:
    """Pearson correlations of two columns over summary sets.

    Attributes
    ----------
    across
        Over all sets together; None where it is not defined.
    n
        Sets with both values.
    within_mean, within_sd
        Mean and population standard deviation (ddof 0) over the cells that have one.
    per_cell
        cell → its correlation; cells without one are not in it.
    constant_cells
        Cells in which a column does not vary, so that they have none.
    small_cells
        Cells with fewer than `LEAST` sets that have both values.
    """

    across: float | None
    n: int
    within_mean: float | None
    within_sd: float | None
    per_cell: dict[str, float]
    constant_cells: tuple[str, ...]
    small_cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class RaterPair:
    """Two raters and the n sets that both judged; None where Pearson is not defined."""

    first: str
    second: str
    n: int
    value: float | None


@dataclass(frozen=True)
class RaterPairs:
    """All pairs; `mean` over those that have a value, None without any."""

    pairs: tuple[RaterPair, ...]
    mean: float | None


def across_within(metric: Values, human: Values, cells: Sequence[str]) -> Correlations:
    """Correlation over all sets, and its mean over cells.

    Parameters
    ----------
    metric, human : length n
        None and nan are missing; a set counts where both have a value.
    cells : length n
        Topic and stance of each set.

    Raises
    ------
    ValueError
        If the lengths differ.

    Notes
    -----
    The paper leaves out, without saying so, cells in which a metric gives every set the same
    value. They are named in `constant_cells` here.
    """
    x, y = _floats(metric), _floats(human)
    if not len(x) == len(y) == len(cells):
        raise ValueError("The metric, the people and the cells differ in length.")
    both = ~(np.isnan(x) | np.isnan(y))
    per_cell: dict[str, float] = {}
    constant: list[str] = []
    small: list[str] = []
    for cell in dict.fromkeys(cells):
        here = both & np.array([each == cell for each in cells], dtype=bool)
        value = pearson(x[here], y[here])
        if value is not None:
            per_cell[cell] = value
        else:
            (small if here.sum() < LEAST else constant).append(cell)
    found = list(per_cell.values())
    return Correlations(
        across=pearson(x[both], y[both]),
        n=int(both.sum()),
        within_mean=float(np.mean(found)) if found else None,
        within_sd=float(np.std(found)) if found else None,
        per_cell=per_cell,
        constant_cells=tuple(constant),
        small_cells=tuple(small),
    )


def pairwise_pearson(raters: Mapping[str, Values]) -> RaterPairs:
    """Pearson of every pair of raters over the sets that both judged.

    Parameters
    ----------
    raters
        rater → one value per set, all in the same order; None and nan are missing.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    columns = {name: _floats(values) for name, values in raters.items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError("The raters differ in the number of sets.")
    pairs = []
    for first, second in combinations(columns, 2):
        x, y = columns[first], columns[second]
        both = ~(np.isnan(x) | np.isnan(y))
        pairs.append(RaterPair(first, second, int(both.sum()), pearson(x[both], y[both])))
    values = [pair.value for pair in pairs if pair.value is not None]
    return RaterPairs(tuple(pairs), float(np.mean(values)) if values else None)


def pearson(x: FloatArray, y: FloatArray) -> float | None:
    """Pearson; None with fewer than `LEAST` values or where one side does not vary."""
    if len(x) < LEAST or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    left, right = x - x.mean(), y - y.mean()
    value = float(left @ right / np.sqrt((left @ left) * (right @ right)))
    return min(1.0, max(-1.0, value))


def _floats(values: Values) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
