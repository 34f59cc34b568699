"""Ratings as integer codes, and coincidences of values within items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cqa_site.stats.arrays import FloatArray, IntArray

__all__ = [
    "COLUMNS", "DuplicateRatingError", "FloatArray", "IntArray", "MissingColumnError",
    "NotNumericError", "Ratings", "RatingsError", "UnknownCategoryError",
]  # fmt: skip

COLUMNS = ("item", "rater", "value")


class RatingsError(ValueError):
    """The table cannot be read as ratings."""


class MissingColumnError(RatingsError):
    """One of the columns item, rater and value is absent."""


class NotNumericError(RatingsError):
    """A value is neither a finite number nor missing."""


class DuplicateRatingError(RatingsError):
    """One rater rated one item more than once."""


class UnknownCategoryError(RatingsError):
    """A value lies outside the given scale."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings as codes; the dense items × raters matrix is never built.

    Attributes
    ----------
    item_codes, rater_codes : int arrays, shape (n_values,)
        Positions in `items` and `raters`.
    values : float array, shape (n_values,)
        Finite; missing ratings are left out.
    items, raters : pandas.Index
        Names in order of first appearance; each has at least one value.
    """

    item_codes: IntArray
    rater_codes: IntArray
    values: FloatArray
    items: pd.Index
    raters: pd.Index

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Ratings:
        """Read a long table with the columns item, rater and value (others are ignored).

        Rows whose value is missing are dropped. A row without an item or a rater is an error.

        Raises
        ------
        MissingColumnError, NotNumericError, DuplicateRatingError, RatingsError
        """
        absent = [column for column in COLUMNS if column not in frame.columns]
        if absent:
            raise MissingColumnError(f"the ratings table lacks columns: {', '.join(absent)}")
        values = _numbers(frame["value"])
        rated = ~np.isnan(values)
        item_codes, items = pd.factorize(frame["item"][rated])
        rater_codes, raters = pd.factorize(frame["rater"][rated])
        if (item_codes < 0).any() or (rater_codes < 0).any():
            raise RatingsError("a rating has no item or no rater")
        ratings = cls(
            item_codes.astype(np.int64),
            rater_codes.astype(np.int64),
            values[rated],
            pd.Index(items, name="item"),
            pd.Index(raters, name="rater"),
        )
        ratings._refuse_duplicates()
        return ratings

    @classmethod
    def from_series(cls, series: pd.Series, rater: str) -> Ratings:
        """Build ratings from one rater's values, indexed by item."""
        return cls.from_frame(
            pd.DataFrame({"item": series.index, "rater": rater, "value": series.to_numpy()})
        )

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_raters(self) -> int:
        return len(self.raters)

    @property
    def n_values(self) -> int:
        return len(self.values)

    @property
    def values_per_item(self) -> IntArray:
        """Number of raters per item, shape (n_items,)."""
        return np.bincount(self.item_codes, minlength=self.n_items)

    def counts_on(self, items: NDArray[np.bool_]) -> dict[str, int]:
        """Count ``n_raters`` and ``n_values`` for the items in a mask of shape (n_items,)."""
        is_there = items[self.item_codes]
        raters = np.unique(self.rater_codes[is_there])
        return {"n_raters": len(raters), "n_values": int(is_there.sum())}

    def categories(self) -> FloatArray:
        """Return the distinct values in ascending order."""
        return np.unique(self.values)

    def counts(self, categories: Sequence[float] | FloatArray | None = None) -> IntArray:
        """Count, for each item, the raters who gave each category.

        Parameters
        ----------
        categories
            The scale in ascending order; by default the distinct values.

        Returns
        -------
        int array, shape (n_items, n_categories)

        Raises
        ------
        UnknownCategoryError
            If a value is not one of `categories`.
        """
        scale = self.categories() if categories is None else np.asarray(categories, dtype=float)
        cells = self.item_codes * len(scale) + self.value_codes(scale)
        shape = (self.n_items, len(scale))
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)

    def value_codes(self, categories: Sequence[float] | FloatArray) -> IntArray:
        """Return each value's position in the ascending scale `categories`, shape (n_values,)."""
        scale = np.asarray(categories, dtype=float)
        if not (np.diff(scale) > 0).all():
            raise RatingsError("the categories of a scale must be distinct and ascending")
        codes = np.searchsorted(scale, self.values)
        inside = codes < len(scale)
        if not inside.all() or (scale[codes] != self.values).any():
            raise UnknownCategoryError("a value is not one of the categories of the scale")
        return codes.astype(np.int64)

    def subset(
        self, items: Iterable[Any] | None = None, raters: Iterable[Any] | None = None
    ) -> Ratings:
        """Keep the named items and raters; names without a value are dropped."""
        mask = np.ones(self.n_values, dtype=bool)
        if items is not None:
            mask &= self.items.isin(list(items))[self.item_codes]
        if raters is not None:
            mask &= self.raters.isin(list(raters))[self.rater_codes]
        return Ratings.from_frame(self.to_frame()[mask])

    def to_frame(self) -> pd.DataFrame:
        """Return the ratings as a long table."""
        columns = (self.items[self.item_codes], self.raters[self.rater_codes], self.values)
        return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))

    def _refuse_duplicates(self) -> None:
        cells = pd.Series(self.item_codes * max(self.n_raters, 1) + self.rater_codes)
        repeated = cells.duplicated().to_numpy()
        if not repeated.any():
            return
        first = int(np.flatnonzero(repeated)[0])
        item, rater = self.items[self.item_codes[first]], self.raters[self.rater_codes[first]]
        raise DuplicateRatingError(
            f"{int(repeated.sum())} repeated ratings, first of item {item!r} by rater {rater!r}"
        )


