"""A figure as a page shows it: what it says, how it was made, the rows behind it, its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse

from cqa_site.web.tables import TableData

from .files import PICTURES, TABLES

PLAIN = "results/_plain.html"
# What it is called, and its address.
Link = tuple[str, str]


@dataclass(frozen=True)
class PageTable:
    """A table as a page shows it, where that is not the table of the file."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numeric: Sequence[bool] = ()
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """A chart on a page: its address with the version it shows, the rest of it, its words."""

    src: str
    rest: str
    alt: str


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where figures go away: names of addresses, the ids in them, and the choice behind them.

    An address ends with the ids, the figure's slug where there is one, and the format.
    """

    tables: str = ""
    charts: str = ""
    ids: tuple[Any, ...] = ()
    query: str = ""
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure.

    Attributes
    ----------
    slug, anchor
        In addresses of files; as the target of links on the page.
    title, about
        Its name, and soft words beside it.
    recipe
        How it was made, in a sentence.
    table
        Its numbers.
    alt
        The chart in words; empty where there is none.
    body
        The template between head and foot.
    rows
        What the rows behind it are called, and their address.
    files, more
        Where it goes away, and further files.
    """

    slug: str
    anchor: str
    title: Any
    about: str = ""
    recipe: Any
    table: TableData | PageTable
    alt: str | None = ""
    body: str = PLAIN
    rows: Link | None = None
    files: Files
    more: list[Link] = field(default_factory=list)

    @property
    def links(self) -> list[Link]:
        """The files it goes away as."""
        found, ids = self.files, [*self.files.ids, self.slug]
        made = links(found.tables, ids, TABLES, found.query)
        if self.alt:
            made += links(found.charts, ids, PICTURES, found.query)
        return made + self.more

    @property
    def picture(self) -> Picture:
        """Its chart."""
        found = self.files
        ids = [*found.ids, self.slug]
        return picture(found.charts, ids, found.version, self.alt or "", found.query)


def links(
    view: str, ids: Sequence[Any], endings: Mapping[str, str], query: str = ""
) -> list[Link]:
    """A file in each of its forms."""
    rest = f"?{query}" if query else ""
    return [(word, reverse(view, args=[*ids, end]) + rest) for end, word in endings.items()]


def picture(view: str, ids: Sequence[Any], version: str, alt: str, query: str = "") -> Picture:
    """A chart that browsers may keep under its version."""
    src = reverse(view, args=[*ids, "svg"])
    return Picture(f"{src}?v={version}", f"&{query}" if query else "", alt)
