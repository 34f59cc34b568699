"""Sets of key points, and where each argument belongs."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from argsum.datasets.models import Cell, CellArgument
from argsum.keypoints.models import SummarySet, SystemSummary
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.api.views import StudyViews


class SystemSummarySerializer(serializers.ModelSerializer):
    """A key point; ``position`` counts from 0, the one with most arguments first."""

    class Meta:
        model = SystemSummary
        fields = ["position", "text", "cluster", "prevalence"]
        read_only_fields = fields


class SummarySetSerializer(ReadSerializer):
    """A set with its key points."""

    cell = public_id("cell")
    dataset = public_id("cell.dataset")
    topic = serializers.CharField(source="cell.topic", read_only=True)
    stance = serializers.ChoiceField(Cell.Stance.choices, source="cell.stance", read_only=True)
    split = serializers.CharField(source="cell.split", read_only=True)
    system_run = public_id("system_run", allow_null=True, default=None)
    parameters = serializers.DictField(read_only=True)
    summaries = SystemSummarySerializer(many=True, read_only=True)

    class Meta:
        model = SummarySet
        fields = [
            "id", "cell", "dataset", "topic", "stance", "split", "system_run", "system",
            "parameters", "setting", "source", "state", "reason", "seconds", "summaries",
            "created_at", "done_at",
        ]  # fmt: skip


class SummarySetDetailSerializer(SummarySetSerializer):
    """A set with its key points and all of its arguments."""

    arguments = serializers.SerializerMethodField()

    class Meta(SummarySetSerializer.Meta):
        fields = [*SummarySetSerializer.Meta.fields, "arguments"]

    def get_arguments(self, row: SummarySet) -> list[dict[str, Any]]:
        """In the order of the cell; null stands for no key point and for no cluster."""
        found = CellArgument.objects.in_bulk(row.arguments)
        n = len(row.arguments)
        columns = [
            row.assigned or [None] * n,
            row.scores or [None] * n,
            row.clusters or [None] * n,
        ]
        return [
            {
                "argument": str(found[pk].public_id),
                "text": found[pk].text,
                "key_point": _or_none(place),
                "score": score,
                "cluster": _or_none(cluster),
            }
            for pk, place, score, cluster in zip(row.arguments, *columns, strict=True)
            if pk in found
        ]


class SummarySetFilter(filters.FilterSet):
    """Sets of one dataset, cell, run, system, setting or state."""

    dataset = filters.UUIDFilter(field_name="cell__dataset__public_id")
    cell = filters.UUIDFilter(field_name="cell__public_id")
    system_run = filters.UUIDFilter(field_name="system_run__public_id")
    system = filters.CharFilter(max_length=120)
    setting = filters.CharFilter(max_length=200)
    state = filters.ChoiceFilter(choices=SummarySet.State.choices)
    split = filters.ChoiceFilter(field_name="cell__split", choices=Cell.Split.choices[1:])


class SummarySetViews(StudyViews):
    """Sets with their key points."""

    queryset = SummarySet.objects.none()
    serializer_class = SummarySetSerializer
    filterset_class = SummarySetFilter

    def rows(self) -> QuerySet:
        """Without the arguments, which a set's own address has."""
        rows = self.study.summary_sets.select_related("cell__dataset", "system_run")
        return (
            rows.prefetch_related("summaries")
            .defer("arguments", "clusters", "assigned", "scores")
            .order_by("pk")
        )


class SummarySetDetailViews(SummarySetViews):
    """One set with its arguments."""

    serializer_class = SummarySetDetailSerializer

    def rows(self) -> QuerySet:
        """With everything."""
        rows = self.study.summary_sets.select_related("cell__dataset", "system_run")
        return rows.prefetch_related("summaries")


def _or_none(place: int | None) -> int | None:
    return None if place is None or place < 0 else place
