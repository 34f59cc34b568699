"""Pages of metrics compared with people, and of people compared with each other."""

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _, ngettext

from argsum.counting.methods.released_counts import LEFT_OUT
from argsum.datasets.views import ChosenDataset, chosen_dataset, state_of
from argsum.leaderboard.reports.board import usually_left_out
from argsum.leaderboard.reports.charts import (
    correlation_alt,
    correlation_spec,
    heat_alt,
    heat_spec,
    metric_finding,
    metrics_finding,
    people_finding,
    points_spec,
)
from argsum.leaderboard.reports.people_agreement import (
    DimensionAgreement,
    PeopleAgreement,
    people_agreement,
)
from argsum.leaderboard.reports.scores import (
    MetricRow,
    ScoreSource,
    SetPoint,
    correlations_of,
    known_source,
    metric_points,
    metric_rows,
    sets_left_out,
)
from argsum.leaderboard.reports.tables import (
    CORRELATIONS,
    DIMENSION_NAMES,
    correlation_table,
    pairs_table,
    points_table,
    printed_correlations,
    raters_table,
    repeats_table,
)
from argsum.metrics.actions.metrics import MetricsRefused, latest_job, request_metrics
from argsum.metrics.forms import MetricsForm
from argsum.metrics.models import MetricScore
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.web.tables import text_of

POINTS = "points"


@study_page(*RESEARCHERS)
def summary_metrics(request: StudyRequest, study: Study) -> HttpResponse:
    """Show every metric's correlation with people's scores, and the form to compute metrics."""
    return _page(request, study, MetricsForm(study=study))


@study_page(*RESEARCHERS, only="POST")
def summary_metrics_compute(request: StudyRequest, study: Study) -> HttpResponse:
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
    every, *parts = _correlations(study, dataset, rows)
    context = {
        "study": study,
        "dataset": dataset,
        "form": form,
        "job": job,
        "worker_alive": is_worker_alive() if job and job.is_active else None,
        "finding": metrics_finding(rows),
        "card": every,
        "cards": [part for part in parts if part.data],
        "has_rows": bool(rows),
        "left_out": sets_left_out(study, dataset.chosen, dataset.without),
        "scores": MetricScore.objects.filter(summary_set__study=study).exists(),
    }
    return render(request, "argsum/leaderboard/summary_metrics.html", context, status=status)


@study_page(*RESEARCHERS)
def summary_metric(request: StudyRequest, study: Study) -> HttpResponse:
    """Show one metric: every set with its score and people's mean."""
    dataset = chosen_dataset(request, study, LEFT_OUT)
    source = _source(request, study)
    points = metric_points(study, source, dataset.chosen, dataset.without)
    correlations = correlations_of(points)
    context = {
        "study": study,
        "dataset": dataset,
        "source": source,
        "card": _points(study, dataset, source, points),
        "found": correlations,
        "finding": metric_finding(correlations, str(source)),
    }
    return render(request, "argsum/leaderboard/summary_metric.html", context)


def _source(request: StudyRequest, study: Study) -> ScoreSource:
    """Return the metric in the URL; raise Http404 if no set of the study has it."""
    if (source := known_source(study, request.GET.dict())) is None:
        raise Http404
    return source


@study_page(*RESEARCHERS)
def summary_metrics_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send all correlations, those for one dimension, or the sets behind one correlation."""
    dataset = chosen_dataset(request, study, LEFT_OUT)
    if figure == POINTS:
        source = _source(request, study)
        points = metric_points(study, source, dataset.chosen, dataset.without)
        figures = [_points(study, dataset, source, points)]
    else:
        rows = metric_rows(study, dataset.chosen, dataset.without)
        figures = _correlations(study, dataset, rows)
    return figure_file(request, figures, figure, format)


def _correlations(study: Study, dataset: ChosenDataset, rows: list[MetricRow]) -> list[Figure]:
    """Return the figures of all correlations, then those for each dimension."""
    files = Files(
        view="summary_metrics_figure",
        ids=(study.public_id,),
        query=dataset.query,
        version=state_of(rows, dataset.chosen),
    )
    every = Figure(
        slug="correlations",
        title=_("Metrics compared with people"),
        table=correlation_table(rows),
        printed=partial(printed_correlations, rows),
        files=files,
    )
    figures = [every]
    for dimension, name in DIMENSION_NAMES.items():
        own = [row for row in rows if row.source.dimension == dimension]
        table = replace(correlation_table(own), name=f"metric-correlations-{dimension}")
        figures.append(
            replace(
                every,
                slug=dimension,
                anchor=f"metrics-{dimension}",
                title=_("Compared with people's %s") % str(name).lower(),
                recipe=_("Pearson correlation with people's mean."),
                table=table,
                printed=partial(printed_correlations, own),
                alt=correlation_alt(own, dimension),
                draw=partial(correlation_spec, own, dimension),
                body="argsum/leaderboard/_correlations.html",
                data=own,
            )
        )
    return figures


def _points(
    study: Study, dataset: ChosenDataset, source: ScoreSource, points: list[SetPoint]
) -> Figure:
    """Return the figure that shows every set with its score and people's mean."""
    correlations = correlations_of(points)
    named = urlencode({"metric": source.metric, "setting": source.setting})
    fields = {
        "n": correlations.n,
        "r": "–" if correlations.across is None else text_of(correlations.across),
    }
    people = str(DIMENSION_NAMES[source.dimension]).lower()
    return Figure(
        slug=POINTS,
        title=_("Each set: the metric and people's %s") % people,
        recipe=CORRELATIONS,
        table=points_table(points, source),
        alt=_("%(n)d sets, Pearson %(r)s; the table below has the numbers.") % fields,
        draw=partial(points_spec, points, source),
        body="argsum/leaderboard/_metric_points.html",
        data=points,
        files=Files(
            view="summary_metrics_figure",
            ids=(study.public_id,),
            query="&".join(filter(None, [named, dataset.query])),
            version=state_of(points, dataset.chosen),
        ),
    )


