"""Charts with a named row for each value: intervals and rankings."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from cqa_site.web.tables import text_of
from .vega import (
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
    fits,
    layer,
    legend,
    looks,
    pixels,
    segment,
    segments,
    text_width,
    texts,
    values,
    wrap,
)

# Maximum width of names next to the dots, as a share of the chart's width.
BESIDE = 0.38
GAP = 14
# Space between lines of a name, between a name and the dots below it, and between rows.
LINE, UNDER = 14, 6
# Space between rows with one dot; rows with several dots have three times as much.
APART = 6
# Maximum number of lines of a name; longer names lose their middle.
MOST_LINES = 4
TICKS = {"wide": 6, "middle": 5, "narrow": 4}


@dataclass(frozen=True, kw_only=True)
class RowPlacement:
    """The layout of rows: the ends of the axis, heights in pixels, and the wrapped names.

    A row has one slot for each dot, with the slots one below the other.
    """

    width: int
    left: float
    right: float
    top: float
    rows: list[float]
    slot: float
    slots: int
    apart: float
    names: list[list[str]]
    is_above: bool

    @property
    def bottom(self) -> float:
        """The bottom edge of the last row."""
        return self.top + sum(self.rows)

    def start(self, at: int) -> float:
        """Return the top edge of a row."""
        return self.top + sum(self.rows[:at])

    def middle(self, at: int) -> float:
        if not self.is_above:
            return self.start(at) + self.rows[at] / 2
        return self.start(at) + self.rows[at] - self.apart - self.slots * self.slot / 2

    def dot(self, at: int, slot: int = 0) -> float:
        """Return the vertical position of a dot."""
        return self.middle(at) + (slot - (self.slots - 1) / 2) * self.slot


def place_rows(
    names: Sequence[str],
    size: str,
    *,
    numbers: Sequence[str] = (),
    top: float = EDGE,
    slots: int = 1,
    slot: float = 18,
    beyond: float = 0,
) -> RowPlacement:
    """Lay out rows with room for names and numbers.

    ``beyond`` is the width of the free space to the right of the rows.

    Long names take several lines; in a narrow chart, names are above their dots.
    """
    width = WIDTHS[size]
    longest = max((text_width(name, SIZE) for name in names), default=0)
    is_above = size == "narrow" and longest > BESIDE * width
    room = width - 2 * EDGE if is_above else BESIDE * width
    lines = [wrap(name, room, SIZE, most=MOST_LINES) for name in names]
    column = max((text_width(line, SIZE) for label in lines for line in label), default=0)
    number_width = max((text_width(number, SIZE, is_bold=True) for number in numbers), default=0)
    tall = [LINE * len(label) for label in lines]
    dots, apart = slots * slot, APART if slots == 1 else 3 * APART
    return RowPlacement(
        width=width,
        left=EDGE if is_above else column + EDGE + GAP,
        right=width - beyond - (number_width + GAP if number_width else 2 * EDGE),
        top=top,
        rows=[
            (height + UNDER + dots if is_above else max(height, dots)) + apart for height in tall
        ],
        slot=slot,
        slots=slots,
        apart=apart,
        names=lines,
        is_above=is_above,
    )


def frame(place: RowPlacement, axis: Axis, title: str, marks: Sequence[float] = ()) -> list[Layer]:
    """Return names, lines, the axis and dashed lines at the marks; no line crosses a name."""
    rows = range(len(place.names))
    across = [
        segment(place.left, place.dot(at, slot), place.right, place.dot(at, slot))
        for at in rows
        for slot in range(place.slots)
    ]
    return [
        segments([*across, *_upright(place, axis, axis.ticks)], "grid"),
        segments(_upright(place, axis, marks), "guide"),
        _names(place),
        *_axis(place, axis, title),
    ]


def below(place: RowPlacement, title: str) -> float:
    """Return the height of the axis and its title below the rows."""
    return 26 + LEADING * len(_title(place, title)[0])


def spans(rows: Rows, axis: Axis, place: RowPlacement, names: Sequence[str]) -> Layer:
    """Return lines from low to high at height y."""
    known = [row for row in rows if row["low"] is not None and row["high"] is not None]
    x = values("low", axis, (place.left, place.right))
    across = {"x": x, "x2": {"field": "high"}, "y": pixels("y")}
    return layer(known, "rule", {**across, **looks(names, has_signs=False)}, style="interval")


def dots(rows: Rows, axis: Axis, place: RowPlacement, names: Sequence[str]) -> Layer:
    """Return a symbol at each value and height y."""
    known = [row for row in rows if row["value"] is not None]
    x = values("value", axis, (place.left, place.right))
    encoding = {"x": x, "y": pixels("y"), **looks(names)}
    return layer(known, "point", encoding, style="sign", filled=True)


def number_of(value: float | None, axis: Axis) -> str:
    """Format shares with three decimals and points with two."""
    if value is None:
        return "–"
    places = 3 if max(abs(axis.low), abs(axis.high)) <= 1 else 2
    return text_of(float(value), places)


def _upright(place: RowPlacement, axis: Axis, values: Sequence[float]) -> list[dict[str, float]]:
    """Return vertical lines, interrupted at names above their dots."""
    half = place.slots * place.slot / 2
    upright = []
    for value in values:
        x = axis.place(value, place.left, place.right)
        if not place.is_above:
            upright.append(segment(x, place.top, x, place.bottom))
            continue
        middles = [place.middle(at) for at in range(len(place.names))]
        upright += [segment(x, middle - half + 2, x, middle + half - 2) for middle in middles]
    return upright


def _names(place: RowPlacement) -> Layer:
    x = place.left if place.is_above else place.left - GAP
    marked = []
    for at, lines in enumerate(place.names):
        half = LINE * (len(lines) - 1) / 2
        first = place.start(at) + 11 if place.is_above else place.middle(at) - half
        marked += [
            {"x": x, "y": first + LINE * number, "text": line} for number, line in enumerate(lines)
        ]
    return texts(marked, "name", "left" if place.is_above else "right")


def _axis(place: RowPlacement, axis: Axis, title: str) -> list[Layer]:
    y = place.bottom + 12
    labels: list[dict[str, Any]] = [
        {"x": axis.place(tick, place.left, place.right), "y": y, "text": label}
        for tick, label in zip(axis.ticks, axis.labels, strict=True)
    ]
    if labels and place.is_above:
        # Half of the first label would be cut off at the edge.
        half = text_width(labels[0]["text"], SIZE) / 2
        labels[0]["x"] = max(labels[0]["x"], half + 1)
    lines, align = _title(place, title)
    x = place.right if align == "right" else (place.left + place.right) / 2
    words = [{"x": x, "y": y + 20 + LEADING * at, "text": line} for at, line in enumerate(lines)]
    return [texts(labels, "soft", "center"), texts(words, "soft", align)]


def _title(place: RowPlacement, title: str) -> tuple[list[str], str]:
    """Centre the title under the axis, or align it right if it needs more room."""
    span = place.right - place.left
    if not title:
        return [], "center"
    if fits(title, span, SIZE):
        return wrap(title, span, SIZE), "center"
    return wrap(title, place.right - EDGE, SIZE, most=4), "right"


# Rows of values with intervals, and rows of several values each.


def intervals(
    rows: Rows, *, y: str, series: str, title: str, marks: Sequence[float] = (), size: str = "wide"
) -> Spec:
    """Draw a dot and interval (fields value, low, high) per series in the row of each ``y``.

    The value is on the right. ``marks`` are values that get a dashed line.
    """
    kinds, names = _kinds(rows, y), _kinds(rows, series)
    values = [row[part] for row in rows for part in ("value", "low", "high")]
    axis = axis_of(values, domain=(0, 1), most=TICKS[size])
    above, height = legend(names, size)
    numbers = [number_of(row["value"], axis) for row in rows]
    place = place_rows(
        kinds, size, numbers=numbers, top=height + EDGE, slots=len(names) or 1, beyond=EDGE
    )
    marked = [
        {
            **row,
            "series": row[series],
            "y": place.dot(kinds.index(row[y]), names.index(row[series])),
        }
        for row in rows
    ]
    words = [
        {"x": place.width - EDGE, "y": row["y"], "text": number}
        for row, number in zip(marked, numbers, strict=True)
    ]
    layers = [
        *above,
        *frame(place, axis, title, marks),
        spans(marked, axis, place, names),
        dots(marked, axis, place, names),
        texts(words, "value", "right"),
    ]
    return finish(layers, size, place.bottom + below(place, title))


def parts(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: str,
    names: Sequence[str],
    title: str,
    highest: float,
    size: str = "wide",
) -> Spec:
    """Draw a dot per series at ``x`` in the row of ``y``, each series at its own height.

    ``names`` are the series in order. Because dots show positions and not lengths, the axis starts
    a little below the lowest value.
    """
    kinds = _kinds(rows, y)
    lowest = min((row[x] for row in rows), default=0.0)
    axis = axis_of([], domain=(max(0.0, lowest - highest / 20), highest), most=TICKS[size])
    above, height = legend(names, size)
    place = place_rows(kinds, size, top=height + EDGE, slots=len(names) or 1, slot=9)
    marked: list[dict[str, Any]] = [
        {
            "value": row[x],
            "series": row[series],
            "y": place.dot(kinds.index(row[y]), names.index(row[series])),
        }
        for row in rows
    ]
    layers = [*above, *frame(place, axis, title), dots(marked, axis, place, names)]
    return finish(layers, size, place.bottom + below(place, title))


def _kinds(rows: Rows, name: str) -> list[Any]:
    """Return the distinct values of a field, in row order."""
    return list(dict.fromkeys(row[name] for row in rows))


# Space between the numbers and the brackets to their right.
BRACKET = 12


def ranked_dots(
    rows: Rows, *, title: str, size: str = "wide", domain: tuple[float, float] | None = None
) -> Spec:
    """Draw a dot with its interval per row, in row order, with its number on the right.

    Parameters
    ----------
    rows
        ``name``, ``value``, ``low``, ``high`` and ``group``, best first. All but the name may be
        None; without a value, the number is a dash. A bracket joins neighbours in the same group,
        in which no two can be told apart.
    title
        Title of the axis.
    size
        Long names take two lines in a wide chart, and a separate line above the dot in a narrow
        chart.
    domain
        Minimum range of the axis; by default the range of the rows.
    """
    values = [row[part] for row in rows for part in ("value", "low", "high")]
    axis = axis_of(values, domain=domain, most=TICKS[size])
    numbers = [number_of(row["value"], axis) for row in rows]
    place = place_rows([row["name"] for row in rows], size, numbers=numbers, beyond=BRACKET)
    marked = [{**row, "series": "", "y": place.dot(at)} for at, row in enumerate(rows)]
    x = place.width - BRACKET
    words = [{"x": x, "y": place.dot(at), "text": number} for at, number in enumerate(numbers)]
    layers = [
        *frame(place, axis, title),
        spans(marked, axis, place, [""]),
        dots(marked, axis, place, [""]),
        texts(words, "value", "right"),
        _brackets(rows, place),
    ]
    return finish(layers, size, place.bottom + below(place, title))


def _brackets(rows: Rows, place: RowPlacement) -> Layer:
    """Return thin brackets after the numbers of neighbours in the same group."""
    lines, at, x = [], 0, place.width - 2
    for group, members in groupby(rows, key=lambda row: row.get("group")):
        count = len(list(members))
        if count > 1 and group is not None:
            top, bottom = place.dot(at) - 7, place.dot(at + count - 1) + 7
            lines += [
                segment(x, top, x, bottom),
                segment(x - 4, top, x, top),
                segment(x - 4, bottom, x, bottom),
            ]
        at += count
    return segments(lines, "bracket")
