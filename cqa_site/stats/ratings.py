"""The one shape of ratings: long tables of (item, rater, value), held as integer codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cqa_site.stats.arrays import FloatArray, IntArray

__all__ = [
    "COLUMNS",
    "DuplicateRatingError",
    "FloatArray",
    "IntArray",
    "MissingColumnError",
    "NotNumericError",
    "Ratings",
    "RatingsError",
    "UnknownCategoryError",
]

COLUMNS = ("item", "rater", "value")


class RatingsError(ValueError):
    """A table cannot be read as ratings."""


class MissingColumnError(RatingsError):
    """One of the columns item, rater, value is absent."""


class NotNumericError(RatingsError):
    """A value is neither a finite number nor missing."""


class DuplicateRatingError(RatingsError):
    """One rater rated one item more than once."""


class UnknownCategoryError(RatingsError):
    """A value lies outside the scale that was given."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings as codes; the dense items × raters matrix is never built.

    Attributes
    ----------
    item_codes, rater_codes : int arrays, shape (n_values,)
        Positions in `items` and `raters`.
    values : float array, shape (n_values,)
        Finite; missing ratings are simply not there.
    items, raters : pandas.Index
        Names in order of first appearance; every one has at least one value.
    """

    item_codes: IntArray
    rater_codes: IntArray
    values: FloatArray
    items: pd.Index
    raters: pd.Index

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Ratings:
        """Read a long table with the columns item, rater, value (others are ignored).

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
        """One rater's values, indexed by item."""
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
        """How many raters rated each item, shape (n_items,)."""
        return np.bincount(self.item_codes, minlength=self.n_items)

    def categories(self) -> FloatArray:
        """The distinct values, ascending."""
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
        """Position of every value in the ascending scale `categories`, shape (n_values,)."""
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
        """Keep the named items and raters; names without a value disappear."""
        kept = np.ones(self.n_values, dtype=bool)
        if items is not None:
            kept &= self.items.isin(list(items))[self.item_codes]
        if raters is not None:
            kept &= self.raters.isin(list(raters))[self.rater_codes]
        return Ratings.from_frame(self.to_frame()[kept])

    def to_frame(self) -> pd.DataFrame:
        """The long table again."""
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
