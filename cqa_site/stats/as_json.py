"""Figures as JSON keeps them, and back: frozen dataclasses, tuples, mappings and plain values.

A dataclass is stored as an object, a tuple (named or not) as a list, a mapping with its keys as
text. What is not a finite number is stored as None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

# Further digits differ between machines and mean nothing.
DECIMALS = 9
# Metadata of a field that is stored only where it has a value.
ONLY_IF_KNOWN = {"only_if_known": True}
Kind = TypeVar("Kind")
Reader = Callable[[Any], Any]


class StoredError(ValueError):
    """What is stored is no such figure; the message names the field."""


def to_json(value: Any) -> Any:
    """Plain values ready for JSON: no NaN, floats rounded to `DECIMALS`, keys that are text."""
    if isinstance(value, float):
        return round(value, DECIMALS) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(each) for each in value]
    if is_dataclass(value):
        return {
            each.name: to_json(getattr(value, each.name))
            for each in fields(value)
            if not each.metadata.get("only_if_known") or getattr(value, each.name) is not None
        }
    return value


def from_json(kind: type[Kind], stored: Any) -> Kind:
    """Build a dataclass of what `to_json` gave.

    Fields without a default have to be there, and there may be no others. Numbers and texts are
    taken as they are.

    Raises
    ------
    StoredError
        For a missing and for an unknown field.
    """
    found: Kind = _reader(kind)(stored)
    return found


@cache
def _reader(kind: Any) -> Reader:
    """What reads values of a type."""
    if is_dataclass(kind):
        return _object(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        read = _reader(next(each for each in inner if each is not NoneType))
        return lambda value: None if value is None else read(value)
    if origin is tuple or origin is list:
        return _sequence(origin, _reader(inner[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(inner[0], _reader(inner[1]))
    if isinstance(kind, type) and issubclass(kind, tuple):
        return lambda values: kind(*values)
    return _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _sequence(made: Callable[[Any], Any], read: Reader) -> Reader:
    if read is _as_it_is:
        return made

    def read_all(values: Sequence[Any]) -> Any:
        return made(_located(read, each, at) for at, each in enumerate(values))

    return read_all


def _mapping(key: Callable[[str], Any], read: Reader) -> Reader:
    def read_all(stored: Mapping[str, Any]) -> dict[Any, Any]:
        return {key(name): _located(read, each, name) for name, each in stored.items()}

    return read_all


def _located(read: Reader, value: Any, place: object) -> Any:
    """Read a value; a message says where it stands."""
    try:
        return read(value)
    except StoredError as reason:
        raise StoredError(f"{place}: {reason}") from None


def _object(kind: Any) -> Reader:
    """Read a dataclass; its type hints are looked at once, when the first one is read."""

    def read(stored: Mapping[str, Any]) -> Any:
        readers = _field_readers(kind)
        given = {
            name: _located(readers[name], value, name)
            for name, value in stored.items()
            if name in readers
        }
        unknown = stored.keys() - given.keys()
        missing = _needed(kind) - given.keys()
        if unknown or missing:
            wrong = [*(f"unknown {name}" for name in sorted(unknown))]
            wrong += [f"no {name}" for name in sorted(missing)]
            raise StoredError(f"{kind.__name__} with {', '.join(wrong)}")
        return kind(**given)

    return read


@cache
def _field_readers(kind: Any) -> dict[str, Reader]:
    hints = get_type_hints(kind)
    return {each.name: _reader(hints[each.name]) for each in fields(kind)}


@cache
def _needed(kind: Any) -> frozenset[str]:
    """Fields without a default."""
    return frozenset(
        each.name
        for each in fields(kind)
        if each.default is MISSING and each.default_factory is MISSING
    )
