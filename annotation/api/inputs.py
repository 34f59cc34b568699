"""What the API accepts: one serializer per request, unknown fields are an error."""

from typing import Any

from rest_framework import serializers

from annotation.models import Campaign, ExportFile, ImportFile, Rater
from cqa_site.tabular.strict_json import StrictJsonError, loads

from .serializers import LevelSerializer

MAX_ARGUMENTS = 10_000


class Input(serializers.Serializer):
    """A body in which every field is declared, so that nothing else can be set."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse unknown fields."""
        unknown = set(data) - set(self.fields) if isinstance(data, dict) else set()
        if unknown:
            raise serializers.ValidationError({name: ["Unknown field."] for name in unknown})
        return super().to_internal_value(data)


class NothingInput(Input):
    """An empty object."""


class GuidelineInput(Input):
    """A new version of the instructions and the label scale."""

    title = serializers.CharField(max_length=120)
    body = serializers.CharField(max_length=100_000)
    levels = LevelSerializer(many=True)


class CampaignInput(Input):
    """Settings of a draft; what is left out keeps its default, or its value on a change."""

    name = serializers.CharField(max_length=120)
    guideline = serializers.UUIDField(required=False)
    votes_per_item = serializers.IntegerField(min_value=1, max_value=60, required=False)
    block_size = serializers.IntegerField(min_value=2, max_value=50, required=False)
    controls_per_block = serializers.IntegerField(min_value=0, max_value=10, required=False)
    min_control_accuracy = serializers.FloatField(min_value=0, max_value=1, required=False)
    low_accuracy = serializers.ChoiceField(Campaign.LowAccuracy.choices, required=False)
    share_cap = serializers.FloatField(min_value=0.001, max_value=1, required=False)
    expected_seconds = serializers.IntegerField(min_value=0, max_value=32_767, required=False)
    lease_minutes = serializers.IntegerField(min_value=1, max_value=240, required=False)
    seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1, required=False)


class ItemsInput(Input):
    """Arguments that become ordinary items of a draft."""

    arguments = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=MAX_ARGUMENTS
    )


class AddedSerializer(serializers.Serializer):
    """How many items are new."""

    added = serializers.IntegerField()


class ControlInput(Input):
    """An item of a draft and its known label; null makes it an ordinary item again."""

    item_id = serializers.CharField(max_length=200)
    label = serializers.IntegerField(min_value=0, max_value=9, allow_null=True)


class ReasonInput(Input):
    """Why; kept in the study's log."""

    reason = serializers.CharField(max_length=300)


class AdjudicationInput(Input):
    """A decision on one argument of the campaign."""

    argument = serializers.UUIDField()
    label = serializers.IntegerField(min_value=0, max_value=9)
    comment = serializers.CharField(max_length=1_000, allow_blank=True, default="")


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
    """How to read a file; ``mapping`` says for a table which column is which field."""

    campaign = serializers.CharField(max_length=100, allow_blank=True, default="")
    mapping = serializers.DictField(child=serializers.CharField(max_length=200), default=dict)
    rater_kind = serializers.ChoiceField(Rater.Kind.choices, default=Rater.Kind.PERSON)
    undo_spreadsheet_marks = serializers.BooleanField(default=False)
    sheet = serializers.CharField(max_length=100, allow_blank=True, default="")
    encoding = serializers.CharField(max_length=40, allow_blank=True, default="")


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
