"""Snapshots of a round, and the files made from them."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from annotation.exports.actions import exports
from annotation.exports.api.bodies import ExportSerializer
from annotation.exports.api.filters import ExportFilter
from annotation.exports.api.inputs import ExportInput
from annotation.exports.models import ExportFile
from annotation.figures.models import Snapshot
from annotation.labelling.api.campaigns import CampaignViews
from cqa_site.api.requests import Request
from cqa_site.files.actions.exports import Options
from cqa_site.files.sending import CONTENT_TYPES, sent_file, sent_manifest
from cqa_site.web.rest.problems import Conflict, conflict_on


class ExportViews(CampaignViews):
    """Files made from snapshots."""

    queryset = ExportFile.objects.none()
    serializer_class = ExportSerializer
    filterset_class = ExportFilter
    reads_that_wait = ("file", "manifest")

    def rows(self) -> QuerySet:
        """Newest first."""
        return (
            self.campaign.export_files.select_related("snapshot", "job", "campaign")
            .defer("snapshot__rows", "snapshot__figures")
            .all()
        )

    @extend_schema(request=ExportInput, responses={202: ExportSerializer(many=True)})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Have files made in the background; all files of one request share pseudonyms."""
        given = self.read(ExportInput)
        snapshot = self._snapshot(given["snapshot"])
        with conflict_on(exports.ExportNotPossible):
            files = exports.request_exports(
                campaign=self.campaign,
                snapshot=snapshot,
                contents=given["contents"],
                format=given["format"],
                options=Options(given["with_comments"], given["is_raw"]),
                actor=request.user,
            )
        made = self.get_queryset().filter(pk__in=[file.pk for file in files])
        return Response(self.get_serializer(made, many=True).data, status=202)

    @extend_schema(
        responses={
            (200, kind.partition(";")[0]): OpenApiTypes.BINARY for kind in CONTENT_TYPES.values()
        }
    )
    def file(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> FileResponse:
        """Download the finished file; 409 while it is being made."""
        return sent_file(self._finished(public_id))

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def manifest(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> FileResponse:
        """Download the description: rows, sha256, snapshot, columns, recipe."""
        return sent_manifest(self._finished(public_id))

    def _snapshot(self, public_id: uuid.UUID | None) -> Snapshot | None:
        if public_id is None:
            return None
        snapshots = self.campaign.snapshots.defer("rows", "figures")
        return get_object_or_404(snapshots, public_id=public_id)

    def _finished(self, public_id: uuid.UUID) -> ExportFile:
        found = get_object_or_404(self.get_queryset(), public_id=public_id)
        if not found.finished_at:
            raise Conflict("The file is not finished.")
        return found
