"""What came of a round: votes, raters, final labels, decisions."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.actions import adjudication, consensus
from annotation.consensus.api.bodies import (
    AdjudicationSerializer,
    FinalLabelSerializer,
    VoteSerializer,
)
from annotation.consensus.api.filters import AdjudicationFilter, FinalLabelFilter, VoteFilter
from annotation.consensus.api.inputs import AdjudicationInput
from annotation.consensus.models import Adjudication, FinalLabel
from annotation.consensus.reports import counted_votes
from annotation.labelling.api.campaigns import CampaignViews
from annotation.labelling.models.votes import Assignment
from cqa_site.api.inputs import NothingInput
from cqa_site.api.requests import Request
from cqa_site.people.actions.raters import rater_for
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.rest.problems import conflict_on, invalid_on


class VoteViews(CampaignViews):
    """The votes of a round."""

    queryset = Assignment.objects.none()
    serializer_class = VoteSerializer
    filterset_class = VoteFilter

    def rows(self) -> QuerySet:
        """Every assignment, also those merely served, in the order they were made."""
        counted = counted_votes(self.campaign).filter(pk=OuterRef("pk"))
        return (
            self.campaign.assignments.select_related("item__argument", "rater")
            .annotate(is_counted=Exists(counted))
            .order_by("pk")
        )


class FinalLabelViews(CampaignViews):
    """The labels a round arrived at."""

    queryset = FinalLabel.objects.none()
    serializer_class = FinalLabelSerializer
    filterset_class = FinalLabelFilter

    def rows(self) -> QuerySet:
        """One row per argument, as last computed."""
        return self.campaign.final_labels.select_related("argument__comparison").order_by("pk")

    @extend_schema(request=NothingInput, responses={202: JobSerializer})
    def recompute(self, request: Request, **kwargs: Any) -> Response:
        """Ask for new final labels in the background."""
        self.read(NothingInput)
        job = consensus.request_final_labels(campaign=self.campaign, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)


class AdjudicationViews(CampaignViews):
    """Experts' decisions on arguments of a round."""

    queryset = Adjudication.objects.none()
    serializer_class = AdjudicationSerializer
    filterset_class = AdjudicationFilter

    def rows(self) -> QuerySet:
        """Decisions in the order they were made."""
        return self.campaign.adjudications.select_related(
            "argument__comparison", "rater"
        ).order_by("pk")

    @extend_schema(request=AdjudicationInput, responses={201: AdjudicationSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Decide one argument; an earlier decision of yours is superseded, not lost.

        With `known`, 409 where you decided otherwise meanwhile: nothing is stored, and `detail`
        says both labels.
        """
        given = self.read(AdjudicationInput)
        argument = self.study.arguments.filter(public_id=given.pop("argument")).first()
        if argument is None:
            raise ValidationError({"argument": ["No such argument in this study."]})
        with (
            invalid_on("non_field_errors", adjudication.DecisionNotValid),
            conflict_on(adjudication.DecidedMeanwhile),
        ):
            decision = adjudication.adjudicate(
                campaign=self.campaign,
                argument=argument,
                rater=rater_for(membership=self.membership),
                **given,
            )
        return self.shown(self.get_queryset().get(pk=decision.pk), 201)
