"""Snapshots, exports, imports."""

from collections import Counter

from rest_framework import serializers

from annotation.actions.importing import Origin, format_of, origin_of
from annotation.models import (
    ExportFile,
    ImportBatch,
    ImportFile,
    ImportMatch,
    ImportProblem,
    Snapshot,
)
from cqa_site.api.serializers import ReadSerializer, public_id


class SnapshotSerializer(ReadSerializer):
    """A numbered set of figures; see its own address for the figures."""

    is_frozen = serializers.BooleanField(read_only=True)
    recipe = serializers.DictField(read_only=True)

    class Meta:
        model = Snapshot
        fields = [
            "id",
            "number",
            "is_frozen",
            "sha256",
            "recipe",
            "computed_at",
            "note",
            "frozen_at",
        ]


class SnapshotDetailSerializer(SnapshotSerializer):
    """A numbered set of figures."""

    figures = serializers.DictField(read_only=True)

    class Meta:
        model = Snapshot
        fields = [*SnapshotSerializer.Meta.fields, "figures"]


class ExportSerializer(ReadSerializer):
    """One file made from a snapshot; it can be fetched once ``finished_at`` is set."""

    snapshot = public_id("snapshot")
    job = public_id("job", allow_null=True, default=None)

    class Meta:
        model = ExportFile
        fields = [
            "id",
            "snapshot",
            "content",
            "format",
            "rows",
            "size",
            "sha256",
            "job",
            "created_at",
            "finished_at",
        ]


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
