"""Names of the dots of a plane: beside them, or in a key below."""

from collections.abc import Sequence
from typing import Any

from .drawing import WIDTHS, Rows
from .labels import Box, Label, along, beside, numbered
from .measure import text_width, wrap
from .paint import EDGE, LEADING, SIZE, lines_of, segment, segments, texts
from .plane import Plane

NUMBER = 22
Lines = Sequence[tuple[float, float, float, float]]


def named(plane: Plane, rows: Rows, size: str, *, lines: Lines = ()) -> tuple[list[Any], float]:
    """Layers that name rows (fields x, y, text), and where the picture ends.

    Words keep off the lines, which run between values.
    """
    wanted = [row for row in rows if row["text"]]
    spots = [(plane.x(row["x"]), plane.y(row["y"])) for row in wanted]
    others = [(plane.x(row["x"]), plane.y(row["y"])) for row in rows if not row["text"]]
    names = [row["text"] for row in wanted]
    taken = [box for line in lines for box in _along(line, plane)]
    taken += [box for spot in others for box in along(spot, spot)]
    area = Box(plane.left + 1, plane.top - 8, plane.picture - 1, plane.bottom - 1)
    labels = beside(spots, names, area, taken)
    if labels is not None:
        return [_words(labels)], plane.end
    labels = numbered(spots, area, taken)
    layers, height = _key(names, size, plane.end + EDGE)
    return [_leads(labels), _words(labels), *layers], plane.end + EDGE + height


def _along(line: tuple[float, float, float, float], plane: Plane) -> list[Box]:
    x, y, x2, y2 = line
    return along((plane.x(x), plane.y(y)), (plane.x(x2), plane.y(y2)))


def _words(labels: Sequence[Label]) -> Any:
    words = [{"x": label.x, "y": label.y, "text": label.text} for label in labels]
    return texts(words, "value", "center")


def _leads(labels: Sequence[Label]) -> Any:
    """Thin lines from numbers that stand off to their dots."""
    far = [(label.dot, label) for label in labels if label.dot]
    lines = []
    for (x, y), label in far:
        # From the edge of the number, not from its middle.
        reach = max(abs(label.x - x), abs(label.y - y), 1)
        part = 1 - min(1, 8 / reach)
        lines.append(segment(x, y, x + (label.x - x) * part, y + (label.y - y) * part))
    return segments(lines, "lead")


def _key(names: Sequence[str], size: str, top: float) -> tuple[list[Any], float]:
    """Numbers with their names in as many columns as fit, down the first one first."""
    room = WIDTHS[size] - 2 * EDGE
    longest = max(text_width(name, SIZE) for name in names) + NUMBER + 8
    columns = max(1, min(3, int(room / longest)))
    column = room / columns
    down = -(-len(names) // columns)
    entries = [wrap(name, column - NUMBER - 8, SIZE) for name in names]
    tallest = LEADING * max(map(len, entries)) + 2
    numbers, words = [], []
    for at, lines in enumerate(entries):
        x, y = EDGE + column * (at // down), top + tallest * (at % down) + 8
        numbers.append({"x": x + NUMBER - 6, "y": y, "text": str(at + 1)})
        words += lines_of(lines, x + NUMBER, y)
    return [texts(numbers, "value", "right"), texts(words, "name")], tallest * down + EDGE
