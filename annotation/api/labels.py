"""What came of a campaign: votes, raters, final labels, decisions."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.actions import adjudication, consensus, quality
from annotation.models import Adjudication, Assignment, FinalLabel
from annotation.reports.votes import counted_votes
from cqa_site.api.requests import Request
from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import Rater
from cqa_site.rounds.progress import count_of
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.problems import invalid_on

from . import filters, inputs, serializers
from .access import CampaignViews


class VoteViews(CampaignViews):
    """The votes of a campaign."""

    queryset = Assignment.objects.none()
    serializer_class = serializers.VoteSerializer
    filterset_class = filters.VoteFilter

    def rows(self) -> QuerySet:
        """Every assignment, also those merely served, in the order they were made."""
        counted = counted_votes(self.campaign).filter(pk=OuterRef("pk"))
        return (
            self.campaign.assignments.select_related("item__argument", "rater")
            .annotate(is_counted=Exists(counted))
            .order_by("pk")
        )


class RaterViews(CampaignViews):
    """The raters of a campaign, under pseudonyms."""

    queryset = Rater.objects.none()
    serializer_class = serializers.RaterSerializer

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

    @extend_schema(request=inputs.ReasonInput, responses=serializers.RaterSerializer)
    def exclude(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Leave the rater's labels out of every figure; can be taken back."""
        return self._decide(quality.exclude_rater, public_id)

    @extend_schema(request=inputs.ReasonInput, responses=serializers.RaterSerializer)
    def reinstate(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Count the rater's labels again."""
        return self._decide(quality.reinstate_rater, public_id)

    def _decide(self, decision: Callable[..., None], public_id: uuid.UUID) -> Response:
        rater = get_object_or_404(self.get_queryset(), public_id=public_id)
        reason = self.read(inputs.ReasonInput)["reason"]
        decision(campaign=self.campaign, rater=rater, reason=reason, actor=self.request.user)
        return self.shown(self.get_queryset().get(pk=rater.pk))


class FinalLabelViews(CampaignViews):
    """The labels a campaign arrived at."""

    queryset = FinalLabel.objects.none()
    serializer_class = serializers.FinalLabelSerializer
    filterset_class = filters.FinalLabelFilter

    def rows(self) -> QuerySet:
        """One row per argument, as last computed."""
        return self.campaign.final_labels.select_related("argument__comparison").order_by("pk")

    @extend_schema(
        parameters=[
            OpenApiParameter("with", str, description="Key of who to compare with; see choices.")
        ],
        responses=serializers.LabelComparisonSerializer,
    )
    def compare(self, request: Request, **kwargs: Any) -> Response:
        """Every label set, one source after the other, beside any rater of the study.

        Without ``with`` only the keys there are. A person's key is
        ``rater-<campaign>:<rater>``.
        """
        from annotation.reports.label_compare import choices, compare_sets, said_by

        key = request.query_params.get("with", "")
        offered = [{"key": each, "name": name} for each, name in choices(self.study)]
        found = said_by(self.study, key) if key else None
        if key and found is None:
            raise ValidationError({"with": ["Nobody in this study has this key."]})
        sets = compare_sets(self.campaign, found[1]) if found else []
        shown = {"choices": offered, "name": found[0] if found else "", "sets": sets}
        return Response(serializers.LabelComparisonSerializer(shown).data)

    @extend_schema(request=inputs.NothingInput, responses={202: JobSerializer})
    def recompute(self, request: Request, **kwargs: Any) -> Response:
        """Ask for new final labels in the background."""
        self.read(inputs.NothingInput)
        job = consensus.request_final_labels(campaign=self.campaign, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)


class AdjudicationViews(CampaignViews):
    """Experts' decisions on arguments of a campaign."""

    queryset = Adjudication.objects.none()
    serializer_class = serializers.AdjudicationSerializer
    filterset_class = filters.AdjudicationFilter

    def rows(self) -> QuerySet:
        """Decisions in the order they were made."""
        return self.campaign.adjudications.select_related(
            "argument__comparison", "rater"
        ).order_by("pk")

    @extend_schema(
        request=inputs.AdjudicationInput, responses={201: serializers.AdjudicationSerializer}
    )
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Decide one argument; an earlier decision of yours is superseded, not lost."""
        given = self.read(inputs.AdjudicationInput)
        argument = self.study.arguments.filter(public_id=given.pop("argument")).first()
        if argument is None:
            raise ValidationError({"argument": ["No such argument in this study."]})
        with invalid_on("non_field_errors", adjudication.DecisionNotValid):
            decision = adjudication.adjudicate(
                campaign=self.campaign,
                argument=argument,
                rater=rater_for(membership=self.membership),
                **given,
            )
        return self.shown(self.get_queryset().get(pk=decision.pk), 201)
