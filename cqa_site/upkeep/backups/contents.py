"""One hash for what a table holds, the same whichever database holds it.

PostgreSQL keeps JSON with its keys in another order, and numbers in another notation; so a JSON
text counts by what it says.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from decimal import Decimal

from .columns import Table, Value


class Contents:
    """The hash of rows in the order of their key, and their number."""

    def __init__(self, table: Table) -> None:
        self.rows = 0
        self._hash = hashlib.sha256()
        self._json = [at for at, each in enumerate(table.columns) if each.kind == "json"]

    @classmethod
    def of(cls, table: Table, rows: Iterable[list[Value]]) -> "Contents":
        """What all these rows come to."""
        found = cls(table)
        for row in rows:
            found.add(row)
        return found

    def add(self, row: list[Value], line: bytes = b"") -> None:
        """Count one row; `line` is what `as_line` says of it, where it was asked already."""
        self.rows += 1
        if self._json:
            row = row.copy()
            for at in self._json:
                row[at] = _said(row[at])
            line = as_line(row)
        self._hash.update(line or as_line(row))

    def counted(self, rows: Iterable[list[Value]]) -> Iterator[list[Value]]:
        """The same rows, each counted as it passes."""
        for row in rows:
            self.add(row)
            yield row

    @property
    def sha256(self) -> str:
        """Of all rows so far."""
        return self._hash.hexdigest()


def as_line(row: list[Value]) -> bytes:
    """A row as one line of JSON."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _said(text: str | None) -> Value:
    return None if text is None else json.dumps(_LOADER.decode(text), sort_keys=True)


def _number(literal: str) -> float | int:
    """PostgreSQL writes numbers out (1e+16 has 17 digits and no point) and knows no -0.0."""
    if "e" in literal or "E" in literal:
        exact = Decimal(literal)
        if exact == exact.to_integral_value():
            return int(exact)
    return float(literal) + 0.0


_LOADER = json.JSONDecoder(parse_float=_number)
