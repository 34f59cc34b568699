"""A plane with two axes, drawn with nothing in the way of its words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .axis import Axis
from .drawing import WIDTHS
from .measure import text_width, wrap
from .paint import EDGE, LEADING, SIZE, Channels, Layer, lines_of, segment, segments, texts, values


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A plane's sides in pixels of the picture, its axes and what is written around it."""

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
        """The pixel of a value across."""
        return self.across.place(value, self.left, self.right)

    def y(self, value: float) -> float:
        """The pixel of a value up."""
        return self.up.place(value, self.bottom, self.top)

    @property
    def end(self) -> float:
        """Where the axis across and its title end."""
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
    """A plane of a height below ``start``; ``beyond`` is kept free at its right."""
    picture = WIDTHS[size]
    above = wrap(titles[1], picture - 2 * EDGE, SIZE, most=4) if titles[1] else []
    left = EDGE + max((text_width(each, SIZE) for each in up.labels), default=0) + 8
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
    """Lines at the values up, the values of both axes, and both titles."""
    lines = [
        segment(plane.left, plane.y(tick), plane.right, plane.y(tick)) for tick in plane.up.ticks
    ]
    up = [
        {"x": plane.left - 8, "y": plane.y(tick), "text": label}
        for tick, label in zip(plane.up.ticks, plane.up.labels, strict=True)
    ]
    above = lines_of(plane.title_up, EDGE, start + EDGE + 7)
    return [
        segments(lines, "grid"),
        texts(up, "soft", "right"),
        texts(_labels(plane), "soft", "center"),
        texts(above, "soft"),
        _title(plane),
    ]


def _labels(plane: Plane) -> list[dict[str, Any]]:
    """Values across, moved into the picture: all, or every second, third, fifth that has room."""
    every = []
    for tick, label in zip(plane.across.ticks, plane.across.labels, strict=True):
        half = text_width(label, SIZE) / 2
        x = min(max(plane.x(tick), half + 1), plane.picture - half - 1)
        every.append(({"x": x, "y": plane.bottom + 16, "text": label}, x - half, x + half))
    tries = ([*every[::step]] for step in (1, 2, 3, 5, 10, 20, 50, 100, len(every) or 1))
    kept = next(tried for tried in tries if _is_free(tried))
    return [label for label, _start, _end in kept]


def _is_free(labels: Sequence[tuple[dict[str, Any], float, float]]) -> bool:
    """Whether no label touches the next one."""
    return all(one[2] + 6 <= other[1] for one, other in pairwise(labels))


def _title(plane: Plane) -> Layer:
    """Under the middle of the plane, or of the picture where it needs more room."""
    half = max((text_width(line, SIZE) for line in plane.title), default=0) / 2
    middle = (plane.left + plane.right) / 2
    x = min(max(middle, half + EDGE), plane.picture - half - EDGE)
    return texts(lines_of(plane.title, x, plane.bottom + 36), "soft", "center")


def on(plane: Plane, x: str, y: str) -> Channels:
    """Fields of values as places of a plane."""
    return {
        "x": values(x, plane.across, (plane.left, plane.right)),
        "y": values(y, plane.up, (plane.bottom, plane.top)),
    }
