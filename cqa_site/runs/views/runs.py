"""Pages of runs: control, progress, calls, jobs and packages."""

import json
import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _, ngettext

from cqa_site.judging import packages
from cqa_site.people.access import (
    RESEARCHERS,
    PersonRequest,
    StudyRequest,
    administrator_page,
    study_page,
)
from cqa_site.people.models import Study
from cqa_site.runs import jobs
from cqa_site.runs.actions import runs as actions
from cqa_site.runs.actions.corrections import correct_run, tight_limit
from cqa_site.runs.forms.endpoints import CorrectionForm, LimitsForm, TokenLimitForm
from cqa_site.runs.kinds import kind_of, prompt_kinds, unusable
from cqa_site.runs.models import Attempt, Call, Job, Run
from cqa_site.runs.planning import asked_again
from cqa_site.runs.progress import RunProgress, can_be_corrected, planning_job, progress_of
from cqa_site.web.rest.queries import chosen

MOVES = {
    "go-on": actions.go_on,
    "pause": actions.pause_run,
    "resume": actions.resume_run,
    "cancel": actions.cancel_run,
}


@study_page(*RESEARCHERS)
def run(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Show one run on the page of its kind."""
    row = run_or_404(study, run_id)
    return kind_of(row).page(request, study, row)


@study_page(*RESEARCHERS)
def run_progress(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Return the progress fragment; it polls only while something changes."""
    run = run_or_404(study, run_id)
    progress = progress_context(run)
    response = render(request, "runs/_run.html", {"study": study, **progress})
    if request.GET.get("seen") == "draft" and run.state != Run.State.DRAFT:
        # The rest of the page changes when planning ends.
        response["HX-Refresh"] = "true"
    if not progress["is_polling"]:
        response["HX-Trigger"] = "job-ended"
    return response


@study_page(*RESEARCHERS, only="POST")
def run_move(request: StudyRequest, study: Study, run_id: uuid.UUID, move: str) -> HttpResponse:
    """Continue a run after its pre-flight, or pause, resume or cancel it."""
    run = run_or_404(study, run_id)
    try:
        MOVES[move](run=run, actor=request.user)
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    return redirect("run", study.public_id, run.public_id)


@study_page(*RESEARCHERS, only="POST")
def run_limits(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Change a run's spending cap and its maximum number of requests in flight."""
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


@study_page(*RESEARCHERS, only="POST")
def run_correct(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Correct the requests of a run whose endpoint refuses a parameter, and continue the run."""
    run = run_or_404(study, run_id)
    form_class = CorrectionForm if can_be_corrected(run) else TokenLimitForm
    form = form_class(request.POST, run=run)
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label}: {errors[0]}")
        return redirect("run", study.public_id, run.public_id)
    try:
        correct_run(run=run, actor=request.user, correction=form.correction)
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("Corrected. The run continues from where it stopped."))
    return redirect("run", study.public_id, run.public_id)


@study_page(*RESEARCHERS, only="POST")
def run_retry(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Requeue unscored calls, either all or those with the chosen reasons."""
    run = run_or_404(study, run_id)
    try:
        count = actions.retry_unscored(
            run=run, actor=request.user, reasons=request.POST.getlist("reason")
        )
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    else:
        text = ngettext("%d request will be sent again.", "%d requests will be sent again.", count)
        messages.success(request, text % count)
    return redirect("run", study.public_id, run.public_id)


@study_page(*RESEARCHERS, only="POST")
def run_again(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """Start the same plan as a new run, with fresh replies."""
    run = run_or_404(study, run_id)
    try:
        run = actions.run_again(run=run, actor=request.user)
    except actions.RunRefused as reason:
        messages.error(request, str(reason))
    return redirect("run", study.public_id, run.public_id)


def run_or_404(study: Study, run_id: uuid.UUID) -> Run:
    """Return a run of the study with the related rows for its pages; 404 if it does not exist."""
    runs = study.runs.select_related("endpoint", "prompt", "budget", "created_by")
    return get_object_or_404(runs, public_id=run_id)


def progress_context(run: Run) -> dict[str, Any]:
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
        "tight": TokenLimitForm(run=run) if is_tight(run) else None,
        "answered_since": answered_since(run),
        "worker_alive": jobs.is_worker_alive() if is_polling else None,
    }


def is_tight(run: Run) -> bool:
    """Whether a higher token limit would solve the run's problem."""
    return not can_be_corrected(run) and bool(tight_limit(run))


def _ahead(run: Run, progress: RunProgress) -> Run | None:
    """Return the run that keeps the endpoint busy if this run has not sent anything yet."""
    if progress.in_flight or progress.ended or progress.opens_in:
        return None
    others = run.endpoint.runs.filter(study=run.study_id, state__in=Run.WORKING)
    return others.exclude(pk=run.pk).order_by("pk").first()


def answered_since(run: Run) -> dict[int, int]:
    """Count replies by the number of earlier corrections; empty for an uncorrected run."""
    if not run.amendments:
        return {}
    replied = Attempt.objects.filter(call__run=run, outcome=Attempt.Outcome.REPLIED)
    return dict(replied.values_list("amendment").annotate(Count("pk")).order_by("amendment"))


RUN = "judges/runs/<uuid:run_id>"
run_urls = [
    path(f"{RUN}/", run, name="run"),
    path(f"{RUN}/progress/", run_progress, name="run_progress"),
    *(
        path(f"{RUN}/{move}/", run_move, {"move": move}, name=f"run_{move.replace('-', '_')}")
        for move in MOVES
    ),
    path(f"{RUN}/limits/", run_limits, name="run_limits"),
    path(f"{RUN}/correct/", run_correct, name="run_correct"),
    path(f"{RUN}/retry/", run_retry, name="run_retry"),
    path(f"{RUN}/again/", run_again, name="run_again"),
]

BATCHES = 20


def run_context(study: Study, run: Run) -> dict[str, Any]:
    return {
        "study": study,
        "home_name": kind_of(run).home.route,
        "kind_name": prompt_kinds()[run.prompt.kind].name,
        "limits": LimitsForm.of(run),
        "batches": run.batches.annotate(size=Count("calls")).order_by("-pk")[:BATCHES],
        **progress_context(run),
    }


PER_PAGE = 50
SAMPLE = "sample"
LONGEST_BODY = 100_000


@study_page(*RESEARCHERS)
def run_calls(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List the requests in a run with their items and readings."""
    run = run_or_404(study, run_id)
    rows = run.calls.exclude(reason="").order_by("reason").values_list("reason")
    reasons = list(rows.annotate(Count("pk")))
    state = chosen(request, "state", (SAMPLE, *Call.State.values))
    # A reason without requests gives an empty list, so that old links to failures still work.
    reason = request.GET.get("reason", "")
    calls = run.calls.order_by("position")
    if state == SAMPLE:
        calls = calls.filter(is_canary=True)
    elif state:
        calls = calls.filter(state=state)
    if reason:
        calls = calls.filter(reason=reason)
    page = Paginator(calls, PER_PAGE).get_page(request.GET.get("page"))
    _add_items(run, page)
    words: dict[str, Any] = dict(Call.State.choices)
    words[Call.State.UNSCORED] = unusable(run)
    context = {
        "study": study,
        "home_name": kind_of(run).home.route,
        "run": run,
        "titles": kind_of(run).call_subjects.titles,
        "page": page,
        "state": state,
        "states": [*words.items(), (SAMPLE, _("pre-flight sample, any state"))],
        "reason": reason,
        "reasons": reasons,
    }
    return render(request, "runs/calls.html", context)


@study_page(*RESEARCHERS)
def run_call(
    request: StudyRequest, study: Study, run_id: uuid.UUID, call_id: uuid.UUID
) -> HttpResponse:
    """Show one request with its items, exact text, attempts, raw replies and readings."""
    run = run_or_404(study, run_id)
    call = get_object_or_404(run.calls, public_id=call_id)
    call.run = run
    attempts = list(call.attempts.select_related("reply"))
    for attempt in attempts:
        if attempt.reply is not None:
            vars(attempt.reply).update(cut=max(0, len(attempt.reply.body) - LONGEST_BODY))
            attempt.reply.body = attempt.reply.body[:LONGEST_BODY]
    again = asked_again(run, call)
    context = {
        "study": study,
        "home_name": kind_of(run).home.route,
        "run": run,
        "call": call,
        "attempts": attempts,
        "titles": kind_of(run).call_subjects.titles,
        "items": kind_of(run).call_subjects.items(study, [call])[call.pk],
        "asked": again,
        "params": _readable(again.request.params) if again else "",
        "schema": _readable(again.request.schema) if again and again.request.schema else "",
    }
    return render(request, "runs/call.html", context)


def _add_items(run: Run, page: Page[Call]) -> None:
    """Add to each call its first ``item``, the number of ``others``, and its readings."""
    by_call = kind_of(run).call_subjects.items(run.study, list(page))
    for call in page:
        items = by_call[call.pk]
        vars(call).update(
            item=items[0] if items else None,
            others=len(items) - 1,
            results=[item.value for item in items if item],
        )


def _readable(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


CALLS = "judges/runs/<uuid:run_id>/calls"

call_urls = [
    path(f"{CALLS}/", run_calls, name="run_calls"),
    path(f"{CALLS}/<uuid:call_id>/", run_call, name="run_call"),
]


@study_page(*RESEARCHERS)
def job_progress(request: StudyRequest, study: Study, job_id: uuid.UUID) -> HttpResponse:
    """Return the progress fragment; it polls only while the job is active."""
    return _progress(request, get_object_or_404(study.jobs, public_id=job_id), study=study)


@administrator_page
def site_job_progress(request: PersonRequest, job_id: uuid.UUID) -> HttpResponse:
    """Return the progress fragment for a job of the whole site."""
    return _progress(request, get_object_or_404(Job, study=None, public_id=job_id))


def _progress(request: PersonRequest, job: Job, study: Study | None = None) -> HttpResponse:
    context: dict[str, object] = {"job": job, "study": study}
    if not job.is_active:
        response = render(request, "runs/_job.html", context)
        response["HX-Trigger"] = "job-ended"
        return response
    context |= {"worker_alive": jobs.is_worker_alive()}
    return render(request, "runs/_job.html", context)


of_site = [path("site/jobs/<uuid:job_id>/", site_job_progress, name="site_job_progress")]
job_urls = [path("jobs/<uuid:job_id>/", job_progress, name="job_progress")]


@study_page(*RESEARCHERS)
def packages_state(request: StudyRequest, study: Study, part: str) -> HttpResponse:
    """Return the notice about packages, which polls only while they are being downloaded."""
    if part not in list(packages.PackagePart):
        raise Http404
    state = packages.state(packages.PackagePart(part))
    return render(request, "runs/_packages.html", {"study": study, "state": state})


package_urls = [path("packages/<slug:part>/", packages_state, name="packages_state")]
