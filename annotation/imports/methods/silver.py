"""The released silver summaries: comparisons, numbered arguments, machine answers."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Row

from .record_values import BadValue, optional_text_of, read_records, text_of, texts_of

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
    return read_records(path, _read_comparison, name=name, limits=limits)


def _read_comparison(row: Row) -> SilverComparison:
    arguments = [_numbered(text) for text in texts_of(row, "arguments")]
    numbers = [argument.number for argument in arguments]
    if len(set(numbers)) < len(numbers):
        raise BadValue("arguments", "two arguments have the same number")
    return SilverComparison(
        position=row.number,
        object1=text_of(row, "object1"),
        object2=text_of(row, "object2"),
        aspect=optional_text_of(row, "aspect"),
        arguments=arguments,
        answers=texts_of(row, "gpt_answers"),
    )


def _numbered(text: str) -> NumberedArgument:
    found = _NUMBERED.fullmatch(text)
    if found is None:
        raise BadValue("arguments", f"{text[:40]!a} does not begin with a number and a full stop")
    return NumberedArgument(int(found[1]), found[2])
