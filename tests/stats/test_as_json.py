"""Figures as JSON, and back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from cqa_site.stats.estimate import ONLY_IF_KNOWN, StoredError, from_json, to_json


class Mean(NamedTuple):
    value: float | None
    n: int
    low: float | None = None


@dataclass(frozen=True, kw_only=True)
class Cell:
    name: str
    share: float | None = None
    former: float | None = field(default=None, metadata=ONLY_IF_KNOWN)


@dataclass(frozen=True, kw_only=True)
class Table:
    cells: tuple[Cell, ...]
    means: dict[int, Mean]
    first: Cell | None
    sums: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rows: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Size:
    size: int


@dataclass(frozen=True)
class Either:
    found: Cell | Size | None


TABLE = Table(
    cells=(Cell(name="a", share=0.25), Cell(name="b", former=1.5)),
    means={3: Mean(0.5, 4), 7: Mean(None, 0, 0.1)},
    first=None,
    sums={"x": (1.0, 2.0)},
    rows=((1, 2), (3,)),
)
STORED = {
    "cells": [{"name": "a", "share": 0.25}, {"name": "b", "share": None, "former": 1.5}],
    "means": {"3": [0.5, 4, None], "7": [None, 0, 0.1]},
    "first": None,
    "sums": {"x": [1.0, 2.0]},
    "rows": [[1, 2], [3]],
}


def test_what_is_written_is_read_again_without_nan_and_with_defaults():
    assert to_json(TABLE) == STORED
    assert from_json(Table, json.loads(json.dumps(STORED))) == TABLE
    assert to_json([float("nan"), float("inf"), 0.1 + 0.2]) == [None, None, 0.1 + 0.2]
    assert to_json({1: (0.1 + 0.2,)}, decimals=9) == {"1": [0.3]}
    short = {"cells": [], "means": {"1": [0.5, 4]}, "first": {"name": "c"}}
    found = from_json(Table, short)
    assert (found.first, found.means[1]) == (Cell(name="c"), Mean(0.5, 4))
    assert (found.sums, found.rows) == ({}, ())


def test_missing_and_unknown_fields_are_named_and_choose_the_type():
    for change, message in (
        ({"cells": [{"name": "a"}, {"share": 1.0}]}, "cells: 1: Cell with no name"),
        ({"first": {"name": "a", "size": 2}}, "first: Cell with unknown size"),
        ({"size": 3}, "Table with unknown size"),
    ):
        with pytest.raises(StoredError, match=f"^{message}$"):
            from_json(Table, STORED | change)
        with pytest.raises(StoredError, match="Table with no cells, no first, no means"):
            from_json(Table, {})
    assert from_json(Either, {"found": {"name": "a"}}) == Either(found=Cell(name="a"))
    assert from_json(Either, {"found": {"size": 2}}) == Either(found=Size(size=2))
    with pytest.raises(StoredError, match="found: Size with unknown name, unknown size_"):
        from_json(Either, {"found": {"name": "a", "size": 2, "size_": 3}})
