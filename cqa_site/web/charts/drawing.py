"""Charts as Vega-Lite specifications, and their pictures.

A specification holds data and shapes but no colours: those come from the theme when the
picture is made, so one specification serves light and dark pages. Altair and vl-convert are
loaded at the first chart only; together they take about a second and 80 MB.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.core.cache import cache

Spec = dict[str, Any]
Rows = Sequence[dict[str, Any]]

THEMES: dict[str, dict[str, str]] = {
    # The colours of static/css/counterpoint.css.
    "light": {
        "surface": "#ffffff",
        "ink": "#1d1f24",
        "soft": "#565a63",
        "line": "#dfdbd3",
        "first": "#2447b2",
        "second": "#c2751a",
        "on_first": "#ffffff",
    },
    "dark": {
        "surface": "#1b1e24",
        "ink": "#eceae6",
        "soft": "#a9afba",
        "line": "#31363f",
        "first": "#9db4ff",
        "second": "#f0bf6a",
        "on_first": "#10142a",
    },
}
WIDTHS = {"wide": 520, "narrow": 300}
CONTENT_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
KEPT_SECONDS = 30 * 24 * 3600
VERSION = 2


def picture(spec: Spec, *, format: str, theme: str) -> bytes:
    """Draw a chart, or return the picture drawn earlier for the same data and theme."""
    content = json.dumps([VERSION, spec, format, theme, THEMES[theme]], sort_keys=True)
    key = "chart:" + hashlib.sha256(content.encode()).hexdigest()
    drawn = cache.get(key)
    if drawn is None:
        drawn = _draw(spec, format, theme)
        cache.set(key, drawn, KEPT_SECONDS)
    return drawn


def _draw(spec: Spec, format: str, theme: str) -> bytes:
    import vl_convert

    config = _config(THEMES[theme], is_transparent=format == "svg")
    if format == "png":
        return vl_convert.vegalite_to_png(spec, config=config, scale=3)
    return vl_convert.vegalite_to_svg(spec, config=config).encode()


def stacked_bars(
    rows: Rows, *, x: str, y: str, series: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One bar for each ``x``, its parts coloured by ``series``, the sum written above."""
    from .loading import alt

    base = _chart(rows).encode(x=_category(alt.X, x, titles[0]))
    names = list(dict.fromkeys(row[series] for row in rows))
    height = alt.Y(y, type="quantitative", title=titles[1], axis=alt.Axis(tickCount=5))
    place: dict[str, Any] = {"orient": "top", "title": None, "values": names}
    legend = alt.Legend(**place) if len(names) > 1 else None
    colour = alt.Color(series, type="nominal", sort=names, legend=legend)
    parts = base.mark_bar().encode(y=height, color=colour, order=alt.Order("part:Q"))
    sums = base.mark_text(dy=-7, style="value").encode(
        y=alt.Y(f"sum({y})", type="quantitative"), text=alt.Text(f"sum({y}):Q", format=",")
    )
    return _spec(alt.layer(parts, sums), size, 220)


def histogram(
    rows: Rows, *, start: str, end: str, y: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Touching bars from ``start`` to ``end``, both numbers."""
    from .loading import alt

    bars = (
        _chart(rows)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X(start, type="quantitative", title=titles[0], bin="binned"),
            x2=end,
            y=alt.Y(y, type="quantitative", title=titles[1], axis=alt.Axis(tickCount=5)),
        )
    )
    return _spec(bars, size, 220)


def columns_over_time(
    rows: Rows, *, x: str, y: str, unit: Any, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One bar for each time step; ``x`` is an ISO date or time, ``unit`` a Vega-Lite time unit."""
    from .loading import alt

    look = alt.Axis(
        tickCount=6 if size == "wide" else 4,
        labelOverlap=True,
        format=_TIME_FORMATS.get(unit, "%d %b"),
    )
    bars = (
        _chart(rows)
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X(
                x,
                type="temporal",
                timeUnit=unit,
                title=titles[0],
                axis=look,
            ),
            y=alt.Y(y, type="quantitative", title=titles[1], axis=alt.Axis(tickCount=5)),
        )
    )
    return _spec(bars, size, 180)


