"""The released silver summaries: comparisons, numbered arguments, machine answers."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Row, Value, open_table

_NUMBERED = re.compile(r"(\d{1,4})\. (.*)", re.DOTALL)


@dataclass(frozen=True)
class NumberedArgument:
    """An argument under the number by which answers cite it; `text` is without it."""

    number: int
    text: str


@dataclass(frozen=True)
class SilverComparison:
    """One comparison; `aspect` is None where the release has none.

    `position` counts from 1. Numbers of `arguments` are unique, their texts
    may repeat; `answers` are the machine summaries in the order released.
    """

    position: int
    object1: str
    object2: str
    aspect: str | None
    arguments: list[NumberedArgument]
    answers: list[str]


def read_silver(
    path: str | os.PathLike[str], *, name: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[SilverComparison | Problem]:
    """Read the comparisons in file order.

    Yields
    ------
    SilverComparison or Problem
        One per comparison.

    Raises
    ------
    UnreadableFile
        At the first step, if the file is not such JSON.
    """
    shown_name = name or Path(path).name
    with open_table(path, name=shown_name, kind="json", limits=limits) as table:
        for row in table.rows:
            try:
                yield _read_comparison(row)
            except _BadValue as bad:
                yield Problem(table.name, row.number, bad.column, bad.reason)


class _BadValue(Exception):
    def __init__(self, column: str, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.reason = reason


def _read_comparison(row: Row) -> SilverComparison:
    aspect = row.values.get("aspect")
    if aspect is not None and not isinstance(aspect, str):
        raise _BadValue("aspect", "is neither text nor null")
    arguments = [_numbered(text) for text in _texts(row, "arguments")]
    numbers = [argument.number for argument in arguments]
    if len(set(numbers)) < len(numbers):
        raise _BadValue("arguments", "two arguments have the same number")
    return SilverComparison(
        position=row.number,
        object1=_text(row, "object1"),
        object2=_text(row, "object2"),
        aspect=aspect or None,
        arguments=arguments,
        answers=_texts(row, "gpt_answers"),
    )


def _text(row: Row, column: str) -> str:
    value = row.values.get(column)
    if not isinstance(value, str) or not value.strip():
        raise _BadValue(column, "is missing or not text")
    return value


def _texts(row: Row, column: str) -> list[str]:
    value: Value = row.values.get(column)
    if not isinstance(value, list):
        raise _BadValue(column, "is no list")
    texts = [each for each in value if isinstance(each, str)]
    if len(texts) < len(value):
        raise _BadValue(column, "holds something that is not text")
    return texts


def _numbered(text: str) -> NumberedArgument:
    found = _NUMBERED.fullmatch(text)
    if found is None:
        raise _BadValue("arguments", f"{text[:40]!a} does not begin with a number and a full stop")
    return NumberedArgument(int(found[1]), found[2])
