"""The label page: one sentence, one key.

Answers come from a plain form or from label.js. Both post the same fields to
``label_answer``; the Accept header decides between a redirect and JSON with
the next items. Opening the page reserves items: a GET that writes, on purpose.
"""

import uuid
from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.db import transaction
from django.db.models.functions import Now
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.labelling.actions.answering import (
    Answer,
    AnsweredMeanwhile,
    AnswerNotValid,
    KeyReused,
    RoundClosed,
    newest_keys,
    store,
)
from annotation.labelling.actions.how_far import how_far, times_of
from annotation.labelling.actions.kind import LABELS
from annotation.labelling.actions.serving import (
    DONE,
    Work,
    answered_count,
    next_work,
    renew,
    reserved,
)
from annotation.labelling.forms.label import AnswerForm
from annotation.labelling.models.campaigns import Campaign
from annotation.labelling.models.votes import Assignment
from cqa_site.people.access import StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.rounds.access import over_reason, participant_of
from cqa_site.rounds.models import Place
from cqa_site.rounds.pages.offline import kept_offline
from cqa_site.web.replies import wants_json

from .label_page import Shown, render_label, ways_of
from .label_payload import earlier_payload, item_payload, segments_of
from .label_place import answers_of, locked_place, own_row, place_in

RATERS = (Role.ANNOTATOR, Role.EXPERT)
EARLIER = 5
PAGE_SIZE = 25


