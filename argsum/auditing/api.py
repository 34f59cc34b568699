"""Endpoints for audits: rounds, answers, and the figures for an analysis."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from argsum.analysis.models import Analysis
from argsum.auditing.forms import AuditRoundForm
from argsum.auditing.models import AuditItem, AuditRound, AuditSheet
from argsum.auditing.reports.figures import audit_of
from cqa_site.api.base import FormInput, ReadSerializer, Request, StudyViews, public_id
from cqa_site.results.api import FigureSerializer, StatisticSerializer
from cqa_site.rounds.api import (
    ItemSerializer,
    PersonSerializer,
    QualificationInput,
    RoundApi,
    RoundSerializer,
    round_views,
)

SHOWN_STATES = (AuditSheet.State.SUBMITTED, AuditSheet.State.VOID)


class AuditRoundInput(FormInput):
    """Analysis and number of pairs to draw. Omitted fields keep their defaults."""

    form = AuditRoundForm


class AuditRoundSerializer(RoundSerializer):
    """The sample of a round, and its progress: ``done`` of ``wanted`` answers."""

    form = AuditRoundForm
    pairs = serializers.IntegerField(source="size")

    class Meta:
        model = AuditRound
        fields = [*RoundSerializer.Meta.fields, "pairs"]


class AuditItemSerializer(ItemSerializer):
    """One pair of a round. ``band`` is the machine's placement."""

    id = None
    key_point = public_id("pair.point")
    text = serializers.CharField(source="pair.text")
    comment = public_id("pair.comment", allow_null=True, default=None)
    statement = public_id("pair.argument", allow_null=True, default=None)
    band = serializers.CharField(source="pair.band")
    probability = serializers.FloatField()

    class Meta:
        model = AuditItem
        fields = [
            *ItemSerializer.Meta.fields, "key_point", "text", "comment", "statement", "band",
            "probability",
        ]  # fmt: skip


class AuditorSerializer(PersonSerializer):
    """Progress of one person in a round. ``id`` is the rater's."""

    makes = serializers.IntegerField(source="figures.makes", read_only=True, default=0)
    partly = serializers.IntegerField(source="figures.partly", read_only=True, default=0)
    opposite = serializers.IntegerField(source="figures.opposite", read_only=True, default=0)


class AuditSheetSerializer(ReadSerializer):
    """One answer about one pair."""

    audit_round = public_id("round")
    rater = public_id("rater")
    key_point = public_id("pair.point")
    text = serializers.CharField(source="pair.text")
    comment = public_id("pair.comment", allow_null=True, default=None)
    band = serializers.CharField(source="pair.band")

    class Meta:
        model = AuditSheet
        fields = [
            "id", "audit_round", "rater", "key_point", "text", "comment", "band", "replicate",
            "state", "is_extra", "is_example", "known", "answer", "submitted_at",
        ]  # fmt: skip


ROUNDS = round_views(
    RoundApi(
        plan=AuditRoundInput,
        decision=QualificationInput,
        shown=AuditRoundSerializer,
        item=AuditItemSerializer,
        person=AuditorSerializer,
        related=("analysis",),
    ),
    "audit_id",
)


class AuditSheetFilter(filters.FilterSet):
    """Filters for answers: round, rater, analysis and answer."""

    audit_round = filters.UUIDFilter(field_name="round__public_id")
    rater = filters.UUIDFilter(field_name="rater__public_id")
    analysis = filters.UUIDFilter(field_name="round__analysis__public_id")
    answer = filters.ChoiceFilter(choices=AuditSheet.Answer.choices)


class AuditSheetViews(StudyViews):
    """Submitted and void answers, without drafts."""

    serializer_class = AuditSheetSerializer
    filterset_class = AuditSheetFilter

    def rows(self) -> QuerySet[Any]:
        """Return the answers in order of creation."""
        rows = AuditSheet.objects.filter(study=self.study, state__in=SHOWN_STATES).order_by("pk")
        return rows.select_related("round", "rater", "pair__point", "pair__comment")


class AuditedShareSerializer(FigureSerializer):
    """A share (0–1) based on ``answers`` answered pairs, of which ``hits`` make the point."""

    answers = serializers.IntegerField()
    hits = serializers.FloatField()


class AuditedPointSerializer(serializers.Serializer):
    """A key point with the machine's count and the share corrected using the answers."""

    key_point = public_id("point")
    text = serializers.CharField(source="point.text")
    machine = serializers.IntegerField(help_text="Comments under it when the pairs were drawn.")
    perhaps = serializers.IntegerField(help_text="Other comments that were perhaps under it.")
    comments = serializers.IntegerField()
    precision = AuditedShareSerializer()
    corrected = AuditedShareSerializer(source="count", help_text="Number out of `comments`.")
    share = AuditedShareSerializer(
        help_text="Share in the population that the comments are drawn from."
    )


class AuditSerializer(serializers.Serializer):
    """Results of the audits of an analysis. All figures are null before the first audit."""

    pairs = serializers.IntegerField(default=0)
    answered = serializers.IntegerField(default=0)
    answers = serializers.IntegerField(default=0)
    people = serializers.IntegerField(default=0)
    stale = serializers.IntegerField(
        default=0, help_text="Answers about texts that have changed since."
    )
    moved = serializers.IntegerField(default=0, help_text="Pairs that edits have moved since.")
    later = serializers.IntegerField(default=0, help_text="Comments added since then.")
    precision = AuditedShareSerializer(allow_null=True, default=None)
    perhaps = AuditedShareSerializer(allow_null=True, default=None)
    recall = AuditedShareSerializer(allow_null=True, default=None)
    partly = serializers.IntegerField(default=0)
    opposite = serializers.IntegerField(default=0)
    kappa = StatisticSerializer(allow_null=True, default=None)
    doubled = serializers.IntegerField(default=0, help_text="Pairs that two people answered.")
    key_points = AuditedPointSerializer(source="points", many=True, default=list)


class AnalysisAuditViews(StudyViews):
    """Error rates for the placements of an analysis."""

    queryset = Analysis.objects.none()
    serializer_class = AuditSerializer

    @extend_schema(responses=AuditSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return precision, recall, agreement and corrected shares."""
        analyses = self.study.analyses.filter(state=Analysis.State.DONE)
        analysis = get_object_or_404(analyses, public_id=kwargs["analysis_id"])
        return Response(AuditSerializer(audit_of(analysis) or {}).data)
