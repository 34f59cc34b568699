"""Charts of many points with two values each, on scales that fit them."""

from cqa_site.web.charts.drawing import WIDTHS, Rows, Spec

from .axis import axis_of
from .paint import finish, layer, looks
from .plane import frame, on, plane_of


def scatter(rows: Rows, *, x: str, y: str, titles: tuple[str, str], size: str = "wide") -> Spec:
    """A dot for each row; points that lie on each other look darker."""
    marked = [{"x": row[x], "y": row[y], "series": ""} for row in rows]
    plane = plane_of(
        axis_of((row["x"] for row in marked), most=5 if size == "wide" else 4),
        axis_of(row["y"] for row in marked),
        titles,
        size,
        height=WIDTHS[size] // 2,
    )
    look = {"style": "sign", "filled": True, "size": 70, "opacity": 0.55}
    dots = layer(marked, "point", {**on(plane, "x", "y"), **looks([""])}, **look)
    return finish([*frame(plane), dots], size, plane.end)
