"""Arguments with a quality that people gave them, as ArgQ-30k: argument, topic, set, WA, MACE-P.

That file has two qualities, by weighted average and by MACE; the first is read unless another
column is named. Its ``stance_WA`` is the stance.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from argsum.datasets.methods.argument_columns import (
    as_quality,
    as_split,
    as_stance,
    as_text,
    named_rows,
    quality_columns,
)
from argsum.datasets.methods.raw_cells import LONGEST_TEXT, Misfit
from cqa_site.tabular import Problem, UnreadableFile, preview, printable_name


class RatedRow(NamedTuple):
    """One argument of a topic; stance is 0 and split "" where the file does not say."""

    row: int
    topic: str
    stance: int
    split: str
    text: str
    quality: float


@dataclass(frozen=True)
class RatedFile:
    """What was read; ``column`` is the quality, ``others`` those that were left aside."""

    rows: Sequence[RatedRow]
    column: str
    others: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)


def read_rated(path: str | os.PathLike[str], *, name: str, column: str = "") -> RatedFile:
    """Read arguments with their quality; rows without one are left out.

    Parameters
    ----------
    path, name
        The file, and what it is called in messages.
    column
        The header of the quality; the usual one where it is empty.

    Raises
    ------
    UnreadableFile
        Without topics, arguments or the column, or if the file cannot be trusted.
    """
    known = quality_columns(preview(path, name=name).columns)
    if not known or (column and column not in known):
        wanted = column or "quality"
        raise UnreadableFile(printable_name(name), f"has no column {wanted!a} of qualities")
    chosen = column or known[0]
    rows, problems = [], []
    needed, optional = ("topic", "argument", "quality"), ("stance", "set")
    for row in named_rows(path, name=name, needed=needed, optional=optional, quality=chosen):
        try:
            quality = as_quality(row.values)
            text, topic = as_text(row.values, "argument"), as_text(row.values, "topic")
            if not text.strip() or len(text) > LONGEST_TEXT:
                raise Misfit("argument", f"is no text of 1 to {LONGEST_TEXT:,} characters")
            stance = as_stance(row.values, is_needed=False)
            if quality is not None:
                split = as_split(row.values)
                rows.append(RatedRow(row.number, topic, stance, split, text, quality))
        except Misfit as misfit:
            problems.append(
                Problem(printable_name(name), row.number, misfit.column, misfit.reason)
            )
    others = tuple(each for each in known if each != chosen)
    return RatedFile(rows, chosen, others, problems)
