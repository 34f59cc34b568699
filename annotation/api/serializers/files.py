"""Snapshots, exports, imports."""

from rest_framework import serializers

from annotation.models import ExportFile, ImportFile, ImportProblem, Snapshot

from .base import ReadSerializer, public_id


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
    """One uploaded file: what a look at it found, and whether it was imported."""

    campaign = public_id("campaign", allow_null=True, default=None)
    job = public_id("job", allow_null=True, default=None)
    options = serializers.DictField(read_only=True)
    counts = serializers.DictField(read_only=True)
    notes = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = ImportFile
        fields = [
            "id",
            "kind",
            "name",
            "sha256",
            "size",
            "options",
            "state",
            "counts",
            "notes",
            "refusal",
            "campaign",
            "job",
            "created_at",
            "applied_at",
        ]


class ImportProblemSerializer(serializers.ModelSerializer):
    """One row of an uploaded file that was rejected or flagged."""

    class Meta:
        model = ImportProblem
        fields = ["row", "column", "reason", "is_rejection"]
        read_only_fields = fields
