"""Records of JSON files, and their cells, checked one by one before anything is made of them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from cqa_site.tabular import Limits, Problem, Row, Value, open_table

Record = TypeVar("Record")


class BadValue(Exception):
    """A cell that cannot be used; ``column`` names it, ``reason`` says why."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.reason = reason


def text_of(row: Row, column: str) -> str:
    """Text with at least one visible character, exactly as given; raises BadValue."""
    value = row.values.get(column)
    if not isinstance(value, str) or not value.strip():
        raise BadValue(column, "is missing or not text")
    return value


def optional_text_of(row: Row, column: str) -> str | None:
    """Text without white space around it; None where it is empty, null or absent.

    Raises BadValue for anything else.
    """
    value = row.values.get(column)
    if value is not None and not isinstance(value, str):
        raise BadValue(column, "is neither text nor null")
    return (value or "").strip() or None


def texts_of(row: Row, column: str) -> list[str]:
    """A list of texts, empty ones included; raises BadValue."""
    value: Value = row.values.get(column)
    if not isinstance(value, list):
        raise BadValue(column, "is no list")
    texts = [each for each in value if isinstance(each, str)]
    if len(texts) < len(value):
        raise BadValue(column, "holds something that is not text")
    return texts


def read_records(
    path: str | os.PathLike[str],
    read_one: Callable[[Row], Record],
    *,
    name: str | None,
    limits: Limits,
) -> Iterator[Record | Problem]:
    """What ``read_one`` makes of each record, in file order; a problem where it raises BadValue.

    Raises
    ------
    UnreadableFile
        At the first step, if the file is no JSON list of records.
    """
    with open_table(path, name=name or Path(path).name, kind="json", limits=limits) as table:
        for row in table.rows:
            try:
                yield read_one(row)
            except BadValue as bad:
                yield Problem(table.name, row.number, bad.column, bad.reason)
