"""What charts are made of: lines, texts and signs at places given in pixels.

Places count from the picture's upper left corner. They are all given, so that a typeface of
another width moves nothing.
"""

from collections.abc import Sequence
from typing import Any

from .axis import Axis
from .drawing import WIDTHS, Rows, Spec
from .measure import text_width, wrap

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SIZE = 12
LEADING = 15
EDGE = 6
SIGN = 16
# A sign and a dash for each series, so that colour is not what tells them apart.
SIGNS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 2, 1, 2])


Layer = dict[str, Any]
Channels = dict[str, Any]


def layer(rows: Rows, mark: str, encoding: Channels, **look: Any) -> Layer:
    """Rows drawn as marks."""
    return {
        "data": {"values": list(rows)},
        "mark": {"type": mark, **look},
        "encoding": encoding,
    }


def finish(layers: Sequence[Layer], size: str, height: float) -> Spec:
    """The layers as one picture, drawn from the first to the last; those without rows are not."""
    return {
        "$schema": SCHEMA,
        "width": WIDTHS[size],
        "height": round(height),
        "autosize": {"type": "none"},
        "padding": 0,
        "layer": [each for each in layers if each["data"]["values"]],
    }


def pixels(name: str) -> Channels:
    """A field that holds pixels."""
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}


def places() -> Channels:
    """Fields x and y that hold pixels."""
    return {"x": pixels("x"), "y": pixels("y")}


def areas() -> Channels:
    """Fields from x, y to x2, y2 that hold pixels."""
    return {**places(), "x2": {"field": "x2"}, "y2": {"field": "y2"}}


def values(name: str, axis: Axis, ends: Sequence[float]) -> Channels:
    """A field of values on an axis that runs from one pixel to another."""
    scale = {"domain": [axis.low, axis.high], "range": list(ends), "nice": False, "zero": False}
    return {"field": name, "type": "quantitative", "scale": scale, "axis": None}


def segments(lines: Rows, style: str) -> Layer:
    """Straight lines from x, y to x2, y2."""
    return layer(lines, "rule", areas(), style=style)


def segment(x: float, y: float, x2: float, y2: float) -> dict[str, float]:
    """A straight line."""
    return {"x": x, "y": y, "x2": x2, "y2": y2}


def texts(rows: Rows, style: str, align: str = "left") -> Layer:
    """Texts (field text) whose middle is at the height y."""
    encoding = {**places(), "text": {"field": "text", "type": "nominal"}}
    return layer(rows, "text", encoding, style=style, align=align, baseline="middle")


def lines_of(lines: Sequence[str], x: float, y: float) -> list[dict[str, Any]]:
    """Lines of a text, the middle of the first at the height y."""
    return [{"x": x, "y": y + LEADING * at, "text": line} for at, line in enumerate(lines)]


def looks(names: Sequence[str], *, has_signs: bool = True) -> Channels:
    """Colour and sign of each series (field series); a single series has the first of both."""
    made = {"color": _kinds(names)}
    return {**made, "shape": _kinds(names, SIGNS)} if has_signs else made


def dashes(names: Sequence[str]) -> Channels:
    """The dash of each series."""
    return _kinds(names, DASHES)


def _kinds(names: Sequence[str], kinds: Sequence[Any] = ()) -> Channels:
    """A kind for each series, from the beginning again where there are more series."""
    scale: dict[str, Any] = {"domain": list(names)}
    if kinds:
        scale["range"] = [kinds[at % len(kinds)] for at in range(len(names))]
    return {"field": "series", "type": "nominal", "scale": scale, "legend": None}


def legend(names: Sequence[str], size: str, *, sign: str = "point") -> tuple[list[Layer], float]:
    """Layers that name the series above a chart, and the height they take; none for one series.

    ``sign`` is point, square or line.
    """
    if len(names) < 2:
        return [], 0
    lead = 30 if sign == "line" else SIGN
    entries, height = _flow(names, WIDTHS[size] - 2 * EDGE, lead)
    words = [text for x, y, lines, _name in entries for text in lines_of(lines, x + lead, y)]
    signs = [{"x": x, "y": y, "series": name} for x, y, _lines, name in entries]
    return [_signs(signs, names, sign), texts(words, "name")], height


def _flow(
    names: Sequence[str], width: float, lead: float
) -> tuple[list[tuple[float, float, list[str], str]], float]:
    """Names one after the other on lines, each with its lines and place; and the height of all."""
    made, x, y, tallest = [], 0.0, float(LEADING) - 3, 1
    for name in names:
        lines = wrap(name, width - lead, SIZE, most=3)
        taken = lead + max(text_width(line, SIZE) for line in lines) + 14
        if x and x + taken - 14 > width:
            x, y, tallest = 0.0, y + LEADING * tallest + 4, 1
        made.append((EDGE + x, y, lines, name))
        x, tallest = x + taken, max(tallest, len(lines))
    return made, y + LEADING * (tallest - 1) + 16


def _signs(rows: Rows, names: Sequence[str], sign: str) -> Layer:
    if sign == "line":
        marked = [{**row, "x2": row["x"] + 24, "y2": row["y"]} for row in rows]
        look = {**looks(names, has_signs=False), "strokeDash": dashes(names)}
        return layer(marked, "rule", {**areas(), **look}, strokeWidth=2)
    marked = [{**row, "x": row["x"] + 5} for row in rows]
    is_square = sign == "square"
    look = looks(names, has_signs=not is_square)
    shape = {"shape": "square"} if is_square else {}
    return layer(
        marked, "point", {**places(), **look}, style="sign", filled=True, size=70, **shape
    )
