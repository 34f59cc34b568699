"""Tables, charts and snapshots, sent as files."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

from cqa_site.reproduction.tables import PaperTable
from cqa_site.web.charts import drawing as charts
from cqa_site.web.downloads import as_file
from cqa_site.web.tables import TableData

from .checking import MANIFEST, ROWS, archive_of, as_json, manifest_of
from .kind import ResultKind
from .models import Snapshot
from .rows import plain

# Endings in which a table and a chart go away, and what people call them.
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
# Of a file that only some kinds have: its content type, and what writes it.
More = Mapping[str, tuple[str, Callable[[Any], bytes]]]


def table_file(
    table: TableData, format: str, *, for_print: Callable[[], PaperTable] | None = None
) -> HttpResponse:
    """A table as CSV, LaTeX or Markdown; 404 for any other format.

    ``for_print`` makes the shorter table that LaTeX and Markdown have in its place.
    """
    if format not in TABLES:
        raise Http404
    content: str | bytes
    if format == "csv":
        name, content = table.name, table.to_csv()
    else:
        printed = for_print() if for_print else None
        name, shown = (printed.layout.name, printed) if printed else (table.name, table)
        content = shown.to_latex() if format == "tex" else shown.to_markdown()
    return as_file(content, name=f"{name}.{format}", content_type=TYPES[format])


def chart_file(
    request: HttpRequest, draw: Callable[[str], charts.Spec], *, state: str, name: str, format: str
) -> HttpResponse:
    """A chart as SVG or PNG; ``state`` names what it shows, so that browsers may keep it.

    ``draw`` takes the size and may raise Http404 where there is nothing to draw.
    """
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "wide")
    is_known = format in charts.CONTENT_TYPES
    if not is_known or theme not in charts.THEMES or size not in charts.WIDTHS:
        raise Http404
    tag = f'"{state}-{charts.VERSION}-{name}-{theme}-{size}-{format}"'
    response = get_conditional_response(request, etag=tag)
    if response is None:
        content = charts.picture(draw(size), format=format, theme=theme)
        response = HttpResponse(content, content_type=charts.CONTENT_TYPES[format])
        response["ETag"] = tag
    is_exact = request.GET.get("v") == state
    keep = "private, max-age=31536000, immutable" if is_exact else "private, no-cache"
    response["Cache-Control"] = keep
    response["Content-Disposition"] = f'inline; filename="{name}.{format}"'
    return response


def snapshot_file(
    kind: ResultKind, snapshot: Snapshot, name: str, *, called: str, more: More | None = None
) -> HttpResponse:
    """Rows, manifest or archive of a snapshot, or what else its kind has; 404 for other names."""
    if name in SNAPSHOT_FILES:
        content = SNAPSHOT_FILES[name](kind, snapshot)
        content_type = TYPES[name.rpartition(".")[2]]
    elif more and name in more:
        content_type, write = more[name]
        content = write(snapshot)
    else:
        raise Http404
    return as_file(content, name=f"{called}-{snapshot.number}-{name}", content_type=content_type)
