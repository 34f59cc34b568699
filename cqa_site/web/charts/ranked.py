"""A ranking: one row a system, with its value, its interval and whom it ties with."""

from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor, log10
from typing import Any

from cqa_site.web.charts.drawing import WIDTHS, Rows, Spec

from .measure import fits, text_width, wrap

SIZE = 12
# Of the picture's width, what names may take beside the dots.
BESIDE = 0.38
# Heights of a row: its name in one line, in two lines, on a line of its own above the dot.
ONE_LINE, TWO_LINES, ABOVE = 24, 34, 40
GAP = 14
# Between numbers and the brackets at the very right.
BRACKET = 12
EDGE = 6
TICKS = {"wide": 6, "narrow": 4}


def ranked_dots(
    rows: Rows,
    *,
    title: str,
    size: str = "wide",
    domain: tuple[float, float] | None = None,
) -> Spec:
    """A dot with its interval for each row, in the rows' order, and its number at the right.

    Parameters
    ----------
    rows
        ``name``, ``value``, ``low``, ``high`` and ``group``, best first. All but the name may be
        None: without a value the number is a dash. Neighbours of the same group, systems whose
        ranks cannot be told apart, stand behind one bracket.
    title
        Of the axis.
    size
        Where names are long, they take two lines in a wide picture, and a line of their own above
        the dot in a narrow one.
    domain
        What the axis shows at least; without one, what the rows need.
    """
    place = _place(rows, size, domain)
    spec = _layers(rows, place, title).properties(width=WIDTHS[size], height=place.height)
    made = spec.to_dict()
    made.pop("config", None)
    below = 30 + 15 * len(_title(title, place)["title"])
    # Every place is given, so that no face of another width moves anything.
    return {
        **made,
        "autosize": {"type": "none"},
        "padding": {"left": 0, "right": 0, "top": EDGE, "bottom": below},
    }


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where things stand: the dots' ends, heights, lines of names, and the values of the axis."""

    width: int
    left: float
    right: float
    row: int
    height: int
    names: list[list[str]]
    is_above: bool
    numbers: list[str]
    domain: tuple[float, float]
    ticks: list[float]

    def dot(self, at: int) -> float:
        """The height at which a row has its dot."""
        return at * self.row + (self.row - 9 if self.is_above else self.row / 2)


def _place(rows: Rows, size: str, domain: tuple[float, float] | None) -> Place:
    width = WIDTHS[size]
    names = [str(row["name"]) for row in rows]
    longest = max((text_width(name, SIZE) for name in names), default=0)
    is_above = size == "narrow" and longest > BESIDE * width
    room = width - 2 * EDGE if is_above else BESIDE * width
    lines = [wrap(name, room, SIZE, most=1 if is_above else 2) for name in names]
    column = max((text_width(line, SIZE) for name in lines for line in name), default=0)
    low, high, ticks = _scale(rows, size, domain)
    numbers = [_number(row["value"], high) for row in rows]
    taken = max((text_width(each, SIZE, is_bold=True) for each in numbers), default=0)
    row = ABOVE if is_above else TWO_LINES if any(len(one) > 1 for one in lines) else ONE_LINE
    return Place(
        width=width,
        left=EDGE if is_above else column + EDGE + GAP,
        right=width - BRACKET - taken - GAP,
        row=row,
        height=max(1, len(rows)) * row,
        names=lines,
        is_above=is_above,
        numbers=numbers,
        domain=(low, high),
        ticks=ticks,
    )


def _scale(
    rows: Rows, size: str, domain: tuple[float, float] | None
) -> tuple[float, float, list[float]]:
    """Both ends of the axis and its round values, so that nothing lies outside."""
    known = [row[part] for row in rows for part in ("value", "low", "high")]
    known = [value for value in known if value is not None] + list(domain or ())
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = _step(high - low, TICKS[size])
    if domain is None:
        low, high = floor(low / step) * step, ceil(high / step) * step
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return low, high, [round(at * step, 10) for at in range(first, last + 1)]


def _step(span: float, most: int) -> float:
    """The smallest round step that makes no more than so many."""
    power = 10 ** floor(log10(span / most))
    return next(power * each for each in (1, 2, 5, 10) if span / (power * each) <= most + 1e-9)


def _number(value: float | None, high: float) -> str:
    """Shares with three places, points with two."""
    if value is None:
        return "–"
    return f"{value:.{3 if high <= 1 else 2}f}".replace("-", "−")


