"""Key points, and every statement with its comment, as tables to take away."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F

from argsum.analysis.models import Analysis, FoundPoint, Placement
from cqa_site.web.tables import TableData

from .counted import Counted
from .written import writer_in_words

PIECE = 2_000
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
    are hidden say so.
    """
    said = "argument__said_in__comment__"
    rows = Placement.objects.filter(analysis=analysis).order_by(
        "argument__position", F(f"{said}position").asc(nulls_first=True)
    )
    found = rows.values_list(
        "point__public_id", "point__text", "point__state", "argument__text", "score",
        "is_by_hand", f"{said}text", f"{said}name", f"{said}written_on", f"{said}source",
        f"{said}attributes",
    )  # fmt: skip
    own = set(names)
    states = dict(FoundPoint.State.choices)
    for point, text, state, statement, score, by_hand, *comment, attributes in found.iterator(
        PIECE
    ):
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


def column_names(counts: Counted) -> list[str]:
    """Columns of comments that have one of their own in the table."""
    return [each.name for each in counts.columns]


def _free(name: str, taken: dict[str, type]) -> str:
    """A name that no column has."""
    while name in taken:
        name = f"{name} (comment)"
    return name
