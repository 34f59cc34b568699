"""Pages of runs in which a language model proposes key points or assigns statements."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from argsum.analysis.actions.analyses import FOLLOW
from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import analysis_of_run
from argsum.analysis.reports.sign_offs import sign_off_of
from argsum.analysis.views.analyses import ONE
from argsum.analysis.views.report import finished_or_404
from argsum.coding.actions.assignment import ATTEMPTS
from argsum.coding.forms import CodingRunForm, PointAssignmentForm, PointProposalForm
from argsum.coding.reports.assignments import (
    assignment_of,
    disagreements_in_words,
    disagreements_of,
)
from argsum.coding.reports.proposals import proposal_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Job, Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import estimate, start_page

SHOWN = 50
Page = Callable[..., HttpResponseBase]


def _proposal(analysis: Analysis) -> dict[str, Any]:
    return {"has_things": analysis.statements > 0}


def _assignment(analysis: Analysis) -> dict[str, Any]:
    state = sign_off_of(analysis)
    return {"has_things": state.is_valid, "signed": state, "attempts": ATTEMPTS}


def _pages(
    form_class: type[CodingRunForm], template: str, about: Callable[[Analysis], dict[str, Any]]
) -> tuple[Page, Page]:
    """Return the page that starts a run for an analysis, and the fragment with its price."""

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    def new(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
        """Choose language model, prompt and sizes; start the run."""
        analysis = finished_or_404(study, analysis_id)
        form = _form(form_class, request, analysis)
        context = {"analysis": analysis, **about(analysis)}
        return start_page(request, study, form, template, context)

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    @require_POST
    def price(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
        """Return the fragment with the estimated cost of the run in the form."""
        form = _form(form_class, request, finished_or_404(study, analysis_id))
        context = {"study": study, "form": form}
        context |= estimate(study, form) if form.is_valid() else {}
        return render(request, "runs/_kind_run_estimate.html", context)

    return new, price


def _form(
    form_class: type[CodingRunForm], request: StudyRequest, analysis: Analysis
) -> CodingRunForm:
    data = None
    if request.method == "POST":
        data = request.POST.copy()
        # The address says for which analysis, whatever the hidden field holds.
        data["analysis"] = str(analysis.pk)
    return form_class(data, study=analysis.study, actor=request.user, analysis=analysis)


def proposal_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run that proposes: progress, requests, and the key points it came to."""
    context = _run_context(study, run) | {"outcome": proposal_of(run)}
    return render(request, "argsum/coding/proposal.html", context)


def assignment_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run that assigns: progress, requests, and what match scores do not confirm."""
    outcome = assignment_of(run)
    rows = disagreements_of(run)[:SHOWN] if outcome.differing else []
    context = _run_context(study, run) | {
        "outcome": outcome,
        "rows": disagreements_in_words(run, list(rows)),
    }
    return render(request, "argsum/coding/assignment.html", context)


def _run_context(study: Study, run: Run) -> dict[str, Any]:
    analysis = analysis_of_run(run)
    job = analysis.job if analysis and analysis.coding_id == run.pk else None
    if job and (job.kind != FOLLOW or job.created_at < run.created_at):
        # Another job, or one of an earlier run.
        job = None
    return run_context(study, run) | {
        "analysis": analysis,
        "target": run.spec["target"],
        "is_following": job is not None and job.state in Job.ACTIVE,
        "follow_error": job.error if job and job.state not in Job.ACTIVE else "",
    }


NEW_PROPOSAL = _pages(PointProposalForm, "argsum/coding/proposal_new.html", _proposal)
NEW_ASSIGNMENT = _pages(PointAssignmentForm, "argsum/coding/assignment_new.html", _assignment)
urlpatterns = [
    path(f"{ONE}/proposal/", NEW_PROPOSAL[0], name="point_proposal"),
    path(f"{ONE}/proposal/estimate/", NEW_PROPOSAL[1], name="point_proposal_estimate"),
    path(f"{ONE}/assignment/", NEW_ASSIGNMENT[0], name="point_assignment"),
    path(f"{ONE}/assignment/estimate/", NEW_ASSIGNMENT[1], name="point_assignment_estimate"),
]
