"""What the interface shows of files that come in."""

from collections import Counter

from rest_framework import serializers

from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.files.models import ImportBatch, ImportFile, ImportMatch, ImportProblem
from cqa_site.files.options import OPTIONS


class ImportSerializer(ReadSerializer):
    """One uploaded file: what a look at it found, and whether it was imported.

    What its format says about it, such as ``system`` and ``scenario`` of its answers, is as chosen
    or as its name says; null for files that have nothing of the kind.
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
            "id",
            "batch",
            "kind",
            "name",
            "sha256",
            "size",
            "options",
            "state",
            "counts",
            "rows",
            "notes",
            "refusal",
            "job",
            "created_at",
            "applied_at",
        ]

    def get_fields(self) -> dict[str, serializers.Field]:
        """Those of every file, and what formats say."""
        told = {each.name: each.output() for each in OPTIONS.values() if each.tells}
        for field in told.values():
            field.read_only = True
        return super().get_fields() | told


class ImportBatchSerializer(ReadSerializer):
    """Files of one upload; ``states`` counts them by state, ``options`` hold for all of them."""

    options = serializers.DictField(read_only=True)
    states = serializers.SerializerMethodField()
    job = public_id("job", allow_null=True, default=None)

    class Meta:
        model = ImportBatch
        fields = ["id", "kind", "options", "states", "job", "created_at"]

    def get_states(self, batch: ImportBatch) -> dict[str, int]:
        """State to number of files."""
        return dict(Counter(file.state for file in batch.files.all()))


class ImportProblemSerializer(serializers.ModelSerializer):
    """One row of an uploaded file that was rejected or flagged."""

    class Meta:
        model = ImportProblem
        fields = ["row", "column", "reason", "is_rejection"]
        read_only_fields = fields


class ImportMatchSerializer(serializers.ModelSerializer):
    """A row whose text is nearly that of an answer, with both openings."""

    answer = serializers.UUIDField(source="known", read_only=True)
    decision = serializers.ChoiceField(
        choices=ImportMatch.Decision.choices, allow_blank=True, read_only=True
    )

    class Meta:
        model = ImportMatch
        fields = ["row", "about", "given", "found", "answer", "likeness", "decision"]
        read_only_fields = fields
