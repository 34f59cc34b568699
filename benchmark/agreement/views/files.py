"""Figures of agreement as files: tables as CSV, LaTeX and Markdown, charts as SVG and PNG."""

from django.http import Http404, HttpResponse
from django.urls import path

from benchmark.agreement.actions import shown_agreement
from benchmark.agreement.reports.charts import CHARTS, chart_spec, has_content
from benchmark.agreement.reports.choice import Choice, Figures, state_of
from benchmark.agreement.reports.tables import table_of
from benchmark.leaderboard.models import BoardSnapshot
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import chart_file, table_file
from cqa_site.web.charts.drawing import Spec

from .agreement import TABLES


@study_page(*RESEARCHERS)
def score_agreement_table(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send one figure as CSV, LaTeX or Markdown."""
    if figure not in TABLES:
        raise Http404
    snapshot, figures, choice = _found(request, study)
    return table_file(table_of(snapshot, figures, choice, figure, TABLES[figure]), format)


@study_page(*RESEARCHERS)
def score_agreement_chart(
    request: StudyRequest, study: Study, name: str, format: str
) -> HttpResponse:
    """Draw one chart."""
    if name not in CHARTS:
        raise Http404
    snapshot, figures, choice = _found(request, study)

    def draw(size: str) -> Spec:
        if not has_content(figures, choice, name):
            raise Http404
        return chart_spec(figures, choice, name, size)

    state = state_of(snapshot, choice)
    return chart_file(request, draw, state=state, name=name, format=format)


def _found(request: StudyRequest, study: Study) -> tuple[BoardSnapshot, Figures, Choice]:
    shown = shown_agreement(study, request.GET, request.user)
    if shown.snapshot is None or not shown.figures:
        raise Http404
    choice = Choice.from_query(request.GET, shown.figures, shown.condition)
    return shown.snapshot, shown.figures, choice


BASE = "scores/agreement"
urlpatterns = [
    path(
        f"{BASE}/charts/<slug:name>.<str:format>",
        score_agreement_chart,
        name="score_agreement_chart",
    ),
    path(
        f"{BASE}/<slug:figure>.<str:format>", score_agreement_table, name="score_agreement_table"
    ),
]
