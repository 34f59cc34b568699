"""Pages that start a writing run for a system run, and the page of such a run."""

import uuid
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters

from argsum.keypoints.models import SystemRun
from argsum.writing.actions.runs import system_run_of, writable
from argsum.writing.forms import WritingForm
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import estimate, start_page


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS)
def writing_new(request: StudyRequest, study: Study, system_run_id: uuid.UUID) -> HttpResponse:
    """Choose the language model and prompt of a writing run, and start the run."""
    system_run = get_object_or_404(study.system_runs, public_id=system_run_id)
    if not writable(study).filter(pk=system_run.pk).exists():
        context: dict[str, Any] = {"study": study, "system_run": system_run}
        return render(request, "argsum/writing/new.html", context)
    form = _form(request, study, system_run)
    context = {"system_run": system_run, "has_things": True}
    return start_page(request, study, form, "argsum/writing/new.html", context)


@sensitive_post_parameters("webhook_secret", "webhook_sealed")
@study_page(*RESEARCHERS, only="POST")
def writing_estimate(
    request: StudyRequest, study: Study, system_run_id: uuid.UUID
) -> HttpResponse:
    """Return the fragment with the estimated cost of the run described by the form."""
    system_run = get_object_or_404(study.system_runs, public_id=system_run_id)
    if not writable(study).filter(pk=system_run.pk).exists():
        return HttpResponse(status=409)
    form = _form(request, study, system_run)
    context = {"study": study, "form": form} | (estimate(study, form) if form.is_valid() else {})
    return render(request, "runs/_kind_run_estimate.html", context)


def run_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """Show a run: progress, requests and written texts."""
    system_run = system_run_of(run)
    parts = run.written_parts.select_related("cell", "summary_set").order_by("pk")
    context = run_context(study, run) | {
        "system_run": system_run,
        "target": run.spec["target"],
        "said": _said(run),
        "parts": parts[:20],
    }
    return render(request, "argsum/writing/run.html", context)


def _form(request: StudyRequest, study: Study, system_run: SystemRun) -> WritingForm:
    data = None
    if request.method == "POST":
        data = request.POST.copy()
        # The URL determines the run, whatever the hidden field contains.
        data["system_run"] = str(system_run.pk)
    return WritingForm(data, study=study, actor=request.user, system_run=system_run)


def _said(run: Run) -> dict[str, Any]:
    """Return counts of replies, key points, dropped entries, and replies with problems."""
    rows = list(run.written_parts.values_list("texts", "dropped", "reason"))
    return {
        "parts": len(rows),
        "key_points": sum(len(texts) for texts, _dropped, _reason in rows),
        "dropped": sum(dropped for _texts, dropped, _reason in rows),
        "short": sum(bool(reason) for _texts, _dropped, reason in rows),
    }


BASE = "key-points/systems/<uuid:system_run_id>/writing"
urlpatterns = [
    path(f"{BASE}/", writing_new, name="writing_new"),
    path(f"{BASE}/estimate/", writing_estimate, name="writing_estimate"),
]