@study_page(*RATERS)
@require_safe
def label(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show the next item, or with ?item= an own earlier answer to change it."""
    place = place_in(request, study, campaign_id)
    if "item" not in request.GET:
        return _page(request, place)
    if place.round.state == Campaign.State.CLOSED:
        return redirect("label_answers", study.public_id, campaign_id)
    return _page(request, place, shown=own_row(place, request.GET["item"]))


@study_page(*RATERS)
@require_POST
def label_answer(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Store one answer; return what comes next, or where the page with it is."""
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _refuse(request, place_in(request, study, campaign_id), "not_valid", 422)
    item = form.cleaned_data["item"]
    try:
        # One transaction for the answer and what follows from it: one commit per label.
        with transaction.atomic():
            place = locked_place(request, study, campaign_id)
            row, work, answered = _store(request, place, item, form.answer())
    except Assignment.DoesNotExist as error:
        raise Http404 from error
    except AnswerNotValid:
        return _refuse(request, place, "not_valid", 422, item)
    except KeyReused:
        return _refuse(request, place, "key_reused", 409, item)
    except RoundClosed:
        return _refuse(request, place, "round_closed", 409, item)
    except AnsweredMeanwhile as late:
        return _refuse(request, place, "answered_meanwhile", 409, item, str(late))
    if not wants_json(request):
        return _see_other("label", study.public_id, campaign_id)
    saved = {"id": str(row.public_id), "label": row.label}
    if form.cleaned_data["has_enough"]:
        work = replace(work, assignments=[])
    return JsonResponse({"saved": saved} | _coming(work, answered))


def _store(
    request: StudyRequest, place: Place, item: uuid.UUID, given: Answer
) -> tuple[Assignment, Work, int]:
    """Keep the answer, look at the block if it ended, reserve what comes next."""
    rows = Assignment.objects.filter(
        public_id=item, rater_id=place.rater_id, campaign_id=place.round_id
    )
    campaign: Any = place.round
    stored = store(rows=rows, given=given)
    waiting = reserved(campaign=campaign, place=place)
    # Not after changes: whoever is stopped could try out which answers end the stop. And only
    # after whole blocks: earlier, the answer that stops somebody would be one to a control item.
    if stored.is_first and all(row.block != stored.row.block for row in waiting):
        LABELS.block_ended(campaign, place)
        place.refresh_from_db(fields=["is_stopped", "excluded_at"])
    return stored.row, *_reserve(request, place, waiting)


@study_page(*RATERS)
@require_safe
def label_next(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the items reserved for the rater, for a page that was away."""
    return JsonResponse(_next(request, place_in(request, study, campaign_id)))


@study_page(*RATERS)
@require_POST
def label_alive(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Prolong what the rater holds while the page is visible.

    Answers nothing: the number of slots would tell how many items are controls.
    """
    renew(place=place_in(request, study, campaign_id))
    return HttpResponse(status=204)


@study_page(*RATERS)
@require_safe
def label_answers(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the rater's own answers, newest first; changeable while the round is open."""
    place = place_in(request, study, campaign_id)
    page = Paginator(answers_of(place), PAGE_SIZE).get_page(request.GET.get("page"))
    campaign: Any = place.round
    names = campaign.guideline.level_names
    for row in page:
        vars(row).update(segments=segments_of(row), label_name=names.get(row.label, ""))
    context = {"study": study, "campaign": campaign, "page": page}
    return render(request, "annotation/labelling/label_answers.html", context)


def _page(
    request: StudyRequest,
    place: Place,
    *,
    shown: Assignment | None = None,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render ``shown`` or else the next item; without either, the reason why."""
    campaign: Any = place.round
    times = times_of(place)
    work = _work(request, place, len(times))
    if work.reason == "ended" and shown is None:
        return redirect("participation_end")
    waiting = work.assignments
    current = shown or next(iter(waiting), None)
    is_change = current is not None and current.state in DONE
    if current is not None and not is_change:
        waiting = [current, *(row for row in waiting if row.pk != current.pk)]
        _remember_shown(current)
    earlier = list(answers_of(place)[:EARLIER])
    known = newest_keys([*earlier, *([current] if is_change and current else [])])
    participant = participant_of(request)
    far = how_far(
        campaign=campaign,
        place=place,
        times=times,
        served=len(work.assignments),
        wanted=participant.link.required_items if participant else None,
    )
    context = {
        "is_participant": participant is not None,
        "undo": next(iter(earlier), None),
        "ways": ways_of(campaign),
    }
    page = {
        "change": earlier_payload(current, known) if current and is_change else None,
        "earlier": [earlier_payload(row, known) for row in reversed(earlier)],
    }
    found = Shown(campaign, waiting, current, far, work.reason, notice)
    return kept_offline(render_label(request, found, context, page, status=status), request)


def _refuse(
    request: StudyRequest,
    place: Place,
    error: str,
    status: int,
    item: uuid.UUID | None = None,
    detail: str = "",
) -> HttpResponse:
    """Say why an answer was not stored, and show the item again."""
    texts = {
        "answered_meanwhile": detail,
        "not_valid": _("This answer was not stored: choose a label, or skip with a reason."),
        "key_reused": _("You had answered this already. Here it is; change it if you want to."),
        "round_closed": _("This round is closed, so your earlier answer stays as it was."),
    }
    shown = own_row(place, str(item)) if item else None
    if wants_json(request):
        body: dict[str, Any] = {"error": error, "detail": texts[error]}
        if shown and detail:
            body["stored"] = earlier_payload(shown, newest_keys([shown]))
        return JsonResponse(body, status=status)
    return _page(request, place, shown=shown, notice=texts[error], status=status)


def _next(request: StudyRequest, place: Place) -> dict[str, Any]:
    """What a page needs to go on."""
    return _coming(*_reserve(request, place))


def _reserve(
    request: StudyRequest, place: Place, waiting: list[Assignment] | None = None
) -> tuple[Work, int]:
    """What is reserved for the rater, the first on the screen now, and how much they have done."""
    answered = answered_count(place)
    work = _work(request, place, answered, waiting)
    if work.assignments:
        _remember_shown(work.assignments[0])
    return work, answered


def _coming(work: Work, answered: int) -> dict[str, Any]:
    """Own work only: how far the campaign is would tell what others do."""
    return {
        "next": [item_payload(row) for row in work.assignments],
        "progress": {"answered": answered},
        "state": work.reason,
    }


def _work(
    request: StudyRequest,
    place: Place,
    answered: int,
    waiting: list[Assignment] | None = None,
) -> Work:
    """What is left to label; participants get what their link asks for and no more."""
    campaign: Any = place.round
    reason = over_reason(request, campaign, answered)
    if reason:
        return Work([], reason)
    work = next_work(campaign=campaign, place=place, waiting=waiting)
    participant = participant_of(request)
    left = participant.link.required_items - answered if participant else None
    return Work(work.assignments[:left], work.reason)


def _remember_shown(row: Assignment) -> None:
    Assignment.objects.filter(pk=row.pk, shown_at__isnull=True).update(shown_at=Now())


def _see_other(name: str, *args: object) -> HttpResponse:
    return HttpResponse(status=303, headers={"Location": reverse(name, args=args)})


urlpatterns = [
    path("label-rounds/<uuid:campaign_id>/label/", label, name="label"),
    path("label-rounds/<uuid:campaign_id>/label/answer/", label_answer, name="label_answer"),
    path("label-rounds/<uuid:campaign_id>/label/next/", label_next, name="label_next"),
    path("label-rounds/<uuid:campaign_id>/label/alive/", label_alive, name="label_alive"),
    path("label-rounds/<uuid:campaign_id>/label/answers/", label_answers, name="label_answers"),
]
