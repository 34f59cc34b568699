"""A ranking: one row a system, with its value, its interval and its group."""

from itertools import groupby

from cqa_site.web.charts.drawing import Rows, Spec

from .axis import axis_of
from .dot_rows import TICKS, Place, below, dots, frame, number_of, place_rows, spans
from .paint import Layer, finish, segment, segments, texts

# Between numbers and the brackets at the very right.
BRACKET = 12


def ranked_dots(
    rows: Rows,
    *,
    title: str,
    size: str = "wide",
    domain: tuple[float, float] | None = None,
) -> Spec:
    """A dot with its interval for each row, in the rows' order, and its number at the right.

    Parameters
    ----------
    rows
        ``name``, ``value``, ``low``, ``high`` and ``group``, best first. All but the name may be
        None: without a value the number is a dash. Neighbours of the same group stand behind one
        bracket: no two of them can be told apart.
    title
        Of the axis.
    size
        Where names are long, they take two lines in a wide picture, and a line of their own above
        the dot in a narrow one.
    domain
        What the axis shows at least; without one, what the rows need.
    """
    values = [row[part] for row in rows for part in ("value", "low", "high")]
    axis = axis_of(values, domain=domain, most=TICKS[size])
    numbers = [number_of(row["value"], axis) for row in rows]
    place = place_rows([row["name"] for row in rows], size, numbers=numbers, beyond=BRACKET)
    marked = [{**row, "series": "", "y": place.dot(at)} for at, row in enumerate(rows)]
    x = place.width - BRACKET
    words = [{"x": x, "y": place.dot(at), "text": each} for at, each in enumerate(numbers)]
    layers = [
        *frame(place, axis, title),
        spans(marked, axis, place, [""]),
        dots(marked, axis, place, [""]),
        texts(words, "value", "right"),
        _brackets(rows, place),
    ]
    return finish(layers, size, place.bottom + below(place, title))


def _brackets(rows: Rows, place: Place) -> Layer:
    """A thin bracket behind the numbers of neighbours that share a group."""
    lines, at, x = [], 0, place.width - 2
    for group, members in groupby(rows, key=lambda row: row.get("group")):
        count = len(list(members))
        if count > 1 and group is not None:
            top, bottom = place.dot(at) - 7, place.dot(at + count - 1) + 7
            lines += [
                segment(x, top, x, bottom),
                segment(x - 4, top, x, top),
                segment(x - 4, bottom, x, bottom),
            ]
        at += count
    return segments(lines, "bracket")
