"""Request bodies, response bodies and filters of imports."""

from collections import Counter

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from cqa_site.api.base import Input, ReadSerializer, public_id
from cqa_site.files.actions.import_jobs import same_names
from cqa_site.files.format_parts import OPTIONS
from cqa_site.files.formats import batch_kinds, known_kinds
from cqa_site.files.models import ImportBatch, ImportFile, ImportMatch, ImportProblem
from cqa_site.people.models import Rater
from cqa_site.tabular.cells import StrictJsonError, loads
from cqa_site.web.rest.queries import TrueFalseFilter


class CheckInput(Input):
    """Options for reading a file.

    ``mapping`` maps the fields to the columns of a table; if omitted, it is guessed from names and
    values. ``system`` and ``scenario`` give the origin of a file's answers and are taken from its
    name by default. ``rater`` gives the author of the scores in a judged file or in a table
    without a rater column; ``rubric`` gives the rubric version.
    """

    mapping: serializers.Field = serializers.DictField(
        child=serializers.CharField(max_length=200), default=dict
    )
    rater_kind = serializers.ChoiceField(Rater.Kind.choices, default=Rater.Kind.PERSON)
    undo_spreadsheet_marks = serializers.BooleanField(default=False)
    sheet = serializers.CharField(max_length=100, allow_blank=True, default="")
    encoding = serializers.CharField(max_length=40, allow_blank=True, default="")
    header_row = serializers.IntegerField(
        min_value=1,
        max_value=100,
        allow_null=True,
        default=None,
        help_text="The header row; everything below it is data. Detected if omitted.",
    )
    near = serializers.ChoiceField(
        ImportMatch.Decision.choices,
        required=False,
        allow_blank=True,
        help_text="How to treat near-duplicates of the study's texts by default.",
    )

    def get_fields(self) -> dict[str, serializers.Field]:
        """Return the fields, with the options of every app."""
        return super().get_fields() | {option.name: option.input() for option in OPTIONS.values()}


class ImportInput(CheckInput):
    """A file and its kind; nothing is written until it is applied."""

    file = serializers.FileField()
    kind = serializers.ChoiceField(known_kinds())
    mapping = serializers.CharField(
        default="{}", max_length=10_000, help_text="A JSON object: field to column."
    )

    def validate_mapping(self, text: str) -> dict[str, str]:
        """Read the JSON object as strictly as a request body."""
        try:
            value = loads(text)
        except StrictJsonError as error:
            raise serializers.ValidationError(str(error)) from error
        return CheckInput().fields["mapping"].run_validation(value)


class BatchCheckInput(Input):
    """Options for every file of a batch; blank options are taken from each file's name."""

    def get_fields(self) -> dict[str, serializers.Field]:
        """Return only the options."""
        return super().get_fields() | {
            option.name: option.input() for option in OPTIONS.values() if option.is_shared
        }


class BatchInput(BatchCheckInput):
    """Files of one kind; nothing is written until they are applied."""

    files = serializers.ListField(
        child=serializers.FileField(max_length=255),
        min_length=1,
        max_length=settings.MOST_FILES_AT_ONCE,
    )
    kind = serializers.ChoiceField(batch_kinds())

    def validate_files(self, files: list[UploadedFile]) -> list[UploadedFile]:
        """Refuse files with identical names, because rows are identified by file and position."""
        if same := same_names(files):
            message = f"Several of these files have the same name: {', '.join(same)}"
            raise serializers.ValidationError(message)
        return files


class MatchInput(Input):
    """Decision about rows whose text nearly matches an answer; by default, about all such rows."""

    decision = serializers.ChoiceField(ImportMatch.Decision.choices)
    rows = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        min_length=1,
        max_length=10_000,
    )


class ApplyInput(Input):
    """Choices for rows that cannot be imported and for rows that differ from stored values."""

    leave_out_rejected = serializers.BooleanField(default=False)
    update_changed = serializers.BooleanField(default=False)


class BatchApplyInput(ApplyInput):
    """The checked files to import (by default, all), and the options for importing them."""

    files = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        min_length=1,
        max_length=settings.MOST_FILES_AT_ONCE,
    )


class ImportSerializer(ReadSerializer):
    """One uploaded file: the result of its check, and whether it was imported.

    Facts that depend on the format, such as ``system`` and ``scenario`` of the answers, are chosen
    or taken from the file name; they are null for files without such facts.
    """

    batch = public_id("batch", allow_null=True, default=None)
    job = public_id("job", allow_null=True, default=None)
    options = serializers.DictField(read_only=True)
    counts = serializers.DictField(read_only=True)
    rows = serializers.DictField(read_only=True)
    notes = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = ImportFile
        fields = [
            "id", "batch", "kind", "name", "sha256", "size", "options", "state", "counts", "rows",
            "notes", "refusal", "job", "created_at", "applied_at",
        ]  # fmt: skip

    def get_fields(self) -> dict[str, serializers.Field]:
        """Return the fields that every file has and those that the formats add."""
        fields = {option.name: option.output() for option in OPTIONS.values() if option.tells}
        for field in fields.values():
            field.read_only = True
        return super().get_fields() | fields


class ImportBatchSerializer(ReadSerializer):
    """Files in one upload; ``states`` counts them by state, and ``options`` apply to all."""

    options = serializers.DictField(read_only=True)
    states = serializers.SerializerMethodField()
    job = public_id("job", allow_null=True, default=None)

    class Meta:
        model = ImportBatch
        fields = ["id", "kind", "options", "states", "job", "created_at"]

    def get_states(self, batch: ImportBatch) -> dict[str, int]:
        """Return the number of files in each state."""
        return dict(Counter(file.state for file in batch.files.all()))


class ImportProblemSerializer(serializers.ModelSerializer):
    """One row of an uploaded file that was rejected or flagged."""

    class Meta:
        model = ImportProblem
        fields = ["row", "column", "reason", "is_rejection"]
        read_only_fields = fields


class ImportMatchSerializer(serializers.ModelSerializer):
    """A row whose text nearly matches an answer, with the beginnings of both texts."""

    answer = serializers.UUIDField(source="known", read_only=True)
    decision = serializers.ChoiceField(
        choices=ImportMatch.Decision.choices, allow_blank=True, read_only=True
    )

    class Meta:
        model = ImportMatch
        fields = ["row", "about", "given", "found", "answer", "likeness", "decision"]
        read_only_fields = fields


class ImportFilter(filters.FilterSet):
    kind = filters.ChoiceFilter(choices=known_kinds())
    state = filters.ChoiceFilter(choices=ImportFile.State.choices)
    batch = filters.UUIDFilter(field_name="batch__public_id")


class ImportBatchFilter(filters.FilterSet):
    kind = filters.ChoiceFilter(choices=known_kinds())


class ProblemFilter(filters.FilterSet):
    is_rejection = TrueFalseFilter()


class MatchFilter(filters.FilterSet):
    decision = filters.ChoiceFilter(choices=ImportMatch.Decision.choices)
    is_decided = TrueFalseFilter(method="by_decided")

    def by_decided(self, rows: QuerySet, _name: str, value: bool) -> QuerySet:
        """Filter by whether a person has decided."""
        return rows.exclude(decision="") if value else rows.filter(decision="")
