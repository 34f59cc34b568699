"""Links by which people of a crowd platform come into a round of any kind, and who came."""

import uuid
from typing import Any

from django.db.models import QuerySet, Value
from django.forms import model_to_dict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from cqa_site.api.inputs import NothingInput, require_valid
from cqa_site.api.requests import AnyRequest, Request
from cqa_site.api.views import StudyViews
from cqa_site.rounds.crowd.api_bodies import (
    CrowdLinkInput,
    CrowdLinkSerializer,
    NewCrowdLinkSerializer,
    ParticipantFilter,
    ParticipantSerializer,
)
from cqa_site.rounds.crowd.forms import ParticipantLinkForm, usual_items
from cqa_site.rounds.crowd.participants import (
    close_link,
    create_link,
    links_of,
    participants_of,
    placeholders,
)
from cqa_site.rounds.crowd.participation import NotReported, confirm_fault
from cqa_site.rounds.crowd.places import release_place
from cqa_site.rounds.crowd.work import crowd_rounds
from cqa_site.rounds.kind import kind_of
from cqa_site.rounds.models import Participant, ParticipantLink, Round
from cqa_site.web.rest.problems import Conflict


class RoundViews(StudyViews):
    """Addresses below ``rounds/<any_round_id>/``."""

    round: Round

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the round inside the study."""
        super().initial(request, *args, **kwargs)
        self.round = get_object_or_404(crowd_rounds(self.study), public_id=kwargs["any_round_id"])


class CrowdLinkViews(RoundViews):
    """The crowd links of a round."""

    queryset = ParticipantLink.objects.none()
    serializer_class = CrowdLinkSerializer

    def rows(self) -> QuerySet[ParticipantLink]:
        """Newest first, each with how many people came in by it."""
        most = kind_of(self.round).most_items(self.round)
        return links_of(self.round).annotate(most_items=Value(most))

    @extend_schema(request=CrowdLinkInput, responses={201: NewCrowdLinkSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a link; ``address`` is told this once, only its hash is kept."""
        given = self.read(CrowdLinkInput)
        kind = kind_of(self.round)
        most = kind.most_items(self.round)
        defaults = model_to_dict(ParticipantLink(), fields=ParticipantLinkForm.Meta.fields)
        defaults["required_items"] = usual_items(most)
        form = ParticipantLinkForm(defaults | given, most_items=most, counted=kind.counted())
        require_valid(form)
        made, secret = create_link(
            round_=self.round,
            actor=request.user,
            **form.link_fields(),
        )
        link = self.get_queryset().get(pk=made.pk)
        entry = request.build_absolute_uri(reverse("join", args=[secret]))
        link.address = f"{entry}?{placeholders(link)}"
        return Response(NewCrowdLinkSerializer(link).data, status=201)

    @extend_schema(request=NothingInput, responses=CrowdLinkSerializer)
    def close(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Let nobody new in by this link; people who are in may finish."""
        link = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(NothingInput)
        close_link(link=link, actor=request.user)
        return self.shown(self.get_queryset().get(pk=link.pk))


class ParticipantViews(RoundViews):
    """Who came by a crowd link of the round; the platform's ids stay on the page."""

    queryset = Participant.objects.none()
    serializer_class = ParticipantSerializer
    filterset_class = ParticipantFilter

    def rows(self) -> QuerySet[Participant]:
        """Newest first."""
        return participants_of(self.round)

    @extend_schema(request=NothingInput, responses=ParticipantSerializer)
    def release(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Let the next browser that comes with this person's id have the place."""
        person = self._person(public_id)
        release_place(participant=person, actor=request.user)
        return self.shown(self._person(public_id))

    @extend_schema(request=NothingInput, responses=ParticipantSerializer)
    def fault(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Confirm a reported fault, which ends the work; 409 where none is to be confirmed."""
        person = self._person(public_id)
        try:
            confirm_fault(participant=person, actor=request.user)
        except NotReported as refusal:
            raise Conflict("No fault was reported, or the work has ended.") from refusal
        return self.shown(self._person(public_id))

    def _person(self, public_id: uuid.UUID) -> Participant:
        found = get_object_or_404(self.rows(), user__public_id=public_id)
        self.read(NothingInput)
        return found
