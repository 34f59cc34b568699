"""Charts of points with intervals: value against cost, value over time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from cqa_site.web.charts.drawing import Rows, Spec

from .axis import Axis, axis_of, seconds, time_axis
from .naming import named
from .paint import SIGNS, Layer, finish, layer, legend, looks
from .plane import Plane, frame, on, plane_of

HEIGHT = {"wide": 220, "middle": 220, "narrow": 240}
TICKS = {"wide": 5, "middle": 4, "narrow": 3}


def points(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: str,
    text: str,
    titles: tuple[str, str],
    is_time: bool = False,
    is_curve: bool = False,
    size: str = "wide",
) -> Spec:
    """A dot with its vertical interval (fields low, high) and a name for each row.

    ``x`` is a number, or an ISO time with ``is_time``. Rows without ``y`` are left out. Series are
    told apart by colour and sign; of more than there are signs, the names have to say which is
    which. The dots of a series are joined with ``is_curve``. Where names do not fit beside their
    dots, dots are numbered and a key below has the names.
    """
    known = [row for row in rows if row[y] is not None and row[x] is not None]
    names = list(dict.fromkeys(row[series] for row in known))
    names = names if len(names) <= len(SIGNS) else [""]
    marked = [
        {
            "x": seconds(row[x]) if is_time else row[x],
            "y": row[y],
            "low": row["low"],
            "high": row["high"],
            "series": row[series] if len(names) > 1 else names[0],
            "text": row[text],
        }
        for row in known
    ]
    above, start = legend(names, size)
    plane = plane_of(
        _across(marked, is_time, is_curve, size),
        axis_of([row[part] for row in marked for part in ("y", "low", "high")], domain=(0, 1)),
        titles,
        size,
        height=HEIGHT[size],
        start=start,
    )
    curves = _curves(marked, names) if is_curve else []
    words, end = named(plane, marked, size, lines=[*_spans(marked), *_pieces(curves)])
    layers = [*above, *frame(plane, start=start), *_drawn(marked, plane, names, is_curve), *words]
    return finish(layers, size, end)


def _across(rows: Rows, is_time: bool, is_curve: bool, size: str) -> Axis:
    values = [row["x"] for row in rows]
    if is_time:
        return time_axis(values, most=TICKS[size])
    return axis_of(values if is_curve else [0.0, *values], most=TICKS[size])


def _curves(rows: Rows, names: Sequence[str]) -> list[list[dict[str, Any]]]:
    """The dots of each series from left to right."""
    return [
        sorted((row for row in rows if row["series"] == name), key=lambda row: row["x"])
        for name in names
    ]


def _spans(rows: Rows) -> list[tuple[float, float, float, float]]:
    """Intervals as lines between values."""
    return [(row["x"], row["low"], row["x"], row["high"]) for row in rows if _has_span(row)]


def _pieces(curves: Sequence[Rows]) -> list[tuple[float, float, float, float]]:
    """Curves as lines between values."""
    return [
        (one["x"], one["y"], other["x"], other["y"])
        for curve in curves
        for one, other in pairwise(curve)
    ]


def _has_span(row: dict[str, Any]) -> bool:
    return row["low"] is not None and row["high"] is not None


def _drawn(rows: Rows, plane: Plane, names: Sequence[str], is_curve: bool) -> list[Layer]:
    """Intervals, lines and dots."""
    colour = looks(names, has_signs=False)
    places = on(plane, "x", "y")
    spans = [row for row in rows if _has_span(row)]
    bounded = {**on(plane, "x", "low"), "y2": {"field": "high"}, **colour}
    curves = rows if is_curve else ()
    signs = {"style": "sign", "filled": True, "size": 45 if is_curve else 80}
    return [
        layer(spans, "rule", bounded, style="interval"),
        layer(curves, "line", {**places, **colour}, strokeWidth=2),
        layer(rows, "point", {**places, **looks(names)}, **signs),
    ]
