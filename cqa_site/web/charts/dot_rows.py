"""Rows with a name at the left, dots on an axis, and numbers in a column at the right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .axis import Axis
from .drawing import WIDTHS
from .measure import fits, text_width, wrap
from .paint import EDGE, LEADING, SIZE, chart, looks, pixels, segment, segments, texts

# Of the picture's width, what names may take beside the dots.
BESIDE = 0.38
GAP = 14
# Height of the name above the dots of its row, and what parts rows.
NAME, APART = 20, 6
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
    row: float
    slot: float
    slots: int
    names: list[list[str]]
    is_above: bool

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.top + self.row * max(1, len(self.names))

    def middle(self, at: int) -> float:
        """The middle of a row's dots."""
        start = self.top + at * self.row
        return start + (NAME + self.slots * self.slot / 2 if self.is_above else self.row / 2)

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

    Where names are long, they take two lines in a wide picture, and one or two above their dots
    in a narrow one.
    """
    width = WIDTHS[size]
    longest = max((text_width(name, SIZE) for name in names), default=0)
    is_above = size == "narrow" and longest > BESIDE * width
    room = width - 2 * EDGE if is_above else BESIDE * width
    lines = [wrap(name, room, SIZE, most=1 if is_above else 2) for name in names]
    column = max((text_width(line, SIZE) for each in lines for line in each), default=0)
    taken = max((text_width(each, SIZE, is_bold=True) for each in numbers), default=0)
    tallest = max((len(each) for each in lines), default=1) * 14
    inner = slots * slot
    return Place(
        width=width,
        left=EDGE if is_above else column + EDGE + GAP,
        right=width - beyond - (taken + GAP if taken else 2 * EDGE),
        top=top,
        row=(NAME + inner if is_above else max(tallest, inner)) + APART,
        slot=slot,
        slots=slots,
        names=lines,
        is_above=is_above,
    )


def frame(place: Place, axis: Axis, title: str, marks: Sequence[float] = ()) -> list[Any]:
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


def spans(rows: Sequence[dict[str, Any]], axis: Axis, place: Place, names: Sequence[str]) -> Any:
    """Lines from low to high at the height y."""
    from .loading import alt

    known = [row for row in rows if row["low"] is not None and row["high"] is not None]
    return (
        chart(known)
        .mark_rule(style="interval")
        .encode(
            x=_values(alt.X, "low", axis, place),
            x2="high",
            y=pixels(alt.Y, "y"),
            **looks(names, has_signs=False),
        )
    )


def dots(rows: Sequence[dict[str, Any]], axis: Axis, place: Place, names: Sequence[str]) -> Any:
    """A sign at each value at the height y."""
    from .loading import alt

    return (
        chart([row for row in rows if row["value"] is not None])
        .mark_point(style="sign", filled=True)
        .encode(x=_values(alt.X, "value", axis, place), y=pixels(alt.Y, "y"), **looks(names))
    )


def number_of(value: float | None, axis: Axis) -> str:
    """Shares with three places, points with two."""
    if value is None:
        return "–"
    places = 3 if max(abs(axis.low), abs(axis.high)) <= 1 else 2
    return f"{value:.{places}f}".replace("-", "−")


def _values(channel: Any, name: str, axis: Axis, place: Place) -> Any:
    from .loading import alt

    scale = alt.Scale(
        domain=[axis.low, axis.high], range=[place.left, place.right], nice=False, zero=False
    )
    return channel(name, type="quantitative", scale=scale, axis=None)


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


def _names(place: Place) -> Any:
    x = place.left if place.is_above else place.left - GAP
    marked = []
    for at, lines in enumerate(place.names):
        start = place.top + at * place.row + 11 if place.is_above else place.middle(at)
        for number, line in enumerate(lines):
            y = start + 14 * (number - (len(lines) - 1) / 2)
            marked.append({"x": x, "y": y, "text": line})
    return texts(marked, "name", "left" if place.is_above else "right")


def _axis(place: Place, axis: Axis, title: str) -> list[Any]:
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
    return wrap(title, place.right - EDGE, SIZE, most=3), "right"
