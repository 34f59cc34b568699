"""Pages for raters: serve items, store labels, and correct earlier labels."""

import uuid
from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.db import models, transaction
from django.db.models import Count, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _

from annotation.labelling.actions.blocks import LABELS
from annotation.labelling.actions.serving import (
    DONE,
    LabelWork,
    answered_count,
    how_far,
    member_place,
    next_work,
    renew,
    times_of,
)
from annotation.labelling.actions.votes import (
    AnsweredMeanwhile,
    AnswerNotValid,
    KeyReused,
    RoundClosed,
    SubmittedLabel,
    newest_keys,
    store,
)
from annotation.labelling.forms import AnswerForm
from annotation.labelling.models import Assignment, LabelRound
from cqa_site.people.access import StudyRequest, admit, study_page, working
from cqa_site.people.models import Rater, Role, Study, User
from cqa_site.rounds.access import (
    WORKERS,
    opened_round,
    over_reason,
    participant_of,
    refuse_withdrawn,
)
from cqa_site.rounds.models import Place, Round
from cqa_site.rounds.pages.replies import is_unread, kept_offline, to_steps, unread_notice
from cqa_site.web.bulk_queries import PreparedQuery
from cqa_site.web.pages import wants_json
from cqa_site.web.rest.queries import id_from
from .label_page import (
    LabelPageState,
    earlier_payload,
    item_payload,
    render_label,
    segments_of,
    ways_of,
)


