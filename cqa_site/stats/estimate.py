"""The answer of every statistic: a value with its recipe, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Protocol

NO_VALUES = "there are no ratings"
ONE_RATER = "there is only one rater"
NO_OVERLAP = "no item was rated by two raters"
ONE_VALUE = "only one value was used, so agreement by chance is certain"


class HasCounts(Protocol):
    """What an estimate says about the ratings behind it."""

    @property
    def n_items(self) -> int: ...
    @property
    def n_raters(self) -> int: ...
    @property
    def n_values(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One statistic.

    Attributes
    ----------
    value
        None if the statistic is undefined; never NaN.
    low, high
        Bounds of the interval, or both None.
    statistic, recipe
        Its name, and how it is computed in plain words (unit, missing-data rule).
    level
        Level of measurement (nominal, ordinal, interval, ratio) where one is used.
    interval
        How the interval was made, e.g. "item jackknife, t"; None without one.
    confidence
        Nominal coverage of the interval.
    n_items, n_raters, n_values
        The ratings handed in.
    n_pairable_items
        Items that entered the statistic because they have two or more ratings.
    n_dropped_items
        Items left out for another reason, which `recipe` names.
    reason
        Why value or interval is None.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    statistic: str
    recipe: str
    level: str | None = None
    interval: str | None = None
    confidence: float = 0.95
    n_items: int
    n_pairable_items: int
    n_raters: int
    n_values: int
    n_dropped_items: int = 0
    reason: str | None = None

    def __post_init__(self) -> None:
        numbers = (self.value, self.low, self.high)
        if any(number is not None and not math.isfinite(number) for number in numbers):
            raise ValueError("an estimate holds finite numbers or None")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two bounds or none")
        if (self.value is None or self.low is None) and not self.reason:
            raise ValueError("an estimate without a value or an interval needs a reason")
        if self.value is None and self.low is not None:
            raise ValueError("an undefined statistic has no interval")

    def as_dict(self) -> dict[str, Any]:
        """Plain strings, ints, floats and None, ready for JSON."""
        return asdict(self)


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise ValueError("confidence lies strictly between 0 and 1")
