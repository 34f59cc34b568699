"""The requests of a run: a table, and everything about one of them."""

import json
import uuid
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.models import Argument, JudgeLabel
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.runs.asked import asked_again
from cqa_site.runs.models import Call, Run
from cqa_site.runs.views.control import run_or_404

PER_PAGE = 50
LONGEST_BODY = 100_000


@study_page(*RESEARCHERS)
def run_calls(request: HttpRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List the requests of a run with their items and labels."""
    run = run_or_404(study, run_id)
    state, reason = request.GET.get("state", ""), request.GET.get("reason", "")
    calls = run.calls.order_by("position")
    if state in Call.State.values:
        calls = calls.filter(state=state)
    if reason:
        calls = calls.filter(reason=reason)
    page = Paginator(calls, PER_PAGE).get_page(request.GET.get("page"))
    _add_items(study, page)
    context = {
        "study": study,
        "section": "judges",
        "run": run,
        "page": page,
        "state": state,
        "states": Call.State.choices,
        "reason": reason,
        "reasons": list(_reasons(run)),
    }
    return render(request, "annotation/judge_calls.html", context)


@study_page(*RESEARCHERS)
def run_call(
    request: HttpRequest, study: Study, run_id: uuid.UUID, call_id: uuid.UUID
) -> HttpResponse:
    """One request: its items, its exact text, every attempt, raw replies, what was read."""
    run = run_or_404(study, run_id)
    call = get_object_or_404(run.calls, public_id=call_id)
    call.run = run
    attempts = list(call.attempts.select_related("reply"))
    for attempt in attempts:
        _cut_body(attempt.reply)
    labels = call.judge_labels.select_related("argument__comparison").order_by("argument")
    found = {label.argument_id: label for label in labels}
    items = _arguments(study, call.subject_ids)
    context = {
        "study": study,
        "section": "judges",
        "run": run,
        "call": call,
        "attempts": attempts,
        "items": [(items.get(pk), found.get(pk)) for pk in call.subject_ids],
        "asked": asked_again(run, call),
    }
    return render(request, "annotation/judge_call.html", context)


def _reasons(run: Run):
    rows = run.calls.exclude(reason="").order_by("reason").values_list("reason")
    return rows.annotate(Count("pk"))


def _add_items(study: Study, page: Page) -> None:
    """Give each call its first ``argument`` and its ``labels``: two queries for the page."""
    calls = list(page)
    arguments = _arguments(study, [call.subject_ids[0] for call in calls if call.subject_ids])
    labels: dict[int, list[Any]] = {call.pk: [] for call in calls}
    rows = JudgeLabel.objects.filter(call__in=labels).order_by("argument")
    for call, label in rows.values_list("call", "label"):
        labels[call].append(label)
    for call in calls:
        call.argument = arguments.get(call.subject_ids[0]) if call.subject_ids else None
        call.others = len(call.subject_ids) - 1
        call.labels = labels[call.pk]


def _arguments(study: Study, ids: list[int]) -> dict[int, Argument]:
    return study.arguments.select_related("comparison").in_bulk(ids)


def _cut_body(reply) -> None:
    """A page shows the first 100,000 characters of a body."""
    if reply is not None:
        reply.cut = max(0, len(reply.body) - LONGEST_BODY)
        reply.body = reply.body[:LONGEST_BODY]


def _readable(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


BASE = "judges/runs/<uuid:run_id>/calls"
urlpatterns = [
    path(f"{BASE}/", run_calls, name="run_calls"),
    path(f"{BASE}/<uuid:call_id>/", run_call, name="run_call"),
]
