"""What the interface takes about guidelines, rounds and their items."""

from rest_framework import serializers

from annotation.labelling.api.bodies import LevelSerializer
from annotation.labelling.forms.campaigns import CampaignForm
from cqa_site.api.form_bodies import FormInput
from cqa_site.api.inputs import Input

MAX_ARGUMENTS = 10_000


class GuidelineInput(Input):
    """A new version of the instructions and the label scale."""

    title = serializers.CharField(max_length=120)
    body = serializers.CharField(max_length=100_000)
    levels = LevelSerializer(many=True)


class LabelRoundInput(FormInput):
    """Settings of a draft; what is left out keeps its default, or its value on a change."""

    form = CampaignForm
    # Without one, the study's newest.
    guideline = serializers.UUIDField(required=False)


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
