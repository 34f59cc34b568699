"""Campaigns and their items."""

from rest_framework import serializers

from annotation.models import Campaign, Item

from .base import ReadSerializer, SentenceSerializer, public_id


class CampaignSerializer(ReadSerializer):
    """One round of labelling with all its settings."""

    guideline = public_id("guideline")

    class Meta:
        model = Campaign
        fields = [
            "id",
            "name",
            "origin",
            "state",
            "guideline",
            "votes_per_item",
            "block_size",
            "controls_per_block",
            "min_control_accuracy",
            "low_accuracy",
            "share_cap",
            "expected_seconds",
            "lease_minutes",
            "seed",
            "aggregator",
            "created_at",
            "opened_at",
            "closed_at",
        ]


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
