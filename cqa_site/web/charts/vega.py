"""Vega-Lite specifications: axes, text sizes, marks and images."""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor, log10
from typing import Any

from django.core.cache import cache

# Round values on an axis, and their positions.

# Steps of a time axis, in seconds: minutes, hours, days, weeks, months, years.
_TIMES = (60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600)
_DAYS = 86400 * 30, 86400 * 90, 86400 * 365, 86400 * 3650


@dataclass(frozen=True)
class Axis:
    """The ends of an axis, its ticks and their labels."""

    low: float
    high: float
    ticks: Sequence[float]
    labels: Sequence[str]

    def place(self, value: float, start: float, end: float) -> float:
        """Return the pixel of a value on an axis between two pixels."""
        return start + (value - self.low) / (self.high - self.low) * (end - start)


def axis_of(
    values: Iterable[float | None] = (),
    *,
    domain: Sequence[float] | None = None,
    most: int = 5,
    is_whole: bool = False,
) -> Axis:
    """Return an axis that covers all values; its ends are round numbers or those of ``domain``."""
    known = [value for value in values if value is not None] + list(domain or ())
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low == high:
        low, high = (0.0, 1.0) if not low else (low - abs(low) / 2, high + abs(low) / 2)
    step = _step(high - low, most)
    if is_whole:
        step = max(1.0, float(ceil(step)))
    if domain is None:
        low, high = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    ticks = _round_values(low, high, step)
    if len(ticks) < 2:
        ticks = _round_values(low, high, _step(high - low, 2 * most))
    return Axis(low, high, ticks, [in_words(tick) for tick in ticks])


def time_axis(values: Sequence[float], *, most: int) -> Axis:
    """Return an axis of seconds since 1970, with labels in UTC."""
    low, high = (min(values), max(values)) if values else (0.0, 86400.0)
    pad = max((high - low) / 20, 60.0)
    low, high = low - pad, high + pad
    steps = [length for length in (*_TIMES, *_DAYS) if (high - low) / length <= most]
    step = steps[0] if steps else _DAYS[-1]
    ticks = [float(at * step) for at in range(ceil(low / step), floor(high / step) + 1)]
    form = "%d %b %Y" if step >= _DAYS[0] else "%d %b" if step >= 86400 else "%d %b %H:%M"
    return Axis(low, high, ticks, [f"{datetime.fromtimestamp(at, UTC):{form}}" for at in ticks])


def seconds(at: str) -> float:
    """Convert an ISO time without a zone, read as UTC, to seconds since 1970."""
    return datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()


def in_words(value: float) -> str:
    """Format a round value for people."""
    return f"{value:,.10g}".replace("-", "−") if abs(value) < 1e10 else f"{value:.3g}"


def _round_values(low: float, high: float, step: float) -> list[float]:
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(at * step, 10) + 0.0 for at in range(first, last + 1)]


def _step(span: float, most: int) -> float:
    """Return the smallest round step size that divides the span into at most this many steps."""
    power = 10.0 ** floor(log10(span / most))
    return next(
        power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= most + 1e-9
    )


# Width of text, and wrapping of long text.
#
# A chart in a page uses a typeface of the viewer's device, so its widths are unknown when the
# chart is drawn. These are the widths of DejaVu Sans, the widest face in the charts' font stack,
# so text that fits with them also fits with the other faces.

# Widths in hundredths of the font size, each with the characters of that width.
_CLASSES = {
    28: "ijl'",
    32: "IJ ,.·",
    37: "/:;\\f-|",
    42: "()[]tr!",
    55: '*_`–sz?c"',
    62: "FkPvxyTYaeoL",
    65: "0123456789ESbdghnpqu{}$",
    71: "KABVXZCR",
    79: "UNHDGOQ&",
    84: "w#+<=>^~−",
}
_WIDTHS = {ord(character): share / 100 for share, ones in _CLASSES.items() for character in ones}
_WIDEST = 1.08
# Weight 600 is drawn bold if a face has no weight in between.
_BOLD = 1.2
# Characters after which a line may break.
_PIECES = re.compile(r"[^\s/_-]*[\s/_-]?")
ELLIPSIS = "…"


def text_width(text: str, size: float = 12, *, is_bold: bool = False) -> float:
    """Return the maximum width of a one-line text in pixels."""
    ems = sum(_WIDTHS.get(ord(character), _WIDEST) for character in text)
    return ems * size * (_BOLD if is_bold else 1)


def wrap(text: str, width: float, size: float = 12, *, most: int = 2) -> list[str]:
    """Wrap the text into at most ``most`` lines of the given width.

    Lines break between words where possible. Text that does not fit loses its middle, because
    names with the same beginning often differ at the end.
    """
    for lines in (_by_words(text, width, size), _by_letters(text, width, size)):
        if len(lines) <= most:
            return lines
    return _without_middle(text, width, size, most)


