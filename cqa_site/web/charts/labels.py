"""Words beside dots: where they fit, or numbers with a key where they do not."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import NamedTuple

from .measure import text_width
from .paint import SIZE

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
        """Whether two rectangles share a place."""
        is_beside = self.right <= other.left or other.right <= self.left
        return not (is_beside or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, other: "Box") -> bool:
        """Whether another rectangle lies inside."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


@dataclass(frozen=True)
class Label:
    """A word's middle, and where the line from its dot ends if that is not just beside it."""

    text: str
    x: float
    y: float
    lead: Point | None = None


def beside(
    points: Sequence[Point], names: Sequence[str], area: Box, taken: Sequence[Box] = ()
) -> list[Label] | None:
    """A name just beside each dot, meeting nothing; None where they do not all fit."""
    placed: list[Box] = []
    made = []
    for point, name in zip(points, names, strict=True):
        if not name:
            continue
        boxes = _near(point, text_width(name, SIZE, is_bold=True))
        free = _first(boxes, area, [*around(points), *taken, *placed])
        if free is None:
            return None
        placed.append(free)
        made.append(Label(name, *_middle(free)))
    return made


def numbered(points: Sequence[Point], area: Box, taken: Sequence[Box] = ()) -> list[Label | None]:
    """Numbers from 1 near their dots, or off a crowd with a line; None where there is no place."""
    placed: list[Box] = []
    leads: list[Box] = []
    made: list[Label | None] = []
    for point in points:
        text = str(len(placed) + 1)
        near = _near(point, text_width(text, SIZE, is_bold=True))
        blocked = [*around(points), *taken, *leads, *placed]
        free = _first([*near, *_far(point, near[0], placed)], area, blocked)
        if free is None:
            made.append(None)
            continue
        lead = None if free in near else edge(free, point)
        # A line leaves its own dot, and those that it lies on.
        leads += along(point, lead) if lead else []
        placed.append(free)
        made.append(Label(text, *_middle(free), lead))
    return made


def _far(point: Point, size: Box, placed: Sequence[Box]) -> Iterator[Box]:
    """Places farther and farther away to which a line goes past the words that are there."""
    width = size.right - size.left
    for away in range(16, FARTHEST, 6):
        for box in _ring(point, width, away):
            line = along(point, edge(box, point))
            if not any(spot.meets(other) for spot in line for other in placed):
                yield box


def edge(box: Box, point: Point) -> Point:
    """Where the line from a point to the middle of a box meets the box."""
    x, y = _middle(box)
    dx, dy = point[0] - x, point[1] - y
    reach = min(
        (box.right - x + 1) / abs(dx) if dx else 9e9, (box.bottom - y + 1) / abs(dy) if dy else 9e9
    )
    return x + dx * min(1, reach), y + dy * min(1, reach)


def _near(point: Point, width: float) -> list[Box]:
    """Right, left, above, below, and at the corners."""
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
    """The boxes of dots."""
    return [Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]


def _first(boxes: Iterable[Box], area: Box, blocked: Sequence[Box]) -> Box | None:
    return next(
        (box for box in boxes if area.holds(box) and not any(map(box.meets, blocked))), None
    )


def along(start: Point, end: Point) -> list[Box]:
    """Small boxes over a line, so that words keep off it."""
    (x, y), (x2, y2) = start, end
    steps = int(max(abs(x2 - x), abs(y2 - y)) / 4) + 1
    places = [(x + (x2 - x) * at / steps, y + (y2 - y) * at / steps) for at in range(steps + 1)]
    return [Box(px - 2, py - 2, px + 2, py + 2) for px, py in places]


def apart(places: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """The places moved as little as keeps them so far from each other, in their order.

    >>> apart([10, 12, 50], 10, 0, 100)
    [10, 20, 50]
    """
    made: list[float] = []
    for place in places:
        made.append(max(place, low, made[-1] + least if made else low))
    end = high
    for at in reversed(range(len(made))):
        made[at] = min(made[at], end)
        end = made[at] - least
    return made
