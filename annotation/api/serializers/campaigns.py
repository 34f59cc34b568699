"""Campaigns and their items."""

from rest_framework import serializers

from annotation.forms.campaigns import CampaignForm
from annotation.models import Campaign, Item
from cqa_site.api.serializers import ReadSerializer, public_id

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
    overridden_by: serializers.SlugRelatedField = serializers.SlugRelatedField(
        slug_field="public_id", many=True, read_only=True
    )

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