def fits(text: str, width: float, size: float = 12, *, most: int = 2) -> bool:
    """Return whether the text fits into these lines without breaking a word."""
    pieces = _PIECES.findall(text)
    is_narrow = all(text_width(piece.rstrip(), size) <= width for piece in pieces)
    return is_narrow and len(_by_words(text, width, size)) <= most


def _by_words(text: str, width: float, size: float) -> list[str]:
    """Fill lines with whole words, breaking only words wider than a line."""
    lines = [""]
    for piece in filter(None, _PIECES.findall(text)):
        if text_width((lines[-1] + piece).rstrip(), size) <= width:
            lines[-1] += piece
        else:
            lines += _by_letters(piece, width, size)
    return [line.rstrip() for line in lines if line.strip()] or [""]


def _by_letters(text: str, width: float, size: float) -> list[str]:
    lines = [""]
    for letter in text:
        if lines[-1] and text_width(lines[-1] + letter, size) > width:
            lines.append("")
        lines[-1] += letter
    return lines


def _without_middle(text: str, width: float, size: float, most: int) -> list[str]:
    """Fill all lines but the last from the start of the text, and the last one from its end."""
    room = width - text_width(ELLIPSIS, size)
    first, *rest = _by_words(text, width, size)[: most - 1] or [""]
    if most == 1:
        head, tail = _fitting(text, room / 2, size), _fitting(text[::-1], room / 2, size)[::-1]
        return [f"{head.rstrip()}{ELLIPSIS}{tail.lstrip()}"]
    end = _fitting(text[::-1], room, size)[::-1].lstrip()
    return [first, *rest, f"{ELLIPSIS}{end[end.find(' ') + 1 :]}"]


def _fitting(text: str, width: float, size: float) -> str:
    """Return the longest prefix that fits."""
    return _by_letters(text, width, size)[0] if text else ""


# Charts as Vega-Lite specifications, and their images.
#
# A specification contains data and shapes but no colours. These come from the theme when the image
# is rendered, so one specification serves light and dark pages. vl-convert is loaded only when the
# first chart is rendered.

Spec = dict[str, Any]
Rows = Sequence[dict[str, Any]]

THEMES: dict[str, dict[str, str]] = {
    # The colours in static/css/counterpoint.css.
    "light": {
        "surface": "#ffffff",
        "ink": "#1d1f24",
        "soft": "#565a63",
        "line": "#dfdbd3",
        "first": "#2447b2",
        "second": "#c2751a",
        "third": "#0f7b74",
        "fourth": "#8a3ea8",
        "on_first": "#ffffff",
    },
    "dark": {
        "surface": "#1b1e24",
        "ink": "#eceae6",
        "soft": "#a9afba",
        "line": "#31363f",
        "first": "#9db4ff",
        "second": "#f0bf6a",
        "third": "#6fd3c7",
        "fourth": "#dda6f6",
        "on_first": "#10142a",
    },
}
WIDTHS = {"wide": 520, "middle": 420, "narrow": 300}
CONTENT_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
KEPT_SECONDS = 30 * 24 * 3600
VERSION = 3
# Characters that XML cannot contain. They make vl-convert abort the whole process.
UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def picture(spec: Spec, *, format: str, theme: str) -> bytes:
    """Render a chart, or return the image rendered earlier for the same data and theme."""
    content = json.dumps([VERSION, spec, format, theme, THEMES[theme]], sort_keys=True)
    key = "chart:" + hashlib.sha256(content.encode()).hexdigest()
    drawn = cache.get(key)
    if drawn is None:
        drawn = _draw(spec, format, theme)
        cache.set(key, drawn, KEPT_SECONDS)
    return drawn


def _draw(spec: Spec, format: str, theme: str) -> bytes:
    import vl_convert

    spec = _drawable(spec)
    config = _config(THEMES[theme], is_transparent=format == "svg")
    if format == "png":
        return vl_convert.vegalite_to_png(spec, config=config, scale=3)
    return vl_convert.vegalite_to_svg(spec, config=config).encode()


def _drawable(part: Any) -> Any:
    """Return the specification without characters that an image cannot contain."""
    if isinstance(part, str):
        return UNDRAWABLE.sub("", part)
    if isinstance(part, dict):
        return {name: _drawable(child) for name, child in part.items()}
    return [_drawable(child) for child in part] if isinstance(part, (list, tuple)) else part


def _config(colours: dict[str, str], *, is_transparent: bool) -> Spec:
    return {
        "background": "transparent" if is_transparent else colours["surface"],
        "font": FONT,
        "view": {"stroke": None},
        "text": {"fontSize": 12},
        "style": {
            "value": {"color": colours["ink"], "fontSize": 12, "fontWeight": 600},
            "name": {"color": colours["ink"], "fontSize": 12},
            "guide": {"color": colours["soft"], "strokeDash": [3, 3], "strokeWidth": 1},
            "grid": {"color": colours["line"], "strokeWidth": 1},
            "bracket": {"color": colours["soft"], "strokeWidth": 1.25, "strokeCap": "square"},
            "interval": {"strokeWidth": 2.5},
            "sign": {"size": 80, "opacity": 1},
            "soft": {"color": colours["soft"], "fontSize": 12},
            "lead": {"color": colours["soft"], "strokeWidth": 1},
            "on-pale": {"color": colours["ink"], "fontSize": 12},
            "on-deep": {"color": colours["on_first"], "fontSize": 12},
        },
        "range": {
            "category": [colours[name] for name in ("first", "second", "third", "fourth")],
            "ramp": [colours["surface"], colours["first"]],
            "heatmap": [colours["surface"], colours["first"]],
        },
    }