def place_in(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> Place:
    """Return the member's enrolment in a live round that has been opened; raises Http404."""
    label_round = opened_round(LABELS, request, study, label_round_id, "guideline")
    if not label_round.is_live:
        raise Http404
    return member_place(label_round=label_round, membership=request.membership)


def _places(user: int, study: uuid.UUID, label_round: uuid.UUID) -> QuerySet[Place]:
    places = Place.objects.select_for_update(of=("self",)).filter(
        working(user, study, WORKERS),
        round__public_id=label_round,
        round__labelround__origin=LabelRound.Origin.LIVE,
        rater__user=user,
    )
    related = places.select_related("round__labelround__guideline")
    return related.defer("round__labelround__guideline__body")


_PLACE = PreparedQuery(
    _places, user=User._meta.pk, study=models.UUIDField(), label_round=models.UUIDField()
)


def _held(rater: int, label_round: int, item: uuid.UUID) -> QuerySet[Assignment]:
    own = Assignment.objects.filter(rater=rater, round=label_round)
    done = own.filter(state__in=DONE).order_by().values("rater").annotate(n=Count("pk"))
    rows = own.filter(Q(public_id=item) | Q(state=Assignment.State.SERVED))
    counted = rows.annotate(answered=Coalesce(Subquery(done.values("n")), 0))
    return counted.select_for_update(of=("self",)).order_by("pk")


_HELD = PreparedQuery(
    _held, rater=Rater._meta.pk, label_round=Round._meta.pk, item=models.UUIDField()
)


def locked_place(request: StudyRequest, study_id: uuid.UUID, label_round_id: uuid.UUID) -> Place:
    """Return the rater's enrolment with its round, locked against concurrent decisions.

    The same query checks the membership. The assignment is locked later; see
    `annotation.labelling.actions.serving`. Raises Http404 or PermissionDenied.
    """
    places = _PLACE(user=request.user.pk, study=study_id, label_round=label_round_id)
    if not places:
        admit(request, study_id, WORKERS)
        raise Http404
    place: Place = places[0]
    place.round = place.round.labelround
    refuse_withdrawn(participant_of(request))
    return place


def held_rows(place: Place, item: uuid.UUID) -> tuple[Assignment, list[Assignment]]:
    """Return the answered item and the rater's other reserved items in serving order, locked.

    A single query also adds the number of earlier answers as ``answered``. Raises
    Assignment.DoesNotExist.
    """
    rows = _HELD(rater=place.rater_id, label_round=place.round_id, item=item)
    row = next((assignment for assignment in rows if assignment.public_id == item), None)
    if row is None:
        raise Assignment.DoesNotExist
    label_round: Any = place.round
    row.round = label_round
    waiting = [assignment for assignment in rows if assignment is not row]
    return row, sorted(waiting, key=lambda assignment: (assignment.block, assignment.position))


def with_texts(rows: list[Assignment]) -> list[Assignment]:
    """Return the rows with their texts, loading missing texts in one query."""
    if all(map(Assignment.item.is_cached, rows)):
        return rows
    assignments = Assignment.objects.select_related("item__argument__comparison")
    full = assignments.in_bulk([row.pk for row in rows])
    return [full[row.pk] for row in rows]


def answers_of(place: Place) -> QuerySet[Assignment]:
    """Return the rater's answers in the round, newest first."""
    rows = Assignment.objects.filter(
        rater_id=place.rater_id, round_id=place.round_id, state__in=DONE
    )
    return rows.select_related("item__argument__comparison").order_by("-answered_at", "-pk")


def own_row(place: Place, public_id: str) -> Assignment:
    """Return an item served to the rater, by its id in the URL; raises Http404."""
    rows = Assignment.objects.exclude(state=Assignment.State.VOID).select_related(
        "item__argument__comparison"
    )
    return get_object_or_404(
        rows, public_id=id_from(public_id), rater_id=place.rater_id, round_id=place.round_id
    )


# Label page
#
# Answers are sent by a plain form or by label.js. Both post the same fields to ``label_answer``;
# the Accept header selects a redirect or JSON with the next items. Opening the page reserves
# items, so this GET request writes on purpose.

RATERS = (Role.ANNOTATOR, Role.EXPERT)
EARLIER = 5
PAGE_SIZE = 25
REFUSALS: dict[type[Exception], tuple[str, int]] = {
    AnswerNotValid: ("not_valid", 422),
    KeyReused: ("key_reused", 409),
    RoundClosed: ("round_closed", 409),
    AnsweredMeanwhile: ("answered_meanwhile", 409),
}


@study_page(*RATERS, only="GET")
def label(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show the next item or, with ``?item=``, an earlier answer by the rater for correction."""
    place = place_in(request, study, label_round_id)
    if "item" not in request.GET:
        return _page(request, place)
    if place.round.state == LabelRound.State.CLOSED:
        return redirect("label_answers", study.public_id, label_round_id)
    return _page(request, place, shown=own_row(place, request.GET["item"]))


@study_page(*RATERS, asks_itself=True, only="POST")
def label_answer(
    request: StudyRequest, study_id: uuid.UUID, label_round_id: uuid.UUID
) -> HttpResponse:
    """Store one answer; return the next items, or redirect to the page that shows them."""
    form = AnswerForm(request.POST)
    if not form.is_valid():
        place = place_in(request, admit(request, study_id, RATERS), label_round_id)
        return _refuse(request, place, "not_valid", 422)
    item = form.cleaned_data["item"]
    served = Assignment.objects.filter(public_id=item, state=Assignment.State.SERVED)
    if is_unread(request, served, "shown_at"):
        place = place_in(request, admit(request, study_id, RATERS), label_round_id)
        return _refuse(request, place, "unread", 409, item)
    try:
        # One transaction for the answer and its consequences, so one commit per label.
        with transaction.atomic():
            place = locked_place(request, study_id, label_round_id)
            row, work, answered = _store(request, place, item, form.answer())
    except Assignment.DoesNotExist as error:
        raise Http404 from error
    except tuple(REFUSALS) as refused:
        admit(request, study_id, RATERS)
        detail = str(refused) if isinstance(refused, AnsweredMeanwhile) else ""
        return _refuse(request, place, *REFUSALS[type(refused)], item, detail)
    if not wants_json(request):
        return _see_other("label", study_id, label_round_id)
    saved = {"id": str(row.public_id), "label": row.label}
    if form.cleaned_data["has_enough"]:
        work = replace(work, assignments=[])
    return JsonResponse({"saved": saved} | _coming(work, answered))


def _store(
    request: StudyRequest, place: Place, item: uuid.UUID, label: SubmittedLabel
) -> tuple[Assignment, LabelWork, int]:
    """Store the answer, check a finished block, and reserve the next items."""
    label_round: Any = place.round
    row, waiting = held_rows(place, item)
    stored = store(row, label)
    # Not after changes, because a stopped rater could find out which answers end the stop. Only
    # after whole blocks, because otherwise the answer that stops a rater would reveal a control
    # item.
    if stored.is_first and all(row.block != stored.row.block for row in waiting):
        LABELS.block_ended(label_round, place)
        fields = ["is_stopped", "excluded_at", "prepared_for", "prepared_until"]
        place.refresh_from_db(fields=fields)
    answered = row.answered + stored.is_first  # type: ignore[attr-defined]  # an annotation
    work = _work(request, place, answered, waiting)
    if work.assignments and not wants_json(request):
        _remember_shown(work.assignments[0])
    return row, work, answered


@study_page(*RATERS, only="GET")
def label_next(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Return the rater's reserved items, for a page that is being resumed."""
    place = place_in(request, study, label_round_id)
    answered = answered_count(place)
    return JsonResponse(_coming(_work(request, place, answered), answered))


@study_page(*RATERS, in_archive=True, only="POST")
def label_alive(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Renew the rater's leases while the page is visible.

    The response is empty, because the number of slots would reveal the number of control items.
    """
    renew(place=place_in(request, study, label_round_id))
    return HttpResponse(status=204)


@study_page(*RATERS, only="GET")
def label_answers(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """List the rater's answers, newest first; they can be changed while the round is open."""
    place = place_in(request, study, label_round_id)
    page = Paginator(answers_of(place), PAGE_SIZE).get_page(request.GET.get("page"))
    label_round: Any = place.round
    names = label_round.guideline.level_names
    for row in page:
        vars(row).update(segments=segments_of(row), label_name=names.get(row.label, ""))
    context = {"study": study, "round": label_round, "page": page}
    return render(request, "annotation/labelling/label_answers.html", context)


def _page(
    request: StudyRequest,
    place: Place,
    *,
    shown: Assignment | None = None,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render ``shown`` or the next item, or the reason why there is no item."""
    label_round: Any = place.round
    times = times_of(place)
    work = _work(request, place, len(times))
    if work.reason == "ended" and shown is None:
        return redirect("participation_end")
    if work.reason == "steps" and shown is None:
        return to_steps(label_round)
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
        label_round=label_round,
        place=place,
        times=times,
        served=len(work.assignments),
        wanted=participant.link.required_items if participant else None,
    )
    context = {
        "is_participant": participant is not None,
        "undo": next(iter(earlier), None),
        "ways": ways_of(label_round),
    }
    page = {
        "change": earlier_payload(current, known) if current and is_change else None,
        "earlier": [earlier_payload(row, known) for row in reversed(earlier)],
    }
    state = LabelPageState(label_round, waiting, current, far, work.reason, notice)
    return kept_offline(render_label(request, state, context, page, status=status), request)


def _refuse(
    request: StudyRequest,
    place: Place,
    error: str,
    status: int,
    item: uuid.UUID | None = None,
    detail: str = "",
) -> HttpResponse:
    """Show the item again, with the reason why the answer was not stored."""
    texts = {
        "answered_meanwhile": detail,
        "not_valid": _("This answer was not stored. Choose a label, or skip with a reason."),
        "key_reused": _("You already answered this item. Here is your answer; you can change it."),
        "unread": unread_notice(),
        "round_closed": _("This round is closed, so your earlier answer was kept."),
    }
    assignment = own_row(place, str(item)) if item else None
    if wants_json(request):
        body: dict[str, Any] = {"error": error, "detail": texts[error]}
        if assignment and detail:
            body["stored"] = earlier_payload(assignment, newest_keys([assignment]))
        return JsonResponse(body, status=status)
    return _page(request, place, shown=assignment, notice=texts[error], status=status)


def _coming(work: LabelWork, answered: int) -> dict[str, Any]:
    """Return only the rater's own work; the round's progress would reveal the work of others."""
    return {
        "next": [item_payload(row) for row in with_texts(work.assignments)],
        "progress": {"answered": answered},
        "state": work.reason,
    }


def _work(
    request: StudyRequest, place: Place, answered: int, waiting: list[Assignment] | None = None
) -> LabelWork:
    """Return the remaining work; for participants, only as many items as their link requires."""
    label_round: Any = place.round
    reason = over_reason(request, label_round, answered)
    if reason:
        return LabelWork([], reason)
    work = next_work(label_round=label_round, place=place, waiting=waiting)
    participant = participant_of(request)
    left = participant.link.required_items - answered if participant else None
    return LabelWork(work.assignments[:left], work.reason)


def _remember_shown(row: Assignment) -> None:
    Assignment.objects.filter(pk=row.pk, shown_at__isnull=True).update(shown_at=Now())


def _see_other(name: str, *args: object) -> HttpResponse:
    return HttpResponse(status=303, headers={"Location": reverse(name, args=args)})


urlpatterns = [
    path("label-rounds/<uuid:label_round_id>/label/", label, name="label"),
    path("label-rounds/<uuid:label_round_id>/label/answer/", label_answer, name="label_answer"),
    path("label-rounds/<uuid:label_round_id>/label/next/", label_next, name="label_next"),
    path("label-rounds/<uuid:label_round_id>/label/alive/", label_alive, name="label_alive"),
    path("label-rounds/<uuid:label_round_id>/label/answers/", label_answers, name="label_answers"),
]