def _numbers(column: pd.Series) -> FloatArray:
    try:
        values = pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise NotNumericError(f"a rating is not a number: {error}") from error
    if np.isinf(values).any():
        raise NotNumericError("a rating is infinite")
    return np.asarray(values, dtype=np.float64)


# Coincidences of values within items, and Krippendorff's alpha with one item left out.
#
# Notation: ``counts[i, k]`` raters gave item i the value ``categories[k]``; an item with n
# ratings adds ``(counts[i] counts[i]' - diag(counts[i])) / (n - 1)`` to the coincidence matrix,
# whose margins are again ``counts[i]``. Items with equal counts are handled together.
#
# Source: Krippendorff, Content Analysis, chapter on reliability; Hayes and Krippendorff (2007).

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[str, ...] = get_args(Level)


def check_level(level: str) -> None:
    """Raise ValueError for an unknown level of measurement."""
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")


def pairable_counts(counts: IntArray, categories: FloatArray) -> tuple[IntArray, FloatArray]:
    """Drop items with fewer than two ratings, then categories without ratings."""
    pairable = counts[counts.sum(axis=1) >= 2]
    used = pairable.any(axis=0)
    return pairable[:, used], categories[used]


def row_kinds(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of `counts` in lexicographic order, and the index of each row.

    Returns
    -------
    rows : shape (n_kinds, n_categories)
    kind : shape (n_items,), positions in `rows`
    """
    key = np.zeros(len(counts), dtype=np.int64)
    for column in counts.T:
        # Factorising after each column keeps the keys below n_items × largest count.
        key, _ = pd.factorize(key * (int(column.max(initial=0)) + 1) + column)
    _, first, kind = np.unique(key, return_index=True, return_inverse=True)
    rows = counts[first]
    order = np.lexsort(rows.T[::-1]) if rows.size else np.arange(len(rows))
    return rows[order], np.argsort(order)[kind]


def distinct_rows(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of `counts` in lexicographic order, and their frequencies."""
    rows, kind = row_kinds(counts)
    return rows, np.bincount(kind, minlength=len(rows))


def coincidence_matrix(rows: IntArray, multiplicity: IntArray) -> FloatArray:
    """Count ordered pairs of values within items, weighting each item by 1 / (its ratings - 1).

    Parameters
    ----------
    rows : shape (n_kinds, n_categories)
        Every row sums to at least 2.
    multiplicity : shape (n_kinds,)
        Number of items with these counts.

    Returns
    -------
    shape (n_categories, n_categories), symmetric; the margins count the pairable values.
    """
    weights = multiplicity / (rows.sum(axis=1) - 1)
    weighted = rows * weights[:, None]
    return np.asarray(weighted.T @ rows - np.diag(weighted.sum(axis=0)), dtype=np.float64)


def distances(level: Level, categories: FloatArray, margins: FloatArray | IntArray) -> FloatArray:
    """Return the squared difference of each pair of categories at a level of measurement.

    Parameters
    ----------
    level : {"nominal", "ordinal", "interval", "ratio"}
        Nominal: 0 or 1; ordinal: ranks; interval: values; ratio: difference / sum.
    categories : shape (n_categories,)
        The values, ascending.
    margins : shape (n_categories,)
        Frequency of each value among pairable ratings; used only at the ordinal level, where a
        category's position is its mid-rank.
    """
    if level == "nominal":
        return 1.0 - np.eye(len(categories))
    if level == "ratio":
        total = np.add.outer(categories, categories)
        difference = np.subtract.outer(categories, categories)
        share = np.divide(difference, total, out=np.zeros_like(total), where=total != 0)
        return np.asarray(share**2, dtype=np.float64)
    scores = mid_ranks(margins) if level == "ordinal" else categories
    return np.asarray(np.subtract.outer(scores, scores) ** 2, dtype=np.float64)


def mid_ranks(margins: FloatArray | IntArray) -> FloatArray:
    """Return each category's mean rank (from 0).

    Also works for rows of margins, shape (..., n_categories).
    """
    ranks = margins.astype(np.float64)
    return np.asarray(np.cumsum(ranks, axis=-1) - ranks / 2)


def alpha_from_counts(rows: IntArray, multiplicity: IntArray, distance: FloatArray) -> float:
    """Return 1 - observed / expected disagreement for a fixed distance; NaN for one value."""
    coincidences = coincidence_matrix(rows, multiplicity)
    margins = coincidences.sum(axis=0)
    expected = float(margins @ distance @ margins)
    if expected == 0:
        return float("nan")
    return 1 - (float(margins.sum()) - 1) * float((coincidences * distance).sum()) / expected


def chance_corrected(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return 1 - observed / expected elementwise; NaN where no disagreement is expected."""
    undefined = np.full(len(expected), np.nan)
    ratio = np.divide(observed, expected, out=undefined, where=expected > 1e-12)
    return np.asarray(1 - ratio, dtype=np.float64)


def alphas_left_out(
    level: Level, rows: IntArray, multiplicity: IntArray, categories: FloatArray
) -> FloatArray:
    """Return alpha without one item of each kind, shape (n_kinds,); NaN if one value remains."""
    total = multiplicity @ rows
    margins = (total - rows).astype(np.float64)
    if level == "ordinal":
        observed, expected = _quadratic_left_out(rows, multiplicity, margins)
    else:
        distance = distances(level, categories, total)
        observed, expected = _fixed_left_out(rows, multiplicity, margins, distance)
    # Without one item, only one value may remain; the expected disagreement is then zero.
    several_values = (margins > 0).sum(axis=1) > 1
    ratio = np.divide(observed, expected, out=np.full(len(rows), np.nan), where=several_values)
    return np.asarray(1 - (margins.sum(axis=1) - 1) * ratio)


def _fixed_left_out(
    rows: IntArray, multiplicity: IntArray, margins: FloatArray, distance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    own = ((rows @ distance) * rows).sum(axis=1) / (rows.sum(axis=1) - 1)
    observed = own @ multiplicity - own
    return observed, ((margins @ distance) * margins).sum(axis=1)


def _quadratic_left_out(
    rows: IntArray, multiplicity: IntArray, margins: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return observed and expected sums when every left-out item changes the mid-ranks.

    With scores x, the sum of ``o[k, l] (x[k] - x[l])**2`` is ``2 (n x² - x' o x)``, so no
    n_kinds × n_categories² array is needed.
    """
    # Without the only item, nothing is left; the caller marks this case as undefined.
    n = np.maximum(margins.sum(axis=1, keepdims=True), 1)
    ranks = mid_ranks(margins) / n
    scores = ranks - (margins * ranks).sum(axis=1, keepdims=True) / n
    squares = (margins * scores**2).sum(axis=1)
    whole = ((scores @ coincidence_matrix(rows, multiplicity)) * scores).sum(axis=1)
    own = ((rows * scores).sum(axis=1) ** 2 - (rows * scores**2).sum(axis=1)) / (
        rows.sum(axis=1) - 1
    )
    return 2 * (squares - whole + own), 2 * n[:, 0] * squares
