"""How much alike experts' versions of the calibration answers are, once their round is over."""

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.corpus.models.questions import text_key
from annotation.editing.models import EditingRound
from annotation.faithfulness.actions.faithfulness import latest_job
from annotation.faithfulness.actions.texts import embedding_of
from annotation.faithfulness.reports.expert_agreement import agreement_of
from annotation.faithfulness.reports.expert_agreement_tables import (
    RECIPES,
    WORK,
    agreement_rows,
    agreement_table,
    chart_alt,
    chart_spec,
    lowest_shade,
    names_of,
    work_table,
)
from annotation.faithfulness.reports.versions import Choice, state_of
from cqa_site.people.access import EXPERTS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import chart_file, table_file
from cqa_site.web.charts import drawing as charts

TABLES = {"agreement": agreement_table, "work": work_table}


@study_page(*EXPERTS)
def expert_agreement(request: StudyRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Show how much alike each two experts and the machine are, and what each expert changed."""
    editing_round = _round_or_404(request, study, round_id)
    choice = Choice.from_query(request.GET)
    found = _found(request, editing_round, choice)
    context = {
        "study": study,
        "section": "editing",
        "editing_round": editing_round,
        "choice": choice,
        "version": _version(request, study, choice),
        "recipe": RECIPES[choice.mode],
        "work_recipe": WORK,
        "alt": chart_alt(found),
        "lowest": lowest_shade(found["found"]),
        "model": embedding_of(study),
        "rows": agreement_rows(found),
        "job": latest_job(study),
        "work": list(zip(found["names"][1:], found["found"]["work"], strict=True)),
        **found,
    }
    return render(request, "annotation/faithfulness/expert_agreement.html", context)


@study_page(*EXPERTS)
def expert_agreement_table(
    request: StudyRequest, study: Study, round_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send one of the two tables as CSV, LaTeX or Markdown."""
    editing_round = _round_or_404(request, study, round_id)
    if figure not in TABLES:
        raise Http404
    found = _found(request, editing_round, Choice.from_query(request.GET))
    return table_file(TABLES[figure](editing_round, found), format)


@study_page(*EXPERTS)
def expert_agreement_chart(
    request: StudyRequest, study: Study, round_id: uuid.UUID, format: str
) -> HttpResponse:
    """Draw the heatmap."""
    editing_round = _round_or_404(request, study, round_id)
    choice = Choice.from_query(request.GET)

    def draw(size: str) -> charts.Spec:
        return chart_spec(_found(request, editing_round, choice), size)

    state = _version(request, study, choice)
    return chart_file(request, draw, state=state, name="expert-agreement", format=format)


def _round_or_404(request: StudyRequest, study: Study, round_id: uuid.UUID) -> EditingRound:
    """A round of the study; experts see those they took part in, and only when they are over."""
    rounds = EditingRound.objects.filter(study=study).select_related("study")
    if not request.membership.is_researcher:
        mine = {"state": EditingRound.State.CLOSED, "places__rater__user": request.user}
        rounds = rounds.filter(**mine).distinct()
    return get_object_or_404(rounds, public_id=round_id)


def _found(request: StudyRequest, editing_round: EditingRound, choice: Choice) -> dict[str, Any]:
    """The figures, and how the reader may know the people in them."""
    found = agreement_of(editing_round, choice.mode, embedding_of(editing_round.study))
    sees_names = request.membership.is_researcher
    names = names_of(found["experts"], request.user, sees_names=sees_names)
    return {"found": found, "names": names, "mode": choice.mode}


def _version(request: StudyRequest, study: Study, choice: Choice) -> str:
    """Changes with the figures, the model, the mode, and with who looks: names depend on that."""
    seen = f"{state_of(study)}:{embedding_of(study)}:{choice.mode}:{request.membership.pk}"
    return text_key(seen)[:16]


BASE = "editing/rounds/<uuid:round_id>/agreement"
urlpatterns = [
    path(f"{BASE}/", expert_agreement, name="expert_agreement"),
    path(f"{BASE}/chart.<str:format>", expert_agreement_chart, name="expert_agreement_chart"),
    path(
        f"{BASE}/<slug:figure>.<str:format>", expert_agreement_table, name="expert_agreement_table"
    ),
]
