"""Charts of points with intervals: value against cost, value over time."""

from collections.abc import Sequence
from typing import Any

from cqa_site.web.charts.drawing import WIDTHS, Rows, Spec

# Of the theme: see `cqa_site.web.charts.drawing`.
COLOURS = 2
# Pixels that names at the right may take, and how far the scale reaches for them.
NAMES = {"wide": 190, "narrow": 155}
ROOM = {"wide": 1.8, "narrow": 3.0}


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

    ``x`` is a number, or an ISO time with ``is_time``. Rows without ``y`` are left out. Two
    series are told apart by colour; of more, the names have to say which is which. The dots of a
    series are joined with ``is_curve``, and names stand above them.
    """
    from .loading import alt

    known = [row for row in rows if row[y] is not None and row[x] is not None]
    spans = [row for row in known if row["low"] is not None]
    names = list(dict.fromkeys(row[series] for row in known))
    across = alt.X(
        x,
        type="temporal" if is_time else "quantitative",
        title=titles[0],
        axis=alt.Axis(tickCount=4, labelOverlap=True, format="%d %b %H:%M" if is_time else ".3~g"),
        scale=alt.Scale(zero=False) if is_curve else _room(known, x, is_time, size),
    )
    lowest = min([0.0, *(row[y] for row in known), *(row["low"] for row in spans)])
    scale = alt.Scale(domain=[lowest, 1])
    up = alt.Y(y, type="quantitative", title=titles[1], scale=scale, axis=alt.Axis(tickCount=5))
    colour = alt.Color(
        series,
        type="nominal",
        sort=names,
        legend=alt.Legend(orient="top", title=None) if len(names) == COLOURS else None,
    )
    bars = (
        _chart(spans)
        .mark_rule(strokeWidth=2.5)
        .encode(
            x=across, y=alt.Y("low", type="quantitative", scale=scale), y2="high", color=colour
        )
    )
    lines = _chart(known).mark_line(strokeWidth=2).encode(x=across, y=up, color=colour)
    dots = (
        _chart(known)
        .mark_point(filled=True, size=40 if is_curve else 80, opacity=1)
        .encode(x=across, y=up, color=colour)
    )
    place = {"dy": -12, "align": "center"} if is_curve else {"dx": 8, "align": "left"}
    labels = (
        _chart(known)
        .mark_text(**place, style="value", limit=NAMES[size])
        .encode(x=across, y=up, text=alt.Text(text, type="nominal"))
    )
    layers = [bars, lines, dots, labels] if is_curve else [bars, dots, labels]
    spec = alt.layer(*layers).properties(width=WIDTHS[size], height=260).to_dict()
    spec.pop("config", None)
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}}


def _room(rows: Rows, x: str, is_time: bool, size: str) -> Any:
    """A scale with room for the names at the right."""
    from .loading import alt

    if is_time:
        return alt.Scale(padding=WIDTHS["narrow"] / 3)
    highest = max((row[x] for row in rows), default=0)
    return alt.Scale(domain=[0, ROOM[size] * highest if highest > 0 else 1], nice=False)


def _chart(rows: Sequence[dict[str, Any]]) -> Any:
    from .loading import alt

    return alt.Chart(alt.InlineData(values=list(rows)))
