"""The plot of differences against means."""

from typing import Any

from cqa_site.web.charts.axis import axis_of
from cqa_site.web.charts.drawing import Rows, Spec
from cqa_site.web.charts.labels import apart
from cqa_site.web.charts.measure import text_width, wrap
from cqa_site.web.charts.paint import (
    LEADING,
    SIZE,
    Layer,
    finish,
    layer,
    lines_of,
    looks,
    segment,
    segments,
    texts,
)
from cqa_site.web.charts.plane import Plane, frame, on, plane_of

# What the names of the lines may take at the right.
NAMES = 92
LEAD = 12


def difference_plot(
    points: Rows, lines: Rows, *, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Dots (fields mean, difference, n: the larger, the more answers) and named dashed lines.

    The names (field what) stand at the right with their values, moved apart where lines are near
    each other.
    """
    heights = [point["difference"] for point in points] + [line["at"] for line in lines]
    plane = plane_of(
        axis_of((point["mean"] for point in points), most=6 if size == "wide" else 4),
        axis_of(heights, most=6),
        titles,
        size,
        height=240,
        beyond=NAMES + LEAD,
    )
    level = [
        segment(plane.left, plane.y(line["at"]), plane.right, plane.y(line["at"]))
        for line in lines
    ]
    layers = [*frame(plane), _dots(points, plane), segments(level, "guide"), *_names(lines, plane)]
    return finish(layers, size, plane.end)


def _dots(points: Rows, plane: Plane) -> Layer:
    most = max((point["n"] for point in points), default=1)
    scale = {"domain": [1, max(most, 2)], "range": [18, 220]}
    size = {"field": "n", "type": "quantitative", "scale": scale, "legend": None}
    # Of one series, so that the theme colours them.
    marked = [{**point, "series": ""} for point in points]
    places = on(plane, "mean", "difference")
    look = looks([""], has_signs=False)
    return layer(marked, "point", {**places, **look, "size": size}, filled=True, opacity=0.55)


def _names(lines: Rows, plane: Plane) -> list[Layer]:
    """Names and values from above to below, each joined to its line."""
    ordered = sorted(lines, key=lambda line: -line["at"])
    said = [_said(line) for line in ordered]
    room = LEADING * max((len(each) for each in said), default=1) + 2
    places = [plane.y(line["at"]) for line in ordered]
    moved = apart(places, room, plane.top, plane.bottom)
    x = plane.right + LEAD
    words = [
        text
        for each, y in zip(said, moved, strict=True)
        for text in lines_of(each, x + 4, y - LEADING * (len(each) - 1) / 2)
    ]
    leads = [segment(plane.right, place, x, y) for place, y in zip(places, moved, strict=True)]
    return [segments(leads, "lead"), texts(words, "name")]


def _said(line: dict[str, Any]) -> list[str]:
    number = f"{line['at']:z.2f}".replace("-", "−")
    whole = f"{line['what']} {number}"
    return (
        [whole]
        if text_width(whole, SIZE) <= NAMES - 6
        else [*wrap(line["what"], NAMES - 6), number]
    )
