"""Pages of runs in which a language model proposes key points or assigns statements."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from argsum.analysis.actions.analyses import FOLLOW
from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import analysis_of_run
from argsum.analysis.reports.history import sign_off_of
from argsum.analysis.views.runs import start_paths
from argsum.coding.actions.assignment import ATTEMPTS
from argsum.coding.forms import PointAssignmentForm, PointProposalForm
from argsum.coding.reports import (
    assignment_of,
    disagreements_in_words,
    disagreements_of,
    proposal_of,
)
from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study
from cqa_site.runs.models import Job, Run
from cqa_site.runs.views.runs import run_context

MOST_SHOWN = 50


def _assignment(analysis: Analysis) -> dict[str, Any]:
    state = sign_off_of(analysis)
    return {"has_things": state.is_valid, "signed": state, "attempts": ATTEMPTS}


def proposal_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one proposal run: progress, requests and key points."""
    context = _run_context(study, run) | {"outcome": proposal_of(run)}
    return render(request, "argsum/coding/proposal.html", context)


def assignment_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show one assignment run: progress, requests, and codes not confirmed by match scores."""
    outcome = assignment_of(run)
    rows = disagreements_of(run)[:MOST_SHOWN] if outcome.differing else []
    context = _run_context(study, run) | {
        "outcome": outcome,
        "rows": disagreements_in_words(run, list(rows)),
    }
    return render(request, "argsum/coding/assignment.html", context)


def _run_context(study: Study, run: Run) -> dict[str, Any]:
    analysis = analysis_of_run(run)
    job = analysis.job if analysis and analysis.coding_id == run.pk else None
    if job and (job.kind != FOLLOW or job.created_at < run.created_at):
        # This is a different job, or the job of an earlier run.
        job = None
    return run_context(study, run) | {
        "analysis": analysis,
        "target": run.spec["target"],
        "is_following": job is not None and job.state in Job.ACTIVE,
        "follow_error": job.error if job and job.state not in Job.ACTIVE else "",
    }


urlpatterns = [
    *start_paths(
        "point_proposal",
        "proposal",
        PointProposalForm,
        "argsum/coding/proposal_new.html",
        lambda analysis: {"has_things": analysis.statements > 0},
    ),
    *start_paths(
        "point_assignment",
        "assignment",
        PointAssignmentForm,
        "argsum/coding/assignment_new.html",
        _assignment,
    ),
]
