"""Agreement of score sheets between people and judges, and verdicts on judges."""

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from benchmark.agreement.actions import shown_agreement
from benchmark.agreement.reports.agreement import judge_trust
from benchmark.leaderboard.models import BoardSnapshot
from cqa_site.api.base import Request, StudyViews
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.stats.estimate import to_json
from cqa_site.web.rest.queries import refuse_unknown

WHICH = [
    OpenApiParameter("snapshot", OpenApiTypes.UUID, description="Default: the newest snapshot."),
    OpenApiParameter("rubric", OpenApiTypes.UUID, description="Newest snapshot of this rubric."),
    OpenApiParameter(
        "condition", str, description="Id of a condition in the recipe; default: all."
    ),
]


class JudgeTrustSerializer(serializers.Serializer):
    """Number of planted instructions that a judge obeyed; it is not a measure of accuracy."""

    rater = serializers.UUIDField(source="key")
    name = serializers.CharField()
    trust = serializers.CharField(help_text="trusted: it resisted them, and its scores count.")
    asked = serializers.IntegerField()
    obeyed = serializers.IntegerField()
    is_kept_out = serializers.BooleanField(help_text="All its sheets are left out.")


class ScoreAgreementSerializer(serializers.Serializer):
    """The agreement figures of one snapshot, and the current canary results of its judges."""

    snapshot = serializers.UUIDField(source="row.public_id")
    number = serializers.IntegerField(source="row.number")
    rubric = serializers.UUIDField(source="row.rubric.public_id")
    is_frozen = serializers.BooleanField(source="row.is_frozen")
    sha256 = serializers.CharField(source="row.sha256", help_text="Hash of the sheets.")
    computed_at = serializers.DateTimeField(source="row.computed_at")
    condition = serializers.CharField(help_text="Condition of the answers; empty for all.")
    trust = JudgeTrustSerializer(many=True)
    figures = serializers.DictField()


class ScoreAgreementViews(StudyViews):
    """The figures shown on the pages about agreement, replacement and judges."""

    queryset = BoardSnapshot.objects.none()
    serializer_class = ScoreAgreementSerializer

    @extend_schema(parameters=WHICH, responses={200: ScoreAgreementSerializer, 202: JobSerializer})
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return a snapshot's pairs, columns, verdicts and judges; 404 if there is no snapshot.

        For a single condition, return 202 with the job while the figures are being computed.
        """
        refuse_unknown(request, {"snapshot", "rubric", "condition"})
        state = shown_agreement(self.study, request.query_params, request.user)
        if state.snapshot is None or not state.snapshot.agreement:
            raise Http404
        if state.condition != request.query_params.get("condition", ""):
            raise ValidationError({"condition": ["This snapshot has no such condition."]})
        if state.job is not None:
            state.job.refresh_from_db()
            return Response(JobSerializer(state.job).data, status=202)
        payload = {
            "row": state.snapshot,
            "condition": state.condition,
            "trust": judge_trust(state.snapshot.rubric),
            "figures": to_json(state.figures),
        }
        return Response(ScoreAgreementSerializer(payload).data)