METRICS_BASE = "key-points/metrics"
urlpatterns = [
    path(f"{METRICS_BASE}/", summary_metrics, name="summary_metrics"),
    path(f"{METRICS_BASE}/compute/", summary_metrics_compute, name="summary_metrics_compute"),
    path(f"{METRICS_BASE}/one/", summary_metric, name="summary_metric"),
    path(
        f"{METRICS_BASE}/<slug:figure>.<str:format>",
        summary_metrics_figure,
        name="summary_metrics_figure",
    ),
]


def _chosen(request: StudyRequest, study: Study) -> ChosenDataset:
    """Read the dataset from the URL, and leave out the same systems as the paper."""
    wanted = request.GET.get("dataset", "")
    known = study.argument_datasets.values_list("public_id", flat=True)
    dataset = wanted if wanted in map(str, known) else ""
    return chosen_dataset(request, study, usually_left_out(study, dataset=dataset))


@study_page(*RESEARCHERS)
def summary_people(request: StudyRequest, study: Study) -> HttpResponse:
    """Show how well people agree with each other and with themselves."""
    dataset = _chosen(request, study)
    agreement = people_agreement(study, dataset.chosen, dataset.without)
    *cards, raters = _figures(study, dataset, agreement)
    context = {
        "study": study,
        "dataset": dataset,
        "found": agreement,
        "finding": people_finding(agreement),
        "cards": cards,
        "raters": raters,
    }
    return render(request, "argsum/leaderboard/summary_people.html", context)


@study_page(*RESEARCHERS)
def summary_people_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send the figure for all raters, or for the pairs or repeats in one dimension."""
    dataset = _chosen(request, study)
    agreement = people_agreement(study, dataset.chosen, dataset.without)
    return figure_file(request, _figures(study, dataset, agreement), figure, format)


def _figures(study: Study, dataset: ChosenDataset, agreement: PeopleAgreement) -> list[Figure]:
    files = Files(
        view="summary_people_figure",
        ids=(study.public_id,),
        query=dataset.query,
        version=state_of(agreement, dataset.chosen),
    )
    raters = Figure(
        slug="raters",
        title=_("Raters"),
        about=ngettext("%d set", "%d sets", agreement.sets) % agreement.sets,
        recipe=_("Unsure counts are left out of all figures. Missing counts were left empty."),
        table=raters_table(agreement),
        files=files,
    )
    parts = (
        figure for dimension in agreement.dimensions for figure in _of_dimension(dimension, files)
    )
    return [*parts, raters]


def _of_dimension(agreement: DimensionAgreement, files: Files) -> list[Figure]:
    """Return people's agreement with each other and, if there are repeats, with themselves."""
    pairs, repeats = pairs_table(agreement), repeats_table(agreement)
    figures = [
        Figure(
            slug=agreement.dimension,
            anchor=f"people-{agreement.dimension}",
            title=DIMENSION_NAMES[agreement.dimension],
            recipe=pairs.note,
            table=pairs,
            alt=heat_alt(agreement),
            draw=partial(heat_spec, agreement),
            body="argsum/leaderboard/_people.html",
            data=agreement,
            files=files,
        )
    ]
    if agreement.repeats:
        slug, title = f"{agreement.dimension}-repeats", repeats.caption
        figures.append(
            Figure(slug=slug, title=title, recipe=repeats.note, table=repeats, files=files)
        )
    return figures


PEOPLE_BASE = "key-points/people"
urlpatterns += [
    path(f"{PEOPLE_BASE}/", summary_people, name="summary_people"),
    path(
        f"{PEOPLE_BASE}/<slug:figure>.<str:format>",
        summary_people_figure,
        name="summary_people_figure",
    ),
]
