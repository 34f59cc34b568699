"""Names of the dots of a plane: beside them, or in a key below."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from .drawing import WIDTHS, Rows
from .labels import Box, Label, along, around, beside, numbered
from .measure import text_width, wrap
from .paint import EDGE, LEADING, SIZE, Layer, lines_of, segment, segments, texts
from .plane import Plane

NUMBER = 22
# More names than these leave no room for the dots.
MOST = 16
Lines = Sequence[tuple[float, float, float, float]]


def named(plane: Plane, rows: Rows, size: str, *, lines: Lines = ()) -> tuple[list[Layer], float]:
    """Layers that name rows (fields x, y, text), and where the picture ends.

    Words keep off the lines, which run between values.
    """
    every = [row for row in rows if row["text"]]
    wanted = every[:MOST]
    spots = [(plane.x(row["x"]), plane.y(row["y"])) for row in wanted]
    others = [(plane.x(row["x"]), plane.y(row["y"])) for row in rows if row not in wanted]
    names = [row["text"] for row in wanted]
    taken = [*around(others), *(box for line in lines for box in _along(line, plane))]
    area = Box(plane.left + 1, plane.top - 8, plane.picture - 1, plane.bottom - 1)
    labels = beside(spots, names, area, taken) if len(wanted) == len(every) else None
    if labels is not None:
        return [_words(labels)], plane.end
    found = zip(numbered(spots, area, taken), spots, names, strict=True)
    numbers = [(label, spot, name) for label, spot, name in found if label]
    leads = [segment(*spot, *label.lead) for label, spot, _name in numbers if label.lead]
    layers, end = _key([name for *_, name in numbers], len(every), size, plane.end + EDGE)
    return [segments(leads, "lead"), _words([label for label, *_ in numbers]), *layers], end


def _along(line: tuple[float, float, float, float], plane: Plane) -> list[Box]:
    x, y, x2, y2 = line
    return along((plane.x(x), plane.y(y)), (plane.x(x2), plane.y(y2)))


def _words(labels: Sequence[Label]) -> Layer:
    words = [{"x": label.x, "y": label.y, "text": label.text} for label in labels]
    return texts(words, "value", "center")


def _key(names: Sequence[str], every: int, size: str, top: float) -> tuple[list[Layer], float]:
    """Numbers with their names in as many columns as fit, and where they end."""
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
        said = _("Named: %(named)d of %(all)d dots.") % {"named": len(names), "all": every}
        lines = wrap(said, room, SIZE)
        words += lines_of(lines, EDGE, end + 8)
        end += LEADING * len(lines)
    return [texts(numbers, "value", "right"), texts(words, "name")], end + EDGE
