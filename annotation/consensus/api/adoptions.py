"""Labels of other rounds that decide here: looking first, adopting, withdrawing."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.actions import adoption as actions
from annotation.consensus.api.bodies import AdoptionPreviewSerializer, AdoptionSerializer
from annotation.consensus.api.filters import AdoptionFilter
from annotation.consensus.api.inputs import AdoptInput
from annotation.consensus.forms import AdoptForm
from annotation.consensus.models import Adoption
from annotation.labelling.api.campaigns import CampaignViews
from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.api.inputs import NothingInput
from cqa_site.api.requests import Request
from cqa_site.web.rest.problems import Conflict, invalid_on


class AdoptionViews(CampaignViews):
    """Adoptions of a round, withdrawn ones included."""

    queryset = Adoption.objects.none()
    serializer_class = AdoptionSerializer
    filterset_class = AdoptionFilter

    def rows(self) -> QuerySet:
        """In the order they were made."""
        return self.campaign.adoptions.select_related("source", "rater").order_by("pk")

    @extend_schema(request=AdoptInput, responses={201: AdoptionSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Let another round's labels by one expert, model or release decide here."""
        with invalid_on("label_round", actions.AdoptionNotPossible):
            made = actions.adopt_labels(**self._asked(), actor=request.user)
        return self.shown(self.get_queryset().get(pk=made.pk), 201)

    @extend_schema(request=AdoptInput, responses={200: AdoptionPreviewSerializer})
    def preview(self, request: Request, **kwargs: Any) -> Response:
        """What adopting would change; nothing is stored."""
        with invalid_on("label_round", actions.AdoptionNotPossible):
            seen = actions.preview_adoption(**self._asked())
        return Response(AdoptionPreviewSerializer(seen).data)

    @extend_schema(request=NothingInput, responses=AdoptionSerializer)
    def withdraw(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Take an adoption back; 409 where it was already."""
        self.read(NothingInput)
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        if not actions.withdraw_adoption(adoption=row, actor=request.user):
            raise Conflict("This adoption was withdrawn already.")
        return self.shown(self.get_queryset().get(pk=row.pk))

    def _asked(self) -> dict[str, Any]:
        given = self.read(AdoptInput)
        source = f"{given['label_round']}:{given['rater']}"
        form = AdoptForm(given | {"source": source}, campaign=self.campaign)
        if not form.is_valid():
            raise ValidationError({"rater": ["No expert, model or release labelled there."]})
        return {
            "campaign": self.campaign,
            "source": campaigns_of(self.study).get(public_id=given["label_round"]),
            "rater": self.study.raters.get(public_id=given["rater"]),
            "only_tied": given["only_tied"],
        }
