"""Key points, and every statement with its comment, as tables to take away."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F, Q, QuerySet

from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.models import CellArgument
from cqa_site.web.tables import TableData

from .counted import Counted
from .written import writer_in_words

PIECE = 1_000
FIXED = (
    "key_point", "key_point_text", "state", "statement", "score", "by_hand",
    "comment", "comment_id", "written_on", "file",
)  # fmt: skip
# Where a comment's further columns stand that have none of their own.
FURTHER = "further_columns"


def points_table(analysis: Analysis) -> TableData:
    """A row for each key point, whatever its state, the most frequent first."""
    from argsum.analysis.methods.shares import Share

    states = dict(FoundPoint.State.choices)
    origins = dict(FoundPoint.Origin.choices)
    rows: list[list[Any]] = []
    alive = analysis.points.filter(state__in=FoundPoint.ALIVE).select_related("writer__prompt")
    for point in alive.order_by("-comments", "position"):
        share = Share(point.comments, max(analysis.comments, point.comments))
        rows.append(
            [
                str(point.public_id), point.text, str(states[point.state]), point.comments,
                share.value, share.low, share.high, point.statements,
                str(origins[point.origin]), point.written, writer_in_words(point),
            ]
        )  # fmt: skip
    return TableData(
        columns=[
            "key point", "text", "state", "comments", "share", "low", "high", "statements",
            "origin", "text as found", "written by",
        ],
        rows=rows,
        caption=f"Key points: {analysis.cell.topic}",
        name=f"key-points-{analysis.number}",
    )  # fmt: skip


def statement_types(names: Sequence[str]) -> dict[str, type]:
    """Columns of the table of statements; ``names`` are those of the comments."""
    types: dict[str, type] = dict.fromkeys(FIXED, str)
    types |= {"score": float, "by_hand": bool}
    for name in names:
        types[_free(name, types)] = str
    return types | {_free(FURTHER, types): str}


def statement_rows(analysis: Analysis, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """A row for each time a statement was said, in the order of the statements.

    A statement that is part of no comment has one row. Key points that were not decided on or
    are hidden say so. Read piece by piece, each with queries of its own that are over before the
    piece goes out: an edit meanwhile is seen by the pieces after it.
    """
    own = set(names)
    states = dict(FoundPoint.State.choices)
    for row in _pieces(analysis):
        _position, _said, point, text, state, statement, score, by_hand, *comment, attributes = row
        given = attributes or {}
        further = {name: value for name, value in given.items() if name not in own}
        yield (
            str(point) if point else None,
            text,
            str(states[state]) if state else None,
            statement,
            score,
            by_hand,
            *comment,
            *(given.get(name) for name in names),
            json.dumps(further, ensure_ascii=False) if further else None,
        )


def _pieces(analysis: Analysis) -> Iterator[tuple[Any, ...]]:
    """Rows as stored, with the position of the statement and where it was said in front."""
    placed = CellArgument.objects.filter(cell=analysis.cell_id).order_by("position")
    last = -1
    while few := list(placed.filter(position__gt=last).values_list("pk", "position")[:PIECE]):
        keys, last = [key for key, _position in few], few[-1][1]
        yield from _said(Placement.objects.filter(analysis=analysis, argument__in=keys))


def _said(placements: QuerySet[Placement]) -> Iterator[tuple[Any, ...]]:
    """The same of few statements, which may have been said very often."""
    said = "argument__said_in__"
    rows = placements.order_by(
        "argument__position", F(f"{said}pk").asc(nulls_first=True)
    ).values_list(
        "argument__position", f"{said}pk", "point__public_id", "point__text", "point__state",
        "argument__text", "score", "is_by_hand", f"{said}comment__text", f"{said}comment__name",
        f"{said}comment__written_on", f"{said}comment__source", f"{said}comment__attributes",
    )  # fmt: skip
    after = Q()
    while piece := list(rows.filter(after)[:PIECE]):
        yield from piece
        if len(piece) < PIECE:
            break
        position, key, *_rest = piece[-1]
        after = Q(argument__position__gt=position)
        if key is not None:
            after |= Q(argument__position=position, **{f"{said}pk__gt": key})


def column_names(counts: Counted) -> list[str]:
    """Columns of comments that have one of their own in the table."""
    return [each.name for each in counts.columns]


def _free(name: str, taken: dict[str, type]) -> str:
    """A name that no column has."""
    while name in taken:
        name = f"{name} (comment)"
    return name
