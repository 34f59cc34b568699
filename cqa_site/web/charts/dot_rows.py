"""Rows with a name at the left, dots on an axis, and numbers in a column at the right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cqa_site.web.tables import text_of

from .axis import Axis
from .drawing import WIDTHS, Rows
from .measure import fits, text_width, wrap
from .paint import (
    EDGE,
    LEADING,
    SIZE,
    Layer,
    layer,
    looks,
    pixels,
    segment,
    segments,
    texts,
    values,
)

# Of the picture's width, what names may take beside the dots.
BESIDE = 0.38
GAP = 14
# Between lines of a name, between a name and the dots below it, and between rows.
LINE, UNDER = 14, 6
# Between rows of one dot; three times as much between rows of several.
APART = 6
# Lines of a name; what needs more loses its middle.
MOST_LINES = 4
TICKS = {"wide": 6, "middle": 5, "narrow": 4}


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where rows stand: the ends of the axis, heights in pixels, and the names on their lines.

    A row has slots above each other, one for each dot.
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
        """Where the last row ends."""
        return self.top + sum(self.rows)

    def start(self, at: int) -> float:
        """Where a row begins."""
        return self.top + sum(self.rows[:at])

    def middle(self, at: int) -> float:
        """The middle of a row's dots."""
        if not self.is_above:
            return self.start(at) + self.rows[at] / 2
        return self.start(at) + self.rows[at] - self.apart - self.slots * self.slot / 2

    def dot(self, at: int, slot: int = 0) -> float:
        """The height of a dot."""
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
) -> Place:
    """Room for names and numbers; ``beyond`` is kept free at the right of them.

    Long names take several lines, in a narrow picture above their dots.
    """
    width = WIDTHS[size]
    longest = max((text_width(name, SIZE) for name in names), default=0)
    is_above = size == "narrow" and longest > BESIDE * width
    room = width - 2 * EDGE if is_above else BESIDE * width
    lines = [wrap(name, room, SIZE, most=MOST_LINES) for name in names]
    column = max((text_width(line, SIZE) for each in lines for line in each), default=0)
    taken = max((text_width(each, SIZE, is_bold=True) for each in numbers), default=0)
    tall = [LINE * len(each) for each in lines]
    dots, apart = slots * slot, APART if slots == 1 else 3 * APART
    return Place(
        width=width,
        left=EDGE if is_above else column + EDGE + GAP,
        right=width - beyond - (taken + GAP if taken else 2 * EDGE),
        top=top,
        rows=[(one + UNDER + dots if is_above else max(one, dots)) + apart for one in tall],
        slot=slot,
        slots=slots,
        apart=apart,
        names=lines,
        is_above=is_above,
    )


def frame(place: Place, axis: Axis, title: str, marks: Sequence[float] = ()) -> list[Layer]:
    """Names, lines and the axis, with dashed lines at the marks; and nothing behind a name."""
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


def below(place: Place, title: str) -> float:
    """How much the axis and its title take below the rows."""
    return 26 + LEADING * len(_title(place, title)[0])


def spans(rows: Rows, axis: Axis, place: Place, names: Sequence[str]) -> Layer:
    """Lines from low to high at the height y."""
    known = [row for row in rows if row["low"] is not None and row["high"] is not None]
    x = values("low", axis, (place.left, place.right))
    across = {"x": x, "x2": {"field": "high"}, "y": pixels("y")}
    return layer(known, "rule", {**across, **looks(names, has_signs=False)}, style="interval")


def dots(rows: Rows, axis: Axis, place: Place, names: Sequence[str]) -> Layer:
    """A sign at each value at the height y."""
    known = [row for row in rows if row["value"] is not None]
    x = values("value", axis, (place.left, place.right))
    encoding = {"x": x, "y": pixels("y"), **looks(names)}
    return layer(known, "point", encoding, style="sign", filled=True)


def number_of(value: float | None, axis: Axis) -> str:
    """Shares with three places, points with two."""
    if value is None:
        return "–"
    places = 3 if max(abs(axis.low), abs(axis.high)) <= 1 else 2
    return text_of(float(value), places)


def _upright(place: Place, axis: Axis, values: Sequence[float]) -> list[dict[str, float]]:
    """Upright lines, in pieces where names stand above their dots."""
    half = place.slots * place.slot / 2
    made = []
    for value in values:
        x = axis.place(value, place.left, place.right)
        if not place.is_above:
            made.append(segment(x, place.top, x, place.bottom))
            continue
        middles = [place.middle(at) for at in range(len(place.names))]
        made += [segment(x, middle - half + 2, x, middle + half - 2) for middle in middles]
    return made


def _names(place: Place) -> Layer:
    x = place.left if place.is_above else place.left - GAP
    marked = []
    for at, lines in enumerate(place.names):
        half = LINE * (len(lines) - 1) / 2
        first = place.start(at) + 11 if place.is_above else place.middle(at) - half
        marked += [
            {"x": x, "y": first + LINE * number, "text": line} for number, line in enumerate(lines)
        ]
    return texts(marked, "name", "left" if place.is_above else "right")


def _axis(place: Place, axis: Axis, title: str) -> list[Layer]:
    y = place.bottom + 12
    labels: list[dict[str, Any]] = [
        {"x": axis.place(tick, place.left, place.right), "y": y, "text": label}
        for tick, label in zip(axis.ticks, axis.labels, strict=True)
    ]
    if labels and place.is_above:
        # The first stands at the very edge, where its half would be cut.
        half = text_width(labels[0]["text"], SIZE) / 2
        labels[0]["x"] = max(labels[0]["x"], half + 1)
    lines, align = _title(place, title)
    x = place.right if align == "right" else (place.left + place.right) / 2
    words = [{"x": x, "y": y + 20 + LEADING * at, "text": line} for at, line in enumerate(lines)]
    return [texts(labels, "soft", "center"), texts(words, "soft", align)]


def _title(place: Place, title: str) -> tuple[list[str], str]:
    """Under the middle of the axis, or from its end to the left where it needs more room."""
    span = place.right - place.left
    if not title:
        return [], "center"
    if fits(title, span, SIZE):
        return wrap(title, span, SIZE), "center"
    return wrap(title, place.right - EDGE, SIZE, most=4), "right"
