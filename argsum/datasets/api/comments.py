"""Comments of a cell as they came, each with what it says."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from argsum.datasets.models import Cell, Comment, CommentStatement
from argsum.datasets.reports.comments import (
    SAYS_NOTHING,
    comments_of,
    having,
    saying_nothing,
)
from cqa_site.api.serializers import ReadSerializer
from cqa_site.api.views import StudyViews


class SaidStatementSerializer(serializers.Serializer):
    """A statement of a comment; ``left_out`` is "" for those that take part."""

    id = serializers.UUIDField(source="argument.public_id")
    text = serializers.CharField(source="argument.text")
    left_out = serializers.CharField(source="argument.left_out")


class CommentSerializer(ReadSerializer):
    """One comment; ``attributes`` are the further columns of its file."""

    statements = SaidStatementSerializer(many=True, source="said")

    class Meta:
        model = Comment
        fields = [
            "id",
            "position",
            "name",
            "text",
            "written_on",
            "attributes",
            "source",
            "created_at",
            "statements",
        ]


class CommentFilter(filters.FilterSet):
    """Comments by text, day, file, place and the value of one of their columns."""

    search = filters.CharFilter(field_name="text", lookup_expr="icontains", max_length=200)
    show = filters.ChoiceFilter(choices=[(SAYS_NOTHING, "say nothing")], method="shown")
    attribute = filters.CharFilter(method="paired", max_length=200)
    value = filters.CharFilter(method="paired", max_length=200)
    source = filters.CharFilter(max_length=255)
    written_from = filters.DateFilter(field_name="written_on", lookup_expr="gte")
    written_until = filters.DateFilter(field_name="written_on", lookup_expr="lte")
    after = filters.NumberFilter(
        field_name="position",
        lookup_expr="gt",
        min_value=0,
        max_value=2**31 - 1,
        decimal_places=0,
    )

    def shown(self, rows: QuerySet, _name: str, _value: str) -> QuerySet:
        """Those of which no statement takes part."""
        return saying_nothing(rows)

    def paired(self, rows: QuerySet, _name: str, _value: str) -> QuerySet:
        """Column and value count together; see `filter_queryset`."""
        return rows

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        """What is left."""
        given = self.form.cleaned_data
        column, value = given.get("attribute"), given.get("value")
        if bool(column) != bool(value):
            raise ValidationError({"attribute": ["A column and its value come together."]})
        rows = super().filter_queryset(queryset)
        return having(rows, column, value) if column else rows


class CellCommentViews(StudyViews):
    """Comments of one cell."""

    queryset = Comment.objects.none()
    serializer_class = CommentSerializer
    filterset_class = CommentFilter

    def rows(self) -> QuerySet[Comment]:
        """By position; raises 404 if the cell is not of this study."""
        cells = Cell.objects.filter(dataset__study=self.study)
        cell = get_object_or_404(cells, public_id=self.kwargs["cell_id"])
        links: Any = CommentStatement.objects.select_related("argument").order_by("position")
        said = Prefetch("statements", queryset=links, to_attr="said")
        return comments_of(cell).prefetch_related(said)
