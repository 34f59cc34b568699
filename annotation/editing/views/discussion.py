"""One calibration answer: everybody's version and the discussion, blind until the round closes."""

import uuid
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path

from annotation.editing.actions.discussion import add_comment
from annotation.editing.forms import CommentForm
from annotation.editing.models import EditingRound, EditingSheet
from annotation.editing.reports.versions import discussion, shared_versions
from cqa_site.people.access import EXPERTS, StudyRequest, study_page
from cqa_site.people.models import Study

from .access import opened_sheets, sees_others


@study_page(*EXPERTS)
def editing_discussion(
    request: StudyRequest, study: Study, round_id: uuid.UUID, answer_id: uuid.UUID
) -> HttpResponse:
    """Show the versions and comments that the person may see, and take a comment."""
    editing_round = get_object_or_404(EditingRound, study=study, public_id=round_id)
    sheet = _calibration_sheet(request, study, editing_round, answer_id)
    form = CommentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        add_comment(
            editing_round=editing_round,
            answer=sheet.answer,
            author=request.user,
            text=form.cleaned_data["text"],
        )
        return redirect("editing_discussion", study.public_id, round_id, answer_id)
    seen: dict[str, Any] = {
        "reader": request.user,
        "sees_all": sees_others(request, editing_round),
        "sees_names": request.membership.is_researcher,
    }
    context = {
        "study": study,
        "editing_round": editing_round,
        "sheet": sheet,
        "sees_all": seen["sees_all"],
        "versions": shared_versions(editing_round, sheet.answer_id, **seen),
        "words": discussion(editing_round, sheet.answer_id, **seen),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/editing/discussion.html", context, status=status)


def _calibration_sheet(
    request: StudyRequest, study: Study, editing_round: EditingRound, answer_id: uuid.UUID
) -> EditingSheet:
    """The person's own sheet on the answer, or for researchers anybody's; raises Http404."""
    sheets = opened_sheets(study).filter(round=editing_round, is_calibration=True)
    sheets = sheets.filter(answer__public_id=answer_id)
    if not request.membership.is_researcher:
        return get_object_or_404(sheets, rater__user=request.user)
    return get_object_or_404(sheets.order_by("pk")[:1])


urlpatterns = [
    path(
        "editing/rounds/<uuid:round_id>/answers/<uuid:answer_id>/",
        editing_discussion,
        name="editing_discussion",
    ),
]
