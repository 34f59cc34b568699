"""Links by which people of a crowd platform come into a campaign."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.forms import model_to_dict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from cqa_site.people.actions.participants import (
    close_link,
    create_link,
    links_of,
    placeholders,
)
from cqa_site.people.forms import ParticipantLinkForm
from cqa_site.people.models import ParticipantLink

from . import inputs, serializers
from .access import CampaignViews


class CrowdLinkViews(CampaignViews):
    """The crowd links of a campaign."""

    queryset = ParticipantLink.objects.none()
    serializer_class = serializers.CrowdLinkSerializer

    def rows(self) -> QuerySet:
        """Newest first, each with how many people came in by it."""
        return links_of(study=self.study, campaign_ref=self.campaign.public_id)

    @extend_schema(
        request=inputs.CrowdLinkInput, responses={201: serializers.NewCrowdLinkSerializer}
    )
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Make a link; ``address`` is told this once, only its hash is kept."""
        given = self.read(inputs.CrowdLinkInput)
        defaults = model_to_dict(ParticipantLink(), fields=ParticipantLinkForm.Meta.fields)
        form = ParticipantLinkForm(defaults | given)
        inputs.require_valid(form)
        made, secret = create_link(
            study=self.study,
            campaign_ref=self.campaign.public_id,
            campaign_name=self.campaign.name,
            actor=request.user,
            **form.link_fields(),
        )
        link = self.get_queryset().get(pk=made.pk)
        entry = request.build_absolute_uri(reverse("join", args=[secret]))
        link.address = f"{entry}?{placeholders(link)}"
        return Response(serializers.NewCrowdLinkSerializer(link).data, status=201)

    @extend_schema(request=inputs.NothingInput, responses=serializers.CrowdLinkSerializer)
    def close(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Let nobody new in by this link; people who are in may finish."""
        link = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(inputs.NothingInput)
        close_link(link=link, actor=request.user)
        return self.shown(self.get_queryset().get(pk=link.pk))
