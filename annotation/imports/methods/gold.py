"""Edited answers as they are released: comparisons with the texts people made of them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Row

from .record_values import optional_text_of, read_records, text_of, texts_of


@dataclass(frozen=True)
class GoldComparison:
    """One comparison with its edited answers.

    ``position`` counts from 1. ``aspect`` and ``question`` are None where the
    file has none. ``texts`` are verbatim, one per editor, without the
    arguments they cite by number: these stand in the silver file.
    """

    position: int
    object1: str
    object2: str
    aspect: str | None
    question: str | None
    texts: list[str]


def read_gold(
    path: str | os.PathLike[str], *, name: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[GoldComparison | Problem]:
    """Read the comparisons in file order.

    Yields
    ------
    GoldComparison or Problem
        One per comparison.

    Raises
    ------
    UnreadableFile
        At the first step, if the file is not such JSON.
    """
    return read_records(path, _read_comparison, name=name, limits=limits)


def _read_comparison(row: Row) -> GoldComparison:
    return GoldComparison(
        position=row.number,
        object1=text_of(row, "object1"),
        object2=text_of(row, "object2"),
        aspect=optional_text_of(row, "aspect"),
        question=optional_text_of(row, "question"),
        texts=texts_of(row, "comparison"),
    )
