"""Faithfulness figures as files: the table as CSV, LaTeX and Markdown, charts as SVG and PNG."""

from django.http import Http404, HttpResponse
from django.urls import path

from annotation.faithfulness.reports.charts import CHARTS, chart_rows, chart_spec
from annotation.faithfulness.reports.tables import faithfulness_table
from annotation.faithfulness.reports.versions import (
    Choice,
    chosen_run,
    groups_of,
    judge_runs,
    state_of,
    version_of,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import chart_file, table_file
from cqa_site.web.charts import drawing as charts


@study_page(*RESEARCHERS)
def faithfulness_table_file(request: StudyRequest, study: Study, format: str) -> HttpResponse:
    """Send the figures by system and scenario as CSV, LaTeX or Markdown."""
    choice = Choice.from_query(request.GET, study)
    state = state_of(study, choice.labels)
    run = chosen_run(list(judge_runs(study)), choice)
    groups = groups_of(study, choice, run, state)
    return table_file(faithfulness_table(study, groups, choice, state), format)


@study_page(*RESEARCHERS)
def faithfulness_chart(
    request: StudyRequest, study: Study, name: str, format: str
) -> HttpResponse:
    """Draw one chart of the present state; the tag changes with it."""
    if name not in CHARTS:
        raise Http404
    choice = Choice.from_query(request.GET, study)
    state = state_of(study, choice.labels)
    run = chosen_run(list(judge_runs(study)), choice)

    def draw(size: str) -> charts.Spec:
        groups = groups_of(study, choice, run, state)
        if not chart_rows(groups, name):
            raise Http404
        return chart_spec(groups, name, size)

    version = version_of(state, choice, run)
    return chart_file(request, draw, state=version, name=f"faithfulness-{name}", format=format)


urlpatterns = [
    path(
        "faithfulness/charts/<slug:name>.<str:format>",
        faithfulness_chart,
        name="faithfulness_chart",
    ),
    path("faithfulness/table.<str:format>", faithfulness_table_file, name="faithfulness_table"),
]
