"""Where editing begins: an expert's own answers; researchers go to the rounds of the study."""

from itertools import groupby
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.editing.models import EditingRound, EditingSheet
from annotation.editing.reports.editing import desk_of
from cqa_site.people.access import EXPERTS, StudyRequest, study_page
from cqa_site.people.models import Study


@study_page(*EXPERTS)
@require_safe
def editing(request: StudyRequest, study: Study) -> HttpResponse:
    """List the expert's answers by round."""
    if request.membership.is_researcher:
        return redirect("editing_rounds", study.public_id)
    sheets = desk_of(request.user, study)
    rounds = [
        _own_round(editing_round, list(own))
        for editing_round, own in groupby(sheets, key=lambda sheet: sheet.round)
    ]
    context = {"study": study, "rounds": rounds}
    return render(request, "annotation/editing/own.html", context)


def _own_round(editing_round: EditingRound, sheets: list[EditingSheet]) -> dict[str, Any]:
    waiting = [sheet for sheet in sheets if sheet.is_to_do]
    is_open = editing_round.state == EditingRound.State.OPEN
    return {
        "round": editing_round,
        "sheets": sheets,
        "done": sum(sheet.submitted_at is not None for sheet in sheets),
        "next": waiting[0] if waiting and is_open else None,
    }


urlpatterns = [path("editing/", editing, name="editing")]
