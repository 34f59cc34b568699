"""Figures about judges as files: tables as CSV, LaTeX and Markdown, charts as SVG and PNG."""

import uuid

from django.http import Http404, HttpResponse
from django.urls import path

from annotation.judges.reports.charts import CHARTS, chart_spec, has_content
from annotation.judges.reports.kept import figures_of
from annotation.judges.reports.tables import TABLES, judge_table
from annotation.judges.reports.versions import Choice, state_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import chart_file, table_file
from cqa_site.web.charts.drawing import Spec

from .judges import campaign_or_404


@study_page(*RESEARCHERS)
def judges_table(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send one figure as CSV, LaTeX or Markdown."""
    if figure not in TABLES:
        raise Http404
    campaign = campaign_or_404(study, campaign_id)
    state = state_of(campaign)
    figures = figures_of(campaign, Choice.from_query(request.GET), state)
    return table_file(judge_table(campaign, figures, figure, state), format)


@study_page(*RESEARCHERS)
def judges_chart(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, name: str, format: str
) -> HttpResponse:
    """Draw one chart of the present state; the tag changes with it."""
    if name not in CHARTS:
        raise Http404
    campaign = campaign_or_404(study, campaign_id)
    state, choice = state_of(campaign), Choice.from_query(request.GET)

    def draw(size: str) -> Spec:
        figures = figures_of(campaign, choice, state)
        if not has_content(figures, name):
            raise Http404
        return chart_spec(figures, name, size)

    return chart_file(request, draw, state=state, name=f"judges-{name}", format=format)


BASE = "campaigns/<uuid:campaign_id>/judges"
urlpatterns = [
    path(f"{BASE}/charts/<slug:name>.<str:format>", judges_chart, name="judges_chart"),
    path(f"{BASE}/<slug:figure>.<str:format>", judges_table, name="judges_table"),
]
