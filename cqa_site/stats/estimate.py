"""Estimates, standings and alpha thresholds, and their storage as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

# The result of every statistic: a value with its recipe, or the reason for a missing value.

NO_VALUES = "there are no ratings"
ONE_RATER = "there is only one rater"
NO_OVERLAP = "no item was rated by two raters"
ONE_VALUE = "only one value was used on items rated twice, so agreement by chance is certain"


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """A figure with its interval.

    Attributes
    ----------
    value
        None if the figure is undefined; never NaN.
    low, high
        Bounds of the interval, or both None.
    reason
        Reason why the value or the interval is None.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class BoundedMean:
    """A mean with its interval; the mean and the bounds are None if undefined."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        """The mean, under the name that tables and texts use for every figure."""
        return self.mean


@dataclass(frozen=True, kw_only=True)
class Estimate(Bounded):
    """One statistic with its interval and its recipe.

    Attributes
    ----------
    statistic, recipe
        Name of the statistic, and a plain description of its computation (unit, missing-data
        rule).
    level
        Level of measurement (nominal, ordinal, interval, ratio), if one is used.
    interval
        Method for the interval, e.g. "item jackknife, t"; None if there is no interval.
    confidence
        Nominal coverage of the interval.
    n_items
        Number of input items.
    n_pairable_items
        Number of items that enter the statistic because they have two or more ratings.
    n_raters, n_values
        Number of raters and of ratings that enter the statistic.
    n_dropped_items
        Number of items left out for another reason, which `recipe` names.
    """

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

    def __post_init__(self) -> None:
        numbers = (self.value, self.low, self.high)
        if any(number is not None and not math.isfinite(number) for number in numbers):
            raise ValueError("the numbers of an estimate must be finite or None")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval must have both bounds or neither")
        if (self.value is None or self.low is None) and not self.reason:
            raise ValueError("an estimate without a value or an interval needs a reason")
        if self.value is None and self.low is not None:
            raise ValueError("an undefined statistic cannot have an interval")

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain strings, ints, floats and None, ready for JSON."""
        return asdict(self)


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise ValueError("confidence must be strictly between 0 and 1")


# Conclusions are firm from the first threshold on, and tentative from the second.
FIRM, TENTATIVE = 0.8, 0.667

# Conversion of figures to JSON and back: frozen dataclasses, tuples, mappings, plain values.
#
# A dataclass is stored as an object, a tuple (named or not) as a list, a mapping with its keys as
# text. Numbers that are not finite are stored as None.

# Metadata of a field that is stored only if it has a value.
ONLY_IF_KNOWN = {"only_if_known": True}
Kind = TypeVar("Kind")
Reader = Callable[[Any], Any]


class StoredError(ValueError):
    """The stored value does not fit the figure; the message names the field."""


def to_json(value: Any, decimals: int | None = None) -> Any:
    """Return plain values for JSON: text keys, no NaN, floats rounded to ``decimals`` if given."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return value if decimals is None else round(value, decimals)
    if isinstance(value, Mapping):
        return {str(key): to_json(part, decimals) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(part, decimals) for part in value]
    if is_dataclass(value):
        return {
            field.name: to_json(getattr(value, field.name), decimals)
            for field in fields(value)
            if not field.metadata.get("only_if_known") or getattr(value, field.name) is not None
        }
    return value


def from_json(kind: type[Kind], stored: Any) -> Kind:
    """Build a dataclass from the output of `to_json`; numbers and texts are not converted.

    Raises
    ------
    StoredError
        For a missing field without a default, and for an unknown field.
    """
    instance: Kind = _reader(cast(Hashable, kind))(stored)
    return instance


@cache
def _reader(kind: Any) -> Reader:
    """Return the function that reads values of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _object(kind)
    if origin in (Union, UnionType):
        of = _first_of({_reader(member): None for member in inner if member is not NoneType})
        return of if of is _as_it_is else lambda value: None if value is None else of(value)
    if origin is tuple:
        of = _reader(inner[0])
        if of is _as_it_is:
            return tuple
        return lambda values: tuple(_at(at, of, part) for at, part in enumerate(values))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, of = inner[0], _reader(inner[1])
        return lambda items: {key(name): _at(name, of, part) for name, part in items.items()}
    if isinstance(kind, type) and issubclass(kind, tuple):
        return lambda values: kind(*values)
    return _as_it_is


def _object(kind: Any) -> Reader:
    """Return a reader for a dataclass that resolves the type hints on its first call."""
    known = {field.name for field in fields(kind)}
    needed = {
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }

    @cache
    def readers() -> dict[str, Reader]:
        hints = get_type_hints(kind)
        by_name = {name: _reader(hints[name]) for name in known}
        return {name: of for name, of in by_name.items() if of is not _as_it_is}

    def read(stored: Mapping[str, Any]) -> Any:
        if not needed <= stored.keys() <= known:
            wrong = [f"unknown {name}" for name in sorted(stored.keys() - known)]
            wrong += [f"no {name}" for name in sorted(needed - stored.keys())]
            raise StoredError(f"{kind.__name__} with {', '.join(wrong)}")
        deep = {name: of for name, of in readers().items() if name in stored}
        values = {name: _at(name, of, stored[name]) for name, of in deep.items()}
        return kind(**{**stored, **values})

    return read


def _first_of(readers: Collection[Reader]) -> Reader:
    """Return a reader that tries several types and uses the first one with matching fields."""
    *others, last = readers

    def read(value: Any) -> Any:
        for of in others:
            with suppress(StoredError):
                return of(value)
        return last(value)

    return read if others else last


def _as_it_is(value: Any) -> Any:
    return value


def _at(place: object, read: Reader, value: Any) -> Any:
    """Read a value; error messages name its location."""
    try:
        return read(value)
    except StoredError as reason:
        raise StoredError(f"{place}: {reason}") from None


# One system on a board, with its uncertainty.


@dataclass(frozen=True, kw_only=True)
class RankPosition:
    """The position of a system on a board.

    Attributes
    ----------
    rank, rank_low, rank_high
        Rank, where 1 is best and equal figures share a rank, and the range left open by the
        pairwise tests: from one more than the number of systems shown to be better, up to the
        number of all systems except those shown to be worse.
    tie_group
        Number of the group, from 1; no two systems in a group can be told apart.
    """

    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    tie_group: int | None = None


@dataclass(frozen=True, kw_only=True)
class Standing(BoundedMean, RankPosition):
    """One system on the board: its mean, in points, over the shared questions, and its position.

    Attributes
    ----------
    system
        Name of the system.
    n_questions
        Number of questions with a score for this system, whether shared or not.
    """

    system: str
    n_questions: int
