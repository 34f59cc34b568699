"""The label page: one sentence, one key.

What annotators get is built from allow-lists (``item_payload``), the same for
every item. Answers come from a plain form or from label.js; both post the same
fields to ``label_answer``, and the Accept header decides what comes back.
"""

import uuid

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.answering import AnswerNotValid, KeyReused, RoundClosed, answer
from annotation.actions.serving import (
    Work,
    answered_count,
    member_participation,
    next_work,
    renew,
)
from annotation.forms.answers import AnswerForm
from annotation.methods.highlight import split_sentence
from annotation.models import Assignment, Campaign, Participation
from cqa_site.people.access import study_page
from cqa_site.people.models import Participant, Role, Study, User

RATERS = (Role.ANNOTATOR, Role.EXPERT)
PREFETCH = 5
EARLIER = 5
PAGE_SIZE = 25
DONE = (Assignment.State.ANSWERED, Assignment.State.SKIPPED)


@study_page(*RATERS)
@require_safe
def label(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show the next item, or with ?item= an own earlier answer to change it."""
    campaign = _campaign(request, study, campaign_id)
    place = member_participation(campaign=campaign, membership=request.membership)
    earlier = None
    if "item" in request.GET:
        earlier = _own(place, request.GET["item"])
        if campaign.state == Campaign.State.CLOSED:
            return redirect("label_answers", study.public_id, campaign.public_id)
    return _page(request, place, earlier=earlier)


@study_page(*RATERS)
@require_POST
def label_answer(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Store one answer; return what comes next, or where the page with it is."""
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _refuse(request, study, campaign_id, 422, "not_valid", None)
    row = get_object_or_404(
        Assignment.objects.select_related("campaign__guideline", "rater"),
        public_id=form.cleaned_data["item"],
        campaign__public_id=campaign_id,
        campaign__study=study,
        rater__user=request.user,
    )
    try:
        row = answer(rater=row.rater, assignment=row, given=form.answer())
    except AnswerNotValid:
        return _refuse(request, study, campaign_id, 422, "not_valid", row)
    except KeyReused:
        return _refuse(request, study, campaign_id, 409, "key_reused", row)
    except RoundClosed:
        return _refuse(request, study, campaign_id, 409, "round_closed", row)
    if not _wants_json(request):
        return _see_other("label", study.public_id, campaign_id)
    place = _place_of(row)
    saved = {"id": str(row.public_id), "label": row.label}
    return JsonResponse({"saved": saved, **_next(place, next_work(campaign=row.campaign, participation=place))})


@study_page(*RATERS)
@require_safe
def label_next(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Return the items reserved for the rater, for a page that was away."""
    campaign = _campaign(request, study, campaign_id)
    place = member_participation(campaign=campaign, membership=request.membership)
    return JsonResponse(_next(place, next_work(campaign=campaign, participation=place)))


@study_page(*RATERS)
@require_POST
def label_alive(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Prolong the reservation while the page is visible.

    Says nothing: how many slots that were would tell how many items are controls.
    """
    campaign = _campaign(request, study, campaign_id)
    renew(participation=member_participation(campaign=campaign, membership=request.membership))
    return HttpResponse(status=204)


@study_page(*RATERS)
@require_safe
def label_answers(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the rater's own answers, newest first; each can be changed while the round is open."""
    campaign = _campaign(request, study, campaign_id)
    place = member_participation(campaign=campaign, membership=request.membership)
    page = Paginator(_answers(place), PAGE_SIZE).get_page(request.GET.get("page"))
    names = {level["value"]: level["name"] for level in campaign.guideline.levels}
    for row in page:
        row.segments = _segments(row)
        row.label_name = names.get(row.label, "")
    context = {"study": study, "campaign": campaign, "page": page}
    return render(request, "annotation/label_answers.html", context)


def item_payload(row: Assignment) -> dict[str, object]:
    """Everything a page may know about an item; the same keys for each of them."""
    comparison = row.item.argument.comparison
    return {
        "id": str(row.public_id),
        "object1": comparison.object1,
        "object2": comparison.object2,
        "segments": [{"text": part.text, "mark": part.mark} for part in _segments(row)],
        "blank": row.item.argument.is_blank,
    }


def answer_payload(row: Assignment) -> dict[str, object]:
    """What the rater said about an item, for changing it."""
    return {
        "label": row.label,
        "skip_reason": row.skip_reason,
        "comment": row.comment,
        "flag": row.is_flagged,
    }


def _segments(row: Assignment) -> list:
    argument = row.item.argument
    return split_sentence(argument.text, argument.comparison.object1, argument.comparison.object2)


def _campaign(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> Campaign:
    """A campaign with votes of people; participants only see the one they came for."""
    campaign = get_object_or_404(
        study.campaigns.select_related("guideline"),
        public_id=campaign_id,
        origin=Campaign.Origin.LIVE,
    )
    participant = _participant(request.user)
    if participant and participant.link.campaign_ref not in (None, campaign_id):
        raise Http404
    return campaign


def _participant(user: User) -> Participant | None:
    try:
        return user.participant
    except Participant.DoesNotExist:
        return None


def _place_of(row: Assignment) -> Participation:
    """Participation with everything the reply needs, in one query."""
    place = Participation.objects.select_related("rater__user__participant__link").get(
        campaign=row.campaign_id, rater=row.rater_id
    )
    place.campaign = row.campaign
    return place


def _answers(place: Participation) -> QuerySet[Assignment]:
    return (
        Assignment.objects.filter(
            rater_id=place.rater_id, campaign_id=place.campaign_id, state__in=DONE
        )
        .select_related("item__argument__comparison")
        .order_by("-answered_at", "-pk")
    )


def _own(place: Participation, public_id: str) -> Assignment:
    """An item of the rater by the id in the query; raises Http404."""
    rows = Assignment.objects.select_related("item__argument__comparison").exclude(
        state=Assignment.State.VOID
    )
    try:
        return get_object_or_404(
            rows, rater_id=place.rater_id, campaign_id=place.campaign_id, public_id=uuid.UUID(public_id)
        )
    except ValueError as error:
        raise Http404 from error
