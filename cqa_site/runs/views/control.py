"""The page of a run of any kind, steering it, and the fragment that shows how far it is."""

import uuid
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs import jobs
from cqa_site.runs.actions import runs as actions
from cqa_site.runs.actions.corrections import correct_run
from cqa_site.runs.forms.endpoints import CorrectionForm, LimitsForm
from cqa_site.runs.kinds import kind_of
from cqa_site.runs.models import Attempt, Job, Run
from cqa_site.runs.progress import Progress, planning_job, progress_of
from cqa_site.runs.words import can_be_corrected

MOVES = {
    "go-on": actions.go_on,
    "pause": actions.pause_run,
    "resume": actions.resume_run,
    "cancel": actions.cancel_run,
}


@study_page(*RESEARCHERS)
def run(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """One run, as its kind shows it."""
    found = run_or_404(study, run_id)
    return kind_of(found).page(request, study, found)


@study_page(*RESEARCHERS)
def run_progress(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Return the progress fragment; it polls only while something happens."""
    run = run_or_404(study, run_id)
    shown = progress_context(run)
    response = render(request, "runs/_run.html", {"study": study, **shown})
    if request.GET.get("seen") == "draft" and run.state != Run.State.DRAFT:
        # Planning settled what the rest of the page says.
        response["HX-Refresh"] = "true"
    if not shown["is_polling"]:
        response["HX-Trigger"] = "job-ended"
    return response


@study_page(*RESEARCHERS)
@require_POST
def run_move(request: StudyRequest, study: Study, run_id: uuid.UUID, move: str) -> HttpResponse:
    """Go on after the pre-flight, pause, resume or cancel."""
    run = run_or_404(study, run_id)
    try:
        MOVES[move](run=run, actor=request.user)
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    return redirect("run", study.public_id, run.public_id)


@study_page(*RESEARCHERS)
@require_POST
def run_limits(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Change how much a run may spend and how many requests may be in flight."""
    run = run_or_404(study, run_id)
    form = LimitsForm(request.POST)
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label}: {errors[0]}")
        return redirect("run", study.public_id, run.public_id)
    cap, ceiling = form.cleaned_data["cap"], form.cleaned_data["ceiling"]
    if cap != run.budget.cap_micro:
        actions.set_cap(run=run, actor=request.user, cap_micro=cap)
    if ceiling != run.ceiling:
        actions.set_ceiling(run=run, actor=request.user, ceiling=ceiling)
    messages.success(request, _("Saved."))
    return redirect("run", study.public_id, run.public_id)


@study_page(*RESEARCHERS)
@require_POST
def run_correct(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Change what a run sends whose endpoint refuses a parameter, and go on."""
    run = run_or_404(study, run_id)
    form = CorrectionForm(request.POST, run=run)
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label}: {errors[0]}")
        return redirect("run", study.public_id, run.public_id)
    try:
        correct_run(run=run, actor=request.user, correction=form.correction)
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("Corrected. The run goes on from where it was."))
    return redirect("run", study.public_id, run.public_id)


@study_page(*RESEARCHERS)
@require_POST
def run_retry(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Ask unscored calls again, all of them or those with the chosen reasons."""
    run = run_or_404(study, run_id)
    try:
        count = actions.retry_unscored(
            run=run, actor=request.user, reasons=request.POST.getlist("reason")
        )
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    else:
        text = ngettext("%d request is asked again.", "%d requests are asked again.", count)
        messages.success(request, text % count)
    return redirect("run", study.public_id, run.public_id)


@study_page(*RESEARCHERS)
@require_POST
def run_again(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Start the same plan as a new run with fresh answers."""
    run = run_or_404(study, run_id)
    try:
        run = actions.run_again(run=run, actor=request.user)
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    return redirect("run", study.public_id, run.public_id)


def run_or_404(study: Study, run_id: uuid.UUID) -> Run:
    """One run of the study with what every page of it shows."""
    runs = study.runs.select_related("endpoint", "prompt", "budget", "created_by")
    return get_object_or_404(runs, public_id=run_id)


def progress_context(run: Run) -> dict[str, Any]:
    """What the progress fragment needs."""
    progress = progress_of(run)
    is_draft = run.state == Run.State.DRAFT
    job = planning_job(run) if is_draft else None
    run.planning_failed = job is not None and job.state == Job.State.FAILED
    is_planned_now = is_draft and not run.planning_failed
    is_polling = run.is_working or progress.in_flight > 0 or is_planned_now
    return {
        "run": run,
        "kind": kind_of(run),
        "progress": progress,
        "planning": job,
        "ahead": _ahead(run, progress) if is_polling else None,
        "is_polling": is_polling,
        "correction": CorrectionForm(run=run) if can_be_corrected(run) else None,
        "answered_since": answered_since(run),
        "worker_alive": jobs.is_worker_alive() if is_polling else None,
    }


def _ahead(run: Run, progress: Progress) -> Run | None:
    """The run that keeps the endpoint busy, where this one has sent nothing yet."""
    if progress.in_flight or progress.ended or progress.opens_in:
        return None
    others = run.endpoint.runs.filter(study=run.study_id, state__in=Run.WORKING)
    return others.exclude(pk=run.pk).order_by("pk").first()


def answered_since(run: Run) -> dict[int, int]:
    """Number of corrections before a reply → how many replies; nothing for an uncorrected run."""
    if not run.amendments:
        return {}
    replied = Attempt.objects.filter(call__run=run, outcome=Attempt.Outcome.REPLIED)
    return dict(replied.values_list("amendment").annotate(Count("pk")).order_by("amendment"))


BASE = "judges/runs/<uuid:run_id>"
urlpatterns = [
    path(f"{BASE}/", run, name="run"),
    path(f"{BASE}/progress/", run_progress, name="run_progress"),
    *(
        path(f"{BASE}/{move}/", run_move, {"move": move}, name=f"run_{move.replace('-', '_')}")
        for move in MOVES
    ),
    path(f"{BASE}/limits/", run_limits, name="run_limits"),
    path(f"{BASE}/correct/", run_correct, name="run_correct"),
    path(f"{BASE}/retry/", run_retry, name="run_retry"),
    path(f"{BASE}/again/", run_again, name="run_again"),
]
