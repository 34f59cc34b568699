"""The people of a study."""

from rest_framework import serializers

from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.people.models import AuditEvent, Invitation, Membership


class MemberSerializer(ReadSerializer):
    """One person's role in the study."""

    id = public_id("user")
    name = serializers.CharField(source="user.name", read_only=True)
    email = serializers.EmailField(source="user.email", read_only=True, allow_null=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "email", "role", "is_active", "created_at"]


class InvitationSerializer(ReadSerializer):
    """An invitation, without its secret."""

    is_open = serializers.BooleanField(read_only=True)
    created_by = public_id("created_by")
    used_by = public_id("used_by", allow_null=True, default=None)

    class Meta:
        model = Invitation
        fields = [
            "id",
            "note",
            "role",
            "is_open",
            "created_by",
            "created_at",
            "expires_at",
            "used_at",
            "used_by",
            "revoked_at",
        ]


class NewInvitationSerializer(InvitationSerializer):
    """An invitation just made, with the address to send to the person."""

    address = serializers.CharField(read_only=True)

    class Meta:
        model = Invitation
        fields = [*InvitationSerializer.Meta.fields, "address"]


class AuditEventSerializer(serializers.ModelSerializer):
    """One line of the log; without an actor it was a rule or a command."""

    actor = public_id("actor", allow_null=True, default=None)
    actor_name = serializers.CharField(source="actor", read_only=True, allow_null=True)
    details = serializers.DictField(read_only=True)

    class Meta:
        model = AuditEvent
        fields = ["at", "actor", "actor_name", "verb", "subject", "reason", "details"]
        read_only_fields = fields
