"""What the interface shows of runs in which a model writes answers."""

from rest_framework import serializers

from annotation.generation.models import GenerationLaunch
from annotation.generation.reports.answers import CHOICES
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.runs.api.told import EstimateSerializer


class QuestionOfCall(serializers.Serializer):
    """The question that a request asks a model to answer."""

    question = serializers.UUIDField(read_only=True, allow_null=True, default=None)


class SystemOfRun(serializers.Serializer):
    """As what the answers of a run count."""

    system = public_id("generation.system", allow_null=True, default=None)


class LeftOutOfRun(serializers.Serializer):
    """What a run of answers does not show."""

    left_out = serializers.DictField(
        source="generation.left_out",
        default=None,
        allow_null=True,
        read_only=True,
        help_text="Arguments a run of answers does not show, by reason; questions without any.",
    )


class SpreadSerializer(serializers.Serializer):
    """Lengths and choices of a run's answers; ``read`` of ``answers`` were looked at."""

    answers = serializers.IntegerField()
    read = serializers.IntegerField()
    words_mean = serializers.FloatField(allow_null=True)
    words_least = serializers.IntegerField(allow_null=True)
    words_most = serializers.IntegerField(allow_null=True)
    choices = serializers.DictField(child=serializers.IntegerField())


class SaidSerializer(serializers.Serializer):
    """One answer with its length in words and the object that it chooses."""

    answer = public_id("answer")
    number = serializers.IntegerField(source="answer.choice")
    words = serializers.IntegerField()
    choice = serializers.ChoiceField(list(CHOICES))


class PairSerializer(serializers.Serializer):
    """What two runs answered to one question."""

    question = public_id("question")
    text = serializers.CharField(source="question")
    first = SaidSerializer(many=True)
    second = SaidSerializer(many=True)
    is_changed = serializers.BooleanField(allow_null=True)


class AnswersComparisonSerializer(serializers.Serializer):
    """Two runs over their common questions.

    ``decided`` counts questions for which most answers of either run choose an object,
    ``changed`` those of them for which it is not the same object.
    """

    first = SpreadSerializer()
    second = SpreadSerializer()
    decided = serializers.IntegerField()
    changed = serializers.IntegerField()
    pairs = PairSerializer(many=True)


class LaunchedRunSerializer(serializers.Serializer):
    """One run of a launch, under its condition."""

    id = serializers.UUIDField(source="run.public_id")
    number = serializers.IntegerField(source="run.number")
    state = serializers.CharField(source="run.state")
    condition = serializers.UUIDField(source="condition.public_id")
    condition_name = serializers.CharField(source="condition.name")


class LaunchSerializer(ReadSerializer):
    """Runs that were started together; ``folded`` combinations ask what others ask.

    ``joined`` are numbers of runs that were under way by themselves; ``refused`` says which
    combinations have nothing to ask.
    """

    cap_micro = serializers.IntegerField(source="budget.cap_micro", allow_null=True)
    spent_micro = serializers.IntegerField(source="budget.spent_micro")
    folded = serializers.IntegerField(source="recipe.folded")
    joined = serializers.ListField(source="recipe.joined", child=serializers.IntegerField())
    refused = serializers.ListField(source="recipe.refused", child=serializers.CharField())
    runs = LaunchedRunSerializer(source="generations", many=True)

    class Meta:
        model = GenerationLaunch
        fields = [
            "id",
            "number",
            "name",
            "cap_micro",
            "spent_micro",
            "folded",
            "joined",
            "refused",
            "runs",
            "created_at",
        ]
        read_only_fields = fields


class LaunchEstimateSerializer(EstimateSerializer):
    """What all runs would take together; ``empty`` ones have nothing to ask."""

    runs = serializers.IntegerField()
    folded = serializers.IntegerField()
    empty = serializers.IntegerField()
