"""Pages that have a language model summarize an analysis in prose, and the page of such a run."""

import uuid
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from argsum.analysis.models import Analysis
from argsum.analysis.views.analyses import ONE
from argsum.analysis.views.report import finished_or_404
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import estimate, start_page

from .actions.checking import ATTEMPTS
from .actions.runs import check_job
from .forms import ProseForm
from .reports import analysis_of_run, checked_paragraphs


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def analysis_prose(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Choose language model and prompt of a summary; start its run."""
    analysis = finished_or_404(study, analysis_id)
    form = _form(request, analysis)
    shown = analysis.points.filter(state="shown", statements__gt=0)
    context: dict[str, Any] = {
        "analysis": analysis,
        "attempts": ATTEMPTS,
        "by": [form["prompt"]],
        "has_things": shown.exists(),
    }
    return start_page(request, study, form, "argsum/prose/new.html", context)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
@require_POST
def analysis_prose_estimate(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID
) -> HttpResponse:
    """Return the fragment with the estimated cost of the run in the form."""
    form = _form(request, finished_or_404(study, analysis_id))
    context = {"study": study, "form": form} | (estimate(study, form) if form.is_valid() else {})
    return render(request, "runs/_kind_run_estimate.html", context)


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run: progress, requests, printed sentences, and those left out with the reason."""
    job = check_job(run)
    context = run_context(study, run) | {
        "analysis": analysis_of_run(run),
        "target": run.spec["target"],
        "summary": run.prose_summary,
        "paragraphs": checked_paragraphs(run),
        "is_checking": job is not None and job.is_active,
        "check_error": job.error if job is not None and not job.is_active else "",
    }
    return render(request, "argsum/prose/run.html", context)


def _form(request: StudyRequest, analysis: Analysis) -> ProseForm:
    data = None
    if request.method == "POST":
        data = request.POST.copy()
        # The address says for which analysis, whatever the hidden field holds.
        data["analysis"] = str(analysis.pk)
    return ProseForm(data, study=analysis.study, actor=request.user, analysis=analysis)


urlpatterns = [
    path(f"{ONE}/summary/", analysis_prose, name="analysis_prose"),
    path(f"{ONE}/summary/estimate/", analysis_prose_estimate, name="analysis_prose_estimate"),
]
