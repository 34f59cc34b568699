"""Judge runs: the list of the study and the page of one run."""

import uuid
from collections import defaultdict

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from annotation.actions.relevance_judge import KIND
from annotation.forms.judging import KIND_NAMES
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.runs.forms import LimitsForm
from cqa_site.runs.models import Call, Run
from cqa_site.runs.views.control import progress_context, run_or_404

PER_PAGE = 50
OFFERED_CAMPAIGNS = 50
OTHERS = 20
BATCHES = 20


@study_page(*RESEARCHERS)
def runs(request: HttpRequest, study: Study) -> HttpResponse:
    """List the runs of the study, newest first."""
    campaign = _chosen_campaign(study, request.GET.get("campaign", ""))
    state = request.GET.get("state", "")
    rows = study.runs.filter(kind=KIND).select_related(
        "endpoint", "prompt", "budget", "created_by", "relevance__campaign"
    )
    if campaign:
        rows = rows.filter(relevance__campaign=campaign)
    if state in Run.State.values:
        rows = rows.filter(state=state)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    _add_counts(page)
    context = {
        "study": study,
        "section": "judges",
        "page": page,
        "campaign": campaign,
        "campaigns": study.campaigns.only("public_id", "name", "study")[:OFFERED_CAMPAIGNS],
        "state": state,
        "states": Run.State.choices,
        "has_endpoint": study.endpoints.filter(is_archived=False).exists(),
    }
    return render(request, "annotation/judge_runs.html", context)


@study_page(*RESEARCHERS)
def run(request: HttpRequest, study: Study, run_id: uuid.UUID) -> HttpResponse:
    """One run: where it is, what it may do, what it was asked."""
    run = run_or_404(study, run_id)
    campaign = run.relevance.campaign
    others = study.runs.filter(relevance__campaign=campaign).exclude(pk=run.pk)
    context = {
        "study": study,
        "section": "judges",
        "campaign": campaign,
        "kind_name": KIND_NAMES[run.prompt.kind],
        "limits": LimitsForm.of(run),
        "batches": run.batches.annotate(size=Count("calls")).order_by("-pk")[:BATCHES],
        "others": others.select_related("prompt")[:OTHERS],
        **progress_context(run),
    }
    return render(request, "annotation/judge_run.html", context)


def _chosen_campaign(study: Study, campaign_id: str):
    try:
        wanted = uuid.UUID(campaign_id)
    except ValueError:
        return None
    return study.campaigns.filter(public_id=wanted).first()


def _add_counts(page: Page) -> None:
    """Give each run ``done``, ``unscored`` and ``ended``: one query for all of them."""
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for pk, state, count in _states([run.pk for run in page]):
        counts[pk][state] = count
    for run in page:
        found = counts[run.pk]
        run.done = found.get(Call.State.DONE, 0)
        run.unscored = found.get(Call.State.UNSCORED, 0)
        run.ended = run.done + run.unscored + found.get(Call.State.CANCELLED, 0)


def _states(ids: list[int]) -> QuerySet:
    rows = Call.objects.filter(run__in=ids).order_by()
    return rows.values_list("run", "state").annotate(Count("pk"))


urlpatterns = [
    path("judges/", runs, name="runs"),
    path("judges/runs/<uuid:run_id>/", run, name="run"),
]
