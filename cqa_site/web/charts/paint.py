"""What charts are made of: lines, texts and signs at places given in pixels.

Places count from the picture's upper left corner. They are all given, so that a typeface of
another width moves nothing.
"""

from collections.abc import Sequence
from typing import Any

from .drawing import WIDTHS, Rows, Spec
from .measure import text_width, wrap

SIZE = 12
LEADING = 15
EDGE = 6
SIGN = 16
# A sign and a dash for each series, so that colour is not what tells them apart.
SIGNS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 2, 1, 2])


def chart(rows: Rows) -> Any:
    """Rows inside the specification."""
    from .loading import alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def finish(layers: Sequence[Any], size: str, height: float) -> Spec:
    """The layers as one picture, drawn from the first to the last."""
    from .loading import alt

    whole = alt.layer(*layers).properties(width=WIDTHS[size], height=round(height)).to_dict()
    whole.pop("config", None)
    return {**whole, "autosize": {"type": "none"}, "padding": 0}


def pixels(channel: Any, name: str) -> Any:
    """A field that holds pixels."""
    return channel(name, type="quantitative", scale=None, axis=None)


def segments(lines: Rows, style: str) -> Any:
    """Straight lines from x, y to x2, y2."""
    from .loading import alt

    return (
        chart(lines)
        .mark_rule(style=style)
        .encode(x=pixels(alt.X, "x"), y=pixels(alt.Y, "y"), x2="x2", y2="y2")
    )


def segment(x: float, y: float, x2: float, y2: float) -> dict[str, float]:
    """A straight line."""
    return {"x": x, "y": y, "x2": x2, "y2": y2}


def texts(rows: Rows, style: str, align: str = "left") -> Any:
    """Texts (field text) whose middle is at the height y."""
    from .loading import alt

    return (
        chart(rows)
        .mark_text(style=style, align=align, baseline="middle")
        .encode(x=pixels(alt.X, "x"), y=pixels(alt.Y, "y"), text=alt.Text("text", type="nominal"))
    )


def lines_of(lines: Sequence[str], x: float, y: float) -> list[dict[str, Any]]:
    """Lines of a text, the middle of the first at the height y."""
    return [{"x": x, "y": y + LEADING * at, "text": line} for at, line in enumerate(lines)]


def looks(names: Sequence[str], *, has_signs: bool = True) -> dict[str, Any]:
    """Colour and sign of each series (field series); a single series has the first of both."""
    from .loading import alt

    scale = alt.Scale(domain=list(names))
    made: dict[str, Any] = {"color": alt.Color("series", type="nominal", scale=scale, legend=None)}
    if has_signs:
        signs = alt.Scale(domain=list(names), range=_each(SIGNS, names))
        made["shape"] = alt.Shape("series", type="nominal", scale=signs, legend=None)
    return made


def dashes(names: Sequence[str]) -> Any:
    """The dash of each series."""
    from .loading import alt

    scale = alt.Scale(domain=list(names), range=_each(DASHES, names))
    return alt.StrokeDash("series", type="nominal", scale=scale, legend=None)


def legend(names: Sequence[str], size: str, *, sign: str = "point") -> tuple[list[Any], float]:
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
        lines = wrap(name, width - lead, SIZE)
        taken = lead + max(text_width(line, SIZE) for line in lines) + 14
        if x and x + taken - 14 > width:
            x, y, tallest = 0.0, y + LEADING * tallest + 4, 1
        made.append((EDGE + x, y, lines, name))
        x, tallest = x + taken, max(tallest, len(lines))
    return made, y + LEADING * (tallest - 1) + 16


def _signs(rows: Rows, names: Sequence[str], sign: str) -> Any:
    from .loading import alt

    if sign == "line":
        marked = [{**row, "x2": row["x"] + 24} for row in rows]
        place = {"x": pixels(alt.X, "x"), "y": pixels(alt.Y, "y"), "x2": "x2"}
        look = {**looks(names, has_signs=False), "strokeDash": dashes(names)}
        return chart(marked).mark_rule(strokeWidth=2).encode(**place, **look)
    marked = [{**row, "x": row["x"] + 5} for row in rows]
    place = {"x": pixels(alt.X, "x"), "y": pixels(alt.Y, "y")}
    is_square = sign == "square"
    shape = {"shape": "square"} if is_square else {}
    look = looks(names, has_signs=not is_square)
    return (
        chart(marked)
        .mark_point(style="sign", filled=True, size=70, **shape)
        .encode(**place, **look)
    )


def _each(kinds: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """One kind for each name, from the beginning again where there are more names."""
    return [kinds[at % len(kinds)] for at in range(len(names))]
