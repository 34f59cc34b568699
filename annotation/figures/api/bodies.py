"""What the interface shows of snapshots of a round."""

from rest_framework import serializers

from annotation.figures.models import Snapshot
from cqa_site.api.serializers import ReadSerializer


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
