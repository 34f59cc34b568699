"""Words beside dots: where they fit, or numbers with a key where they do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import NamedTuple

from .measure import text_width
from .paint import SIZE

Point = tuple[float, float]
HEIGHT, AWAY, RADIUS = 14, 8, 6
STEPS = 16
FARTHEST = 90


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
    """A word's middle, and the dot it belongs to where that is not just beside it."""

    text: str
    x: float
    y: float
    dot: Point | None = None


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
        free = _first(boxes, area, [*_round(points), *taken, *placed])
        if free is None:
            return None
        placed.append(free)
        made.append(Label(name, *_middle(free)))
    return made


def numbered(points: Sequence[Point], area: Box, taken: Sequence[Box] = ()) -> list[Label]:
    """Numbers from 1 as near to their dots as they fit; a crowd's stand off, with a line."""
    placed: list[Box] = []
    made = []
    for at, point in enumerate(points, start=1):
        width = text_width(str(at), SIZE, is_bold=True)
        near = _near(point, width)
        rings = [box for away in range(16, FARTHEST, 6) for box in _ring(point, width, away)]
        blocked = [*_round(points), *taken, *placed]
        # What is full everywhere lies over an interval rather than over another number.
        free = _first([*near, *rings], area, blocked) or _first(rings, area, placed) or near[0]
        placed.append(free)
        made.append(Label(str(at), *_middle(free), None if free in near else point))
    return made


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


def _round(points: Sequence[Point]) -> list[Box]:
    return [Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]


def _first(boxes: Sequence[Box], area: Box, blocked: Sequence[Box]) -> Box | None:
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
