"""Edits of an analysis, newest first, and how one is taken back."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from argsum.analysis.actions.edits import EditRefused, undo_change
from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import changes_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.web.strict_query import id_from

from .analyses import ONE, analysis_or_404
from .analysis import answer
from .points import answer_of_point

PER_PAGE = 50
# Pages that have a button to undo; a key point's own page is named by its public id.
POINTS, REST = "points", "rest"


@study_page(*RESEARCHERS)
@require_safe
def analysis_history(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """List the edits, newest first."""
    found = analysis_or_404(study, analysis_id)
    page = Paginator(changes_of(found), PER_PAGE).get_page(request.GET.get("page"))
    context = {"study": study, "analysis": found, "page": page, "here": "history"}
    return render(request, "argsum/analysis/history.html", context)


@study_page(*RESEARCHERS)
@require_POST
def analysis_undo(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, revision: int
) -> HttpResponse:
    """Take an edit back; the page where this was asked for comes back as it is then."""
    found = analysis_or_404(study, analysis_id)
    change = get_object_or_404(found.changes, revision=revision)
    try:
        undo_change(analysis=found, actor=request.user, change=change)
    except EditRefused as reason:
        return _back(request, found, problem=str(reason))
    return _back(request, found, is_undone=True)


def _back(request: StudyRequest, found: Analysis, **told: Any) -> HttpResponse:
    came_from = request.POST.get("from", "")
    if came_from == POINTS:
        return answer(request, found, **told)
    wanted = id_from(came_from)
    point = found.points.filter(public_id=wanted).first() if wanted else None
    if point or came_from == REST:
        return answer_of_point(request, found, point, **told)
    if problem := told.get("problem"):
        messages.error(request, problem)
    else:
        messages.success(request, _("The edit was undone."))
    return redirect("analysis_history", found.study.public_id, found.public_id)


urlpatterns = [
    path(f"{ONE}/history/", analysis_history, name="analysis_history"),
    path(f"{ONE}/history/<int:revision>/undo/", analysis_undo, name="analysis_undo"),
]
