"""Charts of groups and trends: shares in percent, with their intervals."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import Any

from cqa_site.results.figures import bounds_of
from cqa_site.web.charts.dot_rows import (
    TICKS,
    below,
    dots,
    frame as frame_of_rows,
    place_rows,
    spans,
)
from cqa_site.web.charts.plane import Plane, frame, plane_of
from cqa_site.web.charts.vega import (
    EDGE,
    LEADING,
    SIZE,
    WIDTHS,
    Axis,
    Layer,
    Rows,
    Spec,
    axis_of,
    finish,
    layer,
    legend,
    lines_of,
    looks,
    pixels,
    places,
    seconds,
    texts,
    wrap,
)
from cqa_site.web.tables import text_of

# Height of a panel, which shows one key point over time, and of the gap below it.
PANEL = 76
BETWEEN = 14
# Width of bold letters, relative to regular letters.
BOLD = 1.16


def groups_chart(rows: Rows, names: Sequence[str], title: str, size: str) -> Spec:
    """Draw a dot with its interval for each group of each key point.

    ``rows`` have point, group, value, low and high (in percent). ``names`` are the groups.
    """
    kinds = list(dict.fromkeys(row["point"] for row in rows))
    values = [row[part] for row in rows for part in ("value", "low", "high")]
    axis = axis_of([0.0, *values], most=TICKS[size])
    above, height = legend(names, size)
    numbers = ["" if row["value"] is None else f"{text_of(row['value'], 0)} %" for row in rows]
    place = place_rows(
        kinds, size, numbers=numbers, top=height + EDGE, slots=len(names) or 1, beyond=EDGE
    )
    marked = [
        {
            "value": row["value"],
            "low": row["low"],
            "high": row["high"],
            "series": row["group"],
            "y": place.dot(kinds.index(row["point"]), names.index(row["group"])),
        }
        for row in rows
    ]
    words = [
        {"x": place.width - EDGE, "y": row["y"], "text": number}
        for row, number in zip(marked, numbers, strict=True)
    ]
    layers = [
        *above,
        *frame_of_rows(place, axis, title),
        spans(marked, axis, place, names),
        dots(marked, axis, place, names),
        texts(words, "value", "right"),
    ]
    return finish(layers, size, place.bottom + below(place, title))


def trends_chart(rows: Rows, starts: Sequence[tuple[date, str]], size: str) -> Spec:
    """Draw the key points one below the other with the same axes.

    ``rows`` have point, at (the first day of a period), value, low and high (in percent), and
    run, the number of the stretch of consecutive periods with comments. Periods without comments
    have no row. ``starts`` are all periods with their names.
    """
    across = _across(starts)
    up = axis_of([0.0, *(row["high"] for row in rows)], most=4)
    up = Axis(up.low, up.high, up.ticks, [f"{label} %" for label in up.labels])
    layers: list[Layer] = []
    end = 0.0
    for point, members in groupby(rows, key=lambda row: row["point"]):
        title = wrap(point, (WIDTHS[size] - 2 * EDGE) / BOLD, SIZE, most=2)
        layers.append(texts(lines_of(title, EDGE, end + EDGE + 7), "value"))
        start = end + LEADING * len(title) + 2
        plane = plane_of(across, up, ("", ""), size, height=PANEL, start=start)
        layers += [*frame(plane, start=start), *_panel(list(members), plane)]
        end = plane.bottom + 26 + BETWEEN
    return finish(layers, size, max(end - BETWEEN, 40))


def _across(starts: Sequence[tuple[date, str]]) -> Axis:
    """Return the horizontal axis from the first to the last period, with a tick for each."""
    ticks = [seconds(day.isoformat()) for day, _name in starts]
    pad = max((ticks[-1] - ticks[0]) / 40, 3600.0)
    return Axis(ticks[0] - pad, ticks[-1] + pad, ticks, [name for _day, name in starts])


def _panel(rows: Sequence[dict[str, Any]], plane: Plane) -> list[Layer]:
    """Return the band, line and dots of one key point in pixels; panels have separate scales."""
    marked = [
        {
            "x": plane.x(seconds(row["at"].isoformat())),
            "y": plane.y(row["value"]),
            "low": plane.y(row["low"]),
            "high": plane.y(row["high"]),
            "run": row["run"],
            "series": "",
        }
        for row in rows
    ]
    look = looks([""], has_signs=False)
    detail = {"detail": {"field": "run", "type": "nominal"}}
    band = {"x": pixels("x"), "y": pixels("low"), "y2": {"field": "high"}, **look, **detail}
    return [
        layer(marked, "area", band, opacity=0.2),
        layer(marked, "line", {**places(), **look, **detail}, strokeWidth=2),
        layer(marked, "point", {**places(), **look}, filled=True, size=24, opacity=1),
    ]


def runs(filled: Sequence[bool]) -> list[int]:
    """Return the number of the stretch to which each period belongs, adding 1 after every gap."""
    numbers, number = [], 0
    for at, is_filled in enumerate(filled):
        if at and not is_filled and filled[at - 1]:
            number += 1
        numbers.append(number)
    return numbers


def as_row(point: str, at: date, share: Any, run: int) -> dict[str, Any]:
    """Return one period of a key point as a row for `trends_chart`."""
    return {"point": point, "at": at, "run": run} | in_percent(share)


def in_percent(share: Any) -> dict[str, float | None]:
    """Return a share and its bounds in percent."""
    return {name: None if part is None else 100 * part for name, part in bounds_of(share).items()}
