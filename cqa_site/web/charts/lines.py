"""Lines over a number, one for each series."""

from .axis import axis_of
from .drawing import Rows, Spec
from .paint import dashes, finish, layer, legend, looks
from .plane import frame, on, plane_of


def lines(
    rows: Rows, *, x: str, y: str, series: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """One dashed or solid line for each series; ``x`` and ``y`` are numbers."""
    names = list(dict.fromkeys(row[series] for row in rows))
    marked = [{"x": row[x], "y": row[y], "series": row[series]} for row in rows]
    above, start = legend(names, size, sign="line")
    plane = plane_of(
        axis_of((row["x"] for row in marked), most=6 if size == "wide" else 5),
        axis_of([0.0, *(row["y"] for row in marked)]),
        titles,
        size,
        start=start,
    )
    look = {**looks(names, has_signs=False), "strokeDash": dashes(names)}
    drawn = layer(marked, "line", {**on(plane, "x", "y"), **look}, strokeWidth=2)
    return finish([*above, *frame(plane, start=start), drawn], size, plane.end)
