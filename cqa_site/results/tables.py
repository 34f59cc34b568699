"""Tables whose columns are declared once: headings, cells, and the bounds of estimates."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from cqa_site.web.tables import Cell, TableData, one_line

# A path of attributes, keys and places, such as "1.level", or a function.
Value = str | Callable[..., Any]


def value_of(value: Value, row: Any, *more: Any) -> Any:
    """Return the value of a row; None if any part of its path is None."""
    if callable(value):
        return value(row, *more)
    for name in value.split("."):
        if row is None:
            return None
        if isinstance(row, Mapping):
            row = row.get(name)
        else:
            row = row[int(name)] if name.isdigit() else getattr(row, name)
    return row


def bounds_of(estimate: Any) -> dict[str, float | None]:
    """Return value, low and high of an estimate; None for each without an estimate."""
    return {name: value_of(name, estimate) for name in ("value", "low", "high")}


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and its cell in a row."""

    title: Any
    value: Value

    def titles(self) -> list[str]:
        """Return the headings that it fills."""
        return [str(self.title)]

    def cells(self, row: Any) -> list[Cell]:
        """Return the cells under these headings; other values, such as ids, as text."""
        value = value_of(self.value, row)
        return [value if value is None or isinstance(value, (str, int, float)) else str(value)]


class TextColumn(Column):
    """A value as text, including numbers that are names; empty without a value."""

    def cells(self, row: Any) -> list[Cell]:
        """Return the text."""
        value = value_of(self.value, row)
        return ["" if value is None else str(value)]


class EstimateColumn(Column):
    """An estimate or None: three columns of a file, one on a page (`boards.joined`)."""

    def titles(self) -> list[str]:
        """Return the headings of the value and both bounds."""
        return [str(self.title), _("low"), _("high")]

    def cells(self, row: Any) -> list[Cell]:
        """Return the value and both bounds."""
        return list(bounds_of(value_of(self.value, row)).values())


def table_of(columns: Iterable[Column], rows: Iterable[Any], **about: str) -> TableData:
    """Fill a table; ``about`` is its caption, note and name."""
    columns = list(columns)
    return TableData(
        [title for column in columns for title in column.titles()],
        [[cell for column in columns for cell in column.cells(row)] for row in rows],
        **about,
    )


@dataclass(frozen=True)
class FigureTable:
    """A figure of a report as a table: its title, its recipe and its columns.

    Attributes
    ----------
    columns, rows
        The columns, or a function of the report's figures that returns them; the path of the rows
        in these figures, or a function.
    needed, way
        Message for a table without rows: the data it needs, the page where they are collected, and
        its name.
    """

    title: Any
    recipe: Any
    columns: Iterable[Column] | Callable[..., Iterable[Column]]
    rows: Value
    needed: Any = ""
    way: tuple[str, Any] | None = None

    def table(self, *figures: Any, where: str, name: str, about: str = "") -> TableData:
        """Fill the table; its caption is the title, ``about`` and ``where``."""
        columns = self.columns(*figures) if callable(self.columns) else self.columns
        caption = f"{self.title}{about}. {where}"
        rows, note = value_of(self.rows, *figures), one_line(self.recipe)
        return table_of(columns, rows, caption=caption, note=note, name=name)
