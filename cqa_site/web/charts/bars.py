"""Bar charts and heatmaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from .plane import Plane, frame, plane_of
from .vega import (
    EDGE,
    LEADING,
    SIZE,
    WIDTHS,
    Axis,
    Layer,
    Rows,
    Spec,
    areas,
    axis_of,
    finish,
    fits,
    layer,
    legend,
    lines_of,
    looks,
    seconds,
    segment,
    segments,
    text_width,
    texts,
    time_axis,
    wrap,
)

# Bar charts: stacked, grouped, sorted, by size and by time.

# Width of a bar as a share of the space for its category.
PART = 0.84
TICKS = {"wide": 6, "middle": 5, "narrow": 4}
# Length of a time step; the length of a month varies.
STEPS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}


def stacked_bars(
    rows: Rows, *, x: str, y: str, series: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Draw one stacked bar per ``x`` with a part per series, and the total above it."""
    order, names = _kinds(rows, x), _kinds(rows, series)
    sums = {category: sum(row[y] for row in rows if row[x] == category) for category in order}
    above, start = legend(names, size, sign="square")
    up = axis_of([0.0, *sums.values()], is_whole=True)
    # Leave room for the total of the tallest bar below the title of the axis.
    plane = plane_of(_places(order), up, titles, size, start=start + LEADING - 4)
    bars, reached = [], dict.fromkeys(order, 0.0)
    for row in sorted(rows, key=lambda row: names.index(row[series])):
        low = reached[row[x]]
        reached[row[x]] += row[y]
        bars.append(_bar(plane, order.index(row[x]), PART, low, reached[row[x]]))
        bars[-1]["series"] = row[series]
    layers = [*above, *frame(plane, start=start), _bars(bars, names), *_sums(sums, plane)]
    return finish(layers, size, plane.end)


def grouped_bars(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: str,
    titles: tuple[str, str],
    names: Sequence[str] = (),
    size: str = "wide",
) -> Spec:
    """Draw the series as adjacent bars per ``x``; ``names`` reserves colours for absent series."""
    order, names = _kinds(rows, x), names or _kinds(rows, series)
    above, start = legend(names, size, sign="square")
    up = axis_of([0.0, *(row[y] for row in rows)], is_whole=True)
    plane = plane_of(_places(order), up, titles, size, start=start)
    part = PART / max(1, len(names))
    bars = []
    for row in rows:
        middle = order.index(row[x]) + part * (names.index(row[series]) - (len(names) - 1) / 2)
        bars.append({**_bar(plane, middle, part, 0, row[y]), "series": row[series]})
    return finish([*above, *frame(plane, start=start), _bars(bars, names)], size, plane.end)


