"""Pages of system runs and of sets of key points."""

import io
import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from argsum.keypoints.actions.system_runs import (
    WRITES_CELLS,
    WRITES_CLUSTERS,
    SystemRunRefused,
    cancel_system,
    cells_of,
    estimate_system,
    is_at_work,
    resume_system,
    start_system,
)
from argsum.keypoints.forms import SystemRunForm
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.keypoints.reports.key_points import (
    COLUMNS,
    PER_PAGE,
    StanceSide,
    lines_of,
    points_table,
    prevalence_chart,
    references_with_counts,
    rows_of,
    sides_finding,
    sides_of,
    text_of,
)
from argsum.keypoints.reports.system_runs import (
    cell_lines,
    curve_rows,
    curve_spec,
    curve_table,
    grid_of,
    lines_table,
    runs_of,
    system_choices,
    varied,
)
from argsum.scorers.methods.figures import LEAST_SHARE
from argsum.systems.methods.inputs import count_combinations, write_values
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file, table_file
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.tabular import write_csv
from cqa_site.web.rest.queries import chosen, id_from, whole_number

RUNS_PER_PAGE = 50
CELLS_PER_PAGE = 20
State = SystemRun.State


@study_page(*RESEARCHERS)
def system_runs(request: StudyRequest, study: Study) -> HttpResponse:
    """List the runs, newest first."""
    systems = system_choices(study)
    system = chosen(request, "system", dict(systems))
    state = chosen(request, "state", State.values)
    rows = runs_of(study)
    if system:
        rows = rows.filter(system=system)
    if state:
        rows = rows.filter(state=state)
    page = Paginator(rows, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "system": system,
        "state": state,
        "systems": systems,
        "states": State.choices,
        "has_dataset": study.argument_datasets.exists(),
        "is_active": any(run.is_active for run in page),
    }
    return render(request, "argsum/keypoints/system_runs.html", context)


@study_page(*RESEARCHERS)
def system_run_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Choose the cells, system and settings of a run, and start it."""
    chosen = {
        "dataset": study.argument_datasets.filter(
            public_id__in=[id_from(request.GET.get("dataset"))]
        ).first()
    }
    form = SystemRunForm(request.POST or None, study=study, initial=chosen)
    context = {"study": study, "form": form}
    context["has_dataset"] = study.argument_datasets.exists()
    if request.method != "POST":
        return render(request, "argsum/keypoints/system_run_new.html", context)
    if form.is_valid():
        try:
            run = start_system(study=study, actor=request.user, plan=form.plan)
        except SystemRunRefused as reason:
            form.add_error(None, str(reason))
        else:
            messages.success(request, _("Run %d is in progress.") % run.number)
            if run.variant in WRITES_CELLS:
                return redirect("writing_new", study.public_id, run.public_id)
            return redirect("system_run", study.public_id, run.public_id)
    return render(request, "argsum/keypoints/system_run_new.html", context, status=422)


@study_page(*RESEARCHERS, only="POST")
def system_run_estimate(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the fragment with the estimated size of the run."""
    form = SystemRunForm(request.POST, study=study)
    context: dict[str, Any] = {"study": study, "form": form}
    if form.is_valid():
        context["estimate"] = estimate_system(form.plan)
        context["plan"] = form.plan
        context["writes"] = form.plan.variant in (*WRITES_CELLS, *WRITES_CLUSTERS)
    return render(request, "argsum/keypoints/_system_run_estimate.html", context)


