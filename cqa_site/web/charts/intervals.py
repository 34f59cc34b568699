"""Values with intervals, and several values of one thing, in rows under each other."""

from collections.abc import Sequence
from typing import Any

from .axis import axis_of
from .dot_rows import TICKS, below, dots, frame, number_of, place_rows, spans
from .drawing import Rows, Spec
from .paint import EDGE, finish, legend, texts


def intervals(
    rows: Rows,
    *,
    y: str,
    series: str,
    title: str,
    marks: Sequence[float] = (),
    size: str = "wide",
) -> Spec:
    """A dot with its interval (fields value, low, high) for each ``y``, a line for each series.

    The value stands at the right. ``marks`` are values at which a dashed line helps the eye.
    """
    kinds, names = _kinds(rows, y), _kinds(rows, series)
    values = [row[part] for row in rows for part in ("value", "low", "high")]
    axis = axis_of(values, domain=(0, 1), most=TICKS[size])
    above, height = legend(names, size)
    numbers = [number_of(row["value"], axis) for row in rows]
    place = place_rows(
        kinds, size, numbers=numbers, top=height + EDGE, slots=len(names) or 1, beyond=EDGE
    )
    marked = [
        {
            **row,
            "series": row[series],
            "y": place.dot(kinds.index(row[y]), names.index(row[series])),
        }
        for row in rows
    ]
    words = [
        {"x": place.width - EDGE, "y": row["y"], "text": number}
        for row, number in zip(marked, numbers, strict=True)
    ]
    layers = [
        *above,
        *frame(place, axis, title, marks),
        spans(marked, axis, place, names),
        dots(marked, axis, place, names),
        texts(words, "value", "right"),
    ]
    return finish(layers, size, place.bottom + below(place, title))


def parts(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: str,
    names: Sequence[str],
    title: str,
    highest: float,
    size: str = "wide",
) -> Spec:
    """A dot for each series at ``x`` in the row of ``y``, each series at a height of its own.

    ``names`` are the series in their order. Dots tell positions, no lengths: the axis begins a
    little below the lowest.
    """
    kinds = _kinds(rows, y)
    lowest = min((row[x] for row in rows), default=0.0)
    axis = axis_of([], domain=(max(0.0, lowest - highest / 20), highest), most=TICKS[size])
    above, height = legend(names, size)
    place = place_rows(kinds, size, top=height + EDGE, slots=len(names) or 1, slot=9)
    marked: list[dict[str, Any]] = [
        {
            "value": row[x],
            "series": row[series],
            "y": place.dot(kinds.index(row[y]), names.index(row[series])),
        }
        for row in rows
    ]
    layers = [*above, *frame(place, axis, title), dots(marked, axis, place, names)]
    return finish(layers, size, place.bottom + below(place, title))


def _kinds(rows: Rows, name: str) -> list[Any]:
    """What a field holds, in the rows' order."""
    return list(dict.fromkeys(row[name] for row in rows))
