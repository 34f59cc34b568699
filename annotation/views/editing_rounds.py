"""Editing rounds for researchers: draw the split, look at it, open, close, watch."""

import random
import uuid
from contextlib import suppress

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.actions import editing_rounds as actions
from annotation.forms.editing import RoundForm
from annotation.models import EditingRound, EditingTask
from annotation.reports.editing import (
    calibration_answers,
    progress_of,
    tasks_with_revisions,
)
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
MOVES = {
    "open": actions.open_round,
    "close": actions.close_round,
    "reopen": actions.reopen_round,
}


@study_page(*RESEARCHERS)
def editing_round_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Make a draft round; its split is on the next page."""
    initial = {"seed": random.randrange(10**6)}  # noqa: S311  an order, not a secret
    form = RoundForm(request.POST or None, study=study, initial=initial)
    return _form_page(request, study, form, None)


@study_page(*RESEARCHERS)
def editing_round_edit(request: HttpRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Change a draft round; the split is drawn again."""
    editing_round = get_object_or_404(study.editing_rounds, public_id=round_id)
    if editing_round.state != EditingRound.State.DRAFT:
        messages.error(request, _("Only a draft can be changed."))
        return _to_round(editing_round)
    initial = actions.plan_of(editing_round)
    form = RoundForm(
        request.POST or None, study=study, editing_round=editing_round, initial=initial
    )
    return _form_page(request, study, form, editing_round)


def _form_page(
    request: HttpRequest, study: Study, form: RoundForm, editing_round: EditingRound | None
) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        try:
            planned = actions.plan_round(
                study=study, plan=form.plan(), actor=request.user, editing_round=editing_round
            )
        except actions.RoundNotReady as reason:
            form.add_error(None, str(reason))
        else:
            return _to_round(planned)
    context = {
        "study": study,
        "section": "editing",
        "form": form,
        "editing_round": editing_round,
        "has_experts": form.fields["experts"].queryset.exists(),
        "has_answers": study.answers.exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/editing_round_form.html", context, status=status)


@study_page(*RESEARCHERS)
@require_safe
def editing_round(request: HttpRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Show the split, who is how far, and the way to every version."""
    row = get_object_or_404(study.editing_rounds.select_related("created_by"), public_id=round_id)
    experts = progress_of(row)
    tasks = _chosen(request, tasks_with_revisions(row))
    context = {
        "study": study,
        "section": "editing",
        "editing_round": row,
        "experts": experts,
        "done": sum(each.submitted for each in experts),
        "all": sum(each.answers for each in experts),
        "calibration": calibration_answers(row)[: actions.CHUNK],
        "page": Paginator(tasks, PER_PAGE).get_page(request.GET.get("page")),
        "expert": request.GET.get("expert", ""),
        "state": request.GET.get("state", ""),
        "states": EditingTask.State.choices,
    }
    return render(request, "annotation/editing_round.html", context)


def _chosen(request: HttpRequest, tasks: QuerySet[EditingTask]) -> QuerySet[EditingTask]:
    """Tasks of the expert and in the state that the address names."""
    with suppress(ValueError):
        tasks = tasks.filter(editor__public_id=uuid.UUID(request.GET.get("expert", "")))
    if request.GET.get("state") in EditingTask.State.values:
        tasks = tasks.filter(state=request.GET["state"])
    return tasks


@study_page(*RESEARCHERS)
@require_POST
def editing_round_move(
    request: HttpRequest, study: Study, round_id: uuid.UUID, move: str
) -> HttpResponse:
    """Open, close or reopen a round."""
    row = get_object_or_404(study.editing_rounds, public_id=round_id)
    try:
        MOVES[move](editing_round=row, actor=request.user)
    except actions.RoundNotReady as reason:
        messages.error(request, str(reason))
    return _to_round(row)


def _to_round(row: EditingRound) -> HttpResponse:
    return redirect("editing_round", row.study.public_id, row.public_id)


urlpatterns = [
    path("editing/rounds/new/", editing_round_new, name="editing_round_new"),
    path("editing/rounds/<uuid:round_id>/", editing_round, name="editing_round"),
    path("editing/rounds/<uuid:round_id>/edit/", editing_round_edit, name="editing_round_edit"),
    *(
        path(
            f"editing/rounds/<uuid:round_id>/{move}/",
            editing_round_move,
            {"move": move},
            name=f"editing_round_{move}",
        )
        for move in MOVES
    ),
]
