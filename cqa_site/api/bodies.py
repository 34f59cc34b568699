"""Bodies about studies and their people: what is sent, and what comes back."""

from rest_framework import serializers

from cqa_site.api.inputs import Input
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.people.models import (
    INVITATION_LIFETIME,
    ApiToken,
    AuditEvent,
    Invitation,
    Membership,
    Role,
    Study,
    User,
)


class StudyInput(Input):
    """What a study is called."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, required=False)
    goal = serializers.CharField(allow_blank=True, required=False, max_length=20)


class MemberInput(Input):
    """What a member may do, and whether the study is open to them; both may be left out."""

    role = serializers.ChoiceField(Role.choices, required=False)
    is_active = serializers.BooleanField(required=False)


class InvitationInput(Input):
    """For whom an invitation is, with which role and for how long."""

    note = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(Role.choices)
    days = serializers.IntegerField(min_value=1, max_value=90, default=INVITATION_LIFETIME.days)
    leads_to = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="A page of the study, by its path, where the person begins; else its first one.",
    )


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


class TokenSerializer(ReadSerializer):
    """The token of this very request, without its secret."""

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scope", "last_four", "created_at", "expires_at"]


class MeSerializer(ReadSerializer):
    """The person behind the token."""

    token = TokenSerializer(read_only=True)

    class Meta:
        model = User
        fields = ["id", "email", "name", "token"]


class StudyNameSerializer(serializers.ModelSerializer):
    """What every member may know of a study."""

    id = public_id("study")
    name = serializers.CharField(source="study.name", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "role"]
        read_only_fields = fields


class StudySerializer(ReadSerializer):
    """A study as its researchers see it."""

    class Meta:
        model = Study
        fields = ["id", "name", "goal", "description", "is_demo", "created_at"]
