"""Editing rounds for researchers: draw the desks, look at them, open, close, watch."""

import uuid
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.answers.forms.conditions import MIXED, PLAIN_ONLY
from annotation.answers.models.answers import Answer
from annotation.answers.reports.conditions import ALL, names_of
from annotation.editing.actions.expert_answers import make_expert_answers, waiting_revisions
from annotation.editing.actions.rounds import CHUNK, Plan, experts_of, matching_answers
from annotation.editing.forms import RoundForm
from annotation.editing.models import EditingRound, EditingSheet
from annotation.editing.reports.editing import calibration_answers, sheets_with_revisions
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.pages.rounds import RoundFace, round_in, round_urls, to_round
from cqa_site.rounds.progress import TO_DO


def _more(row: EditingRound) -> dict[str, Any]:
    made = Answer.objects.filter(revision__sheet__round=row)
    return {
        "condition": _condition(row),
        "waiting": waiting_revisions(row).count(),
        "made": made.count(),
        "experts_system": made.values_list("system__public_id", flat=True).first(),
        "calibration": calibration_answers(row)[:CHUNK],
        "states": EditingSheet.Progress.choices,
    }


def _condition(row: EditingRound) -> str:
    """Which answers the round took, in words."""
    chosen = row.recipe.get("condition", "")
    if chosen == ALL:
        return str(MIXED)
    return ", ".join(names_of(row.study, [chosen] if chosen else [])) or str(PLAIN_ONLY)


def _sheets(request: StudyRequest, row: EditingRound) -> QuerySet[EditingSheet]:
    """Sheets of the expert and in the state that the address names."""
    sheets = sheets_with_revisions(row)
    with suppress(ValueError):
        person = uuid.UUID(request.GET.get("expert", ""))
        sheets = sheets.filter(rater__user__public_id=person)
    states = {"open": TO_DO, "submitted": ~TO_DO}
    wanted = states.get(request.GET.get("state", ""))
    return sheets if wanted is None else sheets.filter(wanted)


def _initial(request: HttpRequest, study: Study) -> dict[str, Any]:
    """All experts, and sets of the usual sizes as far as the answers reach."""
    experts = list(experts_of(study).values_list("user__public_id", flat=True))
    plan = Plan(name="", seed=1, experts=(), calibration=0, individual=0)
    answers = matching_answers(study=study, plan=plan).count()
    common = min(RoundForm.base_fields["calibration"].initial, (answers + 1) // 2)
    own = (answers - common) // max(1, len(experts))
    return {
        "experts": experts,
        "calibration": common,
        "individual": min(RoundForm.base_fields["individual"].initial, own),
    }


FACE = RoundFace(
    form=RoundForm,
    initial=_initial,
    template="annotation/editing/round.html",
    listed=_sheets,
    more=_more,
    is_ready=lambda study: study.answers.exists() and experts_of(study).exists(),
    needs=lazy("A round needs answers, and experts of the study who edit them."),
    related=("created_by",),
    decisions=(),
)


@study_page(*RESEARCHERS)
@require_POST
def editing_round_answers(
    request: StudyRequest, study: Study, round_id: uuid.UUID
) -> HttpResponse:
    """Make what the experts submitted answers that can be scored."""
    row = round_in(FACE, study, round_id)
    added = make_expert_answers(editing_round=row, actor=request.user)
    text = ngettext(
        "%d submitted text is an answer now; people and judges can score it.",
        "%d submitted texts are answers now; people and judges can score them.",
        added,
    )
    messages.success(request, text % added if added else _("All of them are answers already."))
    return to_round(row)


urlpatterns = [
    *round_urls(FACE, "editing/rounds/", "round_id"),
    path(
        "editing/rounds/<uuid:round_id>/answers/",
        editing_round_answers,
        name="editing_round_answers",
    ),
]
