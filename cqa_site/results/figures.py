"""A figure as a page shows it: what it says, how it was made, the rows behind it, its files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from cqa_site.reproduction.tables import PaperTable
from cqa_site.web.charts.drawing import WIDTHS, Spec
from cqa_site.web.tables import TableData

from .files import PICTURES, TABLES, chart_file, table_file
from .page_tables import PageTable, joined

PLAIN = "results/_plain.html"
# What it is called, and its address.
Link = tuple[str, str]


@dataclass(frozen=True)
class Picture:
    """A chart on a page: its address with the version it shows, the rest of it, its words."""

    src: str
    rest: str
    alt: str
    sizes: Sequence[str] = tuple(WIDTHS)


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where figures go away: the name of the address, its ids, the choice and state behind them.

    An address ends with the ids, the figure's slug and the format.
    """

    view: str
    ids: tuple[Any, ...] = ()
    query: str = ""
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure.

    Attributes
    ----------
    slug, anchor
        In addresses of files; as the target of links on the page, where it is another one.
    title, word, about
        Its name, what the glossary calls it where that is explained, and soft words beside it.
    recipe
        How it was made, in a sentence.
    table, shown, printed
        Its numbers; as the page shows them and as they are printed, where that is another table.
    alt, draw
        Its chart in words, empty where there is none; what draws it in a size.
    body, data
        The template between head and foot, and what it needs beside the figure.
    rows
        What the rows behind it are called, and their address.
    files, more
        Where it goes away, and further files.
    is_wide
        Whether it takes the whole width of a page.
    needed, way
        What would fill it, said where its table has no rows, and the link to where that is done.
    """

    slug: str
    anchor: str = ""
    title: Any
    word: str = ""
    about: str = ""
    recipe: Any = ""
    table: TableData
    shown: PageTable | None = None
    printed: Callable[[], PaperTable] | None = None
    alt: str = ""
    draw: Callable[[str], Spec] | None = None
    body: str = PLAIN
    data: Any = None
    rows: Link | None = None
    files: Files
    more: list[Link] = field(default_factory=list)
    is_wide: bool = False
    needed: Any = ""
    way: Link | None = None

    @property
    def page_table(self) -> TableData | PageTable:
        """Its numbers as the page shows them."""
        return self.shown or joined(self.table)

    @property
    def numbers(self) -> str:
        """The id of its table beside its chart."""
        return f"{self.anchor or self.slug}-numbers"

    @property
    def links(self) -> list[Link]:
        """The files it goes away as."""
        return [*self.links_as(TABLES | (PICTURES if self.alt else {})), *self.more]

    def links_as(self, endings: Mapping[str, str]) -> list[Link]:
        """The address of each of its forms."""
        found = self.files
        rest = f"?{found.query}" if found.query else ""
        return [
            (words, reverse(found.view, args=[*found.ids, self.slug, end]) + rest)
            for end, words in endings.items()
        ]

    @property
    def picture(self) -> Picture:
        """Its chart, which browsers may keep under its version."""
        found = self.files
        src = reverse(found.view, args=[*found.ids, self.slug, "svg"])
        rest = f"&{found.query}" if found.query else ""
        return Picture(f"{src}?v={found.version}", rest, self.alt)


def figure_file(
    request: HttpRequest, figures: Iterable[Figure], slug: str, format: str
) -> HttpResponse:
    """One of these figures as a file: its table or its chart; 404 for what is not there."""
    figure = next((each for each in figures if each.slug == slug), None)
    if figure is None:
        raise Http404
    if format not in PICTURES:
        return table_file(figure.table, format, for_print=figure.printed)
    if figure.draw is None or not figure.alt:
        raise Http404
    state, name = figure.files.version, figure.table.name
    return chart_file(request, figure.draw, state=state, name=name, format=format)
