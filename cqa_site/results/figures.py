"""Figures on pages with their recipes, rows and files, and tables with declared columns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _

from cqa_site.reproduction.tables import PaperTable
from cqa_site.web.charts import vega
from cqa_site.web.charts.vega import WIDTHS, Spec
from cqa_site.web.pages import as_file
from cqa_site.web.tables import Cell, TableData, one_line
from .boards import PageTable, joined
from .models import Snapshot, plain
from .snapshots import MANIFEST, ROWS, ResultKind, archive_of, as_json, manifest_of

# A path of attributes, keys and indices, such as "1.level", or a function.
Value = str | Callable[..., Any]


def value_of(value: Value, row: Any, *more: Any) -> Any:
    """Return the value at a path in a row; None if any part of the path is None."""
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
    """Return the value, low and high of an estimate, or None for each if there is no estimate."""
    return {name: value_of(name, estimate) for name in ("value", "low", "high")}


@dataclass(frozen=True)
class Column:
    """A column of a table, with its heading and its cell in a row."""

    title: Any
    value: Value

    def titles(self) -> list[str]:
        """Return the headings of the column."""
        return [str(self.title)]

    def cells(self, row: Any) -> list[Cell]:
        """Return the row's cells in this column; values such as ids are converted to text."""
        value = value_of(self.value, row)
        return [value if value is None or isinstance(value, (str, int, float)) else str(value)]


class TextColumn(Column):
    """A column of text, such as numeric names; a missing value is shown as an empty cell."""

    def cells(self, row: Any) -> list[Cell]:
        """Return the text."""
        value = value_of(self.value, row)
        return ["" if value is None else str(value)]


class EstimateColumn(Column):
    """A column of estimates: three columns in a file, one on a page (`boards.joined`)."""

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
    """A figure of a report as a table, with its title, its recipe and its columns.

    Attributes
    ----------
    columns, rows
        The columns, or a function of the report's figures that returns them; the path of the rows
        in these figures, or a function that returns the rows.
    needed, way
        Message for a table without rows: the data it needs, and the page where they are collected,
        with its name.
    """

    title: Any
    recipe: Any
    columns: Iterable[Column] | Callable[..., Iterable[Column]]
    rows: Value
    needed: Any = ""
    way: tuple[str, Any] | None = None

    def table(self, *figures: Any, where: str, name: str, about: str = "") -> TableData:
        """Fill the table; its caption consists of the title, ``about`` and ``where``."""
        columns = self.columns(*figures) if callable(self.columns) else self.columns
        caption = f"{self.title}{about}. {where}"
        rows, note = value_of(self.rows, *figures), one_line(self.recipe)
        return table_of(columns, rows, caption=caption, note=note, name=name)


# Figures on a page, and their download as files

# Extensions of the files for tables and charts, and the names of the formats.
TABLES = {"csv": "CSV", "tex": "LaTeX", "md": "Markdown"}
PICTURES = {"svg": "SVG", "png": "PNG"}
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "zip": "application/zip",
}
SNAPSHOT_FILES: dict[str, Callable[[ResultKind, Any], bytes]] = {
    ROWS: lambda kind, snapshot: plain(snapshot.rows),
    MANIFEST: lambda kind, snapshot: as_json(manifest_of(kind, snapshot)),
    "archive.zip": archive_of,
}
# Files of some kinds only: name → content type, and the function that writes the file.
More = Mapping[str, tuple[str, Callable[[Any], bytes]]]


def table_file(
    table: TableData, format: str, *, for_print: Callable[[], PaperTable] | None = None
) -> HttpResponse:
    """Return a table as CSV, LaTeX or Markdown, or 404 for any other format.

    ``for_print`` returns the shorter table that LaTeX and Markdown use instead.
    """
    if format not in TABLES:
        raise Http404
    content: str | bytes
    if format == "csv":
        name, content = table.name, table.to_csv()
    else:
        printed = for_print() if for_print else None
        name, source = (printed.layout.name, printed) if printed else (table.name, table)
        content = source.to_latex() if format == "tex" else source.to_markdown()
    return as_file(content, name=f"{name}.{format}", content_type=TYPES[format])