# Parts of charts: lines, text and symbols at positions in pixels.
#
# Positions are measured from the upper left corner. They are all fixed, so that a typeface of
# another width does not move anything.

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SIZE = 12
LEADING = 15
EDGE = 6
SIGN = 16
# A symbol and a dash pattern for each series, so that series do not differ by colour alone.
SIGNS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 2, 1, 2])

Layer = dict[str, Any]
Channels = dict[str, Any]


def layer(rows: Rows, mark: str, encoding: Channels, **look: Any) -> Layer:
    return {"data": {"values": list(rows)}, "mark": {"type": mark, **look}, "encoding": encoding}


def finish(layers: Sequence[Layer], size: str, height: float) -> Spec:
    """Combine layers into one chart, in drawing order, without layers that have no rows."""
    return {
        "$schema": SCHEMA,
        "width": WIDTHS[size],
        "height": round(height),
        "autosize": {"type": "none"},
        "padding": 0,
        "layer": [layer for layer in layers if layer["data"]["values"]],
    }


def pixels(name: str) -> Channels:
    """Return the encoding of a field of pixels."""
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}


def places() -> Channels:
    """Return the encodings of the fields x and y in pixels."""
    return {"x": pixels("x"), "y": pixels("y")}


def areas() -> Channels:
    """Return the encodings of the fields x, y, x2 and y2 in pixels."""
    return {**places(), "x2": {"field": "x2"}, "y2": {"field": "y2"}}


def values(name: str, axis: Axis, ends: Sequence[float]) -> Channels:
    """Return the encoding of a field of values on an axis between two pixels."""
    scale = {"domain": [axis.low, axis.high], "range": list(ends), "nice": False, "zero": False}
    return {"field": name, "type": "quantitative", "scale": scale, "axis": None}


def segments(lines: Rows, style: str) -> Layer:
    """Return straight lines from x, y to x2, y2."""
    return layer(lines, "rule", areas(), style=style)


def segment(x: float, y: float, x2: float, y2: float) -> dict[str, float]:
    """Return a straight line."""
    return {"x": x, "y": y, "x2": x2, "y2": y2}


def texts(rows: Rows, style: str, align: str = "left") -> Layer:
    """Return texts (field text), vertically centred at height y."""
    encoding = {**places(), "text": {"field": "text", "type": "nominal"}}
    return layer(rows, "text", encoding, style=style, align=align, baseline="middle")


def lines_of(lines: Sequence[str], x: float, y: float) -> list[dict[str, Any]]:
    """Return the lines of a text, with the first line centred at height y."""
    return [{"x": x, "y": y + LEADING * at, "text": line} for at, line in enumerate(lines)]


def looks(names: Sequence[str], *, has_signs: bool = True) -> Channels:
    """Return the colour and symbol of each series (field series), in the order of ``names``."""
    channels = {"color": _kinds(names)}
    return {**channels, "shape": _kinds(names, SIGNS)} if has_signs else channels


def dashes(names: Sequence[str]) -> Channels:
    """Return the dash pattern of each series."""
    return _kinds(names, DASHES)


def _kinds(names: Sequence[str], kinds: Sequence[Any] = ()) -> Channels:
    """Assign a style to each series, starting over if there are more series than styles."""
    scale: dict[str, Any] = {"domain": list(names)}
    if kinds:
        scale["range"] = [kinds[at % len(kinds)] for at in range(len(names))]
    return {"field": "series", "type": "nominal", "scale": scale, "legend": None}


def legend(names: Sequence[str], size: str, *, sign: str = "point") -> tuple[list[Layer], float]:
    """Return layers with the series names above a chart, and their height.

    A single series has no legend. ``sign`` is point, square or line.
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
    """Arrange names in lines; return names with their lines and positions, and the height."""
    placements, x, y, tallest = [], 0.0, float(LEADING) - 3, 1
    for name in names:
        lines = wrap(name, width - lead, SIZE, most=3)
        label_width = lead + max(text_width(line, SIZE) for line in lines) + 14
        if x and x + label_width - 14 > width:
            x, y, tallest = 0.0, y + LEADING * tallest + 4, 1
        placements.append((EDGE + x, y, lines, name))
        x, tallest = x + label_width, max(tallest, len(lines))
    return placements, y + LEADING * (tallest - 1) + 16


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
