"""A plane with two axes, and the labels of its points."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi, sin
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from .vega import (
    EDGE,
    LEADING,
    SIZE,
    WIDTHS,
    Axis,
    Channels,
    Layer,
    Rows,
    lines_of,
    segment,
    segments,
    text_width,
    texts,
    values,
    wrap,
)

# A plane with two axes, with nothing drawn over its text.


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A plane: its sides in pixels, its axes and its titles."""

    picture: int
    left: float
    right: float
    top: float
    bottom: float
    across: Axis
    up: Axis
    title: list[str]
    title_up: list[str]

    def x(self, value: float) -> float:
        """Return the pixel of a value on the horizontal axis."""
        return self.across.place(value, self.left, self.right)

    def y(self, value: float) -> float:
        """Return the pixel of a value on the vertical axis."""
        return self.up.place(value, self.bottom, self.top)

    @property
    def end(self) -> float:
        """The bottom edge of the horizontal axis and its title."""
        return self.bottom + 30 + LEADING * len(self.title)


def plane_of(
    across: Axis,
    up: Axis,
    titles: tuple[str, str],
    size: str,
    *,
    height: float = 200,
    start: float = 0,
    beyond: float = 0,
) -> Plane:
    """Lay out a plane of this height below ``start``, with ``beyond`` free pixels to its right."""
    picture = WIDTHS[size]
    above = wrap(titles[1], picture - 2 * EDGE, SIZE, most=4) if titles[1] else []
    left = EDGE + max((text_width(label, SIZE) for label in up.labels), default=0) + 8
    top = start + EDGE + LEADING * len(above) + 10
    return Plane(
        picture=picture,
        left=left,
        right=picture - max(EDGE + 8, beyond),
        top=top,
        bottom=top + height,
        across=across,
        up=up,
        title=wrap(titles[0], picture - 2 * EDGE, SIZE, most=4) if titles[0] else [],
        title_up=above,
    )


def frame(plane: Plane, *, start: float = 0) -> list[Layer]:
    """Return grid lines, the values of both axes, and both titles."""
    lines = [
        segment(plane.left, plane.y(tick), plane.right, plane.y(tick)) for tick in plane.up.ticks
    ]
    up = [
        {"x": plane.left - 8, "y": plane.y(tick), "text": label}
        for tick, label in zip(plane.up.ticks, plane.up.labels, strict=True)
    ]
    above = lines_of(plane.title_up, EDGE, start + EDGE + 7)
    half = max((text_width(line, SIZE) for line in plane.title), default=0) / 2
    middle = (plane.left + plane.right) / 2
    x = min(max(middle, half + EDGE), plane.picture - half - EDGE)
    return [
        segments(lines, "grid"),
        texts(up, "soft", "right"),
        texts(_labels(plane), "soft", "center"),
        texts(above, "soft"),
        texts(lines_of(plane.title, x, plane.bottom + 36), "soft", "center"),
    ]


def _labels(plane: Plane) -> list[dict[str, Any]]:
    """Return the labels of the horizontal axis: as many as fit, evenly spaced."""
    every = []
    for tick, label in zip(plane.across.ticks, plane.across.labels, strict=True):
        half = text_width(label, SIZE) / 2
        x = min(max(plane.x(tick), half + 1), plane.picture - half - 1)
        every.append(({"x": x, "y": plane.bottom + 16, "text": label}, x - half, x + half))
    tries = ([*every[::step]] for step in (1, 2, 3, 5, 10, 20, 50, 100, len(every) or 1))
    labels = next(tried for tried in tries if _is_free(tried))
    return [label for label, _start, _end in labels]


def _is_free(labels: Sequence[tuple[dict[str, Any], float, float]]) -> bool:
    """Return whether adjacent labels do not touch."""
    return all(label[2] + 6 <= other[1] for label, other in pairwise(labels))


def on(plane: Plane, x: str, y: str) -> Channels:
    """Return encodings of value fields as positions on a plane."""
    return {
        "x": values(x, plane.across, (plane.left, plane.right)),
        "y": values(y, plane.up, (plane.bottom, plane.top)),
    }