def chart_file(
    request: HttpRequest, draw: Callable[[str], vega.Spec], *, state: str, name: str, format: str
) -> HttpResponse:
    """Return a chart as SVG or PNG.

    ``state`` identifies its content, so that browsers can cache it. ``draw`` takes the size and
    may raise Http404 if there is nothing to draw.
    """
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "wide")
    is_known = format in vega.CONTENT_TYPES
    if not is_known or theme not in vega.THEMES or size not in vega.WIDTHS:
        raise Http404
    tag = f'"{state}-{vega.VERSION}-{name}-{theme}-{size}-{format}"'
    response = get_conditional_response(request, etag=tag)
    if response is None:
        content = vega.picture(draw(size), format=format, theme=theme)
        response = HttpResponse(content, content_type=vega.CONTENT_TYPES[format])
        response["ETag"] = tag
    is_exact = request.GET.get("v") == state
    keep = "private, max-age=31536000, immutable" if is_exact else "private, no-cache"
    response["Cache-Control"] = keep
    response["Content-Disposition"] = f'inline; filename="{name}.{format}"'
    return response


def snapshot_file(
    kind: ResultKind, snapshot: Snapshot, name: str, *, called: str, more: More | None = None
) -> HttpResponse:
    """Return a snapshot's rows, manifest or archive, or a kind-specific file; otherwise 404."""
    if name in SNAPSHOT_FILES:
        content = SNAPSHOT_FILES[name](kind, snapshot)
        content_type = TYPES[name.rpartition(".")[2]]
    elif more and name in more:
        content_type, write = more[name]
        content = write(snapshot)
    else:
        raise Http404
    return as_file(content, name=f"{called}-{snapshot.number}-{name}", content_type=content_type)


# Figures on a page: content, recipe, underlying rows and files

PLAIN = "results/_plain.html"
# A text and an address.
Link = tuple[str, str]


@dataclass(frozen=True)
class Picture:
    """A chart on a page, with its versioned address, the rest of its query, and its alt text."""

    src: str
    rest: str
    alt: str
    sizes: Sequence[str] = tuple(WIDTHS)


@dataclass(frozen=True, kw_only=True)
class Files:
    """The download address of figures, with its name and ids, the query, and the version.

    An address ends with the ids, the figure's slug and the format.
    """

    view: str
    ids: tuple[Any, ...] = ()
    query: str = ""
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure with its table, chart and files.

    Attributes
    ----------
    slug, anchor
        Its name in file addresses; its link target on the page, if different.
    title, word, about
        Its name, its glossary term if it is explained, and a subtitle.
    recipe
        How it was computed, in a sentence.
    table, shown, printed
        Its numbers; the page's version and the printed version, if they differ.
    alt, draw
        Description of its chart, empty if it has none; the function that draws it at a given size.
    body, data
        The template between header and footer, and its additional context.
    rows
        Name and address of the underlying rows.
    files, more
        Its download addresses, and additional files.
    is_wide
        Whether it uses the full width of a page.
    needed, way
        Message for a table without rows: the data it needs, and a link to the page where they are
        collected.
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
        """The page's version of the table."""
        return self.shown or joined(self.table)

    @property
    def numbers(self) -> str:
        """The HTML id of the table beside the chart."""
        return f"{self.anchor or self.slug}-numbers"

    @property
    def links(self) -> list[Link]:
        """Links to the downloadable files."""
        return [*self.links_as(TABLES | (PICTURES if self.alt else {})), *self.more]

    def links_as(self, endings: Mapping[str, str]) -> list[Link]:
        """Return a link for each of the given formats."""
        files = self.files
        rest = f"?{files.query}" if files.query else ""
        return [
            (words, reverse(files.view, args=[*files.ids, self.slug, end]) + rest)
            for end, words in endings.items()
        ]

    @property
    def picture(self) -> Picture:
        """The chart, with a version in its address so that browsers can cache it."""
        files = self.files
        src = reverse(files.view, args=[*files.ids, self.slug, "svg"])
        rest = f"&{files.query}" if files.query else ""
        return Picture(f"{src}?v={files.version}", rest, self.alt)


def figure_file(
    request: HttpRequest, figures: Iterable[Figure], slug: str, format: str
) -> HttpResponse:
    """Return the table or chart of one of the figures as a file, or 404 if it does not exist."""
    figure = next((candidate for candidate in figures if candidate.slug == slug), None)
    if figure is None:
        raise Http404
    if format not in PICTURES:
        return table_file(figure.table, format, for_print=figure.printed)
    if figure.draw is None or not figure.alt:
        raise Http404
    state, name = figure.files.version, figure.table.name
    return chart_file(request, figure.draw, state=state, name=name, format=format)
