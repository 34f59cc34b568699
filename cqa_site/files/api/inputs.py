"""What the interface takes about files that come in."""

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from rest_framework import serializers

from cqa_site.api.inputs import Input
from cqa_site.files.actions.batches import same_names
from cqa_site.files.formats import batch_kinds, known_kinds
from cqa_site.files.models import ImportMatch
from cqa_site.files.options import OPTIONS
from cqa_site.people.models import Rater
from cqa_site.tabular.strict_json import StrictJsonError, loads


class CheckInput(Input):
    """How to read a file.

    ``mapping`` says for a table which column is which field; ``system`` and ``scenario`` who
    wrote the answers of a file, by default what its name says; ``rater`` who gave the scores of
    a judged file, or of a table without a column for it; ``rubric`` by which version.
    """

    mapping: serializers.Field = serializers.DictField(
        child=serializers.CharField(max_length=200), default=dict
    )
    rater_kind = serializers.ChoiceField(Rater.Kind.choices, default=Rater.Kind.PERSON)
    undo_spreadsheet_marks = serializers.BooleanField(default=False)
    sheet = serializers.CharField(max_length=100, allow_blank=True, default="")
    encoding = serializers.CharField(max_length=40, allow_blank=True, default="")
    near = serializers.ChoiceField(
        ImportMatch.Decision.choices,
        required=False,
        allow_blank=True,
        help_text="What rows are whose text is nearly one of the study's, unless decided singly.",
    )

    def get_fields(self) -> dict[str, serializers.Field]:
        """And the options of every app."""
        return super().get_fields() | {each.name: each.input() for each in OPTIONS.values()}


class ImportInput(CheckInput):
    """A file and what it is; nothing is written until it is applied."""

    file = serializers.FileField()
    kind = serializers.ChoiceField(known_kinds())
    mapping = serializers.CharField(
        default="{}", max_length=10_000, help_text="A JSON object: field to column."
    )

    def validate_mapping(self, text: str) -> dict[str, str]:
        """Read the JSON object as strictly as any other body."""
        try:
            value = loads(text)
        except StrictJsonError as error:
            raise serializers.ValidationError(str(error)) from error
        return CheckInput().fields["mapping"].run_validation(value)


class BatchCheckInput(Input):
    """What holds for every file of a batch; what is left blank is as each name says."""

    def get_fields(self) -> dict[str, serializers.Field]:
        """Only options."""
        return super().get_fields() | {
            each.name: each.input() for each in OPTIONS.values() if each.is_shared
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
        """Rows are known by file and place, so two files of one name would clash."""
        if same := same_names(files):
            said = f"Several of these files have the same name: {', '.join(same)}"
            raise serializers.ValidationError(said)
        return files


class MatchInput(Input):
    """What rows are whose text is nearly that of an answer; of all of them without ``rows``."""

    decision = serializers.ChoiceField(ImportMatch.Decision.choices)
    rows = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        min_length=1,
        max_length=10_000,
    )


class ApplyInput(Input):
    """How to deal with rows that cannot be imported, and with those that differ."""

    leave_out_rejected = serializers.BooleanField(default=False)
    update_changed = serializers.BooleanField(default=False)


class BatchApplyInput(ApplyInput):
    """Which of the checked files to import, all without ``files``; and how."""

    files = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        min_length=1,
        max_length=settings.MOST_FILES_AT_ONCE,
    )
