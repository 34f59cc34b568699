"""Bodies about what becomes of the votes."""

from rest_framework import serializers

from annotation.models import Campaign

from .base import Input

MAX_SOURCES = 100


class AdjudicationInput(Input):
    """A decision on one argument of the campaign."""

    argument = serializers.UUIDField()
    label = serializers.IntegerField(min_value=0, max_value=9)
    comment = serializers.CharField(max_length=1_000, allow_blank=True, default="")


class AdoptInput(Input):
    """Whose labels of another campaign become decisions here."""

    campaign = serializers.UUIDField()
    rater = serializers.UUIDField()
    only_tied = serializers.BooleanField(default=True)


class AdoptedSerializer(serializers.Serializer):
    """How many decisions are new or changed."""

    adopted = serializers.IntegerField()


class ConsensusInput(Input):
    """How votes become a label, and the campaigns whose labels overrule them."""

    aggregator = serializers.ChoiceField(Campaign.Aggregator.choices)
    overridden_by = serializers.ListField(child=serializers.UUIDField(), max_length=MAX_SOURCES)


class ExcludedSerializer(serializers.Serializer):
    """How many annotators were excluded."""

    excluded = serializers.IntegerField()
