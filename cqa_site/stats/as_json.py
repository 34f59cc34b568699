"""Figures as JSON keeps them, and back: frozen dataclasses, tuples, mappings and plain values.

A dataclass is stored as an object, a tuple (named or not) as a list, a mapping with its keys as
text. What is not a finite number is stored as None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

# Metadata of a field that is stored only where it has a value.
ONLY_IF_KNOWN = {"only_if_known": True}
Kind = TypeVar("Kind")
Reader = Callable[[Any], Any]


class StoredError(ValueError):
    """What is stored is no such figure; the message names the field."""


def to_json(value: Any, decimals: int | None = None) -> Any:
    """Plain values ready for JSON: keys that are text, no NaN; floats rounded if asked."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return value if decimals is None else round(value, decimals)
    if isinstance(value, Mapping):
        return {str(key): to_json(each, decimals) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(each, decimals) for each in value]
    if is_dataclass(value):
        return {
            each.name: to_json(getattr(value, each.name), decimals)
            for each in fields(value)
            if not each.metadata.get("only_if_known") or getattr(value, each.name) is not None
        }
    return value


def from_json(kind: type[Kind], stored: Any) -> Kind:
    """Build a dataclass of what `to_json` gave; numbers and texts are taken as they are.

    Raises
    ------
    StoredError
        For a missing field without a default, and for an unknown one.
    """
    found: Kind = _reader(cast(Hashable, kind))(stored)
    return found


@cache
def _reader(kind: Any) -> Reader:
    """What reads values of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _object(kind)
    if origin in (Union, UnionType):
        of = _first_of({_reader(each): None for each in inner if each is not NoneType})
        return of if of is _as_it_is else lambda value: None if value is None else of(value)
    if origin is tuple:
        of = _reader(inner[0])
        if of is _as_it_is:
            return tuple
        return lambda values: tuple(_at(at, of, each) for at, each in enumerate(values))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, of = inner[0], _reader(inner[1])
        return lambda items: {key(name): _at(name, of, each) for name, each in items.items()}
    if isinstance(kind, type) and issubclass(kind, tuple):
        return lambda values: kind(*values)
    return _as_it_is


def _object(kind: Any) -> Reader:
    """Reads a dataclass; its type hints are looked at once, when the first one is read."""
    known = {each.name for each in fields(kind)}
    needed = {
        each.name
        for each in fields(kind)
        if each.default is MISSING and each.default_factory is MISSING
    }

    @cache
    def readers() -> dict[str, Reader]:
        hints = get_type_hints(kind)
        found = {name: _reader(hints[name]) for name in known}
        return {name: of for name, of in found.items() if of is not _as_it_is}

    def read(stored: Mapping[str, Any]) -> Any:
        if not needed <= stored.keys() <= known:
            wrong = [f"unknown {name}" for name in sorted(stored.keys() - known)]
            wrong += [f"no {name}" for name in sorted(needed - stored.keys())]
            raise StoredError(f"{kind.__name__} with {', '.join(wrong)}")
        deep = {name: of for name, of in readers().items() if name in stored}
        made = {name: _at(name, of, stored[name]) for name, of in deep.items()}
        return kind(**{**stored, **made})

    return read


def _first_of(readers: Collection[Reader]) -> Reader:
    """Reads objects of several types: as the first that has their fields."""
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
    """Read a value; a message says where it stands."""
    try:
        return read(value)
    except StoredError as reason:
        raise StoredError(f"{place}: {reason}") from None
