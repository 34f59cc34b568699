"""Pages for editing rounds, and for the discussion of calibration answers."""

import uuid
from contextlib import suppress
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.answers.forms import MIXED, PLAIN_ONLY
from annotation.answers.models import ALL, Answer, names_of
from annotation.editing.actions.rounds import (
    CHUNK,
    EditingPlan,
    add_comment,
    experts_of,
    make_expert_answers,
    matching_answers,
    waiting_revisions,
)
from annotation.editing.forms import CommentForm, EditingRoundForm
from annotation.editing.models import EditingRound, EditingSheet
from annotation.editing.reports import (
    calibration_answers,
    desk_of,
    discussion,
    shared_versions,
    sheets_with_revisions,
)
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.pages.rounds import RoundPages, round_in, round_urls, to_round
from cqa_site.rounds.progress import TO_DO
from .desk import opened_sheets, sees_others


@study_page(*EXPERTS, only="GET")
def editing(request: StudyRequest, study: Study) -> HttpResponse:
    """List the expert's assigned answers by round."""
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


start_urls = [path("editing/", editing, name="editing")]


def _more(row: EditingRound) -> dict[str, Any]:
    answers = Answer.objects.filter(revision__sheet__round=row)
    return {
        "condition": _condition(row),
        "waiting": waiting_revisions(row).count(),
        "made": answers.count(),
        "experts_system": answers.values_list("system__public_id", flat=True).first(),
        "calibration": calibration_answers(row)[:CHUNK],
        "states": EditingSheet.Progress.choices,
    }


def _condition(row: EditingRound) -> str:
    """Describe the conditions of the round's answers."""
    chosen = row.recipe.get("condition", "")
    if chosen == ALL:
        return str(MIXED)
    return ", ".join(names_of(row.study, [chosen] if chosen else [])) or str(PLAIN_ONLY)


def _sheets(request: StudyRequest, row: EditingRound) -> QuerySet[EditingSheet]:
    """Return the sheets that match the expert and state in the address."""
    sheets = sheets_with_revisions(row)
    with suppress(ValueError):
        person = uuid.UUID(request.GET.get("expert", ""))
        sheets = sheets.filter(rater__user__public_id=person)
    states = {"open": TO_DO, "submitted": ~TO_DO}
    wanted = states.get(request.GET.get("state", ""))
    return sheets if wanted is None else sheets.filter(wanted)


def _initial(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return initial values: all experts, and default set sizes if there are enough answers."""
    experts = list(experts_of(study).values_list("user__public_id", flat=True))
    plan = EditingPlan(name="", seed=1, experts=(), calibration=0, individual=0)
    answers = matching_answers(study=study, plan=plan).count()
    common = min(EditingRoundForm.base_fields["calibration"].initial, (answers + 1) // 2)
    own = (answers - common) // max(1, len(experts))
    return {
        "experts": experts,
        "calibration": common,
        "individual": min(EditingRoundForm.base_fields["individual"].initial, own),
    }


PAGES = RoundPages(
    form=EditingRoundForm,
    initial=_initial,
    template="annotation/editing/round.html",
    listed=_sheets,
    more=_more,
    is_ready=lambda study: study.answers.exists() and experts_of(study).exists(),
    needs=lazy("A round needs answers, and experts from the study to edit them."),
    needs_page=lambda study: (
        ("members", _("People")) if study.answers.exists() else ("imports", _("Imports"))
    ),
    related=("created_by",),
    decisions=(),
)


@study_page(*RESEARCHERS, only="POST")
def editing_round_answers(
    request: StudyRequest, study: Study, round_id: uuid.UUID
) -> HttpResponse:
    """Turn experts' submissions into answers that can be scored."""
    row = round_in(PAGES, study, round_id)
    added = make_expert_answers(editing_round=row, actor=request.user)
    text = ngettext(
        "%d submitted text is now an answer that people and judges can score.",
        "%d submitted texts are now answers that people and judges can score.",
        added,
    )
    messages.success(
        request, text % added if added else _("All submitted texts are already answers.")
    )
    return to_round(row)


round_urlpatterns = [
    *round_urls(PAGES, "editing/rounds/", "round_id"),
    path(
        "editing/rounds/<uuid:round_id>/answers/",
        editing_round_answers,
        name="editing_round_answers",
    ),
]


@study_page(*EXPERTS)
def editing_discussion(
    request: StudyRequest, study: Study, round_id: uuid.UUID, answer_id: uuid.UUID
) -> HttpResponse:
    """Show the versions and comments that the person may see; accept a comment."""
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
    """Return the person's own sheet, or any sheet for researchers; raise Http404 if missing."""
    sheets = opened_sheets(study).filter(round=editing_round, is_calibration=True)
    sheets = sheets.filter(answer__public_id=answer_id)
    if not request.membership.is_researcher:
        return get_object_or_404(sheets, rater__user=request.user)
    return get_object_or_404(sheets.order_by("pk")[:1])


discussion_urls = [
    path(
        "editing/rounds/<uuid:round_id>/answers/<uuid:answer_id>/",
        editing_discussion,
        name="editing_discussion",
    )
]
