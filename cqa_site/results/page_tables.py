"""Tables as pages show them: a value with its interval below it instead of in three columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from cqa_site.web.tables import DECIMALS, TableData, text_of

from .boards import bounds_of


@dataclass(frozen=True)
class PageTable:
    """A table as a page shows it, where that is not the table of the file."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numeric: Sequence[bool] = ()
    caption: str = ""


@dataclass(frozen=True)
class WithInterval:
    """A value and its interval in words, as one cell."""

    text: str
    bounds: str


def joined(table: TableData) -> TableData | PageTable:
    """The table with the columns of a value and its bounds as one, and without empty columns."""
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
    """Its rows as columns: for a table that has more columns than a page has room for."""
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
    """Two, unless all values of the column are so small that two would say nothing."""
    known = [abs(value) for value in values if isinstance(value, (int, float))]
    return 2 if max(known, default=1) >= 0.1 else DECIMALS


def _with_interval(cells: Sequence[Any], decimals: int) -> Any:
    value, low, high = cells
    if value is None or not isinstance(value, (int, float)):
        return value
    text = text_of(float(value), decimals)
    if low is None or high is None:
        return text
    return WithInterval(text, bounds_of(low, high, decimals))
