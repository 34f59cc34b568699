"""Where editing begins: an expert's own answers, or the rounds of a study."""

from itertools import groupby

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.models import EditingTask
from annotation.reports.editing import desk_of, rounds_with_counts
from cqa_site.people.access import EXPERTS, study_page
from cqa_site.people.models import Study

PER_PAGE = 50


@study_page(*EXPERTS)
@require_safe
def editing(request: HttpRequest, study: Study) -> HttpResponse:
    """List the expert's answers by round; researchers get the rounds."""
    if request.membership.is_researcher:
        return _rounds(request, study)
    tasks = desk_of(request.user, study)
    rounds = [
        _own_round(editing_round, list(own))
        for editing_round, own in groupby(tasks, key=lambda task: task.editing_round)
    ]
    context = {"study": study, "section": "editing", "rounds": rounds}
    return render(request, "annotation/editing_own.html", context)


def _own_round(editing_round, tasks: list[EditingTask]) -> dict[str, object]:
    waiting = [task for task in tasks if task.state == EditingTask.State.OPEN]
    return {
        "round": editing_round,
        "tasks": tasks,
        "done": sum(task.submitted_at is not None for task in tasks),
        "next": waiting[0] if waiting and editing_round.state == "open" else None,
    }


def _rounds(request: HttpRequest, study: Study) -> HttpResponse:
    page = Paginator(rounds_with_counts(study), PER_PAGE).get_page(request.GET.get("page"))
    context = {"study": study, "section": "editing", "page": page}
    return render(request, "annotation/editing_rounds.html", context)


urlpatterns = [path("editing/", editing, name="editing")]
