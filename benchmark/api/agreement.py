"""Agreement of score sheets: people, judges, verdicts on judges."""

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import StudyViews
from benchmark.models import BoardSnapshot
from benchmark.reports.score_agreement import judge_trust
from benchmark.reports.score_agreement_choice import snapshot_of
from cqa_site.web.strict_filters import refuse_unknown

WHICH = [
    OpenApiParameter("snapshot", OpenApiTypes.UUID, description="Default: the newest."),
    OpenApiParameter("rubric", OpenApiTypes.UUID, description="The newest of this rubric."),
]


class JudgeTrustSerializer(serializers.Serializer):
    """What attack canaries said of a judge."""

    rater = serializers.UUIDField(source="key")
    name = serializers.CharField()
    trust = serializers.CharField()
    asked = serializers.IntegerField()
    obeyed = serializers.IntegerField()
    is_kept_out = serializers.BooleanField(help_text="None of its sheets counts.")


class ScoreAgreementSerializer(serializers.Serializer):
    """The figures of agreement of one snapshot, and how far its judges are trusted now."""

    snapshot = serializers.UUIDField(source="row.public_id")
    number = serializers.IntegerField(source="row.number")
    rubric = serializers.UUIDField(source="row.rubric.public_id")
    is_frozen = serializers.BooleanField(source="row.is_frozen")
    sha256 = serializers.CharField(source="row.sha256", help_text="Of the sheets.")
    computed_at = serializers.DateTimeField(source="row.computed_at")
    trust = JudgeTrustSerializer(many=True)
    figures = serializers.DictField(source="row.agreement")


class ScoreAgreementViews(StudyViews):
    """Everything the pages about agreement, replacement and judges show."""

    queryset = BoardSnapshot.objects.none()
    serializer_class = ScoreAgreementSerializer

    @extend_schema(parameters=WHICH, responses=ScoreAgreementSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Pairs, columns, verdicts and judges of a snapshot; 404 while there is none."""
        refuse_unknown(request, {"snapshot", "rubric"})
        row = snapshot_of(self.study, request.query_params)
        if row is None or not row.agreement:
            raise Http404
        return Response(
            ScoreAgreementSerializer({"row": row, "trust": judge_trust(row.rubric)}).data
        )
