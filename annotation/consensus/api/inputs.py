"""What the interface takes about votes, final labels and decisions."""

from rest_framework import serializers

from annotation.labelling.models.campaigns import Campaign
from cqa_site.api.inputs import Input

MAX_SOURCES = 100


class AdjudicationInput(Input):
    """A decision on one argument of the round."""

    argument = serializers.UUIDField()
    label = serializers.IntegerField(min_value=0, max_value=9)
    comment = serializers.CharField(max_length=1_000, allow_blank=True, default="")
    known = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="`created_at` of your decision in force as you know it, null for none. "
        "409 where another one is in force. Left out, your decision is replaced unseen.",
    )


class AdoptInput(Input):
    """Whose labels of another round decide here."""

    label_round = serializers.UUIDField()
    rater = serializers.UUIDField()
    only_tied = serializers.BooleanField(default=True)


class ConsensusInput(Input):
    """How votes become a label, and the rounds whose labels overrule them."""

    aggregator = serializers.ChoiceField(Campaign.Aggregator.choices)
    overridden_by = serializers.ListField(child=serializers.UUIDField(), max_length=MAX_SOURCES)


class PreferredLabelsInput(Input):
    """The round whose final labels the study uses; null for each sentence's newest."""

    label_round = serializers.UUIDField(allow_null=True)
