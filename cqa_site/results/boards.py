"""A board as a page shows it: systems in order, with intervals, rank ranges and groups."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cqa_site.web.tables import text_of

NOTHING = "–"


@dataclass(frozen=True)
class BoardCell:
    """One figure in words.

    Attributes
    ----------
    text, bounds
        Its value and its interval.
    notes, details
        What has to be said of it; how many there are and the like, shown where one asks for it.
    css
        The class of a cell that counts less than its neighbours.
    """

    text: str = NOTHING
    bounds: str = ""
    notes: Sequence[str] = ()
    details: Sequence[str] = ()
    css: str = ""


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """One system.

    Attributes
    ----------
    name, about
        What it is called, and what is to be said of it.
    rank, rank_low, rank_high, tie_group
        Its place, those that the tests leave, and its group: no two systems of one can be told
        apart.
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


@dataclass(frozen=True)
class BoardColumn:
    """A column, and whether it is shown; a board opens with some of its columns.

    ``word`` is what the glossary calls it, where the title is explained.
    """

    key: str
    title: str
    is_shown: bool = True
    word: str = ""


@dataclass(frozen=True, kw_only=True)
class Board:
    """Systems, best first.

    Attributes
    ----------
    columns
        Those that are shown, once `with_columns` was asked.
    choices
        All of them, where some can be chosen.
    has_details
        Whether the details of cells are shown, too.
    behind
        The template of the rows behind each system.
    """

    columns: Sequence[BoardColumn]
    choices: Sequence[BoardColumn] = ()
    rows: Sequence[BoardRow]
    caption: str = ""
    is_ranked: bool = True
    is_ticked: bool = False
    has_details: bool = True
    behind: str = ""

    @property
    def has_groups(self) -> bool:
        """Whether a system has a group, which the page then explains."""
        return any(row.tie_group for row in self.rows)

    @property
    def n_ranked(self) -> int:
        """How many systems have a rank: without a test each may have any of these."""
        return sum(row.rank is not None for row in self.rows)

    @property
    def n_ticks(self) -> int:
        """How many systems can be chosen."""
        return sum(bool(row.tick) for row in self.rows)

    @property
    def width(self) -> int:
        """How many columns a cell over all of them covers."""
        return len(self.columns) + 1 + self.is_ranked + self.is_ticked


# Of an address: what is chosen to be shown, and the choice of details among the columns.
SHOW, DETAILS = "show", "details"


def with_columns(board: Board, wanted: Collection[str]) -> Board:
    """The board with these of its columns; with those it opens with where none is wanted."""
    known = {each.key for each in board.columns}
    chosen = known.intersection(wanted)
    choices = [
        replace(each, is_shown=each.key in chosen if chosen else each.is_shown)
        for each in board.columns
    ]
    places = [at for at, each in enumerate(choices) if each.is_shown]
    return replace(
        board,
        columns=[choices[at] for at in places],
        choices=choices,
        has_details=DETAILS in wanted,
        rows=[
            replace(row, cells=[row.cells[at] for at in places] if row.cells else ())
            for row in board.rows
        ],
    )


def figure_cell(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    decimals: int = 2,
    notes: Sequence[str] = (),
    details: Sequence[str] = (),
) -> BoardCell:
    """A value with its interval; a dash alone where there is no value."""
    if value is None:
        return BoardCell()
    said, more = ([each for each in some if each] for some in (notes, details))
    shown = BoardCell(text_of(float(value), decimals), notes=said, details=more)
    return shown if low is None or high is None else replace(shown, bounds=bounds_of(low, high))


def bounds_of(low: float, high: float, decimals: int = 2) -> str:
    """Both bounds of an interval."""
    return f"[{text_of(float(low), decimals)}, {text_of(float(high), decimals)}]"
