"""Metrics of summary sets: computing them, and how far they agree with people."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from argsum.counting.methods.released_rows import LEFT_OUT
from argsum.datasets.views.chosen_dataset import chosen_dataset, state_of
from argsum.leaderboard.reports.charts import (
    correlation_alt,
    correlation_rows,
    correlation_spec,
    points_spec,
)
from argsum.leaderboard.reports.correlation import (
    MetricRow,
    correlations_of,
    known_source,
    metric_points,
    metric_rows,
    sets_left_out,
)
from argsum.leaderboard.reports.printed import printed_correlations
from argsum.leaderboard.reports.set_scores import Source
from argsum.leaderboard.reports.tables import DIMENSION_NAMES, correlation_table, points_table
from argsum.metrics.actions.making import latest_job, request_metrics
from argsum.metrics.actions.similarities import MetricsRefused
from argsum.metrics.forms import MetricsForm
from argsum.metrics.models import MetricScore
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import TABLES, chart_file, table_file
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.web.charts.drawing import Spec


@study_page(*RESEARCHERS)
def summary_metrics(request: StudyRequest, study: Study) -> HttpResponse:
    """Show every metric's correlation with people, and the form that asks for more."""
    return _page(request, study, MetricsForm(study=study))


@study_page(*RESEARCHERS)
@require_POST
def summary_metrics_compute(request: StudyRequest, study: Study) -> HttpResponse:
    """Compute metrics in the background."""
    form = MetricsForm(request.POST, study=study)
    if not form.is_valid():
        return _page(request, study, form, status=422)
    try:
        request_metrics(study=study, plan=form.plan, choice=form.choice, actor=request.user)
    except MetricsRefused as problem:
        messages.error(request, str(problem))
    return redirect("summary_metrics", study.public_id)


def _page(
    request: StudyRequest, study: Study, form: MetricsForm, status: int = 200
) -> HttpResponse:
    dataset = chosen_dataset(request, study, LEFT_OUT)
    rows, job = metric_rows(study, dataset.chosen, dataset.without), latest_job(study)
    context = {
        "study": study,
        "section": "key_points",
        "dataset": dataset,
        "form": form,
        "job": job,
        "worker_alive": is_worker_alive() if job and job.is_active else None,
        "parts": [_part(rows, name) for name in DIMENSION_NAMES],
        "has_rows": bool(rows),
        "left_out": sets_left_out(study, dataset.chosen, dataset.without),
        "scores": MetricScore.objects.filter(summary_set__study=study).exists(),
        "state": state_of(rows, dataset.chosen),
    }
    return render(request, "argsum/leaderboard/summary_metrics.html", context, status=status)


def _part(rows: list[MetricRow], dimension: str) -> dict[str, Any]:
    return {
        "dimension": dimension,
        "title": DIMENSION_NAMES[dimension],
        "rows": [row for row in rows if row.source.dimension == dimension],
        "alt": correlation_alt(rows, dimension),
    }


@study_page(*RESEARCHERS)
def summary_metric(request: StudyRequest, study: Study) -> HttpResponse:
    """One metric: every set with its score and the people's mean."""
    dataset = chosen_dataset(request, study, LEFT_OUT)
    source = _source(request, study)
    points = metric_points(study, source, dataset.chosen, dataset.without)
    if request.GET.get("format"):
        return table_file(points_table(points, source), request.GET["format"])
    context = {
        "study": study,
        "section": "key_points",
        "formats": TABLES.items(),
        "dataset": dataset,
        "source": source,
        "points": points,
        "found": correlations_of(points),
        "people": DIMENSION_NAMES[source.dimension],
        "state": state_of(points, dataset.chosen),
    }
    return render(request, "argsum/leaderboard/summary_metric.html", context)


def _source(request: StudyRequest, study: Study) -> Source:
    """The metric that an address names; 404 for one that no set of the study has."""
    if (source := known_source(study, request.GET.dict())) is None:
        raise Http404
    return source


@study_page(*RESEARCHERS)
def summary_metrics_table(request: StudyRequest, study: Study, format: str) -> HttpResponse:
    """Send all correlations: everything as CSV, for print as LaTeX or Markdown."""
    dataset = chosen_dataset(request, study, LEFT_OUT)
    rows = metric_rows(study, dataset.chosen, dataset.without)
    printed = partial(printed_correlations, rows)
    return table_file(correlation_table(rows), format, for_print=printed)


@study_page(*RESEARCHERS)
def summary_metrics_chart(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Draw the correlations of one dimension, or the sets behind one of them."""
    dataset = chosen_dataset(request, study, LEFT_OUT)
    if figure == "points":
        source = _source(request, study)
        points = metric_points(study, source, dataset.chosen, dataset.without)
        return chart_file(
            request,
            lambda size: points_spec(points, source, size),
            state=state_of(points, dataset.chosen),
            name=figure,
            format=format,
        )
    if figure not in DIMENSION_NAMES:
        raise Http404(_("There is no such chart."))
    rows = metric_rows(study, dataset.chosen, dataset.without)

    def draw(size: str) -> Spec:
        if not correlation_rows(rows, figure):
            raise Http404
        return correlation_spec(rows, figure, size)

    state = state_of(rows, dataset.chosen)
    return chart_file(request, draw, state=state, name=figure, format=format)


BASE = "key-points/metrics"
urlpatterns = [
    path(f"{BASE}/", summary_metrics, name="summary_metrics"),
    path(f"{BASE}/compute/", summary_metrics_compute, name="summary_metrics_compute"),
    path(f"{BASE}/one/", summary_metric, name="summary_metric"),
    path(f"{BASE}/correlations.<str:format>", summary_metrics_table, name="summary_metrics_table"),
    path(
        f"{BASE}/charts/<slug:figure>.<str:format>",
        summary_metrics_chart,
        name="summary_metrics_chart",
    ),
]
