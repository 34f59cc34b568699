"""Having a language model write the key points of an analysis, and the page of such a run."""

import uuid
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from argsum.analysis.actions.point_writing import ATTEMPTS, writable_points
from argsum.analysis.actions.starting import is_at_work
from argsum.analysis.forms import PointWritingForm
from argsum.analysis.models import Analysis
from argsum.analysis.reports.written import analysis_of_run, writing_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.context import run_context
from cqa_site.runs.views.start import estimate, start_page

from .analyses import ONE
from .comparing import finished_or_404

SHOWN = 50


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def point_writing(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Choose who writes with which prompt; start it."""
    analysis = finished_or_404(study, analysis_id)
    form = _form(request, analysis)
    context: dict[str, Any] = {
        "analysis": analysis,
        "number": writable_points(analysis).count(),
        "attempts": ATTEMPTS,
        "by": [form["prompt"]],
    }
    context["has_things"] = context["number"] > 0
    return start_page(request, study, form, "argsum/analysis/writing/new.html", context)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
@require_POST
def point_writing_estimate(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID
) -> HttpResponse:
    """Return the fragment with what the run, as the form stands now, would take."""
    form = _form(request, finished_or_404(study, analysis_id))
    context = {"study": study, "form": form} | (estimate(study, form) if form.is_valid() else {})
    return render(request, "runs/_kind_run_estimate.html", context)


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """One run: where it is, what it was asked, what it wrote and what became of that."""
    analysis = analysis_of_run(run)
    rows = run.written_points.select_related("point").order_by("point", "attempt", "pk")
    context = run_context(study, run) | {
        "analysis": analysis,
        "target": run.spec["target"],
        "writing": writing_of(run),
        "is_checking": bool(analysis and analysis.writing_id == run.pk and is_at_work(analysis)),
        "rows": rows[:SHOWN],
    }
    return render(request, "argsum/analysis/writing/run.html", context)


def _form(request: StudyRequest, analysis: Analysis) -> PointWritingForm:
    data = None
    if request.method == "POST":
        data = request.POST.copy()
        # The address says for which analysis, whatever the hidden field holds.
        data["analysis"] = str(analysis.pk)
    return PointWritingForm(data, study=analysis.study, actor=request.user, analysis=analysis)


urlpatterns = [
    path(f"{ONE}/writing/", point_writing, name="point_writing"),
    path(f"{ONE}/writing/estimate/", point_writing_estimate, name="point_writing_estimate"),
]
