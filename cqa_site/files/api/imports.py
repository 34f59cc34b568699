"""Imports: upload a file, check it, then apply or discard it."""

import uuid
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from cqa_site.api.base import Request, StudyViews
from cqa_site.files.actions.files import (
    NoSuchMatch,
    NotInThisState,
    choose_mapping,
    decide_matches,
    discard_import,
    request_apply,
    request_check,
    store_upload,
)
from cqa_site.files.actions.import_jobs import apply_batch, check_batch, discard_batch, store_batch
from cqa_site.files.api.bodies import (
    ApplyInput,
    BatchApplyInput,
    BatchCheckInput,
    BatchInput,
    CheckInput,
    ImportBatchFilter,
    ImportBatchSerializer,
    ImportFilter,
    ImportInput,
    ImportMatchSerializer,
    ImportProblemSerializer,
    ImportSerializer,
    MatchFilter,
    MatchInput,
    ProblemFilter,
)
from cqa_site.files.models import ImportBatch, ImportFile
from cqa_site.web.rest.queries import conflict_on
from cqa_site.web.uploads import TooLarge

BUSY = NotInThisState


class ImportViews(StudyViews):
    """Uploaded files of a study."""

    serializer_class = ImportSerializer
    filterset_class = ImportFilter

    def rows(self) -> QuerySet:
        """Return the files, newest first."""
        return self.study.import_files.select_related("round", "batch", "job", "study")

    @extend_schema(request=CheckInput, responses={202: ImportSerializer})
    def check(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Check the file again with other options; nothing is stored."""
        file = self.find_row(public_id)
        body = self.read(CheckInput)
        with conflict_on(BUSY):
            choose_mapping(import_file=file, options=body, actor=request.user)
        return self.shown(self.find_row(public_id), 202)

    @extend_schema(request=ApplyInput, responses={202: ImportSerializer})
    def apply(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Import a checked file in the background, completely or not at all."""
        file = self.find_row(public_id)
        body = self.read(ApplyInput)
        with conflict_on(BUSY):
            request_apply(import_file=file, actor=request.user, **body)
        return self.shown(self.find_row(public_id), 202)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Discard a file that was not imported."""
        with conflict_on(BUSY):
            discard_import(import_file=self.find_row(public_id), actor=request.user)
        return Response(status=204)


class ImportUploadViews(ImportViews):
    """The list of files, and uploads as multipart/form-data."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=ImportInput, responses={202: ImportSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Store a file and check it; its ``counts`` then show what it would add."""
        body = self.read(ImportInput)
        file, kind = body.pop("file"), body.pop("kind")
        try:
            stored = store_upload(
                study=self.study,
                kind=kind,
                name=file.name,
                chunks=file.chunks(),
                options=body,
                actor=request.user,
            )
        except TooLarge as reason:
            raise ValidationError({"file": ["The file is too large."]}) from reason
        request_check(import_file=stored, actor=request.user)
        return self.shown(self.find_row(stored.public_id), 202)


class ImportMatchViews(StudyViews):
    """Rows of one uploaded file whose texts nearly match answers in the study."""

    serializer_class = ImportMatchSerializer
    filterset_class = MatchFilter

    def rows(self) -> QuerySet:
        """Return the rows in order of row number; raises 404 for a file from another study."""
        return self._file().matches.all()

    @extend_schema(request=MatchInput, responses={202: ImportSerializer})
    def decide(self, request: Request, **kwargs: Any) -> Response:
        """Decide whether some or all rows match existing answers; then check the file again."""
        file = self._file()
        body = self.read(MatchInput)
        try:
            with conflict_on(BUSY):
                decide_matches(import_file=file, actor=request.user, **body)
        except NoSuchMatch as error:
            reason = "One of these rows is not a near-duplicate of an answer."
            raise ValidationError({"rows": [reason]}) from error
        file.refresh_from_db()
        return Response(ImportSerializer(file).data, status=202)

    def _file(self) -> ImportFile:
        files = self.study.import_files.select_related("round", "batch", "job", "study")
        return get_object_or_404(files, public_id=self.kwargs["import_id"])


class ImportProblemViews(StudyViews):
    """Rows of one uploaded file that were rejected or flagged."""

    serializer_class = ImportProblemSerializer
    filterset_class = ProblemFilter

    def rows(self) -> QuerySet:
        """Return the rows in order of row number; raises 404 for a file from another study."""
        file = self.study.import_files.filter(public_id=self.kwargs["import_id"]).first()
        if file is None:
            raise Http404
        return file.problems.all()


class ImportBatchViews(StudyViews):
    """Batches of files of one kind from one upload; the files are at ``imports/?batch=``."""

    serializer_class = ImportBatchSerializer
    filterset_class = ImportBatchFilter

    def rows(self) -> QuerySet:
        """Return the batches, newest first, with the states of their files."""
        states = ImportFile.objects.only("batch", "state")
        batches = self.study.import_batches.select_related("job", "study")
        return batches.prefetch_related(Prefetch("files", states))

    @extend_schema(request=BatchCheckInput, responses={202: ImportBatchSerializer})
    def check(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Check again, with other options, every file that has not been imported."""
        batch = self.find_row(public_id)
        body = self.read(BatchCheckInput)
        with conflict_on(BUSY):
            check_batch(batch=batch, options=body, actor=request.user)
        return self.shown(self.find_row(public_id), 202)

    @extend_schema(request=BatchApplyInput, responses={202: ImportBatchSerializer})
    def apply(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Import the named files or all checked files in order, each completely or not at all."""
        batch = self.find_row(public_id)
        body = self.read(BatchApplyInput)
        with conflict_on(BUSY):
            apply_batch(batch=batch, actor=request.user, **body)
        return self.shown(self.find_row(public_id), 202)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Discard the files that were not imported; imported files are kept."""
        with conflict_on(BUSY):
            discard_batch(batch=self.find_row(public_id), actor=request.user)
        return Response(status=204)

    def find_row(self, public_id: uuid.UUID) -> ImportBatch:
        """Return the batch without its files, which the actions read separately."""
        batches = self.study.import_batches.select_related("job", "study")
        return get_object_or_404(batches, public_id=public_id)


class ImportBatchUploadViews(ImportBatchViews):
    """The list of batches, and uploads as multipart/form-data."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=BatchInput, responses={202: ImportBatchSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Store the files and check each of them; the results are at ``imports/?batch=``."""
        body = self.read(BatchInput)
        files, kind = body.pop("files"), body.pop("kind")
        try:
            batch = store_batch(
                study=self.study, kind=kind, files=files, options=body, actor=request.user
            )
        except TooLarge as reason:
            raise ValidationError({"files": ["Together, the files are too large."]}) from reason
        return self.shown(self.find_row(batch.public_id), 202)
