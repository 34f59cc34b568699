"""What the interface takes about editing rounds, their tasks and discussions."""

from rest_framework import serializers

from annotation.answers.models.answers import Answer
from annotation.editing.actions.rounds import LEAVE
from annotation.editing.forms import LONGEST_COMMENT, MOST_ANSWERS
from cqa_site.api.inputs import Input
from cqa_site.rounds.forms.plan import LONGEST_INSTRUCTIONS
from cqa_site.rounds.forms.save import LARGEST


class EditingRoundInput(Input):
    """Who edits what; what is left out keeps its default, or its value on a change."""

    name = serializers.CharField(max_length=120)
    experts = serializers.ListField(child=serializers.UUIDField(), max_length=200)
    calibration = serializers.IntegerField(min_value=0, max_value=MOST_ANSWERS, required=False)
    individual = serializers.IntegerField(min_value=0, max_value=MOST_ANSWERS, required=False)
    system = serializers.UUIDField(required=False, allow_null=True)
    scenario = serializers.ChoiceField(Answer.Scenario.choices, required=False, allow_null=True)
    condition = serializers.CharField(
        max_length=36,
        required=False,
        allow_blank=True,
        help_text="The id of a condition, or all; empty for the plain ones.",
    )
    choice = serializers.IntegerField(
        min_value=1, max_value=32_767, required=False, allow_null=True
    )
    makes_answers = serializers.BooleanField(required=False)
    leave = serializers.ChoiceField(LEAVE, required=False)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False)
    instructions = serializers.CharField(
        max_length=LONGEST_INSTRUCTIONS, required=False, allow_blank=True
    )


class RoundCommentInput(Input):
    """A word in the discussion of one calibration answer of the round."""

    answer = serializers.UUIDField()
    text = serializers.CharField(max_length=LONGEST_COMMENT)
