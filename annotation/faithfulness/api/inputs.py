"""What the interface takes about faithfulness of answers."""

from django.conf import settings
from rest_framework import serializers

from annotation.answers.models.answers import Answer
from annotation.faithfulness.actions.coherence_texts import TEXTS as COHERENCE_TEXTS
from cqa_site.api.inputs import ConditionIds, Input
from cqa_site.runs.api.bodies import PlanInput


class FiguresInput(Input):
    """The sentence-embedding model; empty makes no similarities. Left out, the study's choice."""

    embedding = serializers.ChoiceField(
        [*settings.EMBEDDING_MODELS], allow_blank=True, required=False
    )


MOST_SYSTEMS = 200


class CoherenceRunInput(PlanInput):
    """A judge over the citations of answers; without systems or scenarios, of all of them.

    Without conditions, of answers under the plain ones.
    """

    kind = serializers.ChoiceField(["coherence"])
    texts = serializers.ChoiceField(COHERENCE_TEXTS, required=False)
    systems = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_SYSTEMS, required=False
    )
    scenarios = serializers.ListField(
        child=serializers.ChoiceField(Answer.Scenario.choices),
        max_length=len(Answer.Scenario),
        required=False,
    )
    conditions = ConditionIds(required=False)
