"""Scoring rounds for researchers: draw the answers, set examples, open, close, watch."""

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

from benchmark.actions import scoring_rounds as actions
from benchmark.actions.rubrics import default_rubric
from benchmark.actions.scoring_sheets import DECISIONS, decide_rater
from benchmark.forms.scoring import RoundForm
from benchmark.models import Qualification, ScoringRound
from benchmark.reports.scoring_rounds import (
    examples_of,
    items_of,
    progress_of,
    rounds_with_counts,
)
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
def scoring_rounds(request: HttpRequest, study: Study) -> HttpResponse:
    """List the rounds of the study."""
    page = Paginator(rounds_with_counts(study), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "section": "scores",
        "page": page,
        "has_answers": study.answers.exists(),
    }
    return render(request, "benchmark/scoring_rounds.html", context)


@study_page(*RESEARCHERS)
def scoring_round_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Make a draft round; its answers are on the next page."""
    rubric = default_rubric(study)
    seed = random.randrange(10**6)  # noqa: S311  an order, not a secret
    initial = {"seed": seed, "rubric": rubric.public_id}
    form = RoundForm(request.POST or None, study=study, initial=initial)
    return _form_page(request, study, form, None)


@study_page(*RESEARCHERS)
def scoring_round_edit(request: HttpRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Change a draft round; its answers are drawn again."""
    row = _round(study, round_id)
    if row.state != ScoringRound.State.DRAFT:
        messages.error(request, _("Only a draft can be changed."))
        return _to_round(row)
    initial = actions.plan_of(row) | {"rubric": row.rubric.public_id}
    form = RoundForm(request.POST or None, study=study, scoring_round=row, initial=initial)
    return _form_page(request, study, form, row)


def _form_page(
    request: HttpRequest, study: Study, form: RoundForm, row: ScoringRound | None
) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        try:
            planned = actions.plan_round(
                study=study, plan=form.plan(), actor=request.user, scoring_round=row
            )
        except actions.RoundNotReady as reason:
            form.add_error(None, str(reason))
        else:
            return _to_round(planned)
    context = {
        "study": study,
        "section": "scores",
        "form": form,
        "scoring_round": row,
        "has_answers": study.answers.exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "benchmark/scoring_round_form.html", context, status=status)


@study_page(*RESEARCHERS)
@require_safe
def scoring_round(request: HttpRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Show who is how far, the answers, and the examples."""
    row = get_object_or_404(rounds_with_counts(study), public_id=round_id)
    raters = progress_of(row)
    context = {
        "study": study,
        "section": "scores",
        "scoring_round": row,
        "raters": raters,
        "examples": list(examples_of(row)),
        "page": Paginator(items_of(row), PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "benchmark/scoring_round.html", context)


@study_page(*RESEARCHERS)
@require_POST
def scoring_round_move(
    request: HttpRequest, study: Study, round_id: uuid.UUID, move: str
) -> HttpResponse:
    """Open, close or reopen a round."""
    row = _round(study, round_id)
    try:
        MOVES[move](scoring_round=row, actor=request.user)
    except actions.RoundNotReady as reason:
        messages.error(request, str(reason))
    return _to_round(row)


@study_page(*RESEARCHERS)
@require_POST
def scoring_round_delete(request: HttpRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Remove a draft."""
    row = _round(study, round_id)
    try:
        actions.delete_round(scoring_round=row, actor=request.user)
    except actions.RoundNotReady as reason:
        messages.error(request, str(reason))
        return _to_round(row)
    return redirect("scoring_rounds", study.public_id)


@study_page(*RESEARCHERS)
@require_POST
def scoring_rater(
    request: HttpRequest, study: Study, round_id: uuid.UUID, rater_id: uuid.UUID
) -> HttpResponse:
    """Let somebody in, keep somebody out, or take somebody's sheets out of the figures."""
    row = _round(study, round_id)
    places = Qualification.objects.filter(scoring_round=row)
    place = get_object_or_404(places.select_related("rater"), rater__public_id=rater_id)
    decision = request.POST.get("decision", "")
    if decision not in DECISIONS:
        messages.error(request, _("Choose what to do."))
        return _to_round(row)
    reason = request.POST.get("reason", "").replace("\x00", "").strip()[:LONGEST_REASON]
    decide_rater(place=place, actor=request.user, decision=decision, reason=reason)
    return _to_round(row)


def _round(study: Study, round_id: uuid.UUID) -> ScoringRound:
    rounds: Any = study.scoring_rounds.select_related("rubric", "study")
    return get_object_or_404(rounds, public_id=round_id)


def _to_round(row: ScoringRound) -> HttpResponse:
    return redirect("scoring_round", row.study.public_id, row.public_id)


PLACE = "scores/rounds/<uuid:round_id>/"
urlpatterns = [
    path("scores/rounds/", scoring_rounds, name="scoring_rounds"),
    path("scores/rounds/new/", scoring_round_new, name="scoring_round_new"),
    path(PLACE, scoring_round, name="scoring_round"),
    path(PLACE + "edit/", scoring_round_edit, name="scoring_round_edit"),
    path(PLACE + "delete/", scoring_round_delete, name="scoring_round_delete"),
    path(PLACE + "raters/<uuid:rater_id>/", scoring_rater, name="scoring_rater"),
    *(
        path(f"{PLACE}{move}/", scoring_round_move, {"move": move}, name=f"scoring_round_{move}")
        for move in MOVES
    ),
]
