"""Bodies about crowd links and who came by them."""

from django_filters import rest_framework as filters
from rest_framework import serializers

from cqa_site.api.inputs import Input
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.rounds.models import Participant, ParticipantLink
from cqa_site.web.rest.strict_filters import FilterSet


class ParticipantFilter(FilterSet):
    """People of crowd platforms by how their work ended, or by their link."""

    outcome = filters.ChoiceFilter(choices=Participant.Outcome.choices)
    link = filters.UUIDFilter(field_name="link__public_id")


class CrowdLinkInput(Input):
    """A link for a crowd platform; what is left out keeps its default."""

    platform = serializers.CharField(max_length=60, required=False)
    required_items = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    max_participants = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    days = serializers.IntegerField(min_value=1, max_value=365, default=30)
    completed_code = serializers.CharField(max_length=40)
    screened_out_code = serializers.CharField(max_length=40)
    no_work_code = serializers.CharField(max_length=40)
    fault_code = serializers.CharField(max_length=40)
    skips_code = serializers.CharField(max_length=40, allow_blank=True, required=False)
    stopped_code = serializers.CharField(max_length=40, allow_blank=True, required=False)
    return_url = serializers.CharField(max_length=300, allow_blank=True, required=False)
    participant_param = serializers.CharField(max_length=40, required=False)
    study_param = serializers.CharField(max_length=40, allow_blank=True, required=False)
    session_param = serializers.CharField(max_length=40, allow_blank=True, required=False)


class CrowdLinkSerializer(ReadSerializer):
    """A link for a crowd platform, without its secret and its completion codes."""

    most_items = serializers.IntegerField(
        read_only=True, help_text="How many items the round has for one person."
    )
    return_url = serializers.CharField(read_only=True)
    joined = serializers.IntegerField(read_only=True)
    is_open = serializers.BooleanField(read_only=True)

    class Meta:
        model = ParticipantLink
        fields = [
            "id",
            "platform",
            "required_items",
            "most_items",
            "max_participants",
            "return_url",
            "joined",
            "participant_param",
            "study_param",
            "session_param",
            "is_open",
            "created_at",
            "expires_at",
            "closed_at",
        ]


class NewCrowdLinkSerializer(CrowdLinkSerializer):
    """A link just made, with the address that the platform needs."""

    address = serializers.CharField(read_only=True)

    class Meta:
        model = ParticipantLink
        fields = [*CrowdLinkSerializer.Meta.fields, "address"]


class ParticipantSerializer(ReadSerializer):
    """Somebody who came by a crowd link, without the platform's ids and without a code."""

    id = public_id("user")
    link = public_id("link")
    is_released = serializers.SerializerMethodField(
        help_text="Whether the next browser that comes with the id gets the place."
    )

    class Meta:
        model = Participant
        fields = ["id", "link", "outcome", "is_released", "fault_report", "created_at", "ended_at"]

    def get_is_released(self, row: Participant) -> bool:
        """A place without a browser waits for one."""
        return not row.browser_hash
