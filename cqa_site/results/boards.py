"""Boards on a page: rows, tables with intervals, and the conclusion above them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.stats.estimate import FIRM, TENTATIVE, Bounded, RankPosition
from cqa_site.stats.means import MOST_UNITS
from cqa_site.stats.verdicts import Bounds, reliability_of
from cqa_site.web.tables import DECIMALS, TableData, interval_text, text_of

# Boards on a page: systems in order, with intervals, rank ranges and groups

NOTHING = "–"
NOT_RANKED = RankPosition()


@dataclass(frozen=True)
class BoardCell:
    """One figure, formatted as text.

    Attributes
    ----------
    text, bounds
        The value and its interval.
    notes, details
        Remarks on the figure; counts and similar details, shown on request.
    css
        The CSS class of a cell that counts less than its neighbours.
    """

    text: str = NOTHING
    bounds: str = ""
    notes: Sequence[str] = ()
    details: Sequence[str] = ()
    css: str = ""


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """One system on a board.

    Attributes
    ----------
    name, about
        Its name, and remarks on it.
    place
        Its rank, its rank range after the tests, and its tie group.
    cells
        Its cells in the order of the board's columns.
    why
        The reason why it has no rank, if it has no figures.
    tick
        Its id, if two systems can be selected for comparison.
    is_low
        Whether it has too little data.
    behind
        The underlying rows, which the page's template shows below the system.
    """

    name: str
    about: str = ""
    badge: str = ""
    place: RankPosition = NOT_RANKED
    cells: Sequence[BoardCell]
    why: str = ""
    tick: str = ""
    is_low: bool = False
    behind: Any = None


@dataclass(frozen=True)
class BoardColumn:
    """A column, its cell for a row of the report, and whether it is shown.

    By default, a board shows only some of its columns. ``word`` is the glossary term that explains
    the title, if any.
    """

    key: str
    title: str
    cell: Callable[[Any], BoardCell] = lambda row: BoardCell()
    is_shown: bool = True
    word: str = ""


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board of systems, best first.

    Attributes
    ----------
    columns
        The columns; after `with_columns`, only the shown ones.
    choices
        All columns, if users can choose among them.
    has_details
        Whether the details of cells are also shown.
    behind
        The template for the rows behind each system.
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
        """Whether any system has a tie group; if so, the page explains the term."""
        return any(row.place.tie_group for row in self.rows)

    @property
    def n_ranked(self) -> int:
        """Number of systems with a rank; without a test, this is also the lowest possible rank."""
        return sum(row.place.rank is not None for row in self.rows)

    @property
    def n_ticks(self) -> int:
        """Number of systems that can be selected."""
        return sum(bool(row.tick) for row in self.rows)

    @property
    def width(self) -> int:
        """Number of columns covered by a cell that spans the whole table."""
        return len(self.columns) + 1 + self.is_ranked + self.is_ticked


# Query parameter for the columns to show, and its value for details.
SHOW, DETAILS = "show", "details"


def with_columns(board: Board, wanted: Collection[str]) -> Board:
    """Return the board with the requested columns, or with its default columns."""
    known = {column.key for column in board.columns}
    chosen = known.intersection(wanted)
    choices = [
        replace(column, is_shown=column.key in chosen if chosen else column.is_shown)
        for column in board.columns
    ]
    places = [at for at, choice in enumerate(choices) if choice.is_shown]
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
    estimate: Any, *, decimals: int = 2, notes: Sequence[str] = (), details: Sequence[str] = ()
) -> BoardCell:
    """Format a value with its interval; return a dash if the value is missing."""
    if estimate.value is None:
        return BoardCell()
    remarks, more = ([text for text in some if text] for some in (notes, details))
    value = text_of(float(estimate.value), decimals)
    return BoardCell(value, interval_text(estimate, 2), notes=remarks, details=more)


@dataclass(frozen=True)
class PageTable:
    """The version of a table on a page, if it differs from the version in the file."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numeric: Sequence[bool] = ()
    caption: str = ""


@dataclass(frozen=True)
class WithInterval:
    """A value and its interval as text in one cell."""

    text: str
    bounds: str


def joined(table: TableData) -> TableData | PageTable:
    """Merge each value column with the columns of its bounds, and drop empty columns."""
    names, ends = [name.lower() for name in table.columns], [_("low"), _("high")]
    bounded = {at for at in range(len(names)) if names[at + 1 : at + 3] == ends}
    hidden = {at + step for at in bounded for step in (1, 2)}
    hidden |= {at for at in range(1, len(names)) if all(row[at] is None for row in table.rows)}
    if not hidden or not table.rows:
        return table
    places = [at for at in range(len(names)) if at not in hidden]
    columns = [_column(table, at, at in bounded) for at in places]
    return PageTable(
        columns=[table.columns[at] for at in places],
        rows=list(zip(*columns, strict=True)),
        numeric=[table.numeric[at] for at in places],
        caption=table.caption,
    )


