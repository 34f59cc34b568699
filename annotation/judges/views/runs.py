"""Runs of the relevance judge: their list, and the page of one."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext_lazy as lazy

from annotation.judges.actions.relevance_judge import KIND
from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.runs.views.context import run_context
from cqa_site.runs.views.face import ListFace, RunColumn, RunFilter, list_view
from cqa_site.web.strict_query import id_from

OFFERED_CAMPAIGNS = 50
OTHERS = 20


def _campaigns(study: Study, wanted: str) -> list[tuple[str, str]]:
    """The newest campaigns, and an older one that was asked for."""
    rows = campaigns_of(study).only("public_id", "name", "study")
    found = {str(each.public_id): each.name for each in rows[:OFFERED_CAMPAIGNS]}
    if wanted not in found and (key := id_from(wanted)):
        found |= {str(each.public_id): each.name for each in rows.filter(public_id=key)}
    return list(found.items())


FACE = ListFace(
    kind=KIND,
    has_things=lambda study: campaigns_of(study).exists(),
    about=lazy(
        "Language models label the sentences of a round in the background; people's votes "
        "stay apart."
    ),
    lead=lazy("Choose a round and start the first run."),
    nothing=lazy("A judge labels the items of a round. Make a round first."),
    starts=(("campaigns", lazy("Rounds")),),
    columns=(RunColumn(lazy("Round"), "annotation/judges/_run_campaign.html"),),
    filters=(
        RunFilter("label_round", lazy("Round"), _campaigns, "relevance__campaign__public_id"),
    ),
    related=("relevance__campaign",),
    template="annotation/judges/runs.html",
)


def judge_page(request: StudyRequest, study: Study, run: Run) -> HttpResponse:
    """The page of a run of the relevance judge."""
    campaign = run.relevance.campaign
    others = study.runs.filter(relevance__campaign=campaign).exclude(pk=run.pk)
    context = run_context(study, run) | {
        "campaign": campaign,
        "others": others.select_related("prompt")[:OTHERS],
    }
    return render(request, "annotation/judges/run.html", context)


urlpatterns = [
    path("judges/", list_view(FACE), name="runs"),
]