@study_page(*RESEARCHERS)
def system_run(request: StudyRequest, study: Study, system_run_id: uuid.UUID) -> HttpResponse:
    """Show one run: its progress, its cells, and the settings of one cell."""
    run = _run_or_404(study, system_run_id)
    page = Paginator(cells_of(run.dataset, run.split), CELLS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    lines = cell_lines(run, list(page))
    if request.GET.get("format"):
        every = cell_lines(run, list(cells_of(run.dataset, run.split)))
        return table_file(lines_table(run, every), request.GET["format"])
    context = _state(study, run) | {
        "page": page,
        "lines": lines,
        "chosen": _chosen(request, lines),
        "grid": [
            (name, write_values(values), len(values)) for name, values in grid_of(run).items()
        ],
        "least_share": round(100 * LEAST_SHARE),
        "has_figures": any(set_line.figure for line in lines for set_line in line.lines),
        "has_clusters": any(
            set_line.clusters is not None for line in lines for set_line in line.lines
        ),
        "cards": _curves(run),
    }
    return render(request, "argsum/keypoints/system_run.html", context)


@study_page(*RESEARCHERS, only="GET")
def system_run_figure(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the clusters by the varying parameter, as a chart or table."""
    return figure_file(request, _curves(_run_or_404(study, system_run_id)), figure, format)


def _curves(run: SystemRun) -> list[Figure]:
    """Return the figure of clusters by the varying parameter, or [] if no parameter varies."""
    name = varied(run)
    rows = curve_rows(run, cell_lines(run, list(cells_of(run.dataset, run.split)))) if name else []
    if not rows:
        return []
    words = _(
        "Adjusted Rand index by %s, with and without unclustered arguments; the CSV below has the "
        "numbers."
    )
    recipe = _(
        "Means over cells. Without noise, a cell with less than %d %% of its arguments clustered "
        "counts as 0. The best value on a curve is an oracle."
    )
    return [
        Figure(
            slug="curve",
            title=_("Clusters by %s") % name,
            recipe=recipe % round(100 * LEAST_SHARE),
            table=curve_table(run, rows),
            alt=words % name,
            draw=partial(curve_spec, name, rows),
            files=Files(
                view="system_run_figure",
                ids=(run.study.public_id, run.public_id),
                version=_curve_state(run),
            ),
        )
    ]


@study_page(*RESEARCHERS)
def system_run_state(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID
) -> HttpResponse:
    """Return the progress fragment, which polls only during a computation."""
    run = _run_or_404(study, system_run_id)
    context = _state(study, run)
    response = render(request, "argsum/keypoints/_system_run_state.html", context)
    if not context["is_polling"]:
        response["HX-Refresh"] = "true"
    return response


@study_page(*RESEARCHERS, only="POST")
def system_run_cancel(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID
) -> HttpResponse:
    return _steer(request, study, system_run_id, cancel_system)


@study_page(*RESEARCHERS, only="POST")
def system_run_resume(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID
) -> HttpResponse:
    return _steer(request, study, system_run_id, resume_system)


def _steer(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID, action: Any
) -> HttpResponse:
    run = _run_or_404(study, system_run_id)
    try:
        action(run=run, actor=request.user)
    except SystemRunRefused as reason:
        messages.error(request, str(reason))
    return redirect("system_run", study.public_id, run.public_id)


def _curve_state(run: Any) -> str:
    """Return a key that changes with every added set; the contents of sets never change."""
    return f"{run.pk}-{run.sets_done}-{run.sets_none}-{run.sets_waiting}"


def _run_or_404(study: Study, system_run_id: uuid.UUID) -> SystemRun:
    run: SystemRun = get_object_or_404(runs_of(study), public_id=system_run_id)
    return run


def _state(study: Study, run: Any) -> dict[str, Any]:
    """Return the template context for the progress of a run."""
    at_work = is_at_work(run)
    cells = cells_of(run.dataset, run.split).count()
    stopped = run.state in (State.CANCELLED, State.FAILED)
    is_lost = run.state in (State.WAITING, State.RUNNING) and not at_work
    return {
        "study": study,
        "run": run,
        "cells": cells,
        "settings": count_combinations(run.grid),
        "planned": cells * count_combinations(run.grid),
        "stored": run.sets_done + run.sets_none + run.sets_waiting,
        "is_polling": at_work,
        "is_lost": is_lost,
        "can_resume": stopped or is_lost,
        "can_write": run.state == State.WRITING
        and not at_work
        and not (run.writing and (run.writing.is_active or run.writing.state == "draft")),
        "worker_alive": is_worker_alive() if at_work else None,
    }


def _chosen(request: StudyRequest, lines: list) -> Any:
    """Return the cell to show with its settings."""
    wanted = request.GET.get("cell", "")
    matches = (line for line in lines if str(line.cell.public_id) == wanted)
    first = (line for line in lines if line.lines)
    return next(matches, None) or next(first, None)


RUN_BASE = "key-points/systems"
urlpatterns = [
    path(f"{RUN_BASE}/", system_runs, name="system_runs"),
    path(f"{RUN_BASE}/new/", system_run_new, name="system_run_new"),
    path(f"{RUN_BASE}/estimate/", system_run_estimate, name="system_run_estimate"),
    path(f"{RUN_BASE}/<uuid:system_run_id>/", system_run, name="system_run"),
    path(
        f"{RUN_BASE}/<uuid:system_run_id>/<slug:figure>.<str:format>",
        system_run_figure,
        name="system_run_figure",
    ),
    path(f"{RUN_BASE}/<uuid:system_run_id>/state/", system_run_state, name="system_run_state"),
    path(f"{RUN_BASE}/<uuid:system_run_id>/cancel/", system_run_cancel, name="system_run_cancel"),
    path(f"{RUN_BASE}/<uuid:system_run_id>/resume/", system_run_resume, name="system_run_resume"),
]

MOST_SETTINGS = 500
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


@study_page(*RESEARCHERS)
def summary_set(request: StudyRequest, study: Study, set_id: uuid.UUID) -> HttpResponse:
    """Show the key points of a topic by prevalence, with their arguments."""
    current_set = _set_or_404(study, set_id)
    least = _least(request)
    sides = sides_of(current_set, least)
    references = references_with_counts([side.cell for side in sides])
    sets = [side.made for side in sides]
    sheets = study.count_sheets.filter(summary_set__in=sets, state="submitted").count()
    context = {
        "study": study,
        "made": current_set,
        "run": current_set.system_run,
        "sides": [(side, references[side.cell.pk]) for side in sides],
        "finding": sides_finding(sides, sheets),
        "cards": _figures(current_set, sides, least),
        "least": least,
        "settings": _settings(current_set),
        "topics": _topics(current_set),
    }
    return render(request, "argsum/keypoints/summary_set.html", context)


@study_page(*RESEARCHERS)
def summary_set_arguments(request: StudyRequest, study: Study, set_id: uuid.UUID) -> HttpResponse:
    """Show the arguments of one key point, or the unassigned arguments, in pages."""
    summary_set, least = _set_or_404(study, set_id), _least(request)
    side = next(
        candidate
        for candidate in sides_of(summary_set, least)
        if candidate.made.pk == summary_set.pk
    )
    number = whole_number(request.GET.get("key_point"))
    point = next((entry for entry in side.points if entry.number == number), None)
    if number is not None and point is None:
        raise Http404
    search = request.GET.get("q", "")
    page = Paginator(side.arguments_of(number, search), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "made": summary_set,
        "point": point,
        "least": least,
        "search": search,
        "page": page,
    }
    return render(request, "argsum/keypoints/summary_set_arguments.html", context)


@study_page(*RESEARCHERS)
def summary_set_file(
    request: StudyRequest, study: Study, set_id: uuid.UUID, format: str
) -> HttpResponse:
    """Send the key points with their arguments as CSV, JSONL or Markdown."""
    if format not in TYPES:
        raise Http404
    summary_set = _set_or_404(study, set_id)
    sides = sides_of(summary_set, _least(request))
    if format == "csv":
        file = io.BytesIO()
        write_csv(file, COLUMNS, rows_of(sides))
        content: bytes | str = file.getvalue()
    elif format == "jsonl":
        content = "".join(f"{line}\n" for line in lines_of(sides))
    else:
        content = text_of(sides)
    response = HttpResponse(content, content_type=TYPES[format])
    response["Content-Disposition"] = (
        f'attachment; filename="key-points-{summary_set.pk}.{format}"'
    )
    return response


@study_page(*RESEARCHERS)
def summary_set_figure(
    request: StudyRequest, study: Study, set_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the number of arguments per key point as a table or chart."""
    summary_set, least = _set_or_404(study, set_id), _least(request)
    return figure_file(
        request, _figures(summary_set, sides_of(summary_set, least), least), figure, format
    )


def _figures(summary_set: SummarySet, sides: list[StanceSide], least: float) -> list[Figure]:
    """Return the figure of key points by prevalence, or [] if there are no key points."""
    if not any(side.points for side in sides):
        return []
    done = summary_set.done_at.timestamp() if summary_set.done_at else 0
    return [
        Figure(
            slug="prevalence",
            title=_("Chart and table"),
            recipe=_("Arguments per key point. The table has the texts."),
            table=points_table(sides),
            alt=_("Bars: arguments per key point, by rank, for each stance"),
            draw=partial(prevalence_chart, sides),
            files=Files(
                view="summary_set_figure",
                ids=(summary_set.study.public_id, summary_set.public_id),
                query=f"least={least:g}",
                version=f"{summary_set.pk}-{done:.0f}-{least:g}",
            ),
        )
    ]


def _set_or_404(study: Study, set_id: uuid.UUID) -> SummarySet:
    rows = study.summary_sets.select_related("cell__dataset", "system_run")
    summary_set: SummarySet = get_object_or_404(rows, public_id=set_id)
    return summary_set


def _least(request: StudyRequest) -> float:
    """Return the requested minimum score (0–1), or 0 by default."""
    try:
        least = float(request.GET.get("least") or 0)
    except ValueError:
        raise BadRequest("The minimum match score must be a number from 0 to 1.") from None
    if not 0 <= least <= 1:
        raise BadRequest("The minimum match score must be a number from 0 to 1.")
    return least


def _settings(summary_set: SummarySet) -> list[SummarySet]:
    """Return the run's sets for this cell in all settings."""
    if summary_set.system_run is None:
        return []
    rows = summary_set.system_run.sets.filter(
        cell=summary_set.cell_id, state=SummarySet.State.DONE
    )
    return list(rows.only("public_id", "setting").order_by("pk")[:MOST_SETTINGS])


def _topics(summary_set: SummarySet) -> list[SummarySet]:
    """Return one set of the same run and setting for each topic of the dataset."""
    rows = SummarySet.objects.filter(
        study=summary_set.study_id,
        system_run=summary_set.system_run_id,
        system=summary_set.system,
        setting=summary_set.setting,
        source=summary_set.source,
        cell__dataset=summary_set.cell.dataset_id,
    )
    rows = rows.select_related("cell").order_by("cell__position")
    rows = rows.only("public_id", "cell__topic", "cell__position")[:MOST_SETTINGS]
    return list({row.cell.topic: row for row in reversed(rows)}.values())[::-1]


SET_BASE = "key-points/sets/<uuid:set_id>"
urlpatterns += [
    path(f"{SET_BASE}/", summary_set, name="summary_set"),
    path(f"{SET_BASE}/arguments/", summary_set_arguments, name="summary_set_arguments"),
    path(f"{SET_BASE}/key-points.<str:format>", summary_set_file, name="summary_set_file"),
    path(f"{SET_BASE}/<slug:figure>.<str:format>", summary_set_figure, name="summary_set_figure"),
]
