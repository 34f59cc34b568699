"""What a figure is made of and goes away as: its votes, its table, its chart."""

import uuid

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _

from annotation.models import Snapshot
from annotation.reports.figure_charts import CHARTS, chart_spec
from annotation.reports.figure_tables import TABLES, figure_table
from annotation.reports.snapshots import snapshot_votes
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.web import charts
from cqa_site.web.tables import TableData

from .figures import snapshot_or_404, version_of

PER_PAGE = 50
FORMS = {
    "csv": ("text/csv; charset=utf-8", TableData.to_csv),
    "tex": ("application/x-tex; charset=utf-8", TableData.to_latex),
    "md": ("text/markdown; charset=utf-8", TableData.to_markdown),
}


@study_page(*RESEARCHERS)
def figure_table_file(
    request: StudyRequest,
    study: Study,
    campaign_id: uuid.UUID,
    number: int,
    figure: str,
    format: str,
) -> HttpResponse:
    """Send one figure as CSV, LaTeX or Markdown."""
    snapshot = snapshot_or_404(study, campaign_id, number)
    if figure not in TABLES or format not in FORMS:
        raise Http404
    table = figure_table(snapshot, figure)
    content_type, write = FORMS[format]
    response = HttpResponse(write(table), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{table.name}.{format}"'
    return response


@study_page(*RESEARCHERS)
def chart(
    request: StudyRequest,
    study: Study,
    campaign_id: uuid.UUID,
    number: int,
    name: str,
    format: str,
) -> HttpResponse:
    """Draw one chart; the address names the figures' version, so browsers may keep it."""
    snapshot = snapshot_or_404(study, campaign_id, number)
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "wide")
    is_known = name in CHARTS and format in charts.CONTENT_TYPES
    if not is_known or theme not in charts.THEMES or size not in charts.WIDTHS:
        raise Http404
    tag = f'"{version_of(snapshot)}-{charts.VERSION}-{name}-{theme}-{size}-{format}"'
    response = get_conditional_response(request, etag=tag)
    if response is None:
        spec = chart_spec(snapshot.figures, name, size)
        content = charts.picture(spec, format=format, theme=theme)
        response = HttpResponse(content, content_type=charts.CONTENT_TYPES[format])
        response["ETag"] = tag
    is_exact = request.GET.get("v") == version_of(snapshot)
    keep = "private, max-age=31536000, immutable" if is_exact else "private, no-cache"
    response["Cache-Control"] = keep
    response["Content-Disposition"] = f'inline; filename="{name}-snapshot-{number}.{format}"'
    return response


@study_page(*RESEARCHERS)
def units_page(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, number: int
) -> HttpResponse:
    """List the votes behind one figure, from the snapshot's own table."""
    from annotation.reports.units import NoSuchFigure, page_rows, recomputed, unit_rows, units

    snapshot = snapshot_or_404(study, campaign_id, number, with_votes=True)
    figure = request.GET.get("figure", "votes")
    try:
        rows = units(snapshot_votes(snapshot), figure)
    except NoSuchFigure:
        raise Http404 from None
    if request.GET.get("format") == "csv":
        return _units_file(snapshot, unit_rows(rows))
    page = Paginator(range(len(rows)), PER_PAGE).get_page(request.GET.get("page"))
    start = page.start_index() - 1 if len(rows) else 0
    choices = _unit_choices(snapshot)
    context = {
        "study": study,
        "section": "campaigns",
        "campaign": snapshot.campaign,
        "snapshot": snapshot,
        "figure": figure,
        "choices": choices,
        "is_other": figure not in dict(choices),
        "page": page,
        "rows": page_rows(rows.iloc[start : start + PER_PAGE]),
        "n_items": rows["item_id"].nunique(),
        "n_raters": rows["rater_id"].nunique(),
        "estimate": recomputed(rows, figure),
    }
    return render(request, "annotation/units.html", context)


def _unit_choices(snapshot: Snapshot) -> list[tuple[str, str]]:
    labels = snapshot.figures["values"]
    return [
        ("votes", _("Counted votes")),
        ("rows", _("Every row of the snapshot")),
        ("alpha", _("Agreement, all items")),
        ("alpha-ordinary", _("Agreement, ordinary items")),
        *((f"label:{value}", _("Votes with label %d") % value) for value in labels),
        *((f"majority:{value}", _("Items with majority label %d") % value) for value in labels),
        ("time", _("Votes with a time")),
    ]


def _units_file(snapshot: Snapshot, table: TableData) -> HttpResponse:
    response = HttpResponse(table.to_csv(), content_type="text/csv; charset=utf-8")
    name = f"votes-snapshot-{snapshot.number}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


BASE = "campaigns/<uuid:campaign_id>/snapshots/<int:number>"
urlpatterns = [
    path(f"{BASE}/units/", units_page, name="units"),
    path(f"{BASE}/charts/<slug:name>.<str:format>", chart, name="chart"),
    path(f"{BASE}/<slug:figure>.<str:format>", figure_table_file, name="figure_table"),
]
