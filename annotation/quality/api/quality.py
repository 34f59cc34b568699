"""How reliable annotators are, and whether the control items deserve their keys."""

import uuid
from typing import Any

from django.db.models import Count, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.reports import vote_table
from annotation.labelling.api.campaigns import CampaignViews
from annotation.labelling.models.campaigns import Exclusion, Item
from annotation.quality.actions import exclusion
from annotation.quality.actions import quality as actions
from annotation.quality.api.bodies import (
    AnnotatorDetailSerializer,
    AnnotatorSerializer,
    ControlDetailSerializer,
    ControlSerializer,
    ExcludedSerializer,
    ExclusionPreviewSerializer,
    ExclusionSerializer,
)
from annotation.quality.api.inputs import BelowInput, ControlChangeInput, ExcludeLowInput
from annotation.quality.reports.controls import (
    control_detail,
    controls,
    crowd_views,
)
from annotation.quality.reports.exclusion import exclusion_curve, preview_exclusion
from annotation.quality.reports.kept import state_of
from annotation.quality.reports.quality import annotator_detail, annotators, facts_of
from cqa_site.api.inputs import NothingInput
from cqa_site.api.requests import Request
from cqa_site.people.models import Rater
from cqa_site.web.rest.problems import Conflict, invalid_on


class AnnotatorViews(CampaignViews):
    """Everybody with a label in the round, with what speaks for and against them."""

    queryset = Rater.objects.none()
    serializer_class = AnnotatorSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """The quality table, in order of first appearance."""
        votes = vote_table(self.campaign, exclude=False)
        return self.listed(annotators(self.campaign, facts_of(votes)))

    @extend_schema(responses=AnnotatorDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One annotator: control record, labels beside those of everybody, active times."""
        rater = get_object_or_404(self.study.raters, public_id=public_id)
        detail = annotator_detail(self.campaign, rater)
        if detail is None:
            raise Http404
        times = [{"seconds": name, "count": count} for name, count, _percent in detail.times]
        shown = {"annotator": detail.annotator, "labels": detail.labels, "times": times}
        return Response(AnnotatorDetailSerializer(shown).data)

    @extend_schema(
        parameters=[
            OpenApiParameter("below", float, description="Default: the round's mark."),
            OpenApiParameter("rule", str, enum=Exclusion.Rule.values),
        ],
        responses=ExclusionPreviewSerializer,
    )
    def preview_low(self, request: Request, **kwargs: Any) -> Response:
        """What excluding everybody below a control accuracy would leave, and the whole curve."""
        given = BelowInput(data=request.query_params)
        given.is_valid(raise_exception=True)
        state, asked = state_of(self.campaign), self._threshold(given.validated_data)
        seen = preview_exclusion(self.campaign, **asked, state=state)
        seen["curve"] = exclusion_curve(self.campaign, state=state)
        return Response(ExclusionPreviewSerializer(seen).data)

    @extend_schema(request=ExcludeLowInput, responses=ExcludedSerializer)
    def exclude_low(self, request: Request, **kwargs: Any) -> Response:
        """Exclude everybody below a control accuracy, as one action that can be undone."""
        given = self.read(ExcludeLowInput)
        made = exclusion.exclude_below(
            campaign=self.campaign,
            reason=given["reason"],
            actor=request.user,
            **self._threshold(given),
        )
        count = made.places.count() if made else 0
        shown = {"excluded": count, "id": made.public_id if made else None}
        return Response(ExcludedSerializer(shown).data)

    def _threshold(self, given: dict[str, Any]) -> dict[str, Any]:
        below = given.get("below", self.campaign.min_control_accuracy)
        return {"below": below, "rule": given["rule"]}


class ExclusionViews(CampaignViews):
    """Exclusions of everybody below a control accuracy, undone ones included."""

    queryset = Exclusion.objects.none()
    serializer_class = ExclusionSerializer

    def rows(self) -> QuerySet:
        """Newest first, with how many are still out by each."""
        found = self.campaign.exclusions.annotate(still_excluded=Count("places"))
        # A count groups the rows, and groups forget the order of the model.
        return found.order_by("-pk")

    @extend_schema(request=NothingInput, responses=ExclusionSerializer)
    def undo(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Let in again whom it left out; 409 where that was done already."""
        self.read(NothingInput)
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        if exclusion.undo_exclusion(exclusion=row, actor=request.user) is None:
            raise Conflict("This exclusion was undone already.")
        return self.shown(self.get_queryset().get(pk=row.pk))


class ControlViews(CampaignViews):
    """The control items of a round, with what crowd and experts say about their keys."""

    queryset = Item.objects.none()
    serializer_class = ControlSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """Lowest share of right votes first."""
        votes = vote_table(self.campaign, exclude=False, item__control_label__isnull=False)
        return self.listed(controls(self.campaign, crowd_views(votes)))

    @extend_schema(responses=ControlDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """The control items on one argument; labels of the crowd beside those of experts."""
        argument = get_object_or_404(self.study.arguments, public_id=public_id)
        detail = control_detail(self.campaign, argument.pk)
        if not detail.controls:
            raise Http404
        return Response(ControlDetailSerializer(detail).data)

    @extend_schema(request=ControlChangeInput, responses=ControlSerializer)
    def change(self, request: Request, **kwargs: Any) -> Response:
        """Give a control item another known label, also while the round runs, or retire it.

        Every control accuracy follows at once. A retired item is served no
        more; giving it a label brings it back.
        """
        given = self.read(ControlChangeInput)
        keyed = self.campaign.items.filter(control_label__isnull=False)
        item = keyed.filter(external_id=given.pop("item_id")).first()
        if item is None:
            raise ValidationError({"item_id": ["No such control item in this round."]})
        with invalid_on("label", actions.ControlNotValid):
            actions.replace_control_label(
                campaign=self.campaign, item=item, actor=request.user, **given
            )
        votes = vote_table(self.campaign, exclude=False, item=item.pk)
        (changed,) = controls(self.campaign, crowd_views(votes), pk=item.pk)
        return self.shown(changed)
