"""What the interface takes about runs in which a model writes answers."""

from rest_framework import serializers

from annotation.generation.actions import targets as answer_targets
from annotation.generation.actions.argument_drawing import FAVOURED, MOST_ARGUMENTS, RELEVANCE
from annotation.generation.actions.launches import MOST_RUNS, MOVES
from annotation.generation.forms.matrix import WORDINGS
from cqa_site.api.inputs import Input
from cqa_site.runs.api.bodies import LARGEST_CAP, PlanInput

MOST_COMPARISONS = 1_000


class AnswersRunInput(PlanInput):
    """A model that answers questions; the filters of arguments count where a scenario has any."""

    kind: serializers.Field | None = serializers.ChoiceField(["answers"])
    questions = serializers.ChoiceField(answer_targets.CHOICES, required=False)
    comparisons = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_COMPARISONS, required=False
    )
    uses_aspect: serializers.Field | None = serializers.BooleanField(required=False)
    uses_wording: serializers.Field | None = serializers.BooleanField(required=False)
    relevance: serializers.Field | None = serializers.ChoiceField(list(RELEVANCE), required=False)
    favoured: serializers.Field | None = serializers.ChoiceField(list(FAVOURED), required=False)
    labels = serializers.CharField(
        max_length=36,
        allow_blank=True,
        required=False,
        help_text="Whose final labels relevance means: a campaign's id, or newest (of each "
        "sentence); by default the study's choice.",
    )
    most_arguments = serializers.IntegerField(
        min_value=1, max_value=MOST_ARGUMENTS, required=False
    )
    replicates = serializers.IntegerField(
        min_value=1, max_value=answer_targets.MOST_CHOICES, required=False
    )


class LaunchInput(AnswersRunInput):
    """Every combination of what is listed becomes a run; the cap is of all of them together."""

    kind = endpoint = prompt = uses_aspect = uses_wording = None
    endpoints = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=MOST_RUNS
    )
    prompts = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=MOST_RUNS
    )
    relevance = serializers.ListField(
        child=serializers.ChoiceField(list(RELEVANCE)), required=False
    )
    favoured = serializers.ListField(child=serializers.ChoiceField(list(FAVOURED)), required=False)
    wordings = serializers.ListField(child=serializers.ChoiceField(list(WORDINGS)), required=False)


class LaunchChangeInput(Input):
    """What all runs may spend together, and what is done with all of them; both optional."""

    cap_micro = serializers.IntegerField(
        min_value=0, max_value=LARGEST_CAP, allow_null=True, required=False
    )
    move = serializers.ChoiceField(list(MOVES), required=False)
