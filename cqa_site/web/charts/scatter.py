"""Charts of many points with two values each, on scales that fit them."""

from typing import Any

from cqa_site.web.charts.drawing import WIDTHS, Rows, Spec


def scatter(rows: Rows, *, x: str, y: str, titles: tuple[str, str], size: str = "wide") -> Spec:
    """A dot for each row; points that lie on each other look darker."""
    from .loading import alt

    marked = [{**row, "series": ""} for row in rows]
    dots = (
        alt.Chart(alt.InlineData(values=marked))
        .mark_point(filled=True, size=70, opacity=0.55)
        .encode(
            x=_axis(alt.X, x, titles[0]),
            y=_axis(alt.Y, y, titles[1]),
            # One series, so that the dots take the theme's first colour.
            color=alt.Color("series", type="nominal", legend=None),
        )
    )
    spec = dots.properties(width=WIDTHS[size], height=WIDTHS[size] * 3 // 5).to_dict()
    spec.pop("config", None)
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}}


def _axis(channel: Any, name: str, title: str) -> Any:
    from .loading import alt

    scale = alt.Scale(zero=False, nice=True, padding=6)
    return channel(name, type="quantitative", title=title, scale=scale, axis=alt.Axis(tickCount=5))
