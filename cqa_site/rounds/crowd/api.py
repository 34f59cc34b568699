"""Crowd links and participants in the REST API."""

import uuid
from typing import Any

from django.db.models import QuerySet, Value
from django.forms import model_to_dict
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from cqa_site.api.base import (
    AnyRequest,
    FormInput,
    NothingInput,
    ReadSerializer,
    Request,
    StudyViews,
    public_id,
    require_valid,
)
from cqa_site.rounds.api import PaceSerializer
from cqa_site.rounds.crowd.participants import (
    close_link,
    create_link,
    crowd_rounds,
    entry_address,
    links_of,
    participants_of,
    release_place,
)
from cqa_site.rounds.crowd.participation import NotReported, confirm_fault
from cqa_site.rounds.crowd.platform import connect_link
from cqa_site.rounds.forms import ParticipantLinkForm, PlatformConnectionForm
from cqa_site.rounds.kind import kind_of
from cqa_site.rounds.models import Participant, ParticipantLink, Round
from cqa_site.web.rest.queries import Conflict, FilterSet


class ParticipantFilter(FilterSet):
    outcome = filters.ChoiceFilter(choices=Participant.Outcome.choices)
    link = filters.UUIDFilter(field_name="link__public_id")


class CrowdLinkInput(FormInput):
    """A link for a crowd platform; omitted fields get their defaults."""

    form = ParticipantLinkForm  # type: ignore[assignment]  # a form of a model is no Form
    study_param = serializers.CharField(max_length=40, allow_blank=True, required=False)
    session_param = serializers.CharField(max_length=40, allow_blank=True, required=False)


class CrowdLinkConnectInput(FormInput):
    """The link's study on the platform, and the secret for the platform's webhooks."""

    form = PlatformConnectionForm
    hook_secret = serializers.CharField(max_length=200, required=False, write_only=True)
    api_token = serializers.CharField(max_length=200, required=False, write_only=True)


class CrowdLinkSerializer(ReadSerializer):
    """A link for a crowd platform, without its secret and its completion codes."""

    most_items = serializers.IntegerField(
        help_text="Number of items that the round has for one person."
    )
    return_url = serializers.CharField()
    joined = serializers.IntegerField()
    is_open = serializers.BooleanField()

    class Meta:
        model = ParticipantLink
        fields = [
            "id",
            "platform",
            "required_items",
            "most_items",
            "max_participants",
            "return_url",
            "joined",
            "participant_param",
            "study_param",
            "session_param",
            "entry",
            "platform_study",
            "is_open",
            "created_at",
            "expires_at",
            "closed_at",
        ]


class NewCrowdLinkSerializer(CrowdLinkSerializer):
    """A new link with the URL that the platform needs."""

    address = serializers.CharField()

    class Meta:
        model = ParticipantLink
        fields = [*CrowdLinkSerializer.Meta.fields, "address"]


class ParticipantSerializer(PaceSerializer, ReadSerializer):
    """A person who joined through a crowd link, without the platform's ids and codes."""

    id = public_id("user")
    link = public_id("link")
    is_released = serializers.SerializerMethodField(
        help_text="Whether the next browser with this ID can continue the participation."
    )

    class Meta:
        model = Participant
        fields = ["id", "link", "outcome", "is_released", "fault_report", "created_at", "ended_at"]
        fields += ["is_verified", "platform_status"]
        fields += ["skipped", "skipped_share", "is_skipping", "seconds_each", "is_hasty"]

    def get_is_released(self, row: Participant) -> bool:
        """Return whether the participation has been released to another browser."""
        return not row.browser_hash


class CrowdRoundViews(StudyViews):
    """Views below ``rounds/<any_round_id>/``."""

    round: Round

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the round in the study."""
        super().initial(request, *args, **kwargs)
        self.round = get_object_or_404(crowd_rounds(self.study), public_id=kwargs["any_round_id"])


class CrowdLinkViews(CrowdRoundViews):
    """The crowd links of a round."""

    queryset = ParticipantLink.objects.none()
    serializer_class = CrowdLinkSerializer

    def rows(self) -> QuerySet[ParticipantLink]:
        """List links, newest first, each with the number of people who joined."""
        most = kind_of(self.round).most_items(self.round)
        return links_of(self.round).annotate(most_items=Value(most))

    @extend_schema(request=CrowdLinkInput, responses={201: NewCrowdLinkSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create a link; ``address`` is returned only once, because only a hash is stored."""
        body = self.read(CrowdLinkInput)
        form = ParticipantLinkForm(round_=self.round)
        defaults = model_to_dict(ParticipantLink(), fields=form.Meta.fields)
        defaults |= {"required_items": form.initial["required_items"], "days": 30}
        form = ParticipantLinkForm(defaults | body, round_=self.round)
        require_valid(form)
        fields = form.link_fields()
        new_link, secret = create_link(round_=self.round, actor=request.user, **fields)
        link = self.get_queryset().get(pk=new_link.pk)
        link.address = entry_address(request, link, secret)
        return Response(NewCrowdLinkSerializer(link).data, status=201)

    @extend_schema(request=NothingInput, responses=CrowdLinkSerializer)
    def close(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Close the link to new people; people who have already joined can finish."""
        link = self.find_row(public_id)
        self.read(NothingInput)
        close_link(link=link, actor=request.user)
        return self.shown(self.get_queryset().get(pk=link.pk))

    @extend_schema(request=CrowdLinkConnectInput, responses=CrowdLinkSerializer)
    def connect(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Store the webhook secret and the platform's study, which signed entries must name."""
        link = self.find_row(public_id)
        form = PlatformConnectionForm(self.read(CrowdLinkConnectInput), link=link)
        require_valid(form)
        connect_link(link=link, actor=request.user, **form.cleaned_data)
        return self.shown(self.get_queryset().get(pk=link.pk))


class ParticipantViews(CrowdRoundViews):
    """People who joined through the round's crowd links; only the page shows platform ids."""

    queryset = Participant.objects.none()
    serializer_class = ParticipantSerializer
    filterset_class = ParticipantFilter

    def rows(self) -> QuerySet[Participant]:
        """Return the rows, newest first."""
        return participants_of(self.round)

    @extend_schema(request=NothingInput, responses=ParticipantSerializer)
    def release(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Release the participation to the next browser with this person's ID."""
        person = self._person(public_id)
        release_place(participant=person, actor=request.user)
        return self.shown(self._person(public_id))

    @extend_schema(request=NothingInput, responses=ParticipantSerializer)
    def fault(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Confirm a reported fault and end the work; 409 if there is no fault to confirm."""
        person = self._person(public_id)
        try:
            confirm_fault(participant=person, actor=request.user)
        except NotReported as refusal:
            raise Conflict("No fault was reported, or the work has ended.") from refusal
        return self.shown(self._person(public_id))

    def _person(self, public_id: uuid.UUID) -> Participant:
        participant = get_object_or_404(self.rows(), user__public_id=public_id)
        self.read(NothingInput)
        return participant
