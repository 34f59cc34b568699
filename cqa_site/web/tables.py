"""Small tables as text, Markdown and LaTeX."""

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cqa_site.tabular import write_csv

ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    # At the start of a row, LaTeX would read brackets and stars as arguments of \\.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": r"\ensuremath{-}",
    "–": "--",
    "—": "---",
    "±": r"\ensuremath{\pm}",
    "†": r"\ensuremath{\dagger}",
    "‡": r"\ensuremath{\ddagger}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "×": r"\ensuremath{\times}",
    "·": r"\textperiodcentered{}",
    "α": r"\ensuremath{\alpha}",
    "κ": r"\ensuremath{\kappa}",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": r"\ldots{}",
}
# Fonts turn two hyphens into a dash and two apostrophes into a quotation mark.
JOINED = {"-": "-{}", "'": "'{}"}
_SPECIAL = re.compile("|".join(re.escape(char) for char in ESCAPES) + "|-(?=-)|'(?=')")
_TABLE = ESCAPES | JOINED
# C0 and C1 controls, line and paragraph separators, which TeX does not know.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def escape(text: str) -> str:
    r"""Make any text printable in LaTeX's text mode, on one line.

    Examples
    --------
    >>> escape("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return _SPECIAL.sub(lambda match: _TABLE[match.group()], _CONTROL.sub(" ", text))


def label_of(name: str) -> str:
    """Replace all characters except letters, digits and hyphens, to form a LaTeX label."""
    return re.sub("[^A-Za-z0-9-]", "-", name)


def booktabs(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numeric: Sequence[bool],
    caption: str,
    label: str,
    note: str = "",
) -> str:
    """Write a table environment; texts are escaped here, and numbers are passed as text.

    Parameters
    ----------
    columns, rows
        Column headings, and cells in the order of the columns.
    numeric
        For each column, whether it is right-aligned.
    caption
        Text above the table.
    label
        Used in ``\\label{tab:…}``; only letters, digits and hyphens are kept.
    note
        Small text below the table.
    """
    align = "".join("r" if is_number else "l" for is_number in numeric)
    lines = [
        "% needs \\usepackage{booktabs}; with pdfLaTeX also \\usepackage[T1]{fontenc}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{escape(caption)}}}",
        f"\\label{{tab:{label_of(label)}}}",
        f"\\begin{{tabular}}{{{align}}}",
        "\\toprule",
        _row(columns),
        "\\midrule",
        *(_row(row) for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        *([f"\\par\\smallskip{{\\footnotesize {escape(note)}}}"] if note else []),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"


# One small table, and its three download formats.

Cell = str | int | float | None
UNDEFINED = "n/a"
DECIMALS = 3


@dataclass(frozen=True)
class TableData:
    """A table that fits on a page.

    Attributes
    ----------
    columns
        Headings.
    rows
        Cells in the order of the columns; None is an undefined value.
    caption
        The content of the table and its source.
    note
        Explanation of how the numbers were computed.
    name
        For file names and labels: letters, digits, hyphens.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    note: str = ""
    name: str = "table"
    numeric: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row must have one cell for each column")
        numeric = [_is_numeric([row[at] for row in self.rows]) for at in range(len(self.columns))]
        object.__setattr__(self, "numeric", numeric)

    def to_csv(self) -> bytes:
        """Return UTF-8 CSV with full precision and defused formulas, without caption and note."""
        file = io.BytesIO()
        write_csv(file, self.columns, self.rows)
        return file.getvalue()

    def to_latex(self) -> str:
        """Return a table environment with booktabs rules, caption, label and note."""
        return booktabs(
            self.columns,
            [[text_of(cell) for cell in row] for row in self.rows],
            numeric=self.numeric,
            caption=self.caption,
            label=self.name,
            note=self.note,
        )

    def to_markdown(self) -> str:
        """Return a pipe table between its caption and its note."""
        rules = ["---:" if is_number else "---" for is_number in self.numeric]
        lines = [
            _pipes([markdown_text(column) for column in self.columns]),
            _pipes(rules),
            *(_pipes([markdown_text(text_of(cell)) for cell in row]) for row in self.rows),
        ]
        parts = [markdown_text(self.caption), "\n".join(lines), markdown_text(self.note)]
        return "\n\n".join(part for part in parts if part) + "\n"


def one_line(text: Any) -> str:
    """Join the paragraphs of a text into one line, for a note below a table."""
    return " ".join(str(text).split())


def text_of(cell: Cell, decimals: int = DECIMALS) -> str:
    """Format a cell with thousands separators; floats are rounded, with halves away from zero."""
    if cell is None:
        return UNDEFINED
    if isinstance(cell, float):
        # Zero has no minus sign. Inexact halves also count as halves, for example 100 * 0.145,
        # which is slightly below 14.5.
        return f"{cell * (1 + 1e-14):z,.{decimals}f}".replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else cell


def interval_text(
    estimate: Any, decimals: int = DECIMALS, scale: float = 1.0, unit: str = ""
) -> str:
    """Format both bounds of an estimate in brackets; empty if there is no interval."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    low, high = (text_of(float(scale * end), decimals) for end in (estimate.low, estimate.high))
    return f"[{low}{unit}, {high}{unit}]"


def estimate_text(estimate: Any, decimals: int = 2, scale: float = 1.0) -> str:
    """Format a value with its interval; a dash if the value is undefined."""
    if estimate is None or estimate.value is None:
        return "–"
    value = text_of(float(scale * estimate.value), decimals)
    return f"{value} {interval_text(estimate, decimals, scale)}".rstrip()


def _is_numeric(cells: Sequence[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, (int, float)) for cell in known)


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def markdown_text(text: str) -> str:
    """Escape characters that Markdown or HTML would interpret; a cell stays on one line."""
    plain = " ".join(text.split())
    for char in "\\`*_[]<>|#~$":
        plain = plain.replace(char, "\\" + char)
    return plain