Point = tuple[float, float]
HEIGHT, AWAY, RADIUS = 14, 8, 6
STEPS = 24
FARTHEST = 150


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Return whether two rectangles overlap."""
        is_beside = self.right <= other.left or other.right <= self.left
        return not (is_beside or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, other: "Box") -> bool:
        """Return whether another rectangle is inside this one."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


@dataclass(frozen=True)
class DotLabel:
    """The centre of a label and, if it is not beside its dot, the end of the line from the dot."""

    text: str
    x: float
    y: float
    lead: Point | None = None


def beside(
    points: Sequence[Point], names: Sequence[str], area: Box, obstacles: Sequence[Box] = ()
) -> list[DotLabel] | None:
    """Place a name beside each dot without overlap; return None if they do not all fit."""
    placed: list[Box] = []
    labels = []
    for point, name in zip(points, names, strict=True):
        if not name:
            continue
        boxes = _near(point, text_width(name, SIZE, is_bold=True))
        free = _first(boxes, area, [*around(points), *obstacles, *placed])
        if free is None:
            return None
        placed.append(free)
        labels.append(DotLabel(name, *_middle(free)))
    return labels


def numbered(
    points: Sequence[Point], area: Box, boxes: Sequence[Box] = ()
) -> list[DotLabel | None]:
    """Place numbers near their dots, or further away with a line; None if there is no room."""
    placed: list[Box] = []
    leads: list[Box] = []
    labels: list[DotLabel | None] = []
    for point in points:
        text = str(len(placed) + 1)
        near = _near(point, text_width(text, SIZE, is_bold=True))
        blocked = [*around(points), *boxes, *leads, *placed]
        free = _first([*near, *_far(point, near[0], placed)], area, blocked)
        if free is None:
            labels.append(None)
            continue
        lead = None if free in near else edge(free, point)
        # Keep later labels off this line.
        leads += along(point, lead) if lead else []
        placed.append(free)
        labels.append(DotLabel(text, *_middle(free), lead))
    return labels


def _far(point: Point, size: Box, placed: Sequence[Box]) -> Iterator[Box]:
    """Yield positions at increasing distances whose lines to the point avoid the other labels."""
    width = size.right - size.left
    for away in range(16, FARTHEST, 6):
        for box in _ring(point, width, away):
            line = along(point, edge(box, point))
            if not any(spot.meets(other) for spot in line for other in placed):
                yield box


def edge(box: Box, point: Point) -> Point:
    """Return the point where the line from a point to the middle of a box meets the box."""
    x, y = _middle(box)
    dx, dy = point[0] - x, point[1] - y
    reach = min(
        (box.right - x + 1) / abs(dx) if dx else 9e9, (box.bottom - y + 1) / abs(dy) if dy else 9e9
    )
    return x + dx * min(1, reach), y + dy * min(1, reach)


def _near(point: Point, width: float) -> list[Box]:
    """Return the boxes to the right, to the left, above, below, and at the corners."""
    (x, y), half = point, width / 2
    sides = [(half + AWAY, 0.0), (-half - AWAY, 0.0), (0.0, -AWAY - 6.0), (0.0, AWAY + 6.0)]
    corners = [(side * (half + 5), up * 12.0) for side in (1, -1) for up in (-1, 1)]
    return [_box(x + dx, y + dy, width) for dx, dy in [*sides, *corners]]


def _ring(point: Point, width: float, away: float) -> list[Box]:
    turns = [2 * pi * at / STEPS for at in range(STEPS)]
    x, y = point
    return [
        _box(x + (away + width / 2) * cos(turn), y + (away + 6) * sin(turn), width)
        for turn in turns
    ]


def _box(x: float, y: float, width: float) -> Box:
    return Box(x - width / 2, y - HEIGHT / 2, x + width / 2, y + HEIGHT / 2)


def _middle(box: Box) -> Point:
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2


def around(points: Sequence[Point]) -> list[Box]:
    """Return a box around each dot."""
    return [Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]


def _first(boxes: Iterable[Box], area: Box, blocked: Sequence[Box]) -> Box | None:
    return next(
        (box for box in boxes if area.holds(box) and not any(map(box.meets, blocked))), None
    )


