"""Files that come in: upload, look at what they would do, apply or discard."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions import importing
from annotation.models import ImportFile, ImportProblem
from cqa_site.web.problems import conflict_on

from . import filters, inputs, serializers
from .access import StudyViews

BUSY = importing.NotInThisState


class ImportViews(StudyViews):
    """Uploaded files of a study."""

    queryset = ImportFile.objects.none()
    serializer_class = serializers.ImportSerializer
    filterset_class = filters.ImportFilter

    def rows(self) -> QuerySet:
        """Newest first."""
        return self.study.import_files.select_related("campaign", "job", "study")

    @extend_schema(request=inputs.CheckInput, responses={202: serializers.ImportSerializer})
    def check(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Look again, with other options; nothing is written."""
        found = self._found(public_id)
        given = self.read(inputs.CheckInput)
        with conflict_on(BUSY):
            importing.choose_mapping(import_file=found, options=given, actor=request.user)
        return self.shown(self._found(public_id), 202)

    @extend_schema(request=inputs.ApplyInput, responses={202: serializers.ImportSerializer})
    def apply(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Import a checked file in the background: all of it or nothing."""
        found = self._found(public_id)
        given = self.read(inputs.ApplyInput)
        with conflict_on(BUSY):
            importing.request_apply(import_file=found, actor=request.user, **given)
        return self.shown(self._found(public_id), 202)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Discard a file that was not imported."""
        with conflict_on(BUSY):
            importing.discard_import(import_file=self._found(public_id), actor=request.user)
        return Response(status=204)

    def _found(self, public_id: uuid.UUID) -> ImportFile:
        return get_object_or_404(self.get_queryset(), public_id=public_id)


class ImportUploadViews(ImportViews):
    """The list, and uploads as multipart/form-data."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=inputs.ImportInput, responses={202: serializers.ImportSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Store a file and look at what it would do; see ``counts`` when it is checked."""
        given = self.read(inputs.ImportInput)
        file, kind = given.pop("file"), given.pop("kind")
        try:
            stored = importing.store_upload(
                study=self.study,
                kind=kind,
                name=file.name,
                chunks=file.chunks(),
                options=given,
                actor=request.user,
            )
        except importing.TooLarge as reason:
            raise ValidationError({"file": ["The file is too large."]}) from reason
        importing.request_check(import_file=stored, actor=request.user)
        return self.shown(self._found(stored.public_id), 202)


class ImportProblemViews(StudyViews):
    """Rows of one uploaded file that were rejected or flagged."""

    queryset = ImportProblem.objects.none()
    serializer_class = serializers.ImportProblemSerializer
    filterset_class = filters.ProblemFilter

    def rows(self) -> QuerySet:
        """By row; raises 404 if the file is not of this study."""
        file = self.study.import_files.filter(public_id=self.kwargs["import_id"]).first()
        if file is None:
            raise Http404
        return file.problems.all()
