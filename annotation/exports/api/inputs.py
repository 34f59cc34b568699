"""What the interface takes about files that go out."""

from rest_framework import serializers

from annotation.exports.models import ExportFile
from cqa_site.api.inputs import Input


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
