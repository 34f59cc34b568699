"""Examples of a round's qualification: choose answers, set their keys."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from benchmark.scoring.actions.rounds import set_example
from benchmark.scoring.forms.examples import KeyForm
from benchmark.scoring.models.rounds import ScoringItem, ScoringRound
from benchmark.scoring.reports.scored_by_people import candidates, proposed_key
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.kind import RoundNotReady

PER_PAGE = 25
LONGEST_SEARCH = 200


@study_page(*RESEARCHERS)
@require_safe
def scoring_examples(request: StudyRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """List answers to choose an example from; those that people scored come first."""
    row = _draft(study, round_id)
    wanted = request.GET.get("q", "").strip()[:LONGEST_SEARCH]
    answers = candidates(study, row.rubric)
    if wanted:
        answers = answers.filter(text__icontains=wanted)
    chosen = row.items.filter(key_points__isnull=False).values_list("answer", flat=True)
    context = {
        "study": study,
        "round": row,
        "wanted": wanted,
        "chosen": set(chosen),
        "page": Paginator(answers, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "benchmark/scoring/examples.html", context)


@study_page(*RESEARCHERS)
def scoring_example(
    request: StudyRequest, study: Study, round_id: uuid.UUID, answer_id: uuid.UUID
) -> HttpResponse:
    """Set the key of an answer as an example, or take it out."""
    row = _draft(study, round_id)
    answers = study.answers.select_related("question__comparison", "system", "study")
    answer = get_object_or_404(answers, public_id=answer_id)
    item = row.items.filter(answer=answer).first()
    form = KeyForm(
        request.POST or None, rubric=row.rubric.rubric, initial=_initial(row, answer, item)
    )
    if request.method == "POST":
        is_removed = "remove" in request.POST
        if is_removed or form.is_valid():
            points = None if is_removed else form.key_points()
            notes = {} if is_removed else form.key_notes()
            try:
                set_example(round_=row, answer=answer, points=points, notes=notes)
            except RoundNotReady as reason:
                form.add_error(None, str(reason))
            else:
                messages.success(request, _("Saved."))
                return redirect("scoring_round", study.public_id, row.public_id)
    context = {
        "study": study,
        "round": row,
        "answer": answer,
        "form": form,
        "is_example": item is not None and item.is_example,
        "is_drawn": item is not None and not item.is_example,
    }
    status = 422 if form.errors else 200
    return render(request, "benchmark/scoring/example.html", context, status=status)


def _initial(row: ScoringRound, answer, item: ScoringItem | None) -> dict[str, object]:
    """The key there is, or the one that people's sheets propose."""
    known = item if item is not None and item.is_example else None
    points = known.key_points or {} if known else proposed_key(answer, row.rubric)
    notes = known.key_notes if known else {}
    return {f"points-{key}": str(each) for key, each in points.items()} | {
        f"note-{key}": each for key, each in notes.items()
    }


def _draft(study: Study, round_id: uuid.UUID) -> ScoringRound:
    """A draft of the study; the examples of an opened round stay as they are."""
    rounds = ScoringRound.objects.filter(study=study, state=ScoringRound.State.DRAFT)
    return get_object_or_404(rounds.select_related("rubric", "study"), public_id=round_id)


PLACE = "scores/rounds/<uuid:round_id>/examples/"
urlpatterns = [
    path(PLACE, scoring_examples, name="scoring_examples"),
    path(PLACE + "<uuid:answer_id>/", scoring_example, name="scoring_example"),
]
