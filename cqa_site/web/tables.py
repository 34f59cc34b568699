"""One small table, and the three forms in which people take it away."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from cqa_site.tabular import write_csv
from cqa_site.web.latex import booktabs

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
        Cells in the order of the columns; None is a value that is not defined.
    caption
        What the table shows and where it comes from.
    note
        How the numbers were made.
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
            raise ValueError("every row has one cell for each column")
        numeric = [_is_numeric([row[at] for row in self.rows]) for at in range(len(self.columns))]
        object.__setattr__(self, "numeric", numeric)

    @classmethod
    def of_rows(
        cls, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], **about: str
    ) -> Self:
        """Rows by key, such as those of a chart; ``columns`` are the keys with their headings."""
        cells = [[row[key] for key in columns] for row in rows]
        return cls(list(columns.values()), cells, **about)

    def to_csv(self) -> bytes:
        """UTF-8 with full precision; formulas are defused, caption and note are left out."""
        file = io.BytesIO()
        write_csv(file, self.columns, self.rows)
        return file.getvalue()

    def to_latex(self) -> str:
        """A table environment with booktabs rules, caption, label and note."""
        return booktabs(
            self.columns,
            [[text_of(cell) for cell in row] for row in self.rows],
            numeric=self.numeric,
            caption=self.caption,
            label=self.name,
            note=self.note,
        )

    def to_markdown(self) -> str:
        """A pipe table between its caption and its note."""
        rules = ["---:" if is_number else "---" for is_number in self.numeric]
        lines = [
            _pipes([markdown_text(column) for column in self.columns]),
            _pipes(rules),
            *(_pipes([markdown_text(text_of(cell)) for cell in row]) for row in self.rows),
        ]
        parts = [markdown_text(self.caption), "\n".join(lines), markdown_text(self.note)]
        return "\n\n".join(part for part in parts if part) + "\n"


def one_line(text: Any) -> str:
    """A text of several paragraphs as a note below a table."""
    return " ".join(str(text).split())


def text_of(cell: Cell, decimals: int = DECIMALS) -> str:
    """A cell as people read it: thousands separators, floats rounded, halves away from zero."""
    if cell is None:
        return UNDEFINED
    if isinstance(cell, float):
        # Of a minus sign without a digit behind it nobody knows what it means. A half counts as
        # one where it is inexact, too: 100 * 0.145 lies below 14.5.
        return f"{cell * (1 + 1e-14):z,.{decimals}f}".replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else cell


def _is_numeric(cells: Sequence[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, (int, float)) for cell in known)


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def markdown_text(text: str) -> str:
    """Escape what Markdown or HTML would interpret; a cell stays on one line."""
    plain = " ".join(text.split())
    for char in "\\`*_[]<>|#~$":
        plain = plain.replace(char, "\\" + char)
    return plain
