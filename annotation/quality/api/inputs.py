"""What the interface takes about annotators, control items and exclusions."""

from rest_framework import serializers

from annotation.labelling.models.campaigns import Exclusion
from cqa_site.api.inputs import Input


class ControlChangeInput(Input):
    """Another known label for a control item, or null, which retires it; and why."""

    item_id = serializers.CharField(max_length=200)
    label = serializers.IntegerField(min_value=0, max_value=9, allow_null=True)
    reason = serializers.CharField(max_length=300)


class BelowInput(Input):
    """Below which control accuracy annotators are left out; the round's mark by default."""

    below = serializers.FloatField(min_value=0, max_value=1, required=False)
    rule = serializers.ChoiceField(Exclusion.Rule.choices, default=Exclusion.Rule.SURELY)


class ExcludeLowInput(BelowInput):
    """The same, and why."""

    reason = serializers.CharField(max_length=300)
