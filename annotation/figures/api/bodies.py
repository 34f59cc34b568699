"""What the interface shows of snapshots of a round."""

from annotation.figures.models import Snapshot
from cqa_site.results.api import TOLD, KeptSerializer


class SnapshotSerializer(KeptSerializer):
    """A numbered set of figures; see its own address for the figures."""

    class Meta:
        model = Snapshot
        fields = ["id", "number", *TOLD]


class SnapshotDetailSerializer(SnapshotSerializer):
    """A numbered set of figures."""

    class Meta:
        model = Snapshot
        fields = [*SnapshotSerializer.Meta.fields, "figures"]
