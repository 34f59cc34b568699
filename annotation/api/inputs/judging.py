"""Bodies about runs of this paper's kinds."""

from rest_framework import serializers

from annotation.actions import answer_targets
from annotation.actions.argument_drawing import FAVOURED, MOST_ARGUMENTS, RELEVANCE
from annotation.actions.coherence_texts import TEXTS as COHERENCE_TEXTS
from annotation.actions.generation_launches import MOST_RUNS, MOVES
from annotation.actions.relevance_judge import CHOICES
from annotation.forms.matrix import WORDINGS
from annotation.models import Answer
from cqa_site.api.inputs import ConditionIds, Input
from cqa_site.runs.api.bodies import LARGEST_CAP, PlanInput

MOST_COMPARISONS = 1_000
MOST_SYSTEMS = 200


class RunInput(PlanInput):
    """A judge over the sentences of a campaign."""

    kind = serializers.ChoiceField(["relevance"], default="relevance")
    campaign = serializers.UUIDField()
    choice = serializers.ChoiceField(CHOICES, required=False)
    batch_size = serializers.IntegerField(min_value=1, max_value=100, required=False)


class AnswersRunInput(PlanInput):
    """A model that answers questions; the filters of arguments count where a scenario has any."""

    kind = serializers.ChoiceField(["answers"])
    questions = serializers.ChoiceField(answer_targets.CHOICES, required=False)
    comparisons = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_COMPARISONS, required=False
    )
    uses_aspect = serializers.BooleanField(required=False)
    uses_wording = serializers.BooleanField(required=False)
    relevance = serializers.ChoiceField(list(RELEVANCE), required=False)
    favoured = serializers.ChoiceField(list(FAVOURED), required=False)
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
