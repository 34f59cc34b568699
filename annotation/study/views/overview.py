"""The first page of a study: for each role, what to do next.

Annotators get nothing but their own work: no totals, no names, no controls.
"""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path

from annotation.consensus.actions.adjudication import disputed_campaigns
from cqa_site.people.access import EVERYONE, StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.rounds.own_work import waiting_for
from cqa_site.web.navigation.paths import path_of, paths

from .happening import lanes_of, results_of, things_waiting, unmade_of


@study_page(*EVERYONE)
def overview(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the page of the member's role."""
    if request.membership.is_researcher:
        return _researcher_page(request, study)
    if request.membership.role == Role.EXPERT:
        return _expert_page(request, study)
    return _annotator_page(request, study)


def _annotator_page(request: StudyRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "waiting": waiting_for(request.membership),
    }
    return render(request, "annotation/study/overview_annotator.html", context)


def _expert_page(request: StudyRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "queues": disputed_campaigns(study),
        "waiting": waiting_for(request.membership),
    }
    return render(request, "annotation/study/overview_expert.html", context)


def _researcher_page(request: StudyRequest, study: Study) -> HttpResponse:
    chosen = path_of(request.GET.get("path") or study.goal)
    steps = chosen.steps(study)
    context = {
        "study": study,
        "paths": paths(),
        "chosen": chosen,
        "steps": steps,
        "terms": chosen.terms_in(steps),
        "next_step": next((step for step in steps if not step.is_done), None),
        "waiting": things_waiting(study),
        "lanes": lanes_of(study),
        "results": results_of(study),
        "unmade": unmade_of(study),
    }
    return render(request, "annotation/study/overview_researcher.html", context)


urlpatterns = [path("", overview, name="study")]
