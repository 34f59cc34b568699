"""What the interface takes about guidelines, campaigns and their items."""

from rest_framework import serializers

from annotation.labelling.api.bodies import LevelSerializer
from annotation.labelling.forms.campaigns import LONGEST_LEASE
from annotation.labelling.models.campaigns import Campaign
from cqa_site.api.inputs import Input

MAX_ARGUMENTS = 10_000


class GuidelineInput(Input):
    """A new version of the instructions and the label scale."""

    title = serializers.CharField(max_length=120)
    body = serializers.CharField(max_length=100_000)
    levels = LevelSerializer(many=True)


class CampaignInput(Input):
    """Settings of a draft; what is left out keeps its default, or its value on a change."""

    name = serializers.CharField(max_length=120)
    guideline = serializers.UUIDField(required=False)
    votes_per_item = serializers.IntegerField(min_value=1, max_value=60, required=False)
    block_size = serializers.IntegerField(min_value=2, max_value=50, required=False)
    controls_per_block = serializers.IntegerField(min_value=0, max_value=10, required=False)
    min_control_accuracy = serializers.FloatField(min_value=0, max_value=1, required=False)
    low_accuracy = serializers.ChoiceField(Campaign.LowAccuracy.choices, required=False)
    share_cap = serializers.FloatField(min_value=0.001, max_value=1, required=False)
    expected_seconds = serializers.IntegerField(min_value=0, max_value=32_767, required=False)
    lease_minutes = serializers.IntegerField(min_value=1, max_value=LONGEST_LEASE, required=False)
    seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1, required=False)
    orders_by_uncertainty = serializers.BooleanField(required=False)


class ItemsInput(Input):
    """Arguments that become ordinary items of a draft."""

    arguments = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=MAX_ARGUMENTS
    )


class AddedSerializer(serializers.Serializer):
    """How many items are new."""

    added = serializers.IntegerField()


class ControlInput(Input):
    """An item of a draft and its known label; null makes it an ordinary item again."""

    item_id = serializers.CharField(max_length=200)
    label = serializers.IntegerField(min_value=0, max_value=9, allow_null=True)
