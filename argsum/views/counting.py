"""The counting form: references on one side, generated summaries on the other.

Sheets come from a plain form or from count.js; both are read by the same code, and the Accept
header decides between a redirect and JSON.
"""

import uuid
from typing import Any

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
from argsum.actions.counting_serving import next_sheet
from argsum.actions.counting_sheets import (
    RoundNotOpen,
    SheetNotValid,
    StaleDraft,
    content_of,
    is_changeable,
    save_draft,
    submit_sheet,
    take_kept,
)
from argsum.forms.count_form import LONGEST_COMMENT, SaveForm
from argsum.methods.statement_letters import letters
from argsum.models import CountingRound, CountSheet
from cqa_site.people.access import study_page
from cqa_site.people.models import Study
from cqa_site.web.replies import wants_json

from .counting_access import COUNTERS, opened_round, own_rater, own_sheet, shown_sheets
from .counting_payload import form_set, kept_rows, levels, page_data, shown_counts

LISTED = 200


@study_page(*COUNTERS)
@require_safe
def count(request: HttpRequest, study: Study, counting_id: uuid.UUID) -> HttpResponse:
    """Go to the sheet that waits, or say why there is none."""
    counting_round = opened_round(request, study, counting_id)
    rater = own_rater(request)
    work = next_sheet(counting_round=counting_round, rater=rater)
    if work.sheet is not None:
        return redirect("count_form", study.public_id, work.sheet.public_id)
    context = {
        "study": study,
        "counting_round": counting_round,
        "reason": work.reason,
        "done": _done(counting_round, rater),
    }
    return render(request, "argsum/count_state.html", context)


@study_page(*COUNTERS)
@require_safe
def count_form(request: HttpRequest, study: Study, count_id: uuid.UUID) -> HttpResponse:
    """Show one own sheet."""
    return _page(request, own_sheet(request, study, count_id))


@study_page(*COUNTERS)
@require_safe
def count_own(request: HttpRequest, study: Study, counting_id: uuid.UUID) -> HttpResponse:
    """List the person's sheets of a round that may still be looked at."""
    counting_round = opened_round(request, study, counting_id)
    rater = own_rater(request)
    context = {
        "study": study,
        "counting_round": counting_round,
        "sheets": shown_sheets(counting_round, rater)[:LISTED],
        "is_open": counting_round.state == CountingRound.State.OPEN,
        "hides_earlier": counting_round.repeat_share > 0,
        "done": _done(counting_round, rater),
    }
    return render(request, "argsum/count_own.html", context)


@study_page(*COUNTERS)
@require_POST
def count_save(request: HttpRequest, study: Study, count_id: uuid.UUID) -> HttpResponse:
    """Store what stands on the form; what comes too late is kept aside.

    A typed count that is none keeps nothing else from being stored: the answer says both.
    """
    sheet = own_sheet(request, study, count_id)
    form = SaveForm(request.POST, sheet=sheet)
    if not form.is_valid():
        return _not_valid(request, sheet, form, errors_of(form))
    try:
        saved = save_draft(sheet=sheet, sent=form.sent())
    except StaleDraft:
        return _stale(request, sheet)
    except RoundNotOpen:
        return closed_reply(request, _address(sheet))
    stored = _stored(saved)
    if form.wrong_counts:
        return _not_valid(request, saved, form, form.wrong_counts, stored=stored)
    return JsonResponse(stored) if wants_json(request) else see_other(_address(sheet))


@study_page(*COUNTERS)
@require_POST
def count_submit(request: HttpRequest, study: Study, count_id: uuid.UUID) -> HttpResponse:
    """Submit the sheet and go on with the next set."""
    sheet = own_sheet(request, study, count_id)
    form = SaveForm(request.POST, sheet=sheet)
    if not form.is_valid() or form.wrong_counts:
        return _not_valid(request, sheet, form, f"{errors_of(form)} {form.wrong_counts}".strip())
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


@study_page(*COUNTERS)
@require_POST
def count_settle(
    request: HttpRequest, study: Study, count_id: uuid.UUID, kept_count_id: uuid.UUID
) -> HttpResponse:
    """Go on with a draft that was kept aside, or leave it."""
    sheet = own_sheet(request, study, count_id)
    kept = get_object_or_404(sheet.kept, public_id=kept_count_id)
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
    sheet: CountSheet,
    form: SaveForm | None = None,
    error: str = "",
    missing: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The form; one with errors brings its own content back."""
    content = form.read.content if form else content_of(sheet)
    context = {
        "study": request.membership.study,
        "counting_round": sheet.counting_round,
        "sheet": sheet,
        "shown": form_set(sheet, content),
        "content": content,
        "counts": shown_counts(sheet, content),
        "levels": levels(),
        "letters": letters(sheet.summaries),
        "longest": LONGEST_COMMENT,
        "is_open": is_changeable(sheet),
        "kept": kept_rows(sheet),
        "error": error,
        "missing": missing or [],
        "client_key": uuid.uuid4().hex,
        "page": page_data(sheet, uuid.uuid4().hex),
        "done": _done(sheet.counting_round, sheet.rater),
    }
    return render(request, "argsum/count.html", context, status=status)


def _done(counting_round: CountingRound | None, rater) -> int:
    """Sheets the person has submitted."""
    return CountSheet.objects.filter(
        counting_round=counting_round, rater=rater, state=CountSheet.State.SUBMITTED
    ).count()


def _after(sheet: CountSheet) -> str:
    """Where the next set is."""
    counting_round: Any = sheet.counting_round
    study = counting_round.study.public_id
    following = next_sheet(counting_round=counting_round, rater=sheet.rater).sheet
    if following is None:
        return reverse("count", args=[study, counting_round.public_id])
    return reverse("count_form", args=[study, following.public_id])


def _stale(request: HttpRequest, sheet: CountSheet) -> HttpResponse:
    """Both contents side by side; nothing was overwritten."""
    sheet.refresh_from_db()
    context = {"study": request.membership.study, "sheet": sheet, "kept": kept_rows(sheet)}
    return conflict_reply(request, _address(sheet), "argsum/_count_kept.html", context)


def _stored(saved: CountSheet) -> dict[str, Any]:
    """What the page is told about the draft that the server has now."""
    counts = shown_counts(saved, content_of(saved))
    return {"version": saved.version, "saved_at": saved.saved_at, **counts}


def _not_valid(
    request: HttpRequest,
    sheet: CountSheet,
    form: SaveForm,
    detail: str,
    missing: list[str] | None = None,
    stored: dict[str, Any] | None = None,
) -> HttpResponse:
    """Say what is missing or wrong; without script the content comes back.

    ``stored`` tells a script that the draft was stored nevertheless.
    """
    if not wants_json(request):
        return _page(request, sheet, form, detail, missing, status=422)
    return not_valid_json(detail, missing, stored)


def _address(sheet: CountSheet) -> str:
    return reverse("count_form", args=[sheet.study.public_id, sheet.public_id])


ROUND = "key-points/judging/<uuid:counting_id>/"
SHEET = "key-points/judging/sheets/<uuid:count_id>/"
urlpatterns = [
    path(ROUND, count, name="count"),
    path(ROUND + "own/", count_own, name="count_own"),
    path(SHEET, count_form, name="count_form"),
    path(SHEET + "save/", count_save, name="count_save"),
    path(SHEET + "submit/", count_submit, name="count_submit"),
    path(SHEET + "kept/<uuid:kept_count_id>/", count_settle, name="count_settle"),
]
