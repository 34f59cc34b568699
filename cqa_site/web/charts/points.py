"""Charts on a plane: points, lines, scatter plots, and two raters compared."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from .plane import Plane, frame, named, on, plane_of
from .vega import (
    SIGNS,
    WIDTHS,
    Axis,
    Layer,
    Rows,
    Spec,
    axis_of,
    dashes,
    finish,
    layer,
    legend,
    looks,
    seconds,
    segment,
    segments,
    time_axis,
)

# Charts of figures, and their limits.

# Maximum number of rows of a chart; more rows are easier to find in a table.
MOST = 40


@dataclass(frozen=True)
class Chart:
    """A chart: functions that draw it at a given size, describe it, and return its rows."""

    draw: Callable[..., Spec]
    alt: Callable[..., str]
    rows: Callable[..., Any] = lambda *figures: True


def chart_of(charts: Mapping[str, Chart], slug: str, *figures: Any) -> dict[str, Any]:
    """Return the chart as fields of a `Figure`; empty if there is no chart or no row to draw."""
    chart = charts.get(slug)
    if chart is None or not chart.rows(*figures):
        return {}
    return {"alt": chart.alt(*figures), "draw": partial(chart.draw, *figures)}


def distinct(names: Iterable[str]) -> list[str]:
    """Number the second and later occurrences of a name, to distinguish their rows."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return labels


def of_all(title: str, every: int) -> str:
    """Return the axis title, with a note if not all rows are drawn."""
    if every <= MOST:
        return title
    return _("%(title)s; the first %(shown)d of %(all)d") % {
        "title": title,
        "shown": MOST,
        "all": every,
    }


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
    """Draw a dot with its vertical interval (fields low, high) and a name for each row.

    ``x`` is a number, or an ISO time if ``is_time``. Rows without ``y`` are left out. Series
    differ in colour and symbol; if there are more series than symbols, the names must identify
    them. ``is_curve`` joins the dots of a series. If names do not fit beside their dots, dots are
    numbered and a key below lists the names.
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
    """Sort the dots of each series from left to right."""
    return [
        sorted((row for row in rows if row["series"] == name), key=lambda row: row["x"])
        for name in names
    ]


def _spans(rows: Rows) -> list[tuple[float, float, float, float]]:
    """Return intervals as lines between values."""
    return [(row["x"], row["low"], row["x"], row["high"]) for row in rows if _has_span(row)]


def _pieces(curves: Sequence[Rows]) -> list[tuple[float, float, float, float]]:
    """Return curves as lines between values."""
    return [
        (point["x"], point["y"], other["x"], other["y"])
        for curve in curves
        for point, other in pairwise(curve)
    ]


def _has_span(row: dict[str, Any]) -> bool:
    return row["low"] is not None and row["high"] is not None


def _drawn(rows: Rows, plane: Plane, names: Sequence[str], is_curve: bool) -> list[Layer]:
    """Return intervals, lines and dots as layers."""
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


def lines(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: str,
    titles: tuple[str, str],
    line: str = "",
    size: str = "wide",
) -> Spec:
    """Draw one dashed or solid line per series; ``x`` and ``y`` are numbers.

    ``line`` is a field that separates the lines within a series.
    """
    names = list(dict.fromkeys(row[series] for row in rows))
    marked = [{"x": row[x], "y": row[y], "series": row[series]} for row in rows]
    if line:
        marked = [{**mark, "line": row[line]} for mark, row in zip(marked, rows, strict=True)]
    above, start = legend(names, size, sign="line")
    plane = plane_of(
        axis_of((row["x"] for row in marked), most=6 if size == "wide" else 5),
        axis_of([0.0, *(row["y"] for row in marked)]),
        titles,
        size,
        start=start,
    )
    look = {**looks(names, has_signs=False), "strokeDash": dashes(names)}
    if line:
        look["detail"] = {"field": "line", "type": "nominal"}
    drawn = layer(marked, "line", {**on(plane, "x", "y"), **look}, strokeWidth=2)
    return finish([*above, *frame(plane, start=start), drawn], size, plane.end)


def scatter(rows: Rows, *, x: str, y: str, titles: tuple[str, str], size: str = "wide") -> Spec:
    """Draw a dot per row; overlapping dots look darker."""
    marked = [{"x": row[x], "y": row[y], "series": ""} for row in rows]
    plane = plane_of(
        axis_of((row["x"] for row in marked), most=5 if size == "wide" else 4),
        axis_of(row["y"] for row in marked),
        titles,
        size,
        height=WIDTHS[size] // 2,
    )
    look = {"style": "sign", "filled": True, "size": 70, "opacity": 0.55}
    dots = layer(marked, "point", {**on(plane, "x", "y"), **looks([""])}, **look)
    return finish([*frame(plane), dots], size, plane.end)


def beside(
    rows: Rows,
    *,
    x: str,
    y: str,
    text: str,
    titles: tuple[str, str],
    highest: float,
    size: str = "wide",
) -> Spec:
    """Draw two raters' means for the same items; dots on the dashed line mean agreement."""
    lowest = min((min(row[x], row[y]) for row in rows), default=0)
    both = axis_of([], domain=(max(0, int(lowest) - 1), highest))
    plane = plane_of(both, both, titles, size, height=WIDTHS[size] * 0.6)
    marked = [{"x": row[x], "y": row[y], "text": row[text], "series": ""} for row in rows]
    ends = (both.low, both.low, both.high, both.high)
    words, end = named(plane, marked, size, lines=[ends])
    line = segment(plane.left, plane.bottom, plane.right, plane.top)
    places = {**on(plane, "x", "y"), **looks([""])}
    layers = [
        *frame(plane),
        segments([line], "guide"),
        layer(marked, "point", places, style="sign", filled=True, size=60),
        *words,
    ]
    return finish(layers, size, end)