def _layers(rows: Rows, place: Place, title: str) -> Any:
    from .loading import alt

    marked = [
        {**row, "y": place.dot(at), "number": place.numbers[at]} for at, row in enumerate(rows)
    ]
    known = [row for row in marked if row["value"] is not None]
    spans = [row for row in known if row["low"] is not None and row["high"] is not None]
    scale = alt.Scale(domain=place.domain, range=[place.left, place.right], nice=False)
    words = _title(title, place)
    axis = alt.Axis(values=place.ticks, grid=False, domain=False, ticks=False, **words)
    shown: dict[str, Any] = {"type": "quantitative", "scale": scale, "title": words["title"]}
    y = alt.Y("y", type="quantitative", scale=None, axis=None)
    across = alt.X("value", **shown, axis=axis)
    low = alt.X("low", **shown, axis=axis)
    return alt.layer(
        _grid(place),
        _chart(spans).mark_rule(style="interval").encode(x=low, x2="high", y=y),
        _chart(known).mark_point(style="dot").encode(x=across, y=y),
        _names(place),
        _chart(marked)
        .mark_text(style="value", align="right", baseline="middle")
        .encode(x=alt.value(place.width - BRACKET), y=y, text=alt.Text("number", type="nominal")),
        _brackets(rows, place),
    )


def _grid(place: Place) -> Any:
    """A thin line under each row, and pieces of the axis' lines, none of them behind a name."""
    rows = range(len(place.names))
    lines = [
        {"x": place.left, "y": place.dot(at), "x2": place.right, "y2": place.dot(at)}
        for at in rows
    ]
    half = 7 if place.is_above else place.row / 2
    spread = (place.right - place.left) / (place.domain[1] - place.domain[0])
    for tick in place.ticks:
        x = place.left + (tick - place.domain[0]) * spread
        lines += [
            {"x": x, "y": place.dot(at) - half, "x2": x, "y2": place.dot(at) + half} for at in rows
        ]
    return _segments(lines, "grid")


def _names(place: Place) -> Any:
    from .loading import alt

    leading = 14
    marked = [
        {
            "name": line,
            "y": (at * place.row + 15 if place.is_above else place.dot(at))
            + leading * (number - (len(lines) - 1) / 2),
        }
        for at, lines in enumerate(place.names)
        for number, line in enumerate(lines)
    ]
    x = place.left if place.is_above else place.left - GAP
    return (
        _chart(marked)
        .mark_text(style="name", align="left" if place.is_above else "right", baseline="middle")
        .encode(
            x=alt.value(x),
            y=alt.Y("y", type="quantitative", scale=None, axis=None),
            text=alt.Text("name", type="nominal"),
        )
    )


def _brackets(rows: Rows, place: Place) -> Any:
    """A thin bracket behind the numbers of neighbours that share a group."""
    lines, at = [], 0
    for group, members in groupby(rows, key=lambda row: row.get("group")):
        count = len(list(members))
        if count > 1 and group is not None:
            top, bottom, x = place.dot(at) - 7, place.dot(at + count - 1) + 7, place.width - 2
            lines += [
                {"x": x, "y": top, "x2": x, "y2": bottom},
                {"x": x - 4, "y": top, "x2": x, "y2": top},
                {"x": x - 4, "y": bottom, "x2": x, "y2": bottom},
            ]
        at += count
    return _segments(lines, "bracket")


def _segments(lines: Rows, style: str) -> Any:
    """Straight lines between places in pixels."""
    from .loading import alt

    places: dict[str, Any] = {"type": "quantitative", "scale": None, "axis": None}
    return (
        _chart(lines)
        .mark_rule(style=style)
        .encode(x=alt.X("x", **places), y=alt.Y("y", **places), x2="x2", y2="y2")
    )


def _title(title: str, place: Place) -> dict[str, Any]:
    """Under the middle of the axis, or from its end to the left where it needs more room."""
    axis = place.right - place.left
    if fits(title, axis, SIZE):
        return {"title": wrap(title, axis, SIZE)}
    lines = wrap(title, place.right - EDGE, SIZE, most=3)
    return {"title": lines, "titleAnchor": "end", "titleAlign": "right"}


def _chart(rows: Rows) -> Any:
    from .loading import alt

    return alt.Chart(alt.InlineData(values=list(rows)))
