"""Addresses of annotators, control items and exclusions."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.labelling.api.campaigns import CampaignViews
from annotation.labelling.models.votes import Assignment
from annotation.quality.actions import quality
from annotation.quality.api.bodies import RaterSerializer
from cqa_site.api.inputs import ReasonInput
from cqa_site.api.requests import Request
from cqa_site.people.models import Rater
from cqa_site.rounds.progress import count_of


class RaterViews(CampaignViews):
    """The raters of a round, under pseudonyms."""

    queryset = Rater.objects.none()
    serializer_class = RaterSerializer

    def rows(self) -> QuerySet:
        """Everybody who was ever served an item here, with what they did."""
        mine = self.campaign.assignments.filter(rater=OuterRef("pk"))
        place = self.campaign.places.filter(rater=OuterRef("pk"))
        answered = mine.filter(state=Assignment.State.ANSWERED)
        controls = answered.filter(item__control_label__isnull=False, item__is_retired=False)
        return (
            self.study.raters.filter(Exists(mine) | Exists(place))
            .annotate(
                votes=count_of(answered, "rater"),
                control_votes=count_of(controls, "rater"),
                control_correct=count_of(controls.filter(label=F("item__control_label")), "rater"),
                is_excluded=Exists(place.filter(excluded_at__isnull=False)),
                exclusion_reason=Coalesce(
                    Subquery(place.values("exclusion_reason")[:1]), Value("")
                ),
            )
            .order_by("pk")
        )

    @extend_schema(request=ReasonInput, responses=RaterSerializer)
    def exclude(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Leave the rater's labels out of every figure; can be taken back."""
        return self._decide(quality.exclude_rater, public_id)

    @extend_schema(request=ReasonInput, responses=RaterSerializer)
    def reinstate(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Count the rater's labels again."""
        return self._decide(quality.reinstate_rater, public_id)

    def _decide(self, decision: Callable[..., None], public_id: uuid.UUID) -> Response:
        rater = get_object_or_404(self.get_queryset(), public_id=public_id)
        reason = self.read(ReasonInput)["reason"]
        decision(campaign=self.campaign, rater=rater, reason=reason, actor=self.request.user)
        return self.shown(self.get_queryset().get(pk=rater.pk))
