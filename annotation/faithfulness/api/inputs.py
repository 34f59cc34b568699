"""What the interface takes about faithfulness of answers."""

from django.conf import settings
from rest_framework import serializers

from annotation.faithfulness.forms import CoherenceForm
from cqa_site.api.inputs import Input
from cqa_site.runs.api.bodies import PlanInput


class FiguresInput(Input):
    """The sentence-embedding model; empty makes no similarities. Left out, the study's choice."""

    embedding = serializers.ChoiceField(
        [*settings.EMBEDDING_MODELS], allow_blank=True, required=False
    )


class CoherenceRunInput(PlanInput):
    """A judge over the citations of answers; without systems or scenarios, of all of them.

    Without conditions, of answers under the plain ones.
    """

    form = CoherenceForm
    kind = serializers.ChoiceField(["coherence"])