def intervals(
    rows: Rows,
    *,
    y: str,
    series: str,
    title: str,
    marks: Sequence[float] = (),
    size: str = "wide",
) -> Spec:
    """A dot with its interval (fields value, low, high) for each ``y``, side by side by series.

    ``marks`` are values at which a dashed line helps the eye.
    """
    from .loading import alt

    names = list(dict.fromkeys(row[series] for row in rows))
    kinds = list(dict.fromkeys(row[y] for row in rows))
    known = [row for row in rows if row["value"] is not None]
    spans = [row for row in known if row["low"] is not None]
    lowest = min([0.0, *(row["value"] for row in known), *(row["low"] for row in spans)])
    scale = alt.Scale(domain=[lowest, 1])
    shared = {
        "y": alt.Y(y, type="nominal", sort=kinds, title=None),
        "yOffset": alt.YOffset(series, type="nominal", sort=names),
    }
    colour = alt.Color(
        series,
        type="nominal",
        sort=names,
        legend=alt.Legend(orient="top", title=None) if len(names) > 1 else None,
    )
    x = alt.X("value", type="quantitative", title=title, scale=scale)
    lines = (
        _chart([{"at": mark} for mark in marks])
        .mark_rule(style="guide")
        .encode(x=alt.X("at", type="quantitative", scale=scale, title=title))
    )
    bars = (
        _chart(spans)
        .mark_rule(strokeWidth=2.5)
        .encode(
            x=alt.X("low", type="quantitative", scale=scale, title=title),
            x2="high",
            color=colour,
            **shared,
        )
    )
    dots = (
        _chart(known)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(x=x, color=colour, **shared)
    )
    texts = (
        _chart(known)
        .mark_text(dy=-9, style="value")
        .encode(x=x, text=alt.Text("value:Q", format=".3f"), **shared)
    )
    return _spec(alt.layer(lines, bars, dots, texts), size, 40 + 42 * len(kinds) * len(names))


def heatmap(
    rows: Rows,
    *,
    x: str,
    y: str,
    share: str,
    text: str,
    titles: tuple[str, str],
    size: str = "wide",
    most: int = 340,
) -> Spec:
    """Cells shaded by ``share`` (0 to 1, or missing) with ``text`` in them, in the rows' order.

    ``most`` is the largest side in pixels; where the columns are narrow, their names lean.
    """
    from .loading import alt

    # Named, because the layers below hold parts of the rows and would mix the order up.
    across, down = (list(dict.fromkeys(row[name] for row in rows)) for name in (x, y))
    side = min(most, 340 if size == "wide" else WIDTHS["narrow"] - 60)
    longest = max((len(str(each)) for each in across), default=0)
    lean = {"labelAngle": -35} if longest * 7 * len(across) > side else {}
    base = _chart(rows).encode(
        x=_category(alt.X, x, titles[0], across, orient="top", **lean),
        y=_category(alt.Y, y, titles[1], down),
    )
    shade = alt.Color(share, type="quantitative", scale=alt.Scale(domain=[0, 1]), legend=None)
    cells = base.mark_rect().encode(color=shade)
    lines = max((str(row[text]).count("\n") for row in rows), default=0)
    pale, deep = (
        base.transform_filter(condition).mark_text(style=style, lineBreak="\n", dy=-8 * lines)
        for condition, style in (
            (f"!(datum['{share}'] > 0.5)", "on-pale"),
            (f"datum['{share}'] > 0.5", "on-deep"),
        )
    )
    shown = alt.Text(text, type="nominal")
    spec = _spec(alt.layer(cells, pale.encode(text=shown), deep.encode(text=shown)), size, side)
    return {**spec, "width": side}


_TIME_FORMATS = {"yearmonthdatehours": "%d %b %H:00", "yearmonth": "%b %Y"}


def _chart(rows: Rows) -> Any:
    from .loading import alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def _category(
    channel: Any, name: str, title: str, order: list[Any] | None = None, **axis: Any
) -> Any:
    from .loading import alt

    look = alt.Axis(**{"labelAngle": 0} | axis)
    return channel(name, type="ordinal", title=title, sort=order, axis=look)


def _spec(chart: Any, size: str, height: int) -> Spec:
    spec = chart.properties(width=WIDTHS[size], height=height).to_dict()
    spec.pop("config", None)
    # Sizes hold for the whole picture, so that it fits the place kept for it.
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}}


def _config(colours: dict[str, str], *, is_transparent: bool) -> Spec:
    axis = {
        "labelColor": colours["soft"],
        "titleColor": colours["soft"],
        "titleFontWeight": "normal",
        "gridColor": colours["line"],
        "domainColor": colours["line"],
        "tickColor": colours["line"],
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titlePadding": 8,
        "labelPadding": 6,
    }
    return {
        "background": "transparent" if is_transparent else colours["surface"],
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False},
        "legend": {"labelColor": colours["ink"], "labelFontSize": 12, "symbolType": "square"},
        "bar": {"color": colours["first"]},
        "text": {"fontSize": 12},
        "style": {
            "value": {"color": colours["ink"], "fontSize": 12, "fontWeight": 600},
            "name": {"color": colours["ink"], "fontSize": 12},
            "guide": {"color": colours["soft"], "strokeDash": [3, 3], "strokeWidth": 1},
            "grid": {"color": colours["line"], "strokeWidth": 1},
            "bracket": {"color": colours["soft"], "strokeWidth": 1.25, "strokeCap": "square"},
            "interval": {"color": colours["first"], "strokeWidth": 2.5},
            "dot": {"color": colours["first"], "filled": True, "size": 80, "opacity": 1},
            "on-pale": {"color": colours["ink"], "fontSize": 13},
            "on-deep": {"color": colours["on_first"], "fontSize": 13},
        },
        "range": {
            "category": [colours["first"], colours["second"]],
            "ramp": [colours["surface"], colours["first"]],
            "heatmap": [colours["surface"], colours["first"]],
        },
    }
