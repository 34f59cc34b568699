"""REST API of boards: snapshots of a rubric's leaderboard and agreement, with their sheets."""

import uuid
from typing import Any

from django.http import HttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from benchmark.leaderboard.actions import BOARDS, boards_of, compute_board, request_slice
from benchmark.leaderboard.methods.figures import ScoreBoard
from benchmark.leaderboard.methods.options import TOTAL
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import ASPECTS, Filters
from benchmark.leaderboard.reports.standings import board_warnings
from cqa_site.api.base import Input, Request, public_id
from cqa_site.results.api import (
    SNAPSHOT_FIELDS,
    FreezingViews,
    ListOfSnapshots,
    NumberedSnapshotSerializer,
)
from cqa_site.runs.api.bodies import JobSerializer


class BoardSerializer(NumberedSnapshotSerializer):
    """A numbered board; the board's URL returns the figures."""

    kind = BOARDS
    rubric = public_id("rubric")

    class Meta:
        model = BoardSnapshot
        fields = ["id", "number", "rubric", *SNAPSHOT_FIELDS, "public_token"]


class BoardDetailSerializer(BoardSerializer):
    """A numbered board with all figures, changes and the manifest."""

    warnings = serializers.SerializerMethodField()

    class Meta:
        model = BoardSnapshot
        fields = [*BoardSerializer.Meta.fields, "figures", "changes", "manifest", "warnings"]

    def get_warnings(self, row: BoardSnapshot) -> list[str]:
        """Return warnings about thin data, which should be read before publishing."""
        return board_warnings(ScoreBoard.from_dict(row.figures["board"]))


class RefreshInput(Input):
    """The rubric, by default the newest rubric with sheets."""

    rubric = serializers.UUIDField(required=False, allow_null=True, default=None)


class PartInput(Input):
    """Filters for a board's sheets, and the column to rank by; empty values do not filter."""

    column = serializers.CharField(default=TOTAL, help_text="`total`, a group or a criterion.")
    aspect = serializers.ChoiceField(["", *ASPECTS], default="")
    scenario = serializers.ChoiceField(["", "0", "1", "2", "3", "4"], default="")
    dataset = serializers.CharField(default="", allow_blank=True)
    condition = serializers.CharField(
        default="", allow_blank=True, help_text="Id of a condition in the recipe."
    )


class PartSerializer(serializers.Serializer):
    """The figures for part of a board, computed from the sheets with this hash."""

    rows_sha256 = serializers.CharField(source="marker")
    figures = serializers.DictField()


class BoardFilter(filters.FilterSet):
    rubric = filters.UUIDFilter(field_name="rubric__public_id")


class BoardViews(FreezingViews):
    """The numbered boards of a study."""

    kind = BOARDS
    related = ("rubric",)
    serializer_class: type[Serializer] = BoardDetailSerializer
    filterset_class = BoardFilter

    @extend_schema(request=RefreshInput, responses={202: JobSerializer})
    def refresh(self, request: Request, **kwargs: Any) -> Response:
        """Request new figures for a live board; they are computed in the background."""
        wanted = self.read(RefreshInput)["rubric"]
        known = boards_of(self.study)
        rubric = next((version for version in known if wanted in (None, version.public_id)), None)
        if rubric is None:
            raise ValidationError({"rubric": ["This study has no such rubric with score sheets."]})
        job = compute_board(study=self.study, rubric=rubric, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=PartInput, responses={200: PartSerializer, 202: JobSerializer})
    def part(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return the figures for part of a board's sheets, or the job that computes them."""
        row = self.find_row(public_id)
        wanted = self.read(PartInput)
        chosen = Filters.from_query(wanted, row.recipe)
        unknown = [name for name, value in wanted.items() if value != getattr(chosen, name)]
        if unknown:
            raise ValidationError(
                {name: ["This leaderboard has no such value."] for name in unknown}
            )
        board_slice = row.slices.filter(key=chosen.key, marker=row.sha256).first()
        if board_slice is not None:
            return Response(PartSerializer(board_slice).data)
        if not chosen.key:
            whole = {"marker": row.sha256, "figures": row.figures["board"]}
            return Response(PartSerializer(whole).data)
        job = request_slice(snapshot=row, filters=chosen, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def sheets(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> HttpResponse:
        """Return the sheets behind a board as CSV; the board's sha256 is the hash of the file."""
        return self.rows_file(public_id, "board")


class BoardListViews(ListOfSnapshots, BoardViews):
    """The list of boards, without figures."""

    serializer_class = BoardSerializer
