"""What the interface takes about runs in which a model writes answers."""

from rest_framework import serializers

from annotation.generation.actions.launches import MOST_RUNS, MOVES
from annotation.generation.forms.generation import GenerationForm
from annotation.generation.forms.matrix import MatrixForm
from cqa_site.api.inputs import Input
from cqa_site.runs.api.bodies import LARGEST_CAP, PlanInput


class AnswersRunInput(PlanInput):
    """A model that answers questions; the filters of arguments count where a scenario has any."""

    form = GenerationForm
    most_chosen = 1_000
    kind: serializers.Field | None = serializers.ChoiceField(["answers"])


class LaunchInput(AnswersRunInput):
    """Every combination of what is listed becomes a run; the cap is of all of them together."""

    form = MatrixForm
    left_out = (*PlanInput.left_out, "endpoint", "prompt")
    kind = None
    endpoints = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=MOST_RUNS
    )
    prompts = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=MOST_RUNS
    )


class LaunchChangeInput(Input):
    """What all runs may spend together, and what is done with all of them; both optional."""

    cap_micro = serializers.IntegerField(
        min_value=0, max_value=LARGEST_CAP, allow_null=True, required=False
    )
    move = serializers.ChoiceField(list(MOVES), required=False)
