"""Campaigns and their items."""

from rest_framework import serializers

from annotation.forms.campaigns import CampaignForm
from annotation.models import Campaign, Item
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.rounds.models import Participant, ParticipantLink

from .base import SentenceSerializer


class CampaignSerializer(ReadSerializer):
    """One round of labelling with all its settings."""

    guideline = public_id("guideline")

    class Meta:
        model = Campaign
        fields = [
            "id",
            "origin",
            "state",
            *CampaignForm.Meta.fields,
            "aggregator",
            "created_at",
            "opened_at",
            "closed_at",
        ]


class ConsensusSerializer(ReadSerializer):
    """How votes become a label, and the ids of campaigns whose labels overrule them."""

    id = None
    overridden_by = serializers.SlugRelatedField(slug_field="public_id", many=True, read_only=True)

    class Meta:
        model = Campaign
        fields = ["aggregator", "overridden_by"]


class ItemSerializer(SentenceSerializer):
    """An argument in a campaign; ``control_label`` makes it a control item."""

    item_id = serializers.CharField(source="external_id", read_only=True)

    class Meta:
        model = Item
        fields = [
            "item_id",
            *SentenceSerializer.Meta.fields,
            "rank",
            "control_label",
            "is_retired",
        ]
        read_only_fields = fields


class CrowdLinkSerializer(ReadSerializer):
    """A link for a crowd platform, without its secret and its completion codes."""

    most_items = serializers.IntegerField(
        read_only=True, help_text="How many items the round has for one person."
    )
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
