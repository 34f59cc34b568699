"""Endpoints for the key points of an analysis, their statements, and all edits."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.analysis.actions.edits import (
    LONGEST_TEXT,
    MOST_POINTS,
    EditRefused,
    add_point,
    merge_points,
    move_statements,
    rename_point,
    set_state,
    split_point,
    undo_change,
)
from argsum.analysis.actions.jobs import ask_to_split
from argsum.analysis.actions.themes import LONGEST_THEME, merge_themes, move_to_theme, rename_theme
from argsum.analysis.forms import LONGEST_SEARCH, STATE_VERBS
from argsum.analysis.models import FoundPoint, Placement
from argsum.analysis.reports.analyses import StatementSearch, changes_of
from argsum.analysis.reports.mentions import BEST_FIRST
from argsum.analysis.reports.themes import theme_figures
from argsum.datasets.models import CellArgument
from cqa_site.api.base import Input, ReadSerializer, Request, public_id
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.rest.queries import conflict_on, refuse_undeclared
from .analyses import AnalysisViewsBelow, PointChangeSerializer, UndoInput

MOST_STATEMENTS = 5_000
SEEN = (
    "The revision of the analysis that you read. If the same key point was changed since then, "
    "the request fails with 409."
)


class WriterSerializer(serializers.Serializer):
    """The language model that wrote a key point: run, model and prompt version."""

    run = serializers.UUIDField(source="public_id", read_only=True)
    model = serializers.CharField(source="spec.model")
    prompt = public_id("prompt")
    prompt_number = serializers.IntegerField(source="prompt.number")


class FoundPointSerializer(ReadSerializer):
    """A key point. ``comments`` and ``voices`` count those with at least one of its statements.

    ``sure_comments`` and ``sure_voices`` count those with a sure statement or, if the analysis has
    no ``sure_from``, with a statement that a person placed.
    ``theme`` is the name of its theme, or empty if it has no theme.
    ``written`` is the original text. ``writer`` is null if no language model wrote the current
    text.
    """

    merged_into = public_id("merged_into", allow_null=True, default=None)
    writer = WriterSerializer(allow_null=True)

    class Meta:
        model = FoundPoint
        fields = [
            "id", "position", "text", "written", "theme", "origin", "state", "writer",
            "merged_into", "statements", "comments", "voices", "sure_comments", "sure_voices",
            "distinctness", "revision",
        ]  # fmt: skip


class PlacedSerializer(serializers.ModelSerializer):
    """A statement and its key point, without a score if a person placed it.

    ``is_sure`` is true if the machine was sure when it placed the statement.
    """

    id = public_id("argument")
    text = serializers.CharField(source="argument.text", read_only=True)
    key_point = public_id("point", allow_null=True, default=None)
    score = serializers.SerializerMethodField()

    class Meta:
        model = Placement
        fields = ["id", "text", "key_point", "score", "is_sure", "is_by_hand"]
        read_only_fields = fields

    def get_score(self, row: Placement) -> float | None:
        """Return the match score with the key point, or with the nearest key point."""
        return None if row.is_by_hand else row.score


class SeenInput(Input):
    """Fields of every edit."""

    seen = serializers.IntegerField(min_value=0, max_value=2**31 - 1, help_text=SEEN)


class TextInput(Input):
    """The text of a key point."""

    text = serializers.CharField(max_length=LONGEST_TEXT)


class RenameInput(SeenInput):
    """The new text of a key point."""

    text = serializers.CharField(max_length=LONGEST_TEXT)


class StateInput(SeenInput):
    """Key points to hide, show, accept or decline."""

    verb = serializers.ChoiceField([(action, action) for action in STATE_VERBS])
    key_points = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_POINTS)


class MergeInput(SeenInput):
    """Key points to merge into ``into`` or, by default, into the one with the most comments."""

    key_points = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_POINTS)
    into = serializers.UUIDField(required=False, allow_null=True)
    text = serializers.CharField(max_length=LONGEST_TEXT, required=False, allow_blank=True)


class MoveInput(SeenInput):
    """Statements to move from one key point to another. Null stands for no key point."""

    key_point = serializers.UUIDField(allow_null=True)
    statements = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_STATEMENTS)
    to = serializers.UUIDField(allow_null=True)


class SplitInput(SeenInput):
    """Statements that form a new key point. They belong to one key point or to none."""

    key_point = serializers.UUIDField(allow_null=True)
    statements = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_STATEMENTS)
    text = serializers.CharField(max_length=LONGEST_TEXT)


class ToThemeInput(SeenInput):
    """Key points and their new theme, which need not exist yet. An empty name means no theme."""

    key_points = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_POINTS)
    theme = serializers.CharField(max_length=LONGEST_THEME, allow_blank=True)


class ThemeRenameInput(SeenInput):
    """A theme and its new name, which must not be in use."""

    theme = serializers.CharField(max_length=LONGEST_THEME)
    name = serializers.CharField(max_length=LONGEST_THEME)


class ThemeMergeInput(SeenInput):
    """Themes to merge under ``name`` or, by default, the name of the most frequent theme."""

    themes = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_THEME), max_length=MOST_POINTS
    )
    name = serializers.CharField(max_length=LONGEST_THEME, required=False, allow_blank=True)


class ThemeSerializer(serializers.Serializer):
    """A theme of shown key points. A comment that makes two of them counts once.

    ``name`` is empty for key points without a theme.
    """

    name = serializers.CharField(allow_blank=True)
    key_points = serializers.IntegerField(help_text="Number of shown key points.")
    statements = serializers.IntegerField()
    comments = serializers.IntegerField()
    voices = serializers.IntegerField()
    sure_comments = serializers.IntegerField()
    sure_voices = serializers.IntegerField()


class ThemesSerializer(serializers.Serializer):
    """All themes, most comments first."""

    themes = ThemeSerializer(many=True)


class PartsInput(SeenInput):
    """A key point to split in the background."""

    key_point = serializers.UUIDField()


class FoundPointFilter(filters.FilterSet):
    """Filters for key points: theme, state and origin."""

    theme = filters.CharFilter(max_length=LONGEST_THEME)
    state = filters.ChoiceFilter(choices=FoundPoint.State.choices)
    origin = filters.ChoiceFilter(choices=FoundPoint.Origin.choices)


class StatementFilter(filters.FilterSet):
    """Filters for statements: their text, and a column value and the dates of their comments."""

    search = filters.CharFilter(method="narrowed", max_length=LONGEST_SEARCH)
    attribute = filters.CharFilter(method="narrowed", max_length=200)
    value = filters.CharFilter(method="narrowed", max_length=200)
    first = filters.DateFilter(method="narrowed")
    last = filters.DateFilter(method="narrowed")

    def narrowed(self, rows: QuerySet, name: str, value: Any) -> QuerySet:
        """Leave filtering to `filter_queryset`, where all conditions apply to the same comment."""
        return rows

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        """Return the rows that match all filters."""
        cleaned_data = self.form.cleaned_data
        if bool(cleaned_data.get("attribute")) != bool(cleaned_data.get("value")):
            raise ValidationError({"attribute": ["Give a column together with its value."]})
        search, column, value = (
            cleaned_data.get(name) or "" for name in ("search", "attribute", "value")
        )
        days = cleaned_data.get("first"), cleaned_data.get("last")
        return StatementSearch(search, column, value, *days).of_statements(queryset)


class FoundPointViews(AnalysisViewsBelow):
    """Key points of an analysis, most comments first."""

    queryset = FoundPoint.objects.none()
    serializer_class = FoundPointSerializer
    filterset_class = FoundPointFilter

    def rows(self) -> QuerySet:
        """Return key points in all states."""
        rows = self.analysis().points.select_related("merged_into", "writer__prompt")
        return rows.order_by("-comments", "position")

    @extend_schema(request=TextInput, responses={201: PointChangeSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Add a key point by hand."""
        return self._edit(add_point, text=self.read(TextInput)["text"], status=201)

    @extend_schema(request=RenameInput, responses=FoundPointSerializer)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Rename a key point."""
        point = self.find_row(public_id)
        if self.request.data != {}:
            self._edit(rename_point, point=point, **self.read(RenameInput))
        return self.shown(self.get_queryset().get(pk=point.pk))

    @extend_schema(request=StateInput, responses=PointChangeSerializer)
    def state(self, request: Request, **kwargs: Any) -> Response:
        """Hide or show key points, or accept or decline proposed ones."""
        data = self.read(StateInput)
        points = self._points("key_points", data["key_points"])
        return self._edit(set_state, points=points, verb=data["verb"], seen=data["seen"])

    @extend_schema(request=MergeInput, responses=PointChangeSerializer)
    def merge(self, request: Request, **kwargs: Any) -> Response:
        """Merge several key points."""
        data = self.read(MergeInput)
        into = self._point("into", data.get("into"))
        return self._edit(
            merge_points,
            points=self._points("key_points", data["key_points"]),
            into=into,
            text=data.get("text", ""),
            seen=data["seen"],
        )

    @extend_schema(request=MoveInput, responses=PointChangeSerializer)
    def move(self, request: Request, **kwargs: Any) -> Response:
        """Move statements to another key point, or to none. Later placements do not move them."""
        data = self.read(MoveInput)
        return self._edit(
            move_statements,
            point=self._point("key_point", data["key_point"]),
            statements=self._statements(data["statements"]),
            to=self._point("to", data["to"]),
            seen=data["seen"],
        )

    @extend_schema(request=SplitInput, responses=PointChangeSerializer)
    def split(self, request: Request, **kwargs: Any) -> Response:
        """Make a new key point from some statements."""
        data = self.read(SplitInput)
        return self._edit(
            split_point,
            point=self._point("key_point", data["key_point"]),
            statements=self._statements(data["statements"]),
            text=data["text"],
            seen=data["seen"],
        )

    @extend_schema(request=ToThemeInput, responses=PointChangeSerializer)
    def theme(self, request: Request, **kwargs: Any) -> Response:
        """Move key points to a theme, or remove them from their themes."""
        data = self.read(ToThemeInput)
        points = self._points("key_points", data["key_points"])
        return self._edit(move_to_theme, points=points, theme=data["theme"], seen=data["seen"])

    @extend_schema(responses=ThemesSerializer, filters=False)
    def themes(self, request: Request, **kwargs: Any) -> Response:
        """List the themes, most comments first."""
        refuse_undeclared(request, [])
        return Response(ThemesSerializer({"themes": theme_figures(self.analysis())}).data)

    @extend_schema(request=ThemeRenameInput, responses=PointChangeSerializer)
    def rename_themes(self, request: Request, **kwargs: Any) -> Response:
        """Rename a theme."""
        return self._edit(rename_theme, **self.read(ThemeRenameInput))

    @extend_schema(request=ThemeMergeInput, responses=PointChangeSerializer)
    def merge_themes(self, request: Request, **kwargs: Any) -> Response:
        """Merge several themes."""
        return self._edit(merge_themes, **self.read(ThemeMergeInput))

    @extend_schema(request=PartsInput, responses={202: JobSerializer})
    def parts(self, request: Request, **kwargs: Any) -> Response:
        """Split a key point into parts in the background. Each part becomes a new key point."""
        data = self.read(PartsInput)
        point = self._points("key_point", [data["key_point"]])[0]
        with conflict_on(EditRefused):
            job = ask_to_split(
                analysis=self.analysis(), actor=request.user, point=point, seen=data["seen"]
            )
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=UndoInput, responses=PointChangeSerializer)
    def undo(self, request: Request, **kwargs: Any) -> Response:
        """Undo an edit; 409 if a later edit changed the same content."""
        data = self.read(UndoInput)
        change = self.analysis().changes.filter(revision=data["revision"]).first()
        if change is None:
            raise ValidationError({"revision": ["This edit does not exist."]})
        return self._edit(undo_change, change=change)

    def _edit(self, action: Any, *, status: int = 200, **options: Any) -> Response:
        analysis = self.analysis()
        with conflict_on(EditRefused):
            change = action(analysis=analysis, actor=self.request.user, **options)
        row = changes_of(analysis).get(pk=change.pk)
        return Response(PointChangeSerializer(row).data, status=status)

    def _points(self, field: str, wanted: list[uuid.UUID]) -> list[FoundPoint]:
        points = list(self.analysis().points.filter(public_id__in=wanted))
        if len(points) != len(set(wanted)):
            raise ValidationError({field: ["Not in this analysis."]})
        return points

    def _point(self, field: str, wanted: uuid.UUID | None) -> FoundPoint | None:
        return self._points(field, [wanted])[0] if wanted else None

    def _statements(self, wanted: list[uuid.UUID]) -> list[int]:
        own = CellArgument.objects.filter(cell=self.analysis().cell_id, public_id__in=wanted)
        statements = list(own.order_by("pk").values_list("pk", flat=True))
        if len(statements) != len(set(wanted)):
            raise ValidationError({"statements": ["Not in this analysis."]})
        return statements


class PlacedViews(AnalysisViewsBelow):
    """Statements of an analysis: those of one key point, or those that fit no key point."""

    queryset = Placement.objects.none()
    serializer_class = PlacedSerializer
    filterset_class = StatementFilter

    def rows(self) -> QuerySet:
        """Return the rows, best first."""
        analysis = self.analysis()
        rows = Placement.objects.filter(analysis=analysis).order_by(*BEST_FIRST)
        point = None
        if wanted := self.kwargs.get("public_id"):
            point = get_object_or_404(analysis.points, public_id=wanted)
        return rows.filter(point=point).select_related("argument", "point")
