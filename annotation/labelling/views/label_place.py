"""Whose label page it is, and which rows are theirs."""

import uuid

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.labelling.actions.kind import LABELS
from annotation.labelling.actions.serving import DONE, member_place
from annotation.labelling.models.campaigns import Campaign
from annotation.labelling.models.votes import Assignment
from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study
from cqa_site.rounds.access import opened_round, refuse_withdrawn
from cqa_site.rounds.models import Place
from cqa_site.web.strict_query import id_from


def place_in(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> Place:
    """The member's place in a live campaign that was opened; raises Http404."""
    campaign = opened_round(LABELS, request, study, campaign_id, "guideline")
    if not campaign.is_live:
        raise Http404
    return member_place(campaign=campaign, membership=request.membership)


def locked_place(request: HttpRequest, study: Study, campaign_id: uuid.UUID) -> Place:
    """The rater's place with campaign and crowd link, in one query; nobody decides on it now.

    Before the assignment it is about to change, see `annotation.labelling.actions.serving`.
    """
    places = Place.objects.select_for_update(of=("self",)).select_related(
        "round__campaign__guideline", "rater__user__participant__link"
    )
    place = get_object_or_404(
        places.defer("round__campaign__guideline__body"),
        round__study=study,
        round__public_id=campaign_id,
        round__campaign__origin=Campaign.Origin.LIVE,
        rater__user=request.user,
    )
    place.round = place.round.campaign
    participant = getattr(place.rater.user, "participant", None)
    vars(request).update(participant=participant)
    refuse_withdrawn(participant)
    return place


def answers_of(place: Place) -> QuerySet[Assignment]:
    """The rater's answers in the campaign, newest first."""
    rows = Assignment.objects.filter(
        rater_id=place.rater_id, campaign_id=place.round_id, state__in=DONE
    )
    return rows.select_related("item__argument__comparison").order_by("-answered_at", "-pk")


def own_row(place: Place, public_id: str) -> Assignment:
    """An item the rater was served, by the id in an address; raises Http404."""
    rows = Assignment.objects.exclude(state=Assignment.State.VOID).select_related(
        "item__argument__comparison"
    )
    return get_object_or_404(
        rows, public_id=id_from(public_id), rater_id=place.rater_id, campaign_id=place.round_id
    )
