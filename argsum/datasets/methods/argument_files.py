"""Single files of debate arguments: pairs of argument and key point, and bare lists.

A file of pairs has one row per argument and key point (topic, argument, key_point, stance, label,
set, quality), as the processed files of the argument summarization paper; an argument without a
key point is a row whose key point and label are empty. A file of pairs without a label column, as
that of Debate (topic, argument, summary, stance), holds matches only: what is not in it is
undecided. A list has one row per argument (topic, argument; stance and quality if known) and no
references.
"""

import os
from dataclasses import dataclass, field
from functools import partial

from argsum.datasets.methods.argument_columns import (
    as_label,
    as_quality,
    as_text,
    cell_of,
    named_columns,
    named_rows,
    take_rows,
    unread_columns,
)
from argsum.datasets.methods.raw_cells import (
    CellBuilder,
    Misfit,
    RawArgument,
    RawCell,
    RawKeyPoint,
)
from cqa_site.tabular import Problem, Row, preview, printable_name


@dataclass(frozen=True)
class ArgumentFile:
    """What was read; rows that do not fit stand in ``problems`` and nowhere else.

    ``has_label`` is false for pairs without a label column, of which ``unread`` are the columns
    that were left aside: one of them may be the label under a name that nobody knows.
    """

    cells: list[RawCell]
    problems: list[Problem] = field(default_factory=list)
    has_label: bool = True
    unread: tuple[str, ...] = ()


def read_argument_pairs(path: str | os.PathLike[str], *, name: str) -> ArgumentFile:
    """Read a file of pairs.

    Without a label column every row is a match, and a text that comes again is a repeat: each row
    is then an argument that somebody gave, and its reason.

    Raises
    ------
    UnreadableFile
        If the file as a whole cannot be trusted; see `cqa_site.tabular`.
    """
    build = CellBuilder()
    headers = preview(path, name=name).columns
    has_label = "label" in named_columns(headers)
    rows = named_rows(
        path,
        name=name,
        needed=("topic", "argument", "key_point", "stance"),
        optional=("label", "set", "quality", "arg_id", "key_point_id"),
    )
    take = _take_pair if has_label else _take_match
    problems = list(take_rows(rows, partial(take, build), file=printable_name(name)))
    unread = () if has_label else unread_columns(headers)
    return ArgumentFile(build.cells, problems, has_label=has_label, unread=unread)


def _take_pair(build: CellBuilder, row: Row) -> None:
    is_match = as_label(row.values)
    if not as_text(row.values, "key_point").strip() and is_match is not None:
        raise Misfit("key_point", "is empty, but the pair has a label")
    argument, cell, _ = _take_argument(build, row, is_needed=True)
    _take_key_point(build, row, cell, argument, is_match)


def _take_match(build: CellBuilder, row: Row) -> None:
    argument, cell, is_repeat = _take_argument(build, row, is_needed=True)
    cell.repeats += is_repeat
    _take_key_point(build, row, cell, argument, is_match=True)


def _take_key_point(
    build: CellBuilder, row: Row, cell: RawCell, argument: int, is_match: bool | None
) -> None:
    text = as_text(row.values, "key_point")
    if not text.strip():
        return
    name = as_text(row.values, "key_point_id")
    key_point = build.add_key_point(cell, RawKeyPoint(name, text, row.number))
    if is_match is not None:
        build.add_match(cell, argument, key_point, is_match)


def read_argument_list(path: str | os.PathLike[str], *, name: str) -> ArgumentFile:
    """Read a list of arguments without references; raises as `read_argument_pairs`."""
    build = CellBuilder()
    rows = named_rows(
        path,
        name=name,
        needed=("topic", "argument"),
        optional=("stance", "set", "quality", "arg_id"),
    )
    problems = take_rows(rows, lambda row: _take_listed(build, row), file=printable_name(name))
    return ArgumentFile(problems=list(problems), cells=build.cells)


def _take_listed(build: CellBuilder, row: Row) -> None:
    _, cell, is_repeat = _take_argument(build, row, is_needed=False)
    cell.repeats += is_repeat


def _take_argument(build: CellBuilder, row: Row, *, is_needed: bool) -> tuple[int, RawCell, bool]:
    new = RawArgument(
        as_text(row.values, "arg_id"),
        as_text(row.values, "argument"),
        as_quality(row.values),
        row.number,
    )
    cell = cell_of(build, row.values, is_needed=is_needed)
    place, is_repeat = build.add_argument(cell, new)
    return place, cell, is_repeat
