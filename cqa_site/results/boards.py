"""A board as a page shows it: systems in order, with intervals, rank ranges and tie groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cqa_site.web.tables import text_of

NOTHING = "–"


@dataclass(frozen=True)
class BoardCell:
    """One figure in words: its value, its interval, and what stands below it.

    ``css`` is the class of a cell that counts less than its neighbours.
    """

    text: str = NOTHING
    bounds: str = ""
    notes: Sequence[str] = ()
    css: str = ""


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """One system.

    Attributes
    ----------
    name, about
        What it is called, and what is to be said of it.
    rank, rank_low, rank_high, tie_group
        Its place, those that are possible, and the group of systems it cannot be told from.
    cells
        In the order of the board's columns.
    why
        Why it has no rank, where its cells say nothing.
    tick
        Its id, where two systems can be chosen and compared.
    is_low
        Whether too little is known of it.
    behind
        What the rows behind it are, as the page's template shows them below it.
    """

    name: str
    about: str = ""
    badge: str = ""
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    tie_group: int | None = None
    cells: Sequence[BoardCell]
    why: str = ""
    tick: str = ""
    is_low: bool = False
    behind: Any = None


@dataclass(frozen=True, kw_only=True)
class Board:
    """Systems, best first; ``behind`` is the template of the rows behind each of them."""

    columns: Sequence[str]
    rows: Sequence[BoardRow]
    caption: str = ""
    is_ranked: bool = True
    is_ticked: bool = False
    behind: str = ""

    @property
    def n_ticks(self) -> int:
        """How many systems can be chosen."""
        return sum(bool(row.tick) for row in self.rows)

    @property
    def width(self) -> int:
        """How many columns a cell over all of them covers."""
        return len(self.columns) + 1 + self.is_ranked + self.is_ticked


def figure_cell(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    decimals: int = 2,
    notes: Sequence[str] = (),
) -> BoardCell:
    """A value with its interval; a dash alone where there is no value."""
    if value is None:
        return BoardCell()
    shown = BoardCell(text_of(float(value), decimals), notes=[each for each in notes if each])
    return shown if low is None or high is None else replace(shown, bounds=bounds_of(low, high))


def bounds_of(low: float, high: float, decimals: int = 2) -> str:
    """Both bounds of an interval."""
    return f"[{text_of(float(low), decimals)}, {text_of(float(high), decimals)}]"
