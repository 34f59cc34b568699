"""The scoring form: question and answer on one side, the rubric on the other.

Sheets come from a plain form or from score.js; both are read by the same code, and the Accept
header decides between a redirect and JSON.
"""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.views.sheet_replies import (
    closed_reply,
    conflict_reply,
    errors_of,
    not_valid_json,
    see_other,
    submitted_reply,
)
from benchmark.actions.scoring_serving import next_sheet, qualification_for
from benchmark.actions.scoring_sheets import (
    RoundNotOpen,
    SheetNotValid,
    StaleDraft,
    agreement_with_key,
    content_of,
    is_changeable,
    save_draft,
    submit_sheet,
    take_kept,
)
from benchmark.forms.scoring import LONGEST_NOTE, SaveForm
from benchmark.models import ScoreSheet, ScoringRound
from cqa_site.people.access import study_page
from cqa_site.people.models import Study
from cqa_site.web.replies import wants_json

from .scoring_access import SCORERS, opened_round, own_rater, own_sheet, shown_sheets
from .scoring_payload import (
    form_groups,
    hints_of,
    kept_rows,
    page_data,
    places_json,
)

LISTED = 200


@study_page(*SCORERS)
@require_safe
def score(request: HttpRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """Go to the sheet that waits, or say why there is none."""
    scoring_round = opened_round(request, study, round_id)
    rater = own_rater(request)
    work = next_sheet(scoring_round=scoring_round, rater=rater)
    if work.sheet is not None:
        return redirect("score_form", study.public_id, work.sheet.public_id)
    context = {
        "study": study,
        "scoring_round": scoring_round,
        "reason": work.reason,
        "done": _done(scoring_round, rater),
        "place": qualification_for(scoring_round=scoring_round, rater=rater),
    }
    return render(request, "benchmark/score_state.html", context)


@study_page(*SCORERS)
@require_safe
def score_form(request: HttpRequest, study: Study, sheet_id: uuid.UUID) -> HttpResponse:
    """Show one own sheet: the form, or an example's key after it was submitted."""
    sheet = own_sheet(request, study, sheet_id)
    if sheet.is_example and sheet.state == ScoreSheet.State.SUBMITTED:
        return _feedback(request, study, sheet)
    return _page(request, sheet)


@study_page(*SCORERS)
@require_safe
def score_own(request: HttpRequest, study: Study, round_id: uuid.UUID) -> HttpResponse:
    """List the person's sheets of a round that may still be looked at."""
    scoring_round = opened_round(request, study, round_id)
    rater = own_rater(request)
    context = {
        "study": study,
        "scoring_round": scoring_round,
        "sheets": shown_sheets(scoring_round, rater)[:LISTED],
        "is_open": scoring_round.state == ScoringRound.State.OPEN,
        "hides_earlier": scoring_round.repeat_share > 0,
        "done": _done(scoring_round, rater),
    }
    return render(request, "benchmark/score_own.html", context)


@study_page(*SCORERS)
@require_POST
def score_save(request: HttpRequest, study: Study, sheet_id: uuid.UUID) -> HttpResponse:
    """Store what stands on the form; what comes too late is kept aside."""
    sheet = own_sheet(request, study, sheet_id)
    form = SaveForm(request.POST, rubric=sheet.rubric.rubric)
    if not form.is_valid():
        return _not_valid(request, sheet, form, errors_of(form))
    try:
        saved = save_draft(sheet=sheet, sent=form.sent())
    except StaleDraft:
        return _stale(request, sheet)
    except RoundNotOpen:
        return closed_reply(request, _address(sheet))
    if not wants_json(request):
        return see_other(_address(sheet))
    return JsonResponse({"version": saved.version, "saved_at": saved.saved_at})


@study_page(*SCORERS)
@require_POST
def score_submit(request: HttpRequest, study: Study, sheet_id: uuid.UUID) -> HttpResponse:
    """Submit the sheet and go on with the next one."""
    sheet = own_sheet(request, study, sheet_id)
    form = SaveForm(request.POST, rubric=sheet.rubric.rubric)
    if not form.is_valid():
        return _not_valid(request, sheet, form, errors_of(form))
    try:
        key = form.cleaned_data["client_key"] or uuid.uuid4().hex
        submitted = submit_sheet(sheet=sheet, sent=form.sent(), key=key)
    except StaleDraft:
        return _stale(request, sheet)
    except RoundNotOpen:
        return closed_reply(request, _address(sheet))
    except SheetNotValid as reason:
        return _not_valid(request, sheet, form, str(reason), reason.missing)
    address = _after(submitted)
    return submitted_reply(request, address, submitted.version)


@study_page(*SCORERS)
@require_POST
def score_settle(
    request: HttpRequest, study: Study, sheet_id: uuid.UUID, kept_id: uuid.UUID
) -> HttpResponse:
    """Go on with a draft that was kept aside, or leave it."""
    sheet = own_sheet(request, study, sheet_id)
    kept = get_object_or_404(sheet.kept_drafts, public_id=kept_id)
    choice = request.POST.get("choice")
    # Anything but an answer to the question leaves both versions where they are.
    if choice not in ("mine", "stored"):
        return see_other(_address(sheet))
    try:
        take_kept(sheet=sheet, kept=kept, is_wanted=choice == "mine")
    except RoundNotOpen:
        return closed_reply(request, _address(sheet))
    return see_other(_address(sheet))


def _page(
    request: HttpRequest,
    sheet: ScoreSheet,
    form: SaveForm | None = None,
    error: str = "",
    missing: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The form; one with errors brings its own content back."""
    study = request.membership.study
    content = form.sheet.content if form else content_of(sheet)
    hints = hints_of(sheet)
    client = uuid.uuid4().hex
    groups = form_groups(sheet.rubric.rubric, content, hints)
    question = sheet.answer.question
    context = {
        "study": study,
        "scoring_round": sheet.scoring_round,
        "sheet": sheet,
        "question": question,
        "answer_text": sheet.answer.text,
        "groups": groups,
        "points": sum(group.points for group in groups),
        "left": sum(not each.is_set for group in groups for each in group.criteria),
        "hints": [(hint, places_json(hint)) for hint in hints.values()],
        "reasons": ScoreSheet.Unable.choices,
        "comment": content.comment,
        "longest": LONGEST_NOTE,
        "is_open": is_changeable(sheet),
        "kept": kept_rows(sheet),
        "error": error,
        "missing": missing or [],
        "client_key": uuid.uuid4().hex,
        "page": page_data(sheet, client),
        "done": _done(sheet.scoring_round, sheet.rater),
    }
    return render(request, "benchmark/score.html", context, status=status)


def _feedback(request: HttpRequest, study: Study, sheet: ScoreSheet) -> HttpResponse:
    """An example beside its key."""
    item = sheet.scoring_round.items.get(answer=sheet.answer_id)
    rows = [
        {
            "criterion": criterion,
            "given": sheet.points.get(criterion.key),
            "key": item.key_points.get(criterion.key),
            "note": item.key_notes.get(criterion.key, ""),
        }
        for criterion in sheet.rubric.rubric.criteria
    ]
    own = shown_sheets(sheet.scoring_round, sheet.rater).filter(is_example=True)
    context = {
        "study": study,
        "scoring_round": sheet.scoring_round,
        "sheet": sheet,
        "rows": rows,
        "share": agreement_with_key([(sheet.points, item.key_points or {})]),
        "number": own.filter(place__lte=sheet.place).count(),
        "examples": sheet.scoring_round.items.filter(key_points__isnull=False).count(),
        "place": qualification_for(scoring_round=sheet.scoring_round, rater=sheet.rater),
        "done": _done(sheet.scoring_round, sheet.rater),
    }
    return render(request, "benchmark/score_feedback.html", context)


def _done(scoring_round: ScoringRound, rater) -> int:
    """Sheets the person has submitted, without examples."""
    return ScoreSheet.objects.filter(
        scoring_round=scoring_round,
        rater=rater,
        state=ScoreSheet.State.SUBMITTED,
        is_example=False,
    ).count()


def _after(sheet: ScoreSheet) -> str:
    """An example shows its key; anything else goes on with the next answer."""
    scoring_round = sheet.scoring_round
    study = scoring_round.study.public_id
    if sheet.is_example:
        return reverse("score_form", args=[study, sheet.public_id])
    following = next_sheet(scoring_round=scoring_round, rater=sheet.rater).sheet
    if following is None:
        return reverse("score", args=[study, scoring_round.public_id])
    return reverse("score_form", args=[study, following.public_id])


def _stale(request: HttpRequest, sheet: ScoreSheet) -> HttpResponse:
    """Both contents side by side; nothing was overwritten."""
    sheet.refresh_from_db(fields=["draft", "points", "unable", "notes", "comment", "version"])
    context = {"study": request.membership.study, "sheet": sheet, "kept": kept_rows(sheet)}
    return conflict_reply(request, _address(sheet), "benchmark/_score_kept.html", context)


def _not_valid(
    request: HttpRequest,
    sheet: ScoreSheet,
    form: SaveForm,
    detail: str,
    missing: list[str] | None = None,
) -> HttpResponse:
    """Say what is missing or wrong; without script the content comes back."""
    if not wants_json(request):
        return _page(request, sheet, form, detail, missing, status=422)
    return not_valid_json(detail, missing)


def _address(sheet: ScoreSheet) -> str:
    return reverse("score_form", args=[sheet.scoring_round.study.public_id, sheet.public_id])


urlpatterns = [
    path("scoring/<uuid:round_id>/", score, name="score"),
    path("scoring/<uuid:round_id>/own/", score_own, name="score_own"),
    path("scoring/sheets/<uuid:sheet_id>/", score_form, name="score_form"),
    path("scoring/sheets/<uuid:sheet_id>/save/", score_save, name="score_save"),
    path("scoring/sheets/<uuid:sheet_id>/submit/", score_submit, name="score_submit"),
    path("scoring/sheets/<uuid:sheet_id>/kept/<uuid:kept_id>/", score_settle, name="score_settle"),
]
