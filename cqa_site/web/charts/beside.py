"""Two raters' scores of the same things."""

from .axis import axis_of
from .drawing import WIDTHS, Rows, Spec
from .naming import named
from .paint import finish, layer, looks, segment, segments
from .plane import frame, on, plane_of


def beside(
    rows: Rows,
    *,
    x: str,
    y: str,
    text: str,
    titles: tuple[str, str],
    highest: float,
    size: str = "wide",
) -> Spec:
    """Two raters' means of the same things; on the dashed line they agree."""
    lowest = min((min(row[x], row[y]) for row in rows), default=0)
    both = axis_of([], domain=(max(0, int(lowest) - 1), highest))
    plane = plane_of(both, both, titles, size, height=WIDTHS[size] * 0.6)
    marked = [{"x": row[x], "y": row[y], "text": row[text], "series": ""} for row in rows]
    ends = (both.low, both.low, both.high, both.high)
    words, end = named(plane, marked, size, lines=[ends])
    line = segment(plane.left, plane.bottom, plane.right, plane.top)
    places = {**on(plane, "x", "y"), **looks([""])}
    layers = [
        *frame(plane),
        segments([line], "guide"),
        layer(marked, "point", places, style="sign", filled=True, size=60),
        *words,
    ]
    return finish(layers, size, end)
