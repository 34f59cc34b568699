"""Pages that start a summary of an analysis in prose, and the page of such a run."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import analysis_of_run
from argsum.analysis.views.runs import start_paths
from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from .actions.checking import ATTEMPTS
from .actions.runs import check_job
from .forms import ProseForm
from .reports import checked_paragraphs


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show a run: progress, requests, printed sentences, and omitted sentences with reasons."""
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


def _about(analysis: Analysis) -> dict[str, Any]:
    shown = analysis.points.filter(state="shown", statements__gt=0)
    return {"attempts": ATTEMPTS, "has_things": shown.exists()}


urlpatterns = start_paths("analysis_prose", "summary", ProseForm, "argsum/prose/new.html", _about)
