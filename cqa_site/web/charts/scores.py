"""Charts of points on a scale: systems with their parts, spread, two raters, differences."""

from typing import Any

from cqa_site.web.charts.drawing import WIDTHS, Rows, Spec

ROW_HEIGHT = 26
MOST_NAMES = 12


def marked_ranges(
    rows: Rows, *, x: str, y: str, text: str, title: list[str], highest: float, size: str = "wide"
) -> Spec:
    """A line for each ``y`` from its lowest to its highest ``x``, with a short text at each."""
    from .loading import alt

    kinds = list(dict.fromkeys(row[y] for row in rows))
    # Positions, no lengths: the scale begins a little below the lowest value, not at nothing.
    lowest = min((row[x] for row in rows), default=0) - highest / 20
    scale = alt.Scale(domain=[max(0.0, lowest), highest * 1.02], nice=False)
    across = alt.X(x, type="quantitative", title=title, scale=scale, axis=alt.Axis(tickCount=6))
    label = alt.Axis(labelLimit=180 if size == "wide" else 100)
    down = alt.Y(y, type="nominal", sort=kinds, title=None, axis=label)
    lines = (
        _chart(rows)
        .mark_rule(style="guide")
        .encode(
            x=alt.X(f"min({x})", type="quantitative", title=title, scale=scale),
            x2=f"max({x})",
            y=down,
        )
    )
    texts = (
        _chart(rows)
        .mark_text(style="value", fontSize=13)
        .encode(x=across, y=down, text=alt.Text(text, type="nominal"))
    )
    return _spec(alt.layer(lines, texts), size, 50 + ROW_HEIGHT * len(kinds))


def grouped_bars(
    rows: Rows, *, x: str, y: str, series: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Bars of two series side by side for each ``x``."""
    from .loading import alt

    names = list(dict.fromkeys(row[series] for row in rows))
    order = list(dict.fromkeys(row[x] for row in rows))
    bars = (
        _chart(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                x,
                type="ordinal",
                sort=order,
                title=titles[0],
                axis=alt.Axis(labelAngle=0, labelOverlap=True),
            ),
            xOffset=alt.XOffset(series, type="nominal", sort=names),
            y=alt.Y(y, type="quantitative", title=titles[1], axis=alt.Axis(tickCount=5)),
            color=alt.Color(
                series, type="nominal", sort=names, legend=alt.Legend(orient="top", title=None)
            ),
        )
    )
    return _spec(bars, size, 220)


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
    """Two raters' means of the same things; on the dashed line they agree."""
    from .loading import alt

    lowest = min((min(row[x], row[y]) for row in rows), default=0)
    domain = [max(0, int(lowest) - 1), highest]
    scale = alt.Scale(domain=domain, nice=False)
    across = alt.X(x, type="quantitative", title=titles[0], scale=scale)
    up = alt.Y(y, type="quantitative", title=titles[1], scale=scale)
    line = (
        _chart([{x: end, y: end} for end in domain])
        .mark_line(style="guide")
        .encode(x=across, y=up)
    )
    # One series, so that the dots take the theme's first colour.
    marked = [{**row, "series": ""} for row in rows]
    colour = alt.Color("series", type="nominal", legend=None)
    dots = (
        _chart(marked)
        .mark_point(filled=True, size=60, opacity=0.9)
        .encode(x=across, y=up, color=colour)
    )
    names = (
        _chart(rows)
        .mark_text(dx=7, align="left", style="value", fontSize=10, limit=110)
        .encode(x=across, y=up, text=alt.Text(text, type="nominal"))
    )
    # More names than these lie over each other; the table beside the chart has them all.
    layers = [line, dots, names] if len(rows) <= MOST_NAMES else [line, dots]
    return _spec(alt.layer(*layers), size, WIDTHS[size] * 3 // 4)


def sorted_bars(
    rows: Rows, *, x: str, y: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One thin bar for each row in the rows' order, up or down from nothing."""
    from .loading import alt

    order = [row[x] for row in rows]
    bars = (
        _chart(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                x,
                type="ordinal",
                sort=order,
                title=titles[0],
                axis=alt.Axis(labels=False, ticks=False),
            ),
            y=alt.Y(y, type="quantitative", title=titles[1]),
        )
    )
    zero = _chart([{y: 0}]).mark_rule(style="guide").encode(y=alt.Y(y, type="quantitative"))
    return _spec(alt.layer(bars, zero), size, 240)


def _chart(rows: Rows) -> Any:
    from .loading import alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def _spec(chart: Any, size: str, height: int) -> Spec:
    spec = chart.properties(width=WIDTHS[size], height=height).to_dict()
    spec.pop("config", None)
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}}