def along(start: Point, end: Point) -> list[Box]:
    """Return small boxes along a line, so that labels do not cover it."""
    (x, y), (x2, y2) = start, end
    steps = int(max(abs(x2 - x), abs(y2 - y)) / 4) + 1
    places = [(x + (x2 - x) * at / steps, y + (y2 - y) * at / steps) for at in range(steps + 1)]
    return [Box(px - 2, py - 2, px + 2, py + 2) for px, py in places]


def apart(places: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Move positions as little as needed for the minimum distance, keeping their order.

    >>> apart([10, 12, 50], 10, 0, 100)
    [10, 20, 50]
    """
    positions: list[float] = []
    for place in places:
        positions.append(max(place, low, positions[-1] + least if positions else low))
    end = high
    for at in reversed(range(len(positions))):
        positions[at] = min(positions[at], end)
        end = positions[at] - least
    return positions


NUMBER = 22
# With more names, there is no room for the dots.
MOST = 16
Lines = Sequence[tuple[float, float, float, float]]


def named(plane: Plane, rows: Rows, size: str, *, lines: Lines = ()) -> tuple[list[Layer], float]:
    """Return layers that name rows (fields x, y, text), and the bottom edge of the chart.

    Names do not cover the lines, which run between values.
    """
    every = [row for row in rows if row["text"]]
    wanted = every[:MOST]
    spots = [(plane.x(row["x"]), plane.y(row["y"])) for row in wanted]
    others = [(plane.x(row["x"]), plane.y(row["y"])) for row in rows if row not in wanted]
    names = [row["text"] for row in wanted]
    boxes = [*around(others), *(box for line in lines for box in _along(line, plane))]
    area = Box(plane.left + 1, plane.top - 8, plane.picture - 1, plane.bottom - 1)
    labels = beside(spots, names, area, boxes) if len(wanted) == len(every) else None
    if labels is not None:
        return [_words(labels)], plane.end
    triples = zip(numbered(spots, area, boxes), spots, names, strict=True)
    numbers = [(label, spot, name) for label, spot, name in triples if label]
    leads = [segment(*spot, *label.lead) for label, spot, _name in numbers if label.lead]
    layers, end = _key([name for *_, name in numbers], len(every), size, plane.end + EDGE)
    return [segments(leads, "lead"), _words([label for label, *_ in numbers]), *layers], end


def _along(line: tuple[float, float, float, float], plane: Plane) -> list[Box]:
    x, y, x2, y2 = line
    return along((plane.x(x), plane.y(y)), (plane.x(x2), plane.y(y2)))


def _words(labels: Sequence[DotLabel]) -> Layer:
    words = [{"x": label.x, "y": label.y, "text": label.text} for label in labels]
    return texts(words, "value", "center")


def _key(names: Sequence[str], every: int, size: str, top: float) -> tuple[list[Layer], float]:
    """Return numbers with names in as many columns as fit, and their bottom edge."""
    room = WIDTHS[size] - 2 * EDGE
    longest = max(text_width(name, SIZE) for name in names) + NUMBER + 8
    columns = max(1, min(3, int(room / longest)))
    column = room / columns
    down = -(-len(names) // columns)
    entries = [wrap(name, column - NUMBER - 8, SIZE, most=3) for name in names]
    tallest = LEADING * max(map(len, entries)) + 2
    numbers, words = [], []
    for at, lines in enumerate(entries):
        x, y = EDGE + column * (at // down), top + tallest * (at % down) + 8
        numbers.append({"x": x + NUMBER - 6, "y": y, "text": str(at + 1)})
        words += lines_of(lines, x + NUMBER, y)
    end = top + tallest * down
    if every > len(names):
        sentence = _("Names are shown for %(named)d of %(all)d dots.")
        sentence %= {"named": len(names), "all": every}
        lines = wrap(sentence, room, SIZE)
        words += lines_of(lines, EDGE, end + 8)
        end += LEADING * len(lines)
    return [texts(numbers, "value", "right"), texts(words, "name")], end + EDGE
