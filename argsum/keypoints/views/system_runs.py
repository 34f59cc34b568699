"""Runs of summarization systems: their list, a new one, one with its cells and settings."""

import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

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
from argsum.keypoints.models import SystemRun
from argsum.keypoints.reports.setting_curve import curve_rows, curve_spec, curve_table, varied
from argsum.keypoints.reports.system_runs import (
    cell_lines,
    grid_of,
    lines_table,
    runs_of,
    system_choices,
)
from argsum.scorers.methods.cluster_figures import LEAST_SHARE
from argsum.systems.methods.grids import count_combinations, write_values
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.results.files import table_file
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.web.strict_query import chosen, id_from

PER_PAGE = 50
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
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
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
    """Choose what is run over what; start it."""
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
            messages.success(request, _("Run %d is under way.") % run.number)
            if run.variant in WRITES_CELLS:
                return redirect("writing_new", study.public_id, run.public_id)
            return redirect("system_run", study.public_id, run.public_id)
    return render(request, "argsum/keypoints/system_run_new.html", context, status=422)


@study_page(*RESEARCHERS)
@require_POST
def system_run_estimate(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the fragment that says how much the run, as the form stands now, computes."""
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
    run = _found(study, system_run_id)
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
        "has_figures": any(each.figure for line in lines for each in line.lines),
        "has_clusters": any(each.clusters is not None for line in lines for each in line.lines),
        "cards": _curves(run),
    }
    return render(request, "argsum/keypoints/system_run.html", context)


@study_page(*RESEARCHERS)
@require_safe
def system_run_figure(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """How its clusters change with the parameter that varies, as a picture or a table."""
    return figure_file(request, _curves(_found(study, system_run_id)), figure, format)


def _curves(run: SystemRun) -> list[Figure]:
    """Clusters by the parameter that varies; nothing where none does."""
    name = varied(run)
    rows = curve_rows(run, cell_lines(run, list(cells_of(run.dataset, run.split)))) if name else []
    if not rows:
        return []
    words = _(
        "Adjusted Rand index of the clusters by %s, with and without unclustered arguments; the "
        "CSV below has the numbers."
    )
    recipe = _(
        "Means over cells; without noise a cell with less than %d %% clustered counts 0. The best "
        "value of a curve is an oracle."
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
    """Return the fragment with the progress; it polls only while something is computed."""
    run = _found(study, system_run_id)
    context = _state(study, run)
    response = render(request, "argsum/keypoints/_system_run_state.html", context)
    if not context["is_polling"]:
        response["HX-Refresh"] = "true"
    return response


@study_page(*RESEARCHERS)
@require_POST
def system_run_cancel(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID
) -> HttpResponse:
    """Compute nothing more."""
    return _steer(request, study, system_run_id, cancel_system)


@study_page(*RESEARCHERS)
@require_POST
def system_run_resume(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID
) -> HttpResponse:
    """Go on with what is missing."""
    return _steer(request, study, system_run_id, resume_system)


def _steer(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID, action: Any
) -> HttpResponse:
    run = _found(study, system_run_id)
    try:
        action(run=run, actor=request.user)
    except SystemRunRefused as reason:
        messages.error(request, str(reason))
    return redirect("system_run", study.public_id, run.public_id)


def _curve_state(run: Any) -> str:
    """Changes whenever a set is added; what a set holds does not."""
    return f"{run.pk}-{run.sets_done}-{run.sets_none}-{run.sets_waiting}"


def _found(study: Study, system_run_id: uuid.UUID) -> SystemRun:
    found: SystemRun = get_object_or_404(runs_of(study), public_id=system_run_id)
    return found


def _state(study: Study, run: Any) -> dict[str, Any]:
    """What the progress of a run shows."""
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
    """The cell whose settings are shown."""
    wanted = request.GET.get("cell", "")
    found = (line for line in lines if str(line.cell.public_id) == wanted)
    first = (line for line in lines if line.lines)
    return next(found, None) or next(first, None)


BASE = "key-points/systems"
urlpatterns = [
    path(f"{BASE}/", system_runs, name="system_runs"),
    path(f"{BASE}/new/", system_run_new, name="system_run_new"),
    path(f"{BASE}/estimate/", system_run_estimate, name="system_run_estimate"),
    path(f"{BASE}/<uuid:system_run_id>/", system_run, name="system_run"),
    path(
        f"{BASE}/<uuid:system_run_id>/<slug:figure>.<str:format>",
        system_run_figure,
        name="system_run_figure",
    ),
    path(f"{BASE}/<uuid:system_run_id>/state/", system_run_state, name="system_run_state"),
    path(f"{BASE}/<uuid:system_run_id>/cancel/", system_run_cancel, name="system_run_cancel"),
    path(f"{BASE}/<uuid:system_run_id>/resume/", system_run_resume, name="system_run_resume"),
]
