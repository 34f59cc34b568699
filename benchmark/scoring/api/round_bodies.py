"""Bodies about scoring rounds: what is sent and what comes back."""

from rest_framework import serializers

from annotation.answers.models.answers import Answer
from annotation.editing.forms import LARGEST
from benchmark.scoring.actions.rounds import MOST_ANSWERS, WITH, WITHOUT
from benchmark.scoring.forms.scoring import LONGEST_NOTE
from benchmark.scoring.models.rounds import ScoringItem, ScoringRound
from cqa_site.api.inputs import ConditionIds, Input
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.rounds.forms.plan import LONGEST_INSTRUCTIONS
from cqa_site.rounds.qualifying import DECISIONS


class ScoringRoundInput(Input):
    """Which answers are scored how; what is left out keeps its default, or its value."""

    name = serializers.CharField(max_length=120)
    rubric = serializers.UUIDField(required=False)
    systems = serializers.ListField(child=serializers.UUIDField(), max_length=500, required=False)
    scenarios = serializers.ListField(
        child=serializers.ChoiceField(Answer.Scenario.choices), max_length=10, required=False
    )
    conditions = ConditionIds(required=False)
    aspect = serializers.ChoiceField(["", WITH, WITHOUT], required=False, allow_blank=True)
    choice = serializers.IntegerField(
        min_value=1, max_value=32_767, required=False, allow_null=True
    )
    leave_out_used = serializers.BooleanField(required=False)
    size = serializers.IntegerField(
        min_value=1, max_value=MOST_ANSWERS, required=False, allow_null=True
    )
    is_balanced = serializers.BooleanField(required=False)
    overlap_share = serializers.FloatField(min_value=0, max_value=1, required=False)
    overlap_raters = serializers.IntegerField(min_value=2, max_value=20, required=False)
    repeat_share = serializers.FloatField(min_value=0, max_value=0.5, required=False)
    shows_hints = serializers.BooleanField(required=False)
    pass_mark = serializers.FloatField(min_value=0, max_value=1, required=False)
    lease_minutes = serializers.IntegerField(min_value=5, max_value=1440, required=False)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False)
    instructions = serializers.CharField(
        max_length=LONGEST_INSTRUCTIONS, required=False, allow_blank=True
    )


class ExampleInput(Input):
    """The key of an example; points of null take the example out of the round."""

    answer = serializers.UUIDField()
    points = serializers.DictField(child=serializers.IntegerField(), allow_null=True)
    notes = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_NOTE), required=False
    )


class ScorerInput(Input):
    """What is decided about one person of a round, and why."""

    decision = serializers.ChoiceField(list(DECISIONS))
    reason = serializers.CharField(max_length=300, required=False, allow_blank=True)


class ScoringRoundSerializer(ReadSerializer):
    """How a round was drawn, and how far it is: ``done`` of ``wanted`` sheets."""

    rubric = public_id("rubric")
    systems = serializers.ListField(
        source="recipe.systems", child=serializers.UUIDField(), read_only=True
    )
    scenarios = serializers.ListField(
        source="recipe.scenarios", child=serializers.IntegerField(), read_only=True
    )
    conditions = serializers.ListField(
        source="recipe.conditions", child=serializers.CharField(), default=list, read_only=True
    )
    other_conditions = serializers.IntegerField(
        source="recipe.other_conditions", default=0, read_only=True
    )
    aspect = serializers.CharField(source="recipe.aspect", read_only=True)
    choice = serializers.IntegerField(source="recipe.choice", read_only=True, allow_null=True)
    leave_out_used = serializers.BooleanField(source="recipe.leave_out_used", read_only=True)
    size = serializers.IntegerField(source="recipe.size", read_only=True, allow_null=True)
    is_balanced = serializers.BooleanField(source="recipe.is_balanced", read_only=True)
    found = serializers.IntegerField(source="recipe.found", read_only=True)
    answers = serializers.IntegerField(source="size", read_only=True)
    wanted = serializers.IntegerField(read_only=True)
    done = serializers.IntegerField(read_only=True)

    class Meta:
        model = ScoringRound
        fields = [
            "id",
            "name",
            "state",
            "rubric",
            "systems",
            "scenarios",
            "conditions",
            "other_conditions",
            "aspect",
            "choice",
            "leave_out_used",
            "size",
            "is_balanced",
            "found",
            "overlap_share",
            "overlap_raters",
            "repeat_share",
            "shows_hints",
            "pass_mark",
            "lease_minutes",
            "seed",
            "instructions",
            "answers",
            "wanted",
            "done",
            "created_at",
            "opened_at",
            "closed_at",
        ]


class ScoringItemSerializer(ReadSerializer):
    """One answer of a round; examples have a key and want no sheets."""

    id = public_id("answer")
    wanted = serializers.IntegerField(read_only=True)
    done = serializers.IntegerField(read_only=True)

    class Meta:
        model = ScoringItem
        fields = ["id", "position", "probability", "key_points", "key_notes", "wanted", "done"]


class ScorerSerializer(serializers.Serializer):
    """What one person has done in a round; ``id`` is the rater's."""

    id = serializers.UUIDField(source="rater.public_id", read_only=True)
    name = serializers.CharField(source="rater.pseudonym", read_only=True)
    sheets = serializers.IntegerField(read_only=True)
    repeats = serializers.IntegerField(read_only=True)
    extras = serializers.IntegerField(read_only=True)
    begun = serializers.IntegerField(read_only=True)
    unable = serializers.IntegerField(source="figures.unable", read_only=True)
    mean = serializers.FloatField(source="figures.mean", read_only=True, allow_null=True)
    minutes = serializers.IntegerField(read_only=True)
    last_at = serializers.DateTimeField(read_only=True, allow_null=True)
    score = serializers.FloatField(source="place.score", read_only=True, allow_null=True)
    is_passed = serializers.BooleanField(source="place.is_passed", read_only=True)
    excluded_at = serializers.DateTimeField(
        source="place.excluded_at", read_only=True, allow_null=True
    )
