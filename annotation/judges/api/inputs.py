"""What the interface takes about judges beside people."""

from rest_framework import serializers

from annotation.judges.actions.relevance_judge import CHOICES
from cqa_site.api.inputs import Input
from cqa_site.runs.api.bodies import PlanInput


class RunInput(PlanInput):
    """A judge over the sentences of a campaign."""

    kind = serializers.ChoiceField(["relevance"], default="relevance")
    campaign = serializers.UUIDField()
    choice = serializers.ChoiceField(CHOICES, required=False)
    batch_size = serializers.IntegerField(min_value=1, max_value=100, required=False)


class TrainingInput(Input):
    """Whose final labels it learns from; by default those of the campaign itself."""

    source = serializers.UUIDField(required=False)
