"""A paper's own tables, filled with reproduced figures, as text, Markdown and LaTeX.

A `TableLayout` defines the cells, and `fill` inserts the figures. The LaTeX is ready for print: it
has booktabs rules, numbers aligned at the decimal point and ±, escaped text, and the largest font
that fits the text width. A table that is too wide even in a small font is split into panels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from cqa_site.reproduction.figures import (
    ABSENT,
    AUTHORS,
    DIFFERS,
    NOTHING,
    Key,
    MeasuredFigure,
    PaperFigure,
    digits_of,
)
from cqa_site.web.tables import escape, label_of, markdown_text

# Text width in points in the ACL template: two columns and the gap between them.
TEXT_WIDTH = 455.0
COLUMN_WIDTH = 219.0
DIFFERS_MARK, OTHER_MARK, STATED_MARK = "†", "‡", "*"
# Maximum number of printed figures that a note lists; it only counts a larger number.
LISTED = 8


@dataclass(frozen=True)
class TableCell:
    """The figure in a cell, or only its numbers from ``first`` up to, but excluding, ``last``."""

    key: Key
    first: int = 0
    last: int | None = None


@dataclass(frozen=True)
class TableLine:
    """A row with its labels and its cells. A cell that is None stays empty."""

    labels: tuple[str, ...]
    cells: tuple[TableCell | None, ...]


@dataclass(frozen=True)
class TableLayout:
    """The layout of a paper's table.

    Attributes
    ----------
    name
        The name for the LaTeX label and the command line: "compqa-3".
    caption
        The caption, with the paper's table number.
    headings
        The headings of all columns, label columns first.
    lines
        Rows with one label or cell for each heading. Rows with several labels are grouped if their
        first labels are equal.
    spans
        Headings that span the columns after the labels: text ("" for none) and number of columns.
    notes
        Notes on how the numbers were computed.
    digits
        Decimals of every number; None for as many as the paper prints in each cell.
    """

    name: str
    caption: str
    headings: tuple[str, ...]
    lines: tuple[TableLine, ...]
    spans: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    digits: int | None = 2

    def __post_init__(self) -> None:
        if any(len(line.labels) + len(line.cells) != len(self.headings) for line in self.lines):
            raise ValueError(f"{self.name}: a line does not have one cell for each heading")
        if self.spans and sum(n for _text, n in self.spans) != len(self.headings) - self.stubs:
            raise ValueError(f"{self.name}: the spans do not cover the columns")

    @property
    def stubs(self) -> int:
        """Number of label columns."""
        return len(self.lines[0].labels) if self.lines else 1


@dataclass(frozen=True)
class CellText:
    """The text of a cell, including the signs between numbers, and its mark."""

    text: str = ""
    mark: str = ""

    @property
    def shown(self) -> str:
        return self.text + self.mark


@dataclass(frozen=True)
class PaperTable:
    """A table layout with its values."""

    layout: TableLayout
    cells: tuple[tuple[CellText, ...], ...]
    notes: tuple[str, ...]

    def to_text(self) -> str:
        """Format the table for a terminal."""
        heads = list(self._plain_headings())
        # Marks have their own column, so that the numbers stay aligned.
        marked = [any(cell.mark for cell in column) for column in zip(*self.cells, strict=True)]
        rows = [
            [
                *line.labels,
                *(
                    cell.shown if cell.mark or not is_marked else cell.text + " "
                    for cell, is_marked in zip(cells, marked, strict=True)
                ),
            ]
            for line, cells in self._rows()
        ]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [self._aligned(row, widths) for row in (heads, *rows)]
        rule = "-" * sum(widths, 2 * (len(widths) - 1))
        return "\n".join(
            [self.layout.caption, "", lines[0], rule, *lines[1:], "", *self.notes, ""]
        )

    def to_markdown(self) -> str:
        """Return a Markdown table with its caption and notes."""
        heads = self._plain_headings()
        rules = ["---"] * self.layout.stubs + ["---:"] * (len(heads) - self.layout.stubs)
        rows = [[*line.labels, *(cell.shown for cell in cells)] for line, cells in self._rows()]
        body = [_pipes(map(markdown_text, heads)), _pipes(rules)]
        body += [_pipes(map(markdown_text, row)) for row in rows]
        parts = [f"**{markdown_text(self.layout.caption)}**", "\n".join(body)]
        return "\n\n".join([*parts, *map(markdown_text, self.notes)]) + "\n"

    def to_latex(self, text_width: float = TEXT_WIDTH) -> str:
        """Return a LaTeX float with booktabs rules that fits the text width in points."""
        size, panels, float_name = _fitted(self, text_width)
        tabulars = "\n\\par\\medskip\n".join(_tabular(self, panel) for panel in panels)
        notes = " ".join(map(escape, self.notes))
        lines = [
            "% needs \\usepackage{booktabs}; with pdfLaTeX also \\usepackage[T1]{fontenc}",
            f"% set for a \\textwidth of {text_width:g} pt or more",
            f"\\begin{{{float_name}}}",
            "\\centering",
            f"\\caption{{{escape(self.layout.caption)}}}",
            f"\\label{{tab:{label_of(self.layout.name)}}}",
            f"{size.command}\\setlength{{\\tabcolsep}}{{{size.gap:g}pt}}%",
            tabulars,
            *(
                [f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\footnotesize {notes}}}"]
                * bool(notes)
            ),
            f"\\end{{{float_name}}}",
        ]
        return "\n".join(lines) + "\n"

    def _rows(self) -> Iterable[tuple[TableLine, tuple[CellText, ...]]]:
        return zip(self.layout.lines, self.cells, strict=True)

    def _plain_headings(self) -> Sequence[str]:
        """Return the headings, each prefixed with the spanning heading above it."""
        layout = self.layout
        over = [""] * layout.stubs + [text for text, n in layout.spans for _ in range(n)]
        over += [""] * (len(layout.headings) - len(over))
        return [": ".join(filter(None, pair)) for pair in zip(over, layout.headings, strict=True)]

    def _aligned(self, row: Sequence[str], widths: Sequence[int]) -> str:
        stubs = self.layout.stubs
        return "  ".join(
            text.ljust(width) if at < stubs else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()

    def column(self, at: int) -> list[CellText]:
        """Return the cells of a column; column 0 is the first column after the labels."""
        return [row[at] for row in self.cells]


def fill(
    layout: TableLayout, figures: Iterable[PaperFigure], *, prefers_ours: bool = False
) -> PaperTable:
    """Fill a layout with figures.

    Released values are shown if available, otherwise ours (or the other way round, if ours are
    preferred). If nothing was computed, values stated in the authors' files are shown. Marks
    identify figures that differ from the published value, values computed by our own recipe, and
    stated values. A cell without a figure or a value contains a dash.
    """
    by_key = {result.key: result for result in figures}
    used = [
        (cell, by_key[cell.key])
        for line in layout.lines
        for cell in line.cells
        if cell is not None and cell.key in by_key
    ]
    cells = tuple(
        tuple(_filled(layout, by_key, cell, prefers_ours) for cell in line.cells)
        for line in layout.lines
    )
    marks = {entry.mark for row in cells for entry in row}
    named = list({figure.key: figure for _cell, figure in used}.values())
    return PaperTable(layout, cells, (*layout.notes, *_notes(named, marks)))


def _filled(
    layout: TableLayout, by_key: dict[Key, PaperFigure], cell: TableCell | None, prefers_ours: bool
) -> CellText:
    if cell is None:
        return CellText()
    figure = by_key.get(cell.key)
    value = None if figure is None else _value(figure, prefers_ours)
    if figure is None or value is None:
        return CellText(NOTHING)
    last = len(value.numbers) if cell.last is None else cell.last
    part = value.part(cell.first, last)
    if layout.digits is None:
        text = part.text(digits_of(figure.printed)[cell.first : last])
    else:
        text = part.text(default=layout.digits)
    return CellText(text, _mark(figure, value))


def _value(figure: PaperFigure, prefers_ours: bool) -> MeasuredFigure | None:
    values = (figure.found.ours, figure.found.released)
    first, second = values if prefers_ours else values[::-1]
    return next((value for value in (first, second) if value is not None), figure.found.stated)


def _mark(figure: PaperFigure, value: MeasuredFigure) -> str:
    if figure.found.recipe and value is figure.found.ours and figure.printed:
        return OTHER_MARK
    if value is figure.found.stated:
        return STATED_MARK
    return DIFFERS_MARK if figure.status == DIFFERS else ""


def _notes(figures: Sequence[PaperFigure], marks: set[str]) -> list[str]:
    """Explain the marks, and dashes if their reason is known."""
    notes = []
    if STATED_MARK in marks:
        notes.append(f"{STATED_MARK} Not computed: as {AUTHORS} states it.")
    if DIFFERS_MARK in marks:
        notes.append(f"{DIFFERS_MARK} Differs from the paper{_listed(figures)}.")
    if OTHER_MARK in marks:
        recipes = dict.fromkeys(figure.found.recipe for figure in figures if figure.found.recipe)
        notes.append(f"{OTHER_MARK} By another recipe: {'; '.join(recipes)}.")
    missing = (
        figure for figure in figures if figure.status == ABSENT and not figure.is_only_stated
    )
    absent = (figure.why for figure in missing if figure.why)
    reasons = dict.fromkeys(part for why in absent for part in why.split("; "))
    if reasons:
        notes.append(f"{NOTHING} Cannot be computed: {'; '.join(reasons)}.")
    return notes


def _listed(figures: Sequence[PaperFigure]) -> str:
    """List the printed values of figures that differ, grouped by reason."""
    differing = [figure for figure in figures if figure.status == DIFFERS and figure.printed]
    if len(differing) > LISTED or not differing:
        return f" in {len(differing)} figures" if differing else ""
    by_reason: dict[str, list[str]] = {}
    for mismatch in differing:
        by_reason.setdefault(mismatch.why, []).append(f"{mismatch.cell} ({mismatch.printed})")
    texts = [": ".join(filter(None, (", ".join(names), why))) for why, names in by_reason.items()]
    return f", which prints {'; '.join(texts)}"


@dataclass(frozen=True)
class _Size:
    """A font size, with its command, its letter width relative to 10 pt, and the column gap."""

    command: str
    scale: float
    gap: float


# Computer Modern's small sizes are wider than its normal size scaled down.
_SIZES = (
    _Size("", 1.0, 6),
    _Size("\\small", 0.925, 4),
    _Size("\\footnotesize", 0.85, 3),
    _Size("\\scriptsize", 0.8, 3),
)
# Widths at 10 pt: digits and most letters are 5 pt or less, capitals up to 7.8 pt.
_NARROW, _WIDE = 2.8, 7.8
_LETTER = 5.3


def _fitted(table: PaperTable, text_width: float) -> tuple[_Size, list[list[int]], str]:
    """Choose the font size, the columns of each panel, and the float (one column if legible).

    Use the largest font in which the table fits, or the smallest font with panels if none fits.
    """
    columns = list(range(len(table.layout.headings) - table.layout.stubs))
    tried = [("table", COLUMN_WIDTH, font) for font in _SIZES[:2]]
    tried += [("table*", text_width, font) for font in _SIZES]
    for float_name, width, size in tried:
        if _width_of(table, size, columns) <= min(width, text_width):
            return size, [columns], float_name
    return _SIZES[-1], _panels(table, _SIZES[-1], text_width), "table*"


def _panels(table: PaperTable, size: _Size, text_width: float) -> list[list[int]]:
    """Split columns into as few panels as possible; keep columns under one heading together."""
    blocks = _blocks(table.layout)
    panels: list[list[int]] = [[]]
    for block in blocks:
        if panels[-1] and _width_of(table, size, panels[-1] + block) > text_width:
            panels.append([])
        panels[-1] += block
    return panels


def _blocks(layout: TableLayout) -> list[list[int]]:
    spans = layout.spans or [("", 1)] * (len(layout.headings) - layout.stubs)
    blocks, at = [], 0
    for _text, n in spans:
        blocks.append(list(range(at, at + n)))
        at += n
    return blocks


def _width_of(table: PaperTable, size: _Size, panel: Sequence[int]) -> float:
    """Estimate the width in points, erring on the wide side."""
    layout = table.layout
    widths = [
        max(_points(text) for text in (layout.headings[at], *(x.labels[at] for x in layout.lines)))
        for at in range(layout.stubs)
    ]
    for at in panel:
        texts = [layout.headings[layout.stubs + at], *(cell.text for cell in table.column(at))]
        widths.append(max(map(_points, texts)))
    return sum(widths) * size.scale + 2 * size.gap * (len(widths) - 1)


def _points(text: str) -> float:
    return sum(_points_of(character) for character in text)


def _points_of(letter: str) -> float:
    if letter in " .,:;'ijl|!()[]":
        return _NARROW
    if letter in "±−–" or (letter.isupper() or not letter.isascii()):
        return _WIDE
    return _LETTER if letter not in "mwMW@%" else 8.4


def _tabular(table: PaperTable, panel: Sequence[int]) -> str:
    layout = table.layout
    columns = [_Column(table.column(at)) for at in panel]
    spec = "l" * layout.stubs + "".join(column.spec for column in columns)
    headings = [
        *map(escape, layout.headings[: layout.stubs]),
        *(
            column.head(escape(layout.headings[layout.stubs + at]))
            for column, at in zip(columns, panel, strict=True)
        ),
    ]
    lines = [f"\\begin{{tabular}}{{@{{}}{spec}@{{}}}}", "\\toprule"]
    lines += _span_rows(layout, panel, columns)
    lines += [_row(headings), "\\midrule", *_body(table, panel, columns)]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def _body(table: PaperTable, panel: Sequence[int], columns: "Sequence[_Column]") -> list[str]:
    """Return the rows, with space between groups of lines that share their first label."""
    rows = list(zip(table.layout.lines, table.cells, strict=True))
    groups = [list(group) for _label, group in groupby(rows, key=lambda row: row[0].labels[0])]
    is_grouped = table.layout.stubs > 1 and any(len(group) > 1 for group in groups)
    lines: list[str] = []
    for place, group in enumerate(groups):
        if place and is_grouped:
            lines.append("\\addlinespace")
        for at, (line, cells) in enumerate(group):
            labels = [escape(label) for label in line.labels]
            if is_grouped and at:
                labels[0] = ""
            texts = [column.cell(cells[at]) for column, at in zip(columns, panel, strict=True)]
            lines.append(_row([*labels, *texts]))
    return lines


def _span_rows(
    layout: TableLayout, panel: Sequence[int], columns: "Sequence[_Column]"
) -> list[str]:
    """Return the headings that span several columns, with the rules below them."""
    if not layout.spans:
        return []
    over = [text for text, n in layout.spans for _ in range(n)]
    owner = [place for place, (_text, n) in enumerate(layout.spans) for _ in range(n)]
    cells, rules = [""] * layout.stubs, []
    at = layout.stubs + 1
    pairs = zip(panel, columns, strict=True)
    for _place, group in groupby(pairs, key=lambda pair: owner[pair[0]]):
        members = list(group)
        n = sum(column.n for _at, column in members)
        text = over[members[0][0]]
        cells.append(f"\\multicolumn{{{n}}}{{c}}{{{escape(text)}}}")
        if text:
            rules.append(f"\\cmidrule(lr){{{at}-{at + n - 1}}}")
        at += n
    return [_row(cells), " ".join(rules)]


class _Column:
    """The alignment of a column: at the ± if every value has one, otherwise flush right."""

    def __init__(self, cells: Sequence[CellText]) -> None:
        values = [cell.text for cell in cells if cell.text not in ("", NOTHING)]
        self.is_pair = bool(values) and all(value.count(" ± ") == 1 for value in values)
        self.n = 2 if self.is_pair else 1
        single = "r" if values else "c"
        self.spec = "r@{\\,$\\pm$\\,}r" if self.is_pair else single

    def head(self, text: str) -> str:
        return f"\\multicolumn{{{self.n}}}{{c}}{{{text}}}"

    def cell(self, filled: CellText) -> str:
        mark = f"\\rlap{{\\textsuperscript{{{escape(filled.mark)}}}}}" if filled.mark else ""
        if not self.is_pair:
            return escape(filled.text) + mark
        if " ± " not in filled.text:
            return f"\\multicolumn{{2}}{{c}}{{{escape(filled.text)}}}"
        return " & ".join(map(escape, filled.text.split(" ± "))) + mark


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _pipes(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
