"""REST API for export files."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from annotation.exports import actions
from annotation.exports.models import ExportFile
from annotation.figures.models import Snapshot
from annotation.labelling.api import LabelRoundViews
from cqa_site.api.base import Input, ReadSerializer, Request, public_id
from cqa_site.files.actions.exports import CONTENT_TYPES, ExportOptions, sent_file, sent_manifest
from cqa_site.web.rest.queries import Conflict, conflict_on


class ExportSerializer(ReadSerializer):
    """One file made from a snapshot, ready for download once ``finished_at`` is set."""

    snapshot = public_id("snapshot")
    job = public_id("job", allow_null=True, default=None)

    class Meta:
        model = ExportFile
        fields = [
            "id", "snapshot", "content", "format", "rows", "size", "sha256", "job", "created_at",
            "finished_at",
        ]  # fmt: skip


class ExportInput(Input):
    """Files to make from one snapshot, by default the live snapshot, which is updated first.

    All files of one request share their pseudonyms.
    """

    snapshot = serializers.UUIDField(required=False, allow_null=True, default=None)
    contents = serializers.ListField(
        child=serializers.ChoiceField(ExportFile.Content.choices), min_length=1, max_length=5
    )
    format = serializers.ChoiceField(ExportFile.Format.choices)
    with_comments = serializers.BooleanField(default=False)
    is_raw = serializers.BooleanField(
        default=False, help_text="CSV without protection against formulas in spreadsheets."
    )


class ExportFilter(filters.FilterSet):
    content = filters.ChoiceFilter(choices=ExportFile.Content.choices)
    snapshot = filters.UUIDFilter(field_name="snapshot__public_id")


class ExportViews(LabelRoundViews):
    """Export files made from snapshots."""

    serializer_class = ExportSerializer
    filterset_class = ExportFilter
    reads_that_wait = ("file", "manifest")
    in_archive = ("create",)

    def rows(self) -> QuerySet:
        """Return the rows, newest first."""
        return (
            self.label_round.export_files.select_related("snapshot", "job", "label_round")
            .defer("snapshot__rows", "snapshot__figures")
            .all()
        )

    @extend_schema(request=ExportInput, responses={202: ExportSerializer(many=True)})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Create files in the background; all files of one request share pseudonyms."""
        data = self.read(ExportInput)
        snapshot = self._snapshot(data["snapshot"])
        with conflict_on(actions.ExportNotPossible):
            files = actions.request_exports(
                label_round=self.label_round,
                snapshot=snapshot,
                contents=data["contents"],
                format=data["format"],
                options=ExportOptions(data["with_comments"], data["is_raw"]),
                actor=request.user,
            )
        rows = self.get_queryset().filter(pk__in=[file.pk for file in files])
        return Response(self.get_serializer(rows, many=True).data, status=202)

    @extend_schema(
        responses={
            (200, kind.partition(";")[0]): OpenApiTypes.BINARY for kind in CONTENT_TYPES.values()
        }
    )
    def file(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> FileResponse:
        """Download the finished file; 409 while it is being created."""
        return sent_file(self._finished(public_id))

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def manifest(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> FileResponse:
        """Download the description of the file: rows, sha256, snapshot, columns, recipe."""
        return sent_manifest(self._finished(public_id))

    def _snapshot(self, public_id: uuid.UUID | None) -> Snapshot | None:
        if public_id is None:
            return None
        snapshots = self.label_round.snapshots.defer("rows", "figures")
        return get_object_or_404(snapshots, public_id=public_id)

    def _finished(self, public_id: uuid.UUID) -> ExportFile:
        export = self.find_row(public_id)
        if not export.finished_at:
            raise Conflict("The file is not ready yet.")
        return export
