"""Endpoints for datasets, cells, arguments and comments."""

import uuid
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.datasets.actions import DatasetInUse, RecipeRefused, change_recipe, delete_dataset
from argsum.datasets.methods.preprocessing import (
    ALL_STEPS,
    HALF,
    LARGEST_SEED,
    PAPER_STEPS,
    PARTS,
    Half,
)
from argsum.datasets.models import (
    Cell,
    CellArgument,
    Comment,
    CommentStatement,
    Dataset,
    KeyPointMatch,
)
from argsum.datasets.reports.comments import (
    SAYS_NOTHING,
    comments_of,
    having,
    saying_nothing,
    with_comments,
)
from argsum.datasets.reports.datasets import (
    KEPT_ONLY,
    LEFT_OUT_ONLY,
    arguments_of,
    cell_rows,
    dataset_rows,
    datasets_of,
    key_points_of,
    shown_arguments,
)
from cqa_site.api.base import Input, ReadSerializer, Request, StudyViews, public_id
from cqa_site.web.rest.queries import conflict_on


class FunnelSerializer(serializers.Serializer):
    """Counts of the arguments in one split before the first step and after each step."""

    split = serializers.CharField()
    cells = serializers.IntegerField()
    counts = serializers.SerializerMethodField()

    def get_counts(self, funnel: Any) -> dict[str, int]:
        """Return the counts: ``comments`` (for statements), ``read``, then each step."""
        counts = {} if funnel.comments is None else {"comments": funnel.comments}
        return counts | {step.key: step.left for step in funnel.steps}


class DatasetSerializer(ReadSerializer):
    """A dataset; its funnel has a separate endpoint."""

    recipe = serializers.SerializerMethodField()

    class Meta:
        model = Dataset
        fields = ["id", "name", "source", "recipe", "created_at"]

    def get_recipe(self, dataset: Dataset) -> list[str]:
        """Return the preprocessing steps of the dataset."""
        return list(dataset.recipe.get("steps", PAPER_STEPS))


class DatasetDetailSerializer(serializers.Serializer):
    """A dataset with its funnel; if ``is_frozen``, only comments can still be added."""

    dataset = DatasetSerializer()
    funnels = FunnelSerializer(many=True)
    key_points = serializers.IntegerField()
    runs = serializers.IntegerField()
    imported_sets = serializers.IntegerField()
    analyses = serializers.IntegerField()
    is_frozen = serializers.BooleanField()


class RecipeInput(Input):
    """Preprocessing steps; ``unique`` always applies, and ``half`` applies if a half is given."""

    steps = serializers.ListField(
        child=serializers.ChoiceField(ALL_STEPS), max_length=len(ALL_STEPS)
    )
    half = serializers.ChoiceField(
        PARTS, required=False, allow_blank=True, help_text="Half to keep. Default: test."
    )
    seed = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Seed for choosing the random half. Default: 1.",
    )


class CellSerializer(ReadSerializer):
    """One topic and stance."""

    dataset = public_id("dataset")

    class Meta:
        model = Cell
        fields = ["id", "dataset", "topic", "stance", "split", "position"]


class KeyPointSerializer(serializers.Serializer):
    """A reference key point with its number of matching arguments."""

    id = serializers.UUIDField(source="public_id")
    position = serializers.IntegerField()
    name = serializers.CharField()
    text = serializers.CharField()
    matched = serializers.IntegerField()
    matched_kept = serializers.IntegerField()


class CellDetailSerializer(serializers.Serializer):
    """A cell with its key points and its arguments by reason for exclusion ("" means kept)."""

    cell = CellSerializer()
    arguments = serializers.IntegerField()
    kept = serializers.IntegerField()
    comments = serializers.IntegerField()
    reasons = serializers.DictField(child=serializers.IntegerField())
    key_points = KeyPointSerializer(many=True)


class CellArgumentSerializer(ReadSerializer):
    """One argument; a key point in neither ``matches`` nor ``differs`` is undecided.

    ``comments`` is the number of comments that contain the statement.
    """

    comments = serializers.IntegerField()
    matches = serializers.SerializerMethodField()
    differs = serializers.SerializerMethodField()

    class Meta:
        model = CellArgument
        fields = [
            "id", "position", "name", "text", "quality", "left_out", "comments", "matches",
            "differs",
        ]  # fmt: skip

    def get_matches(self, argument: Any) -> list[int]:
        """Return the positions of the matching key points."""
        return [label.key_point.position for label in argument.labels if label.is_match]

    def get_differs(self, argument: Any) -> list[int]:
        """Return the positions of the key points that do not match."""
        return [label.key_point.position for label in argument.labels if not label.is_match]


class CellFilter(filters.FilterSet):
    split = filters.ChoiceFilter(choices=Cell.Split.choices)
    stance = filters.ChoiceFilter(choices=Cell.Stance.choices)


_SHOWN = [(KEPT_ONLY, "kept"), (LEFT_OUT_ONLY, "left out"), *CellArgument.LeftOut.choices[1:]]


class ArgumentFilter(filters.FilterSet):
    search = filters.CharFilter(field_name="text", lookup_expr="icontains", max_length=200)
    show = filters.ChoiceFilter(choices=_SHOWN, method="shown")

    def shown(self, rows: QuerySet, _name: str, value: str) -> QuerySet:
        """Apply the same filter as the cell's page."""
        return shown_arguments(rows, value)


