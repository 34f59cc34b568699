"""Boards: snapshots of a rubric's leaderboard and agreement, and the sheets behind them."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import StudyViews
from annotation.api.inputs import NoteInput, NothingInput
from annotation.api.inputs.base import Input
from annotation.api.serializers import JobSerializer
from annotation.api.serializers.base import ReadSerializer, public_id
from benchmark.actions import board_freezing
from benchmark.actions.boards import boards_of, request_board
from benchmark.models import BoardSnapshot
from benchmark.reports.board_files import manifest_of
from benchmark.reports.board_rows import plain_rows
from cqa_site.web.problems import conflict_on


class BoardSerializer(ReadSerializer):
    """A numbered board; see its own address for the figures."""

    rubric = public_id("rubric")
    is_frozen = serializers.BooleanField(read_only=True)
    recipe = serializers.DictField(read_only=True)
    public_token = serializers.UUIDField(read_only=True, allow_null=True)

    class Meta:
        model = BoardSnapshot
        fields = [
            "id",
            "number",
            "rubric",
            "is_frozen",
            "sha256",
            "recipe",
            "computed_at",
            "note",
            "frozen_at",
            "public_token",
        ]


class BoardDetailSerializer(BoardSerializer):
    """A numbered board with every figure, what moved, and its manifest."""

    figures = serializers.DictField(read_only=True)
    changes = serializers.DictField(read_only=True)
    manifest = serializers.SerializerMethodField()

    class Meta:
        model = BoardSnapshot
        fields = [*BoardSerializer.Meta.fields, "figures", "changes", "manifest"]

    def get_manifest(self, row: BoardSnapshot) -> dict[str, Any]:
        """Hashes, seeds and versions of packages."""
        return manifest_of(row)


class RefreshInput(Input):
    """Of which rubric; by default the newest that has sheets."""

    rubric = serializers.UUIDField(required=False, allow_null=True, default=None)


class BoardFilter(filters.FilterSet):
    """Boards of one rubric."""

    rubric = filters.UUIDFilter(field_name="rubric__public_id")


class BoardViews(StudyViews):
    """The numbered boards of a study."""

    queryset = BoardSnapshot.objects.none()
    serializer_class = BoardDetailSerializer
    filterset_class = BoardFilter

    def rows(self) -> QuerySet:
        """Newest first; the packed sheets stay where they are."""
        found = self.study.board_snapshots.filter(computed_at__isnull=False)
        return found.select_related("rubric").defer("rows")

    @extend_schema(request=RefreshInput, responses={202: JobSerializer})
    def refresh(self, request: Request, **kwargs: Any) -> Response:
        """Ask for new figures of a live board in the background."""
        wanted = self.read(RefreshInput)["rubric"]
        known = boards_of(self.study)
        rubric = next((each for each in known if wanted in (None, each.public_id)), None)
        if rubric is None:
            raise ValidationError({"rubric": ["No such rubric with score sheets in this study."]})
        job = request_board(study=self.study, rubric=rubric, actor=request.user, is_urgent=True)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=NoteInput, responses=BoardDetailSerializer)
    def freeze(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Make a live board immutable."""
        number = get_object_or_404(self.get_queryset(), public_id=public_id).number
        note = self.read(NoteInput)["note"]
        with conflict_on(board_freezing.BoardNotReady):
            frozen = board_freezing.freeze_board(
                study=self.study, number=number, note=note, actor=request.user
            )
        return self.shown(frozen)

    @extend_schema(request=NothingInput, responses=BoardDetailSerializer)
    def publish(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Give a frozen board an address that anybody may read."""
        return self._change(board_freezing.publish_board, public_id)

    @extend_schema(request=NothingInput, responses=BoardDetailSerializer)
    def withdraw(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Take the public address back."""
        return self._change(board_freezing.withdraw_board, public_id)

    def _change(self, change: Callable[..., BoardSnapshot], public_id: uuid.UUID) -> Response:
        row = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(NothingInput)
        with conflict_on(board_freezing.BoardNotReady):
            change(study=self.study, number=row.number, actor=self.request.user)
        return self.shown(self.get_queryset().get(pk=row.pk))

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def sheets(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> HttpResponse:
        """The sheets behind a board as CSV: exactly the bytes of its sha256."""
        found = self.study.board_snapshots.filter(computed_at__isnull=False)
        row = get_object_or_404(found.only("rows", "number"), public_id=public_id)
        content = plain_rows(bytes(row.rows))
        response = HttpResponse(content, content_type="text/csv; charset=utf-8")
        name = f"board-{row.number}-rows.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


class BoardListViews(BoardViews):
    """The list, without the figures."""

    serializer_class = BoardSerializer

    def rows(self) -> QuerySet:
        """Newest first."""
        return super().rows().defer("rows", "figures", "changes")
