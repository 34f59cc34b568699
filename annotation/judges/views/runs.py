"""Runs of the relevance judge: their list, and the page of one."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path

from annotation.judges.actions.relevance_judge import KIND
from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.progress import add_counts
from cqa_site.runs.views.context import run_context
from cqa_site.web.strict_query import chosen, id_from

PER_PAGE = 50
OFFERED_CAMPAIGNS = 50
OTHERS = 20


@study_page(*RESEARCHERS)
def runs(request: StudyRequest, study: Study) -> HttpResponse:
    """List the runs of the study, newest first."""
    campaign = _chosen_campaign(study, request.GET.get("campaign", ""))
    state = chosen(request, "state", Run.State.values)
    rows = study.runs.filter(kind=KIND).select_related(
        "endpoint", "prompt", "budget", "created_by", "relevance__campaign"
    )
    if campaign:
        rows = rows.filter(relevance__campaign=campaign)
    if state:
        rows = rows.filter(state=state)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    add_counts(page)
    context = {
        "study": study,
        "section": "judges",
        "page": page,
        "campaign": campaign,
        "campaigns": campaigns_of(study).only("public_id", "name", "study")[:OFFERED_CAMPAIGNS],
        "state": state,
        "states": Run.State.choices,
        "has_endpoint": study.endpoints.filter(is_archived=False).exists(),
    }
    return render(request, "annotation/judges/runs.html", context)


def judge_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """The page of a run of the relevance judge."""
    campaign = run.relevance.campaign
    others = study.runs.filter(relevance__campaign=campaign).exclude(pk=run.pk)
    context = run_context(study, run) | {
        "campaign": campaign,
        "others": others.select_related("prompt")[:OTHERS],
    }
    return render(request, "annotation/judges/run.html", context)


def _chosen_campaign(study: Study, campaign_id: str):
    wanted = id_from(campaign_id)
    return campaigns_of(study).filter(public_id=wanted).first() if wanted else None


urlpatterns = [
    path("judges/", runs, name="runs"),
]
