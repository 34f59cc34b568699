"""How every serializer of the API shows a row: explicit fields, read only, no depth."""

from rest_framework import serializers


class ReadSerializer(serializers.ModelSerializer):
    """A serializer that never writes; ``id`` is the public id."""

    id: serializers.UUIDField | None = serializers.UUIDField(source="public_id", read_only=True)

    def get_fields(self) -> dict[str, serializers.Field]:
        """Mark every field as read only."""
        fields = super().get_fields()
        for field in fields.values():
            field.read_only = True
        return fields


def public_id(source: str, **kwargs) -> serializers.UUIDField:
    """The public id of a related row."""
    return serializers.UUIDField(source=f"{source}.public_id", read_only=True, **kwargs)
