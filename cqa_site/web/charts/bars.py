"""Bars: counts by label, by size, by time, side by side, in order."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from .axis import Axis, axis_of, seconds, time_axis
from .drawing import WIDTHS, Rows, Spec
from .measure import text_width
from .paint import (
    LEADING,
    SIZE,
    Layer,
    areas,
    finish,
    layer,
    legend,
    looks,
    segment,
    segments,
    texts,
)
from .plane import Plane, frame, plane_of

# Of its place, what a bar takes.
PART = 0.84
TICKS = {"wide": 6, "middle": 5, "narrow": 4}
# How long a step of time is; months have their own lengths.
STEPS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}


def stacked_bars(
    rows: Rows, *, x: str, y: str, series: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One bar for each ``x``, its parts of the series on each other, the sum written above."""
    order, names = _kinds(rows, x), _kinds(rows, series)
    sums = {each: sum(row[y] for row in rows if row[x] == each) for each in order}
    above, start = legend(names, size, sign="square")
    up = axis_of([0.0, *sums.values()], is_whole=True)
    # The sum of a bar that reaches the top of the axis stands below the axis' title.
    plane = plane_of(_places(order), up, titles, size, start=start + LEADING - 4)
    bars, reached = [], dict.fromkeys(order, 0.0)
    for row in sorted(rows, key=lambda row: names.index(row[series])):
        low = reached[row[x]]
        reached[row[x]] += row[y]
        bars.append(_bar(plane, order.index(row[x]), PART, low, reached[row[x]]))
        bars[-1]["series"] = row[series]
    layers = [*above, *frame(plane, start=start), _bars(bars, names), *_sums(sums, plane)]
    return finish(layers, size, plane.end)


def grouped_bars(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: str,
    titles: tuple[str, str],
    names: Sequence[str] = (),
    size: str = "wide",
) -> Spec:
    """Bars of the series side by side for each ``x``; ``names`` keeps colours of absent series."""
    order, names = _kinds(rows, x), names or _kinds(rows, series)
    above, start = legend(names, size, sign="square")
    up = axis_of([0.0, *(row[y] for row in rows)], is_whole=True)
    plane = plane_of(_places(order), up, titles, size, start=start)
    part = PART / max(1, len(names))
    bars = []
    for row in rows:
        middle = order.index(row[x]) + part * (names.index(row[series]) - (len(names) - 1) / 2)
        bars.append({**_bar(plane, middle, part, 0, row[y]), "series": row[series]})
    return finish([*above, *frame(plane, start=start), _bars(bars, names)], size, plane.end)


def sorted_bars(
    rows: Rows, *, x: str, y: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One thin bar for each row in the rows' order, up or down from nothing."""
    order = _places([row[x] for row in rows])
    up = axis_of([0.0, *(row[y] for row in rows)])
    plane = plane_of(Axis(order.low, order.high, [], []), up, titles, size)
    part = PART if len(rows) < WIDTHS[size] / 5 else 1.0
    bars = [_bar(plane, at, part, 0, row[y]) | {"series": ""} for at, row in enumerate(rows)]
    zero = segments([segment(plane.left, plane.y(0), plane.right, plane.y(0))], "guide")
    return finish([*frame(plane), _bars(bars, [""]), zero], size, plane.end)


def histogram(
    rows: Rows, *, start: str, end: str, y: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Touching bars from ``start`` to ``end``, both numbers."""
    ends = [row[part] for row in rows for part in (start, end)]
    across = axis_of(domain=(min(ends), max(ends)) if ends else (0, 1), most=TICKS[size])
    return _between([(row[start], row[end], row[y]) for row in rows], across, titles, size)


def columns_over_time(
    rows: Rows, *, x: str, y: str, step: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One bar for each time step (hour, day, week, month); ``x`` is an ISO date or time."""
    spans = [(seconds(row[x]), _next(row[x], step), row[y]) for row in rows]
    across = time_axis([end for span in spans for end in span[:2]], most=TICKS[size] - 1)
    return _between(spans, across, titles, size)


def _between(
    spans: Sequence[tuple[float, float, float]],
    across: Axis,
    titles: tuple[str, str],
    size: str,
) -> Spec:
    """A bar from each value to another, a pixel apart."""
    up = axis_of([0.0, *(height for _start, _end, height in spans)], is_whole=True)
    plane = plane_of(across, up, titles, size)
    bars = [
        segment(plane.x(start) + 0.5, plane.y(0), plane.x(end) - 0.5, plane.y(height))
        | {"series": ""}
        for start, end, height in spans
    ]
    return finish([*frame(plane), _bars(bars, [""])], size, plane.end)


def _next(start: str, step: str) -> float:
    """When the step that begins then ends."""
    at = datetime.fromisoformat(start).replace(tzinfo=UTC)
    if step != "month":
        return (at + STEPS[step]).timestamp()
    return (at.replace(day=1) + timedelta(days=32)).replace(day=1).timestamp()


def _kinds(rows: Rows, name: str) -> list[Any]:
    """What a field holds, in the rows' order."""
    return list(dict.fromkeys(row[name] for row in rows))


def _places(order: Sequence[Any]) -> Axis:
    """An axis on which each thing has a place of the same width."""
    return Axis(-0.5, max(len(order), 1) - 0.5, range(len(order)), [str(each) for each in order])


def _bar(plane: Plane, middle: float, part: float, low: float, high: float) -> dict[str, Any]:
    left, right = plane.x(middle - part / 2), plane.x(middle + part / 2)
    return segment(left, plane.y(low), right, plane.y(high))


def _bars(bars: Rows, names: Sequence[str]) -> Layer:
    return layer(bars, "bar", {**areas(), **looks(names, has_signs=False)})


def _sums(sums: dict[Any, float], plane: Plane) -> list[Layer]:
    """The sum above each bar, where the bars are wide enough for all of them."""
    words = [
        {"x": plane.x(at), "y": plane.y(value) - 8, "text": f"{value:,}"}
        for at, value in enumerate(sums.values())
    ]
    widest = max((text_width(str(each["text"]), SIZE, is_bold=True) for each in words), default=0)
    is_free = widest + 2 <= plane.x(1) - plane.x(0)
    return [texts(words, "value", "center")] if is_free else []
