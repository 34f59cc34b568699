"""What the interface takes about judges beside people."""

from rest_framework import serializers

from annotation.judges.forms.judging import RunForm
from cqa_site.api.inputs import Input
from cqa_site.runs.api.bodies import PlanInput


class RunInput(PlanInput):
    """A judge over the sentences of a round."""

    form = RunForm
    kind = serializers.ChoiceField(["relevance"], default="relevance")
    label_round = serializers.UUIDField()


class TrainingInput(Input):
    """Whose final labels it learns from; by default those of the round itself."""

    source = serializers.UUIDField(required=False)
