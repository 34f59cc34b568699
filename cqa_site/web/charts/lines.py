"""Lines over a number, one for each series."""

from typing import Any

from .drawing import WIDTHS, Rows, Spec

# A dash for each line, so that colour is not what tells them apart.
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])

# Letters of a name that leave room for another one in a narrow chart.
LONGEST_BESIDE = 13


def lines(
    rows: Rows, *, x: str, y: str, series: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One dashed or solid line for each series; ``x`` and ``y`` are numbers."""
    from .loading import alt

    names = list(dict.fromkeys(row[series] for row in rows))
    place: dict[str, Any] = {"orient": "top", "title": None, "columns": _columns(names, size)}
    legend = alt.Legend(**place, labelLimit=240, symbolType="stroke", symbolSize=400)
    dashes = alt.Scale(domain=names, range=[DASHES[at % len(DASHES)] for at in range(len(names))])
    chart = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(x, type="quantitative", title=titles[0]),
            y=alt.Y(y, type="quantitative", title=titles[1] or None),
            # The same domain twice makes one legend of both.
            color=alt.Color(series, type="nominal", scale=alt.Scale(domain=names), legend=legend),
            strokeDash=alt.StrokeDash(series, type="nominal", scale=dashes, legend=legend),
        )
    )
    spec = chart.properties(width=WIDTHS[size], height=220).to_dict()
    spec.pop("config", None)
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}}


def _columns(names: list[str], size: str) -> int:
    """How many names stand beside each other; two long ones would be cut where it is narrow."""
    if size == "wide":
        return 4
    return 2 if all(len(name) <= LONGEST_BESIDE for name in names) else 1
