"""Judges beside people, and the trained judge of a round."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.models import FinalLabel
from annotation.judges.actions import trained_judge as actions
from annotation.judges.api.bodies import (
    JudgeSerializer,
    LabelComparisonSerializer,
    ModelCardSerializer,
    TrainedJudgeSerializer,
)
from annotation.judges.api.inputs import TrainingInput
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.judges.reports.kept import figures_of
from annotation.judges.reports.versions import Choice, state_of
from annotation.labelling.api.campaigns import CampaignViews
from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.api.inputs import NothingInput
from cqa_site.api.requests import Request
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.stats.as_json import to_json
from cqa_site.web.rest.problems import Conflict, invalid_on
from cqa_site.web.rest.strict_filters import refuse_undeclared

CHOICE = [
    OpenApiParameter("judge", str, description="Key of the judge looked at; default: the best."),
    OpenApiParameter("other", str, description="Key of a second judge."),
    OpenApiParameter("common", str, enum=["1"], description="Arguments all judges labelled."),
]


class JudgeViews(CampaignViews):
    """Everything that labelled arguments of the round and is no person."""

    queryset = JudgeLabel.objects.none()
    serializer_class = JudgeSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """The judges, highest ordinal alpha with the final labels first."""
        figures = figures_of(self.campaign, Choice(), state_of(self.campaign))
        return self.listed(figures.judges)

    @extend_schema(parameters=CHOICE, responses=OpenApiTypes.OBJECT)
    def figures(self, request: Request, **kwargs: Any) -> Response:
        """Every figure of the page Judges: people, judges, confusion, labels, hardest."""
        refuse_undeclared(request, CHOICE)
        choice = Choice.from_query(request.query_params)
        return Response(to_json(figures_of(self.campaign, choice, state_of(self.campaign))))


class TrainedJudgeViews(CampaignViews):
    """The versions of the judge trained on final labels."""

    queryset = TrainedJudge.objects.none()
    serializer_class = TrainedJudgeSerializer

    def rows(self) -> QuerySet:
        """Newest first, without the models themselves."""
        versions = self.campaign.trained_judges.select_related("campaign", "rater")
        return versions.defer("model")

    @extend_schema(responses=ModelCardSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """One version with its model card."""
        version = get_object_or_404(self.get_queryset(), public_id=public_id)
        return Response(ModelCardSerializer(version).data)

    @extend_schema(request=TrainingInput, responses={202: JobSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Train the next version in the background; one training at a time."""
        wanted = self.read(TrainingInput).get("source", self.campaign.public_id)
        campaigns = campaigns_of(self.study).select_related("guideline")
        source = campaigns.filter(public_id=wanted).first()
        if source is None:
            raise ValidationError({"source": ["No such round in this study."]})
        with invalid_on("source", actions.TrainingNotPossible):
            job = actions.request_training(
                campaign=self.campaign, source=source, actor=request.user
            )
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=NothingInput, responses=JobSerializer)
    def cancel(self, request: Request, **kwargs: Any) -> Response:
        """Stop the training that waits or runs; nothing of it is kept."""
        self.read(NothingInput)
        if not actions.cancel_training(campaign=self.campaign, actor=request.user):
            raise Conflict("No training is waiting or running.")
        return Response(JobSerializer(actions.latest_job(self.campaign)).data)


class LabelComparisonViews(CampaignViews):
    """A round's final labels beside what anybody said."""

    queryset = FinalLabel.objects.none()
    serializer_class = LabelComparisonSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter("with", str, description="Key of who to compare with; see choices.")
        ],
        responses=LabelComparisonSerializer,
    )
    def compare(self, request: Request, **kwargs: Any) -> Response:
        """Every label set, one source after the other, beside any rater of the study.

        Without ``with`` only the keys there are. A person's key is
        ``rater-<round>:<rater>``.
        """
        from annotation.judges.reports.label_compare import choices, compare_sets, said_by

        key = request.query_params.get("with", "")
        offered = [{"key": each, "name": name} for each, name in choices(self.study)]
        found = said_by(self.study, key) if key else None
        if key and found is None:
            raise ValidationError({"with": ["Nobody in this study has this key."]})
        sets = compare_sets(self.campaign, found[1]) if found else []
        shown = {"choices": offered, "name": found[0] if found else "", "sets": sets}
        return Response(LabelComparisonSerializer(shown).data)
