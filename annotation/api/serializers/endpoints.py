"""Endpoints without their keys, and prompt versions."""

from rest_framework import serializers

from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.runs.actions.endpoints import FIELDS
from cqa_site.runs.models import Endpoint, PromptVersion


class CapabilitySerializer(serializers.Serializer):
    """What a probe found out about one ability of a server, and from what."""

    works = serializers.BooleanField()
    evidence = serializers.CharField(default="")
    refused = serializers.BooleanField(
        default=False, help_text="Asking for it was refused, not just ignored."
    )
    parameter = serializers.CharField(
        default="", help_text="Of the token limit: the name under which it is sent."
    )


class EndpointSerializer(ReadSerializer):
    """A server and model; of the key only whether there is one, and its last characters."""

    origin = serializers.CharField(
        read_only=True, help_text="Scheme, host and port: what a key belongs to."
    )
    has_key = serializers.BooleanField(read_only=True)
    last4 = serializers.CharField(source="key_last4", read_only=True)
    extra_params = serializers.DictField(read_only=True)
    capabilities = serializers.DictField(child=CapabilitySerializer(), read_only=True)

    class Meta:
        model = Endpoint
        fields = [
            "id",
            "kind",
            *FIELDS,
            "origin",
            "has_key",
            "last4",
            "capabilities",
            "probed_at",
            "is_archived",
            "created_at",
        ]


class PromptSerializer(ReadSerializer):
    """A prompt version without its texts; frozen from its first run on."""

    created_by = public_id("created_by", allow_null=True, default=None)

    class Meta:
        model = PromptVersion
        fields = [
            "id",
            "kind",
            "number",
            "name",
            "note",
            "sha256",
            "frozen_at",
            "created_by",
            "created_at",
        ]


class PromptDetailSerializer(PromptSerializer):
    """A prompt version with its texts."""

    class Meta:
        model = PromptVersion
        fields = [*PromptSerializer.Meta.fields, "system", "user"]


class MessageSerializer(serializers.Serializer):
    """One chat message."""

    role = serializers.CharField()
    content = serializers.CharField()


class PreviewSerializer(serializers.Serializer):
    """What would leave for some arguments or questions, and what was noticed about the texts."""

    items = serializers.ListField(child=serializers.UUIDField())
    messages = MessageSerializer(many=True)
    tokens = serializers.IntegerField(help_text="An estimate that leans upwards.")
    flags = serializers.ListField(child=serializers.CharField())