def sorted_bars(
    rows: Rows, *, x: str, y: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Draw one thin bar per row in row order, up or down from 0."""
    order = _places([row[x] for row in rows])
    up = axis_of([0.0, *(row[y] for row in rows)])
    plane = plane_of(Axis(order.low, order.high, [], []), up, titles, size)
    part = PART if len(rows) < WIDTHS[size] / 5 else 1.0
    bars = [_bar(plane, at, part, 0, row[y]) | {"series": ""} for at, row in enumerate(rows)]
    zero = segments([segment(plane.left, plane.y(0), plane.right, plane.y(0))], "guide")
    return finish([*frame(plane), _bars(bars, [""]), zero], size, plane.end)


def histogram(
    rows: Rows, *, start: str, end: str, y: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Draw adjoining bars from ``start`` to ``end``, which are numbers."""
    ends = [row[part] for row in rows for part in (start, end)]
    across = axis_of(domain=(min(ends), max(ends)) if ends else (0, 1), most=TICKS[size])
    return _between([(row[start], row[end], row[y]) for row in rows], across, titles, size)


def columns_over_time(
    rows: Rows, *, x: str, y: str, step: str, titles: tuple[str, str], size: str = "wide"
) -> Spec:
    """Draw one bar per time step (hour, day, week, month); ``x`` is an ISO date or time."""
    spans = [(seconds(row[x]), _next(row[x], step), row[y]) for row in rows]
    across = time_axis([end for span in spans for end in span[:2]], most=TICKS[size] - 1)
    return _between(spans, across, titles, size)


def _between(
    spans: Sequence[tuple[float, float, float]], across: Axis, titles: tuple[str, str], size: str
) -> Spec:
    """Draw a bar for each span, with a gap of one pixel between bars."""
    up = axis_of([0.0, *(height for _start, _end, height in spans)], is_whole=True)
    plane = plane_of(across, up, titles, size)
    bars = [
        segment(plane.x(start) + 0.5, plane.y(0), plane.x(end) - 0.5, plane.y(height))
        | {"series": ""}
        for start, end, height in spans
    ]
    return finish([*frame(plane), _bars(bars, [""])], size, plane.end)


def _next(start: str, step: str) -> float:
    """Return the end of the time step that begins at this time."""
    at = datetime.fromisoformat(start).replace(tzinfo=UTC)
    if step != "month":
        return (at + STEPS[step]).timestamp()
    return (at.replace(day=1) + timedelta(days=32)).replace(day=1).timestamp()


def _kinds(rows: Rows, name: str) -> list[Any]:
    """Return the distinct values of a field, in row order."""
    return list(dict.fromkeys(row[name] for row in rows))


def _places(order: Sequence[Any]) -> Axis:
    """Return an axis with equal space for each category."""
    return Axis(
        -0.5, max(len(order), 1) - 0.5, range(len(order)), [str(category) for category in order]
    )


def _bar(plane: Plane, middle: float, part: float, low: float, high: float) -> dict[str, Any]:
    left, right = plane.x(middle - part / 2), plane.x(middle + part / 2)
    return segment(left, plane.y(low), right, plane.y(high))


def _bars(bars: Rows, names: Sequence[str]) -> Layer:
    return layer(bars, "bar", {**areas(), **looks(names, has_signs=False)})


def _sums(sums: dict[Any, float], plane: Plane) -> list[Layer]:
    """Return the totals above the bars, if the bars are wide enough for all totals."""
    words = [
        {"x": plane.x(at), "y": plane.y(value) - 8, "text": f"{value:,}"}
        for at, value in enumerate(sums.values())
    ]
    widest = max((text_width(str(word["text"]), SIZE, is_bold=True) for word in words), default=0)
    is_free = widest + 2 <= plane.x(1) - plane.x(0)
    return [texts(words, "value", "center")] if is_free else []


# Maximum width of row names as a share of the chart's width.
NAMES = 0.38
WIDEST, LOWEST = 84, 18
# Cells with a larger share are dark.
DEEP = 0.6
# Padding around a name or text in its cell.
AIR = 6
Lines = list[list[str]]


def heatmap(
    rows: Rows,
    *,
    x: str,
    y: str,
    share: str,
    text: str,
    titles: tuple[str, str],
    size: str = "wide",
) -> Spec:
    """Draw cells shaded by ``share`` (0 to 1, or missing), with ``text`` inside, in row order.

    Columns too narrow for their names are numbered. If the rows have the same names as the
    columns, they are numbered, too; otherwise, a key below the chart explains the numbers. Narrow
    cells show only the first line of their text, or no text.
    """
    across, down = (list(dict.fromkeys(str(row[name]) for row in rows)) for name in (x, y))
    cells = [
        {
            "across": across.index(str(row[x])),
            "down": down.index(str(row[y])),
            "share": row[share],
            "lines": str(row[text]).split("\n"),
        }
        for row in rows
    ]
    grid = _grid(across, down, titles, [cell["lines"] for cell in cells], size)
    layers = [_shades(cells, grid), _borders(grid), *_words(grid)]
    if grid.lines:
        layers += [_texts(cells, grid, is_deep=False), _texts(cells, grid, is_deep=True)]
    return finish(layers, size, grid.end + EDGE + LEADING * len(grid.key))


@dataclass(frozen=True, kw_only=True)
class ChartGrid:
    """The positions of the cells, and the text around them."""

    left: float
    top: float
    width: float
    height: float
    names: Lines
    heads: Lines
    titles: list[str]
    key: list[str]
    lines: int

    @property
    def end(self) -> float:
        """The bottom edge of the last row."""
        return self.top + self.height * len(self.names)


def _grid(
    across: list[str], down: list[str], titles: tuple[str, str], inside: Lines, size: str
) -> ChartGrid:
    picture = WIDTHS[size]
    left, width = _columns(down, across, picture)
    is_named, is_square = all(fits(name, width - AIR, SIZE) for name in across), across == down
    if is_square and not is_named:
        down = _numbered(down)
        left, width = _columns(down, across, picture)
    names = [wrap(name, picture * NAMES, SIZE, most=4) for name in down]
    heads = (
        [wrap(name, width - AIR, SIZE) for name in across] if is_named else _heads(across, width)
    )
    labels = [f"{title} {arrow}" for title, arrow in zip(titles, "→↓", strict=True) if title]
    words = _lines(labels, picture - 2 * EDGE)
    lines = _shown(inside, width)
    return ChartGrid(
        left=left,
        top=EDGE + LEADING * len(words) + 14 * max(map(len, heads), default=0) + AIR,
        width=width,
        height=max(LOWEST, 14 * max(map(len, names), default=0) + AIR, LEADING * lines + 2 * AIR),
        names=names,
        heads=heads,
        titles=words,
        key=[] if is_named or is_square else _lines(_numbered(across), picture - 2 * EDGE),
        lines=lines,
    )


def _shown(inside: Lines, width: float) -> int:
    """Return the number of text lines that fit in the cells: all, the first, or none."""
    most = max(map(len, inside), default=0)
    tries = (most, 1) if most else ()
    return next((n for n in tries if _widest([cell[:n] for cell in inside]) + AIR <= width), 0)


def _columns(down: Sequence[str], across: Sequence[str], picture: int) -> tuple[float, float]:
    """Return the left edge of the cells and their width."""
    left = EDGE + _widest([wrap(name, picture * NAMES, SIZE, most=4) for name in down]) + 8
    return left, min(WIDEST, (picture - EDGE - left) / max(1, len(across)))


def _heads(across: Sequence[str], width: float) -> Lines:
    """Number all columns, or every nth column if there is not enough room."""
    label_width = text_width(str(len(across)), SIZE) + 4
    step = next(
        stride for stride in (1, 5, 10, 50, 100, len(across)) if stride * width >= label_width
    )
    return [[str(at)] if at == 1 or at % step == 0 else [] for at in range(1, len(across) + 1)]


def _numbered(names: Sequence[str]) -> list[str]:
    return [f"{at} {name}" for at, name in enumerate(names, start=1)]


def _widest(texts: Lines) -> float:
    return max((text_width(line, SIZE) for lines in texts for line in lines), default=0)


def _lines(texts: Sequence[str], width: float) -> list[str]:
    return [line for text in texts for line in wrap(text, width, SIZE, most=4)]


def _shades(cells: Rows, grid: ChartGrid) -> Layer:
    marked = [
        {
            "x": grid.left + grid.width * cell["across"],
            "y": grid.top + grid.height * cell["down"],
            "x2": grid.left + grid.width * (cell["across"] + 1),
            "y2": grid.top + grid.height * (cell["down"] + 1),
            "share": _shade(cell["share"]),
        }
        for cell in cells
    ]
    scale = {"domain": [0, 1], "interpolate": "lab"}
    shade = {"field": "share", "type": "quantitative", "scale": scale, "legend": None}
    return layer(marked, "rect", {**areas(), "color": shade})


def _shade(share: float | None) -> float | None:
    """Map a share to a shade that is not in the middle of the scale, where no text is legible."""
    if share is None:
        return None
    return share / DEEP / 2 if share <= DEEP else 1 - (1 - share) * 0.55


def _borders(grid: ChartGrid) -> Layer:
    """Return thin lines around all cells, so that pale cells have visible edges."""
    right = grid.left + grid.width * len(grid.heads)
    heights = [grid.top + grid.height * at for at in range(len(grid.names) + 1)]
    places = [grid.left + grid.width * at for at in range(len(grid.heads) + 1)]
    lines = [segment(grid.left, y, right, y) for y in heights]
    return segments([*lines, *(segment(x, grid.top, x, grid.end) for x in places)], "grid")


def _words(grid: ChartGrid) -> list[Layer]:
    """Return the titles, the names of rows and columns, and the key."""
    names = [
        text
        for at, lines in enumerate(grid.names)
        for text in _around(lines, grid.left - 8, grid.top + grid.height * (at + 0.5), 14)
    ]
    heads = [
        text
        for at, lines in enumerate(grid.heads)
        for text in _around(
            lines, grid.left + grid.width * (at + 0.5), grid.top - 5 - 7 * len(lines), 14
        )
    ]
    return [
        texts(lines_of(grid.titles, EDGE, EDGE + 7), "soft"),
        texts(names, "name", "right"),
        texts(heads, "name", "center"),
        texts(lines_of(grid.key, EDGE, grid.end + EDGE + 7), "name"),
    ]


def _around(lines: Sequence[str], x: float, y: float, leading: float) -> list[dict[str, Any]]:
    """Return the lines of a text centred at a height."""
    first = y - leading * (len(lines) - 1) / 2
    return [{"x": x, "y": first + leading * at, "text": line} for at, line in enumerate(lines)]


def _texts(cells: Rows, grid: ChartGrid, *, is_deep: bool) -> Layer:
    """Return the texts in the dark or the pale cells."""
    words = [
        text
        for cell in cells
        if ((cell["share"] or 0) > DEEP) == is_deep
        for text in _around(
            cell["lines"][: grid.lines],
            grid.left + grid.width * (cell["across"] + 0.5),
            grid.top + grid.height * (cell["down"] + 0.5),
            LEADING,
        )
    ]
    return texts(words, "on-deep" if is_deep else "on-pale", "center")