def turned(table: PageTable) -> PageTable:
    """Transpose the table if it has more columns than fit on a page."""
    heads = [str(row[0]) for row in table.rows]
    rows = list(zip(table.columns[1:], *(row[1:] for row in table.rows), strict=True))
    return PageTable([table.columns[0], *heads], rows, [False, *(True for _head in heads)])


def _column(table: TableData, at: int, is_bounded: bool) -> list[Any]:
    if not is_bounded:
        return [row[at] for row in table.rows]
    cells = [row[at : at + 3] for row in table.rows]
    decimals = _decimals([value for cell in cells for value in cell])
    return [_with_interval(cell, decimals) for cell in cells]


def _decimals(values: Sequence[Any]) -> int:
    """Return the number of decimals: two, or more if all values are too small to show with two."""
    known = [abs(value) for value in values if isinstance(value, (int, float))]
    return 2 if max(known, default=1) >= 0.1 else DECIMALS


def _with_interval(cells: Sequence[Any], decimals: int) -> Any:
    value, low, high = cells
    if value is None or not isinstance(value, (int, float)):
        return value
    estimate = Bounded(value=value, low=low, high=high)
    text, bounds = text_of(float(value), decimals), interval_text(estimate, decimals)
    return WithInterval(text, bounds) if bounds else text


# Maximum number of names in a sentence.
MOST_NAMES = 4
SMALLEST_P = 0.001
# Maximum length of a name in a sentence; the table below shows the full name.
LONGEST_NAME = 40


@dataclass(frozen=True)
class Conclusion:
    """The finding in one sentence, how certain it is, and whether it is good or bad.

    Attributes
    ----------
    mark
        The class of its badge: good, warn or bad; empty for a neutral finding.
    terms
        Words in the sentence that the glossary explains.
    way
        Text and address of a link to the page where more data can be collected.
    """

    says: str
    sure: str = ""
    mark: str = ""
    terms: tuple[str, ...] = ()
    way: tuple[str, str] | None = None


LEVELS = {
    "firm": (lazy("%s well enough for firm conclusions"), "good"),
    "tentative": (lazy("%s well enough for tentative conclusions"), ""),
    "not_shown": (lazy("%s, but possibly not well enough for conclusions"), "warn"),
    "too_little": (lazy("%s, but not well enough for conclusions"), "warn"),
    "no_interval": (lazy("these data cannot tell how well %s"), "warn"),
}


def after_holm(p: float) -> str:
    """Format a p value after Holm's correction; report very small values as a bound."""
    value = f"< {SMALLEST_P}" if p < SMALLEST_P else f"= {text_of(p, 3)}"
    return _("Holm-adjusted p %s") % value


def level_of(agreement: str, alpha: Bounds) -> tuple[str, str]:
    """Describe how firm conclusions from an alpha can be, and return the badge class as well."""
    words, mark = LEVELS[reliability_of(alpha)]
    return capfirst(words % agreement), mark


def why_less(alpha: Bounded) -> str:
    """Explain why the verdict is lower than the value alone suggests; empty if it is not lower."""
    value, least = alpha.value or 0.0, alpha.low
    if least is None:
        return _("No verdict without an interval: %s.") % (
            alpha.reason or _("the interval is not available")
        )
    passed = next((mark for mark in (FIRM, TENTATIVE) if value >= mark), None)
    if passed is None or least >= passed:
        return ""
    text = _("The interval's lower bound decides: %(low)s is below %(mark)s.")
    return text % {"low": text_of(least, 2), "mark": text_of(passed, 3)}


def short(name: str) -> str:
    """Shorten a long name to its beginning and end, so that the sentence fits."""
    if len(name) <= LONGEST_NAME:
        return name
    end = LONGEST_NAME // 3
    return f"{name[: LONGEST_NAME - end - 1].rstrip()}…{name[-end:].lstrip()}"


def would_show(enough: int | None, units: str, what: str) -> str:
    """Report how many units are needed to show an effect, or that the number exceeds a maximum."""
    text = _("%(about)s %(n)s %(units)s would be needed to show %(what)s (80 %% power).")
    words = {"about": _("About") if enough else _("Over"), "units": units, "what": what}
    return text % (words | {"n": f"{enough or MOST_UNITS:,}"})


def listed(names: Sequence[str], shortened: Callable[[str], str] = short) -> str:
    """Join names in a sentence; list only the first of many."""
    labels, more = [shortened(name) for name in names[:MOST_NAMES]], len(names) - MOST_NAMES
    if more > 0:
        return _("%(names)s and %(n)d more") % {"names": ", ".join(labels), "n": more}
    if len(labels) == 1:
        return labels[0]
    return _("%(names)s and %(last)s") % {"names": ", ".join(labels[:-1]), "last": labels[-1]}
