"""The plot of differences against means, for charts of `cqa_site.web.charts.drawing`."""

from typing import Any

from cqa_site.web.charts.drawing import WIDTHS, Rows, Spec


def difference_plot(
    points: Rows, lines: Rows, *, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Dots (fields mean, difference, n: the larger, the more answers) and named dashed lines."""
    import altair as alt

    across = alt.X("mean", type="quantitative", title=titles[0], scale=alt.Scale(zero=False))
    up = alt.Y("difference", type="quantitative", title=titles[1], axis=alt.Axis(tickCount=6))
    most = max((point["n"] for point in points), default=1)
    dots = (
        # Of one series, so that the theme colours them.
        _chart([{**point, "series": ""} for point in points])
        .mark_point(filled=True, opacity=0.55)
        .encode(
            x=across,
            y=up,
            color=alt.Color("series", type="nominal", legend=None),
            size=alt.Size(
                "n",
                type="quantitative",
                scale=alt.Scale(domain=[1, max(most, 2)], range=[18, 220]),
                legend=None,
            ),
        )
    )
    rules = _chart(lines).mark_rule(style="guide").encode(y=alt.Y("at", type="quantitative"))
    texts = (
        _chart(lines)
        .mark_text(style="value", align="right", dx=-4, dy=-7)
        .encode(
            y=alt.Y("at", type="quantitative"),
            x=alt.value(WIDTHS[size] - 70),
            text=alt.Text("what", type="nominal"),
        )
    )
    spec = alt.layer(dots, rules, texts).properties(width=WIDTHS[size], height=260).to_dict()
    spec.pop("config", None)
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}}


def _chart(rows: Rows) -> Any:
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)))
