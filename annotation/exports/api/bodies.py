"""What the interface shows of files that go out."""

from annotation.exports.models import ExportFile
from cqa_site.api.serializers import ReadSerializer, public_id


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
