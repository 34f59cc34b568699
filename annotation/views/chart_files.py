"""Tables and charts of a computed state, sent as files."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

from cqa_site.web import charts
from cqa_site.web.paper_tables import PaperTable
from cqa_site.web.tables import TableData

from .figure_files import FORMS

# Forms of a table for a printed page, with the media types of `FORMS`.
PRINTED = {
    "tex": (FORMS["tex"][0], PaperTable.to_latex),
    "md": (FORMS["md"][0], PaperTable.to_markdown),
}


def printed_file(printed: PaperTable, format: str) -> HttpResponse:
    """A table for a printed page as LaTeX or Markdown; 404 for any other format."""
    if format not in PRINTED:
        raise Http404
    content_type, write = PRINTED[format]
    response = HttpResponse(write(printed), content_type=content_type)
    name = f"{printed.layout.name}.{format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def table_file(table: TableData, format: str) -> HttpResponse:
    """A table as CSV, LaTeX or Markdown; 404 for any other format."""
    if format not in FORMS:
        raise Http404
    content_type, write = FORMS[format]
    response = HttpResponse(write(table), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{table.name}.{format}"'
    return response


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
