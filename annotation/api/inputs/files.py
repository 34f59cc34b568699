"""Bodies about snapshots, exports and imports."""

from rest_framework import serializers

from annotation.models import Answer, ExportFile, ImportFile, Rater
from cqa_site.tabular.strict_json import StrictJsonError, loads

from .base import Input


class NoteInput(Input):
    """What the frozen snapshot is for."""

    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class ExportInput(Input):
    """Files to make from one snapshot; without one, from the live snapshot, brought up to date.

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


class CheckInput(Input):
    """How to read a file.

    ``mapping`` says for a table which column is which field; ``system`` and ``scenario`` who
    wrote the answers of a file, by default what its name says; ``rater`` who gave the scores of
    a judged file, or of a table without a column for it; ``rubric`` by which version.
    """

    campaign = serializers.CharField(max_length=100, allow_blank=True, default="")
    mapping = serializers.DictField(child=serializers.CharField(max_length=200), default=dict)
    rater_kind = serializers.ChoiceField(Rater.Kind.choices, default=Rater.Kind.PERSON)
    undo_spreadsheet_marks = serializers.BooleanField(default=False)
    sheet = serializers.CharField(max_length=100, allow_blank=True, default="")
    encoding = serializers.CharField(max_length=40, allow_blank=True, default="")
    system = serializers.CharField(max_length=120, allow_blank=True, default="")
    scenario = serializers.ChoiceField(
        Answer.Scenario.choices, allow_null=True, required=False, default=None
    )
    rater = serializers.CharField(max_length=120, allow_blank=True, default="")
    rubric = serializers.CharField(max_length=36, allow_blank=True, default="")
    dataset = serializers.CharField(
        max_length=120, allow_blank=True, default="", help_text="Into which arguments go."
    )


class ImportInput(CheckInput):
    """A file and what it is; nothing is written until it is applied."""

    file = serializers.FileField()
    kind = serializers.ChoiceField(ImportFile.Kind.choices)
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


class ApplyInput(Input):
    """How to deal with rows that cannot be imported, and with those that differ."""

    leave_out_rejected = serializers.BooleanField(default=False)
    update_changed = serializers.BooleanField(default=False)
