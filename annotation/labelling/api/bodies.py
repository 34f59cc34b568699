"""What the interface shows of guidelines, rounds and their items."""

from rest_framework import serializers

from annotation.labelling.forms.campaigns import CampaignForm
from annotation.labelling.models.campaigns import Campaign, Guideline, Item
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.rounds.api.bodies import RoundSerializer


class SentenceSerializer(serializers.ModelSerializer):
    """A row about one argument: which one, and what it says."""

    argument = public_id("argument")
    object1 = serializers.CharField(source="argument.comparison.object1", read_only=True)
    object2 = serializers.CharField(source="argument.comparison.object2", read_only=True)
    text = serializers.CharField(source="argument.text", read_only=True)

    class Meta:
        fields = ["argument", "object1", "object2", "text"]


class LabelRoundSerializer(RoundSerializer):
    """One round of labelling with all its settings: ``done`` of ``wanted`` votes are there."""

    form = CampaignForm

    class Meta:
        model = Campaign
        fields = [*RoundSerializer.Meta.fields, "origin", "aggregator"]


class ItemSerializer(SentenceSerializer):
    """An argument in a round; ``control_label`` makes it a control item."""

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


class LevelSerializer(serializers.Serializer):
    """One label of the scale."""

    value = serializers.IntegerField(min_value=0, max_value=9)
    name = serializers.CharField(max_length=60)
    meaning = serializers.CharField(max_length=500, allow_blank=True, default="")
    example = serializers.CharField(max_length=500, allow_blank=True, default="")


class GuidelineSerializer(ReadSerializer):
    """One version of the instructions and the label scale."""

    levels = LevelSerializer(many=True, read_only=True)

    class Meta:
        model = Guideline
        fields = ["id", "number", "title", "body", "levels", "frozen_at", "created_at"]
