"""Analyses of comments: their list, a new one, and how one is steered."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from argsum.analysis.actions.placing import place_new_comments
from argsum.analysis.actions.starting import (
    AnalysisRefused,
    analyse_dataset,
    cancel_analysis,
    delete_analysis,
    is_at_work,
    resume_analysis,
    start_analysis,
)
from argsum.analysis.forms import AnalysisForm
from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import analyses_of, listed
from argsum.datasets.models import Cell
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.web.strict_query import chosen, id_from

PER_PAGE = 50


@study_page(*RESEARCHERS)
@require_safe
def analyses(request: StudyRequest, study: Study) -> HttpResponse:
    """List the analyses, newest first, of one dataset or of all."""
    state = chosen(request, "state", Analysis.State.values)
    rows = listed(analyses_of(study))
    if state:
        rows = rows.filter(state=state)
    wanted = id_from(request.GET.get("dataset"))
    if wanted:
        rows = rows.filter(cell__dataset__public_id=wanted)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "state": state,
        "states": Analysis.State.choices,
        "dataset": study.argument_datasets.filter(public_id=wanted).first() if wanted else None,
        "has_dataset": study.argument_datasets.exists(),
        "is_active": any(each.is_active for each in page),
    }
    shown = "argsum/analysis/_analyses.html" if request.htmx else "argsum/analysis/analyses.html"
    return render(request, shown, context)


@study_page(*RESEARCHERS)
def analysis_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Choose what is analysed; start it."""
    own = Cell.objects.filter(dataset__study=study)
    begun = own.filter(public_id__in=[id_from(request.GET.get("cell"))]).first()
    form = AnalysisForm(request.POST or None, study=study, initial={"cell": begun})
    context = {"study": study, "form": form, "has_dataset": own.exists()}
    if request.method == "POST" and form.is_valid():
        try:
            made = start_analysis(study=study, actor=request.user, **form.cleaned_data)
        except AnalysisRefused as reason:
            form.add_error(None, str(reason))
        else:
            return redirect("analysis", study.public_id, made.public_id)
    status = 422 if request.method == "POST" else 200
    return render(request, "argsum/analysis/analysis_new.html", context, status=status)


@study_page(*RESEARCHERS)
@require_POST
def analysis_dataset(request: StudyRequest, study: Study, dataset_id: uuid.UUID) -> HttpResponse:
    """Start an analysis for each topic of a dataset, all with what is usual."""
    found = get_object_or_404(study.argument_datasets, public_id=dataset_id)
    try:
        made = analyse_dataset(study=study, actor=request.user, dataset=found)
    except AnalysisRefused as reason:
        messages.error(request, str(reason))
        return redirect("dataset", study.public_id, found.public_id)
    if len(made) == 1:
        return redirect("analysis", study.public_id, made[0].public_id)
    told = ngettext("%d analysis is under way.", "%d analyses are under way.", len(made))
    messages.success(request, told % len(made))
    response = redirect("analyses", study.public_id)
    response["Location"] += f"?dataset={found.public_id}"
    return response


@study_page(*RESEARCHERS)
@require_safe
def analysis_state(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Return the fragment with the progress; it polls only while something is computed."""
    found = analysis_or_404(study, analysis_id)
    context = state_context(study, found)
    response = render(request, "argsum/analysis/_analysis_state.html", context)
    if not context["is_polling"]:
        response["HX-Refresh"] = "true"
    return response


@study_page(*RESEARCHERS)
@require_POST
def analysis_cancel(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Compute nothing more."""
    return _steer(request, study, analysis_id, cancel_analysis)


@study_page(*RESEARCHERS)
@require_POST
def analysis_resume(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Begin again what stopped."""
    return _steer(request, study, analysis_id, resume_analysis)


@study_page(*RESEARCHERS)
@require_POST
def analysis_place(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Match new comments with the key points."""
    return _steer(request, study, analysis_id, place_new_comments)


@study_page(*RESEARCHERS)
@require_POST
def analysis_again(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Analyse the same comments with another of the settings that were looked at."""
    found = analysis_or_404(study, analysis_id)
    try:
        made = start_analysis(
            study=study,
            actor=request.user,
            cell=found.cell,
            match_scorer=found.match_scorer,
            quality_scorer=found.quality_scorer,
            setting=request.POST.get("setting", ""),
        )
    except AnalysisRefused as reason:
        messages.error(request, str(reason))
        return redirect("analysis", study.public_id, found.public_id)
    return redirect("analysis", study.public_id, made.public_id)


@study_page(*RESEARCHERS)
@require_POST
def analysis_delete(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Forget an analysis with its edits."""
    found = analysis_or_404(study, analysis_id)
    try:
        delete_analysis(analysis=found, actor=request.user)
    except AnalysisRefused as reason:
        messages.error(request, str(reason))
        return redirect("analysis", study.public_id, found.public_id)
    messages.success(request, _("“%s” was deleted.") % found.name)
    return redirect("analyses", study.public_id)


def analysis_or_404(study: Study, analysis_id: uuid.UUID) -> Analysis:
    """An analysis of the study, with what its pages name."""
    found: Analysis = get_object_or_404(analyses_of(study), public_id=analysis_id)
    return found


def state_context(study: Study, analysis: Analysis) -> dict[str, Any]:
    """What the progress of an analysis shows."""
    at_work = is_at_work(analysis)
    is_lost = analysis.is_active and not at_work
    job = analysis.job
    return {
        "study": study,
        "analysis": analysis,
        "is_polling": at_work,
        "is_lost": is_lost,
        "can_resume": is_lost
        or analysis.state in (Analysis.State.FAILED, Analysis.State.CANCELLED),
        # What was asked for since, such as placing new comments.
        "later_error": job.error if job and analysis.state == Analysis.State.DONE else "",
        "worker_alive": is_worker_alive() if at_work else None,
    }


def _steer(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, action: Callable[..., object]
) -> HttpResponse:
    found = analysis_or_404(study, analysis_id)
    try:
        action(analysis=found, actor=request.user)
    except AnalysisRefused as reason:
        messages.error(request, str(reason))
    return redirect("analysis", study.public_id, found.public_id)


BASE = "key-points/analyses"
ONE = f"{BASE}/<uuid:analysis_id>"
urlpatterns = [
    path(f"{BASE}/", analyses, name="analyses"),
    path(f"{BASE}/new/", analysis_new, name="analysis_new"),
    path(
        "key-points/datasets/<uuid:dataset_id>/analyse/", analysis_dataset, name="analysis_dataset"
    ),
    path(f"{ONE}/state/", analysis_state, name="analysis_state"),
    path(f"{ONE}/cancel/", analysis_cancel, name="analysis_cancel"),
    path(f"{ONE}/resume/", analysis_resume, name="analysis_resume"),
    path(f"{ONE}/place/", analysis_place, name="analysis_place"),
    path(f"{ONE}/again/", analysis_again, name="analysis_again"),
    path(f"{ONE}/delete/", analysis_delete, name="analysis_delete"),
]
