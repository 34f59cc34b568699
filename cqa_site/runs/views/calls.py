"""The requests of a run: a table, and everything about one of them."""

import json
import uuid
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.kinds import kind_of, unusable
from cqa_site.runs.models import Call, Reply, Run
from cqa_site.runs.planning.asked import asked_again
from cqa_site.runs.views.context import home_of
from cqa_site.runs.views.control import run_or_404
from cqa_site.web.strict_query import chosen

PER_PAGE = 50
SAMPLE = "sample"
LONGEST_BODY = 100_000


@study_page(*RESEARCHERS)
def run_calls(request: StudyRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """List the requests of a run with what they are about and what was read."""
    run = run_or_404(study, run_id)
    reasons = list(_reasons(run))
    state = chosen(request, "state", (SAMPLE, *Call.State.values))
    # One that no request has lists none: a link to failures outlives their repair.
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
    context = {
        "study": study,
        **home_of(run),
        "run": run,
        "titles": kind_of(run).call_subjects.titles,
        "page": page,
        "state": state,
        "states": _states(run),
        "reason": reason,
        "reasons": reasons,
    }
    return render(request, "runs/calls.html", context)


@study_page(*RESEARCHERS)
def run_call(
    request: StudyRequest, study: Study, run_id: uuid.UUID, call_id: uuid.UUID
) -> HttpResponse:
    """One request: its items, its exact text, every attempt, raw replies, what was read."""
    run = run_or_404(study, run_id)
    call = get_object_or_404(run.calls, public_id=call_id)
    call.run = run
    attempts = list(call.attempts.select_related("reply"))
    for attempt in attempts:
        _cut_body(attempt.reply)
    asked = asked_again(run, call)
    context = {
        "study": study,
        **home_of(run),
        "run": run,
        "call": call,
        "attempts": attempts,
        "titles": kind_of(run).call_subjects.titles,
        "items": kind_of(run).call_subjects.items(study, [call])[call.pk],
        "asked": asked,
        "params": _readable(asked.request.params) if asked else "",
        "schema": _readable(asked.request.schema) if asked and asked.request.schema else "",
    }
    return render(request, "runs/call.html", context)


def _states(run: Run) -> list[tuple[str, Any]]:
    """Every state in the words of the run's kind, and the pre-flight's whatever became of it."""
    words: dict[str, Any] = dict(Call.State.choices)
    words[Call.State.UNSCORED] = unusable(run)
    return [*words.items(), (SAMPLE, _("any, of the pre-flight"))]


def _reasons(run: Run) -> QuerySet[Call, Any]:
    rows = run.calls.exclude(reason="").order_by("reason").values_list("reason")
    return rows.annotate(Count("pk"))


def _add_items(run: Run, page: Page[Call]) -> None:
    """Give each call its first ``item``, how many ``others`` it has, and what was read."""
    found = kind_of(run).call_subjects.items(run.study, list(page))
    for call in page:
        items = found[call.pk]
        vars(call).update(
            item=items[0] if items else None,
            others=len(items) - 1,
            results=[item.value for item in items if item],
        )


def _cut_body(reply: Reply | None) -> None:
    """A page shows the first 100,000 characters of a body."""
    if reply is not None:
        vars(reply).update(cut=max(0, len(reply.body) - LONGEST_BODY))
        reply.body = reply.body[:LONGEST_BODY]


def _readable(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


BASE = "judges/runs/<uuid:run_id>/calls"


urlpatterns = [
    path(f"{BASE}/", run_calls, name="run_calls"),
    path(f"{BASE}/<uuid:call_id>/", run_call, name="run_call"),
]
