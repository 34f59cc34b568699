"""What the interface shows of files that come in."""

from collections import Counter

from rest_framework import serializers

from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.files.actions import Origin, format_of, origin_of
from cqa_site.files.models import ImportBatch, ImportFile, ImportMatch, ImportProblem


class ImportSerializer(ReadSerializer):
    """One uploaded file: what a look at it found, and whether it was imported.

    ``system`` and ``scenario`` say who wrote its answers, as chosen or as its name says; null for
    files without answers.
    """

    batch = public_id("batch", allow_null=True, default=None)
    system = serializers.SerializerMethodField()
    scenario = serializers.SerializerMethodField()
    campaign = public_id("campaign", allow_null=True, default=None)
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
            "system",
            "scenario",
            "sha256",
            "size",
            "options",
            "state",
            "counts",
            "rows",
            "notes",
            "refusal",
            "campaign",
            "job",
            "created_at",
            "applied_at",
        ]

    def get_system(self, file: ImportFile) -> str | None:
        """Whose answers these are."""
        origin = _origin(file)
        return origin.system if origin else None

    def get_scenario(self, file: ImportFile) -> int | None:
        """Under which prompt; 0 for none."""
        origin = _origin(file)
        return origin.scenario if origin else None


def _origin(file: ImportFile) -> Origin | None:
    if not format_of(file.kind).has_answers:
        return None
    return origin_of(file.kind, file.name, file.options)


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

    answer = public_id("answer")
    decision = serializers.ChoiceField(
        choices=ImportMatch.Decision.choices, allow_blank=True, read_only=True
    )

    class Meta:
        model = ImportMatch
        fields = ["row", "about", "given", "found", "answer", "likeness", "decision"]
        read_only_fields = fields
