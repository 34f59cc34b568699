"""Runs; money is in millionths of a unit (``_micro``), times are in seconds."""

from rest_framework import serializers

from annotation.models import GenerationLaunch
from annotation.reports.generation import CHOICES
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.runs.models import ProviderBatch, Run


class EstimateSerializer(serializers.Serializer):
    """What a run would take; sampled where there are too many requests to write them all."""

    requests = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost_micro = serializers.IntegerField()
    is_sampled = serializers.BooleanField()
    passes_cap = serializers.BooleanField()


class RunSerializer(ReadSerializer):
    """One line of the list of runs."""

    campaign = public_id("relevance.campaign", allow_null=True, default=None)
    system = public_id("generation.system", allow_null=True, default=None)
    endpoint = public_id("endpoint")
    prompt = public_id("prompt")
    model = serializers.CharField(source="spec.model", read_only=True)
    done = serializers.IntegerField(read_only=True)
    unscored = serializers.IntegerField(read_only=True)
    cancelled = serializers.IntegerField(read_only=True)
    spent_micro = serializers.IntegerField(source="budget.spent_micro", read_only=True)
    cap_micro = serializers.IntegerField(
        source="budget.cap_micro", read_only=True, allow_null=True
    )
    created_by = public_id("created_by", allow_null=True, default=None)

    class Meta:
        model = Run
        fields = [
            "id",
            "number",
            "kind",
            "name",
            "campaign",
            "system",
            "endpoint",
            "prompt",
            "model",
            "mode",
            "state",
            "pause_reason",
            "planned",
            "done",
            "unscored",
            "cancelled",
            "spent_micro",
            "cap_micro",
            "ceiling",
            "created_by",
            "created_at",
            "started_at",
            "ended_at",
        ]


class ProgressSerializer(serializers.Serializer):
    """How far a run is; `limit` is how many requests may be in flight right now."""

    planned = serializers.IntegerField()
    done = serializers.IntegerField()
    unscored = serializers.IntegerField()
    waiting = serializers.IntegerField()
    in_flight = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    ended = serializers.IntegerField()
    share = serializers.FloatField(help_text="Part of the planned requests that ended.")
    coverage = serializers.FloatField(help_text="Part of the planned requests with a value.")
    reasons = serializers.DictField(child=serializers.IntegerField())
    limit = serializers.IntegerField()
    refusals = serializers.IntegerField()
    per_second = serializers.FloatField()
    spent_micro = serializers.IntegerField()
    reserved_micro = serializers.IntegerField()
    cap_micro = serializers.IntegerField(allow_null=True)
    saved_micro = serializers.IntegerField()
    reused = serializers.IntegerField()
    seconds_left = serializers.FloatField(allow_null=True)
    oldest_seconds = serializers.FloatField(allow_null=True)
    opens_in = serializers.FloatField(help_text="Seconds for which nothing is sent.")


class BatchSerializer(ReadSerializer):
    """A file of requests at the provider's batch service."""

    class Meta:
        model = ProviderBatch
        fields = ["id", "state", "remote_status", "message", "created_at"]


class RunDetailSerializer(RunSerializer):
    """A run with its progress, its pre-flight and everything that decides what is asked."""

    left_out = serializers.DictField(
        source="generation.left_out",
        default=None,
        allow_null=True,
        read_only=True,
        help_text="Arguments a run of answers does not show, by reason; questions without any.",
    )
    message = serializers.CharField(read_only=True, help_text="The state in words.")
    planning_error = serializers.CharField(
        read_only=True, help_text="Why a draft could not be prepared; else empty."
    )
    progress = ProgressSerializer(read_only=True)
    spec = serializers.DictField(read_only=True)
    params = serializers.DictField(
        read_only=True, help_text="What goes out now: the plan's, or the newest correction's."
    )
    amendments = serializers.ListField(
        child=serializers.DictField(), read_only=True, help_text="Corrections, oldest first."
    )
    estimate = serializers.DictField(read_only=True)
    preflight = serializers.DictField(read_only=True)
    flags = serializers.DictField(read_only=True)
    batches = BatchSerializer(many=True, read_only=True)

    class Meta:
        model = Run
        fields = [
            *RunSerializer.Meta.fields,
            "message",
            "planning_error",
            "progress",
            "spec",
            "spec_hash",
            "params",
            "amendments",
            "estimate",
            "preflight",
            "flags",
            "left_out",
            "webhook_url",
            "batches",
        ]


class StatisticSerializer(serializers.Serializer):
    """One statistic with its recipe, or the reason why it is undefined."""

    statistic = serializers.CharField()
    level = serializers.CharField(allow_null=True)
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    interval = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField()
    recipe = serializers.CharField()
    reason = serializers.CharField(allow_null=True)
    n_items = serializers.IntegerField()
    n_pairable_items = serializers.IntegerField()


class DifferingSerializer(serializers.Serializer):
    """One sentence with the labels and rationales of both runs."""

    argument = public_id("argument")
    object1 = serializers.CharField(source="argument.comparison.object1")
    object2 = serializers.CharField(source="argument.comparison.object2")
    text = serializers.CharField(source="argument.text")
    labels = serializers.ListField(child=serializers.IntegerField())
    rationales = serializers.ListField(child=serializers.CharField(allow_blank=True))


class RunComparisonSerializer(serializers.Serializer):
    """How far two runs agree; the first one's labels are the rows of the confusion."""

    n_common = serializers.IntegerField()
    n_first = serializers.IntegerField()
    n_second = serializers.IntegerField()
    estimates = StatisticSerializer(many=True)
    scale = serializers.ListField(child=serializers.IntegerField())
    confusion = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField())
    )
    n_differing = serializers.IntegerField()
    differing = DifferingSerializer(many=True, help_text="At most 20, the furthest apart first.")


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