class DatasetViews(StudyViews):
    """Datasets of the study."""

    serializer_class = DatasetSerializer

    def rows(self) -> QuerySet[Dataset]:
        """Return the rows, sorted by name."""
        return datasets_of(self.study)

    @extend_schema(responses=DatasetDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one dataset with its funnel."""
        return self._shown(self.find_row(public_id))

    @extend_schema(request=RecipeInput, responses=DatasetDetailSerializer)
    def recipe(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Preprocess again with other steps; 409 if the dataset is in use.

        Statements of comments support only the steps `unique` and `says_something`, and no half.
        """
        dataset = self.find_row(public_id)
        data = self.read(RecipeInput)
        steps, part = data["steps"], data.get("half", "")
        if part or HALF in steps:
            steps, half = [*steps, HALF], Half(part or PARTS[0], data.get("seed", 1))
        else:
            half = None
        try:
            with conflict_on(DatasetInUse):
                changed = change_recipe(
                    dataset=dataset, steps=steps, half=half, actor=request.user
                )
        except RecipeRefused as reason:
            raise ValidationError({"half" if half else "steps": [str(reason)]}) from None
        return self._shown(changed)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Delete a dataset; 409 if it is in use."""
        with conflict_on(DatasetInUse):
            delete_dataset(dataset=self.find_row(public_id), actor=request.user)
        return Response(status=204)

    def _shown(self, dataset: Dataset) -> Response:
        return Response(DatasetDetailSerializer(dataset_rows([dataset])[0]).data)


class CellViews(StudyViews):
    """Cells of one dataset, or one cell by its id."""

    serializer_class = CellSerializer
    filterset_class = CellFilter

    def rows(self) -> QuerySet[Cell]:
        """Return the rows, ordered by position. Raises 404 for a dataset of another study."""
        rows = Cell.objects.filter(dataset__study=self.study).select_related("dataset")
        if "dataset_id" not in self.kwargs:
            return rows
        dataset = get_object_or_404(datasets_of(self.study), public_id=self.kwargs["dataset_id"])
        return rows.filter(dataset=dataset)

    @extend_schema(responses=CellDetailSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one cell with its key points and its number of kept arguments."""
        cell = self.find_row(public_id)
        row = cell_rows([cell])[0]
        payload = {
            "cell": cell,
            "arguments": row.arguments,
            "kept": row.kept,
            "comments": row.comments,
            "reasons": row.reasons,
            "key_points": key_points_of(cell),
        }
        return Response(CellDetailSerializer(payload).data)


class CellPartViews(StudyViews):
    """Base of the views of one cell, which is identified in the URL."""

    def cell(self) -> Cell:
        """Return the cell from the URL. Raises 404 for a cell of another study."""
        cells = Cell.objects.filter(dataset__study=self.study).select_related("dataset__study")
        cell: Cell = get_object_or_404(cells, public_id=self.kwargs["cell_id"])
        return cell


class CellArgumentViews(CellPartViews):
    """Arguments of one cell."""

    serializer_class = CellArgumentSerializer
    filterset_class = ArgumentFilter

    def rows(self) -> QuerySet[CellArgument]:
        """Return the rows, ordered by position. Raises 404 for a cell of another study."""
        labels = KeyPointMatch.objects.select_related("key_point").order_by("key_point__position")
        return with_comments(arguments_of(self.cell())).prefetch_related(
            Prefetch("matches", queryset=labels, to_attr="labels")
        )


class CommentStatementSerializer(serializers.Serializer):
    """A statement of a comment; ``left_out`` is empty for included statements."""

    id = serializers.UUIDField(source="argument.public_id")
    text = serializers.CharField(source="argument.text")
    left_out = serializers.CharField(source="argument.left_out")


class CommentSerializer(ReadSerializer):
    """One comment; ``attributes`` are the other columns of its file."""

    statements = CommentStatementSerializer(many=True, source="said")

    class Meta:
        model = Comment
        fields = [
            "id", "position", "name", "text", "written_on", "attributes", "source", "created_at",
            "statements",
        ]  # fmt: skip


class CommentFilter(filters.FilterSet):
    search = filters.CharFilter(field_name="text", lookup_expr="icontains", max_length=200)
    show = filters.ChoiceFilter(choices=[(SAYS_NOTHING, "say nothing")], method="shown")
    attribute = filters.CharFilter(method="paired", max_length=200)
    value = filters.CharFilter(method="paired", max_length=200)
    source = filters.CharFilter(max_length=255)
    written_from = filters.DateFilter(field_name="written_on", lookup_expr="gte")
    written_until = filters.DateFilter(field_name="written_on", lookup_expr="lte")
    after = filters.NumberFilter(
        field_name="position", lookup_expr="gt", min_value=0, max_value=2**31 - 1, decimal_places=0
    )

    def shown(self, rows: QuerySet, _name: str, _value: str) -> QuerySet:
        """Return only the comments without a kept statement."""
        return saying_nothing(rows)

    def paired(self, rows: QuerySet, _name: str, _value: str) -> QuerySet:
        """Leave the filtering to `filter_queryset`, because column and value belong together."""
        return rows

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        """Return the rows that match all filters."""
        cleaned_data = self.form.cleaned_data
        column, value = cleaned_data.get("attribute"), cleaned_data.get("value")
        if bool(column) != bool(value):
            raise ValidationError({"attribute": ["Give a column together with its value."]})
        rows = super().filter_queryset(queryset)
        return having(rows, column, value) if column else rows


class CellCommentViews(CellPartViews):
    """Comments of one cell."""

    serializer_class = CommentSerializer
    filterset_class = CommentFilter

    def rows(self) -> QuerySet[Comment]:
        """Return the rows, ordered by position. Raises 404 for a cell of another study."""
        links: Any = CommentStatement.objects.select_related("argument").order_by("position")
        prefetch = Prefetch("statements", queryset=links, to_attr="said")
        return comments_of(self.cell()).prefetch_related(prefetch)
