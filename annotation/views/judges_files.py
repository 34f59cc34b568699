"""Figures about judges as files: tables as CSV, LaTeX and Markdown, charts as SVG and PNG."""

import uuid

from django.http import Http404, HttpResponse
from django.urls import path
from django.utils.cache import get_conditional_response

from annotation.reports.judge_charts import CHARTS, chart_spec, has_content
from annotation.reports.judge_kept import figures_of
from annotation.reports.judge_tables import TABLES, judge_table
from annotation.reports.judge_versions import Choice, state_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.web import charts

from .figure_files import FORMS
from .judges import campaign_or_404


@study_page(*RESEARCHERS)
def judges_table(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send one figure as CSV, LaTeX or Markdown."""
    if figure not in TABLES or format not in FORMS:
        raise Http404
    campaign = campaign_or_404(study, campaign_id)
    state = state_of(campaign)
    figures = figures_of(campaign, Choice.from_query(request.GET), state)
    table = judge_table(campaign, figures, figure, state)
    content_type, write = FORMS[format]
    response = HttpResponse(write(table), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{table.name}.{format}"'
    return response


@study_page(*RESEARCHERS)
def judges_chart(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, name: str, format: str
) -> HttpResponse:
    """Draw one chart of the present state; the tag changes with it."""
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "wide")
    is_known = name in CHARTS and format in charts.CONTENT_TYPES
    if not is_known or theme not in charts.THEMES or size not in charts.WIDTHS:
        raise Http404
    campaign = campaign_or_404(study, campaign_id)
    state, choice = state_of(campaign), Choice.from_query(request.GET)
    tag = f'"{state}-{charts.VERSION}-{name}-{theme}-{size}-{format}"'
    response = get_conditional_response(request, etag=tag)
    if response is None:
        figures = figures_of(campaign, choice, state)
        if not has_content(figures, name):
            raise Http404
        content = charts.picture(chart_spec(figures, name, size), format=format, theme=theme)
        response = HttpResponse(content, content_type=charts.CONTENT_TYPES[format])
        response["ETag"] = tag
    is_exact = request.GET.get("v") == state
    keep = "private, max-age=31536000, immutable" if is_exact else "private, no-cache"
    response["Cache-Control"] = keep
    response["Content-Disposition"] = f'inline; filename="judges-{name}.{format}"'
    return response


BASE = "campaigns/<uuid:campaign_id>/judges"
urlpatterns = [
    path(f"{BASE}/charts/<slug:name>.<str:format>", judges_chart, name="judges_chart"),
    path(f"{BASE}/<slug:figure>.<str:format>", judges_table, name="judges_table"),
]
