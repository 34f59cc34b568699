"""The boxes of a chart's words and marks, read from its specification.

Words are as wide as `text_width` says, which no face of the charts' font stack exceeds; that
they are where this says is measured in a browser (`tests/browser/test_study_pages.py`).
"""

from dataclasses import dataclass, field
from itertools import groupby, pairwise

from cqa_site.web.charts.vega import text_width

HEIGHT = 14
# What no word has to keep off: lines of the axes, shaded cells and bars.
BEHIND = ("grid",)


@dataclass
class Boxes:
    """Words with their sizes, marks that words keep off, and others, as boxes in pixels."""

    width: float
    height: float
    words: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    others: list = field(default_factory=list)


def boxes_of(spec):
    """All boxes of a chart."""
    found = Boxes(spec["width"], spec["height"])
    for layer in spec["layer"]:
        READ[layer["mark"]["type"]](layer, found)
    return found


def _text(layer, found):
    mark = layer["mark"]
    for row in layer["data"]["values"]:
        x, y = _place(layer, "x", row), _place(layer, "y", row)
        width = text_width(str(row["text"]), is_bold=mark["style"] == "value")
        left = x - {"left": 0, "center": width / 2, "right": width}[mark["align"]]
        found.words.append(
            (str(row["text"]), (left, y - HEIGHT / 2, left + width, y + HEIGHT / 2))
        )


def _rule(layer, found):
    is_behind = layer["mark"].get("style") in BEHIND
    for row in layer["data"]["values"]:
        x, y = _place(layer, "x", row), _place(layer, "y", row)
        x2, y2 = _place(layer, "x2", row, x), _place(layer, "y2", row, y)
        (found.others if is_behind else found.marks).extend(_along(x, y, x2, y2))


def _point(layer, found):
    for row in layer["data"]["values"]:
        x, y = _place(layer, "x", row), _place(layer, "y", row)
        found.marks.append((x - 4.5, y - 4.5, x + 4.5, y + 4.5))


def _line(layer, found):
    rows = sorted(layer["data"]["values"], key=lambda row: (row["series"], row["x"]))
    for _series, group in groupby(rows, key=lambda row: row["series"]):
        spots = [(_place(layer, "x", row), _place(layer, "y", row)) for row in group]
        for one, other in pairwise(spots):
            found.marks.extend(_along(*one, *other))


def _area(layer, found):
    for row in layer["data"]["values"]:
        x, y, x2, y2 = (row[each] for each in ("x", "y", "x2", "y2"))
        found.others.append((min(x, x2), min(y, y2), max(x, x2), max(y, y2)))


def _band(layer, found):
    for row in layer["data"]["values"]:
        x, y, y2 = (_place(layer, each, row) for each in ("x", "y", "y2"))
        found.others.append((x, min(y, y2), x, max(y, y2)))


READ = {"text": _text, "rule": _rule, "point": _point, "line": _line, "area": _band}
READ |= dict.fromkeys(("bar", "rect"), _area)


def _place(layer, channel, row, missing=None):
    """The pixel of a field; the end of a span has the scale of its beginning."""
    if channel not in layer["encoding"]:
        return missing
    value = row[layer["encoding"][channel]["field"]]
    scale = layer["encoding"][channel[0]]["scale"]
    if scale is None:
        return value
    (low, high), (start, end) = scale["domain"], scale["range"]
    return start + (value - low) / (high - low) * (end - start)


def _along(x, y, x2, y2):
    """Points of a line, three pixels apart."""
    steps = int(max(abs(x2 - x), abs(y2 - y)) / 3) + 1
    spots = [(x + (x2 - x) * at / steps, y + (y2 - y) * at / steps) for at in range(steps + 1)]
    return [(px, py, px, py) for px, py in spots]
