"""Labels of other campaigns that decide here: looking first, adopting, withdrawing."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.actions import adoption as actions
from annotation.forms.consensus import AdoptForm
from annotation.models import Adoption, campaigns_of
from cqa_site.api.requests import Request
from cqa_site.web.problems import Conflict, invalid_on

from . import filters, inputs, serializers
from .access import CampaignViews


class AdoptionViews(CampaignViews):
    """Adoptions of a campaign, withdrawn ones included."""

    queryset = Adoption.objects.none()
    serializer_class = serializers.AdoptionSerializer
    filterset_class = filters.AdoptionFilter

    def rows(self) -> QuerySet:
        """In the order they were made."""
        return self.campaign.adoptions.select_related("source", "rater").order_by("pk")

    @extend_schema(request=inputs.AdoptInput, responses={201: serializers.AdoptionSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Let another campaign's labels by one expert, model or release decide here."""
        with invalid_on("campaign", actions.AdoptionNotPossible):
            made = actions.adopt_labels(**self._asked(), actor=request.user)
        return self.shown(self.get_queryset().get(pk=made.pk), 201)

    @extend_schema(
        request=inputs.AdoptInput, responses={200: serializers.AdoptionPreviewSerializer}
    )
    def preview(self, request: Request, **kwargs: Any) -> Response:
        """What adopting would change; nothing is stored."""
        with invalid_on("campaign", actions.AdoptionNotPossible):
            seen = actions.preview_adoption(**self._asked())
        return Response(serializers.AdoptionPreviewSerializer(seen).data)

    @extend_schema(request=inputs.NothingInput, responses=serializers.AdoptionSerializer)
    def withdraw(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Take an adoption back; 409 where it was already."""
        self.read(inputs.NothingInput)
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        if not actions.withdraw_adoption(adoption=row, actor=request.user):
            raise Conflict("This adoption was withdrawn already.")
        return self.shown(self.get_queryset().get(pk=row.pk))

    def _asked(self) -> dict[str, Any]:
        given = self.read(inputs.AdoptInput)
        source = f"{given['campaign']}:{given['rater']}"
        form = AdoptForm(given | {"source": source}, campaign=self.campaign)
        if not form.is_valid():
            raise ValidationError({"rater": ["No expert, model or release labelled there."]})
        return {
            "campaign": self.campaign,
            "source": campaigns_of(self.study).get(public_id=given["campaign"]),
            "rater": self.study.raters.get(public_id=given["rater"]),
            "only_tied": given["only_tied"],
        }
