"""Counting rounds for researchers: draw the sets, open, close, watch."""

import random
import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from argsum.actions import counting_rounds as actions
from argsum.actions.counting_people import DECISIONS, decide_rater
from argsum.forms.counting import RoundForm
from argsum.models import CountingPlace, CountingRound
from argsum.reports.counting_rounds import items_of, progress_of, rounds_with_counts
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
LONGEST_REASON = 300
MOVES = {
    "open": actions.open_round,
    "close": actions.close_round,
    "reopen": actions.reopen_round,
}


@study_page(*RESEARCHERS)
@require_safe
def counting_rounds(request: HttpRequest, study: Study) -> HttpResponse:
    """List the rounds of the study."""
    page = Paginator(rounds_with_counts(study), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "section": "key_points",
        "page": page,
        "has_sets": study.summary_sets.exists(),
        "has_sheets": study.count_sheets.exists(),
    }
    return render(request, "argsum/counting_rounds.html", context)


@study_page(*RESEARCHERS)
def counting_round_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Make a draft round; its sets are on the next page."""
    seed = random.randrange(10**6)  # noqa: S311  an order, not a secret
    form = RoundForm(request.POST or None, study=study, initial={"seed": seed})
    return _form_page(request, study, form, None)


@study_page(*RESEARCHERS)
def counting_round_edit(
    request: HttpRequest, study: Study, counting_id: uuid.UUID
) -> HttpResponse:
    """Change a draft round; its sets are drawn again."""
    row = _round(study, counting_id)
    if row.state != CountingRound.State.DRAFT:
        messages.error(request, _("Only a draft can be changed."))
        return _to_round(row)
    initial = actions.plan_of(row)
    initial["dataset"] = initial["dataset"] and initial["dataset"].public_id
    form = RoundForm(request.POST or None, study=study, counting_round=row, initial=initial)
    return _form_page(request, study, form, row)


def _form_page(
    request: HttpRequest, study: Study, form: RoundForm, row: CountingRound | None
) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        try:
            planned = actions.plan_round(
                study=study, plan=form.plan(), actor=request.user, counting_round=row
            )
        except actions.RoundNotReady as reason:
            form.add_error(None, str(reason))
        else:
            return _to_round(planned)
    context = {
        "study": study,
        "section": "key_points",
        "form": form,
        "counting_round": row,
        "has_sets": study.summary_sets.exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "argsum/counting_round_form.html", context, status=status)


@study_page(*RESEARCHERS)
@require_safe
def counting_round(request: HttpRequest, study: Study, counting_id: uuid.UUID) -> HttpResponse:
    """Show who is how far, and the sets."""
    row = get_object_or_404(rounds_with_counts(study), public_id=counting_id)
    context = {
        "study": study,
        "section": "key_points",
        "counting_round": row,
        "raters": progress_of(row),
        "page": Paginator(items_of(row), PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "argsum/counting_round.html", context)


@study_page(*RESEARCHERS)
@require_POST
def counting_round_move(
    request: HttpRequest, study: Study, counting_id: uuid.UUID, move: str
) -> HttpResponse:
    """Open, close or reopen a round."""
    row = _round(study, counting_id)
    try:
        MOVES[move](counting_round=row, actor=request.user)
    except actions.RoundNotReady as reason:
        messages.error(request, str(reason))
    return _to_round(row)


@study_page(*RESEARCHERS)
@require_POST
def counting_round_delete(
    request: HttpRequest, study: Study, counting_id: uuid.UUID
) -> HttpResponse:
    """Remove a draft."""
    row = _round(study, counting_id)
    try:
        actions.delete_round(counting_round=row, actor=request.user)
    except actions.RoundNotReady as reason:
        messages.error(request, str(reason))
        return _to_round(row)
    return redirect("counting_rounds", study.public_id)


@study_page(*RESEARCHERS)
@require_POST
def counting_rater(
    request: HttpRequest, study: Study, counting_id: uuid.UUID, rater_id: uuid.UUID
) -> HttpResponse:
    """Take somebody's sheets out of the figures, or count them again."""
    row = _round(study, counting_id)
    places = CountingPlace.objects.filter(counting_round=row)
    place = get_object_or_404(places.select_related("rater"), rater__public_id=rater_id)
    decision = request.POST.get("decision", "")
    if decision not in DECISIONS:
        messages.error(request, _("Choose what to do."))
        return _to_round(row)
    reason = request.POST.get("reason", "").replace("\x00", "").strip()[:LONGEST_REASON]
    decide_rater(place=place, actor=request.user, decision=decision, reason=reason)
    return _to_round(row)


def _round(study: Study, counting_id: uuid.UUID) -> CountingRound:
    rounds: Any = study.counting_rounds.select_related("study")
    return get_object_or_404(rounds, public_id=counting_id)


def _to_round(row: CountingRound) -> HttpResponse:
    return redirect("counting_round", row.study.public_id, row.public_id)


PLACE = "key-points/rounds/<uuid:counting_id>/"
urlpatterns = [
    path("key-points/rounds/", counting_rounds, name="counting_rounds"),
    path("key-points/rounds/new/", counting_round_new, name="counting_round_new"),
    path(PLACE, counting_round, name="counting_round"),
    path(PLACE + "edit/", counting_round_edit, name="counting_round_edit"),
    path(PLACE + "delete/", counting_round_delete, name="counting_round_delete"),
    path(PLACE + "raters/<uuid:rater_id>/", counting_rater, name="counting_rater"),
    *(
        path(f"{PLACE}{move}/", counting_round_move, {"move": move}, name=f"counting_round_{move}")
        for move in MOVES
    ),
]
