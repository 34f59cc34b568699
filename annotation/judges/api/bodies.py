"""What the interface shows of judges beside people."""

from rest_framework import serializers

from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.judges.reports.model_cards import model_card
from annotation.labelling.api.bodies import SentenceSerializer
from cqa_site.api.serializers import ReadSerializer, public_id


class JudgeLabelSerializer(SentenceSerializer):
    """One argument with the judge's label, or the reason why there is none."""

    call = public_id("call", allow_null=True, default=None)

    class Meta:
        model = JudgeLabel
        fields = [
            *SentenceSerializer.Meta.fields,
            "replicate",
            "label",
            "reason",
            "rationale",
            "call",
            "at",
        ]
        read_only_fields = fields


class ArgumentsOfCall(serializers.Serializer):
    """The arguments that a request judges."""

    arguments = serializers.ListField(child=serializers.UUIDField(), read_only=True, default=list)


class LabelsOfCall(serializers.Serializer):
    """The labels read from a reply."""

    labels = JudgeLabelSerializer(many=True, read_only=True, default=list)


class JudgeEstimateSerializer(serializers.Serializer):
    """One agreement figure; null with a reason where it is not defined."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    interval = serializers.CharField(allow_null=True)
    level = serializers.CharField(allow_null=True)
    n_pairable_items = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True)


class ReplacementSerializer(serializers.Serializer):
    """Shares of majority labels with the judge in the place of one vote."""

    n_items = serializers.IntegerField()
    changed = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    raised = serializers.FloatField(allow_null=True)
    lowered = serializers.FloatField(allow_null=True)
    tied_before = serializers.FloatField(allow_null=True)
    tied_after = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class JudgeSerializer(serializers.Serializer):
    """One judge; ``kind`` is model, classifier or imported; its labels are nobody's votes."""

    key = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()
    made_at = serializers.DateTimeField(source="at")
    model = serializers.CharField(allow_blank=True)
    prompt = serializers.CharField(allow_blank=True)
    run = serializers.UUIDField(allow_null=True)
    trained_judge = serializers.UUIDField(source="trained", allow_null=True)
    is_active = serializers.BooleanField()
    is_out_of_fold = serializers.BooleanField()
    asked = serializers.IntegerField(source="planned")
    labelled = serializers.IntegerField()
    unscored = serializers.IntegerField()
    coverage = serializers.FloatField()
    is_low = serializers.BooleanField(help_text="Coverage below 95 %: not ranked.")
    compared = serializers.IntegerField(source="n", help_text="Arguments with a final label too.")
    exact = serializers.FloatField(allow_null=True)
    bias = serializers.FloatField(allow_null=True)
    mean_absolute_error = serializers.FloatField(source="error", allow_null=True)
    ordinal_alpha = JudgeEstimateSerializer(source="ordinal")
    interval_alpha = JudgeEstimateSerializer(source="interval")
    ordinal_alpha_with_votes = JudgeEstimateSerializer(source="with_votes")
    ordinal_alpha_difference = JudgeEstimateSerializer(
        source="difference",
        help_text="With votes minus people's own, over the arguments with votes and its label.",
    )
    replacement = ReplacementSerializer()
    replicates = serializers.IntegerField()
    consistency = JudgeEstimateSerializer(allow_null=True)
    cost_per_thousand = serializers.FloatField(source="per_thousand", allow_null=True)


class TrainedJudgeSerializer(ReadSerializer):
    """One version of the trained judge."""

    figures = serializers.DictField(read_only=True)

    class Meta:
        model = TrainedJudge
        fields = ["id", "number", "kind", "sha256", "figures", "created_at"]


class ModelCardSerializer(TrainedJudgeSerializer):
    """One version with its whole model card."""

    card = serializers.SerializerMethodField()

    class Meta:
        model = TrainedJudge
        fields = [*TrainedJudgeSerializer.Meta.fields, "card"]

    def get_card(self, version: TrainedJudge) -> dict:
        """Data counts, recipe, library versions and figures."""
        return model_card(version)


class RoundOfRun(serializers.Serializer):
    """What a run of the relevance judge is about."""

    label_round = public_id("relevance.campaign", allow_null=True, default=None)


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


class ComparableSerializer(serializers.Serializer):
    """Somebody whose labels can be compared."""

    key = serializers.CharField()
    name = serializers.CharField()


class LabelSetSerializer(serializers.Serializer):
    """One label set beside the rater."""

    set = serializers.CharField()
    title = serializers.CharField()
    is_step = serializers.BooleanField(help_text="One of the sources that overrule each other.")
    changed = serializers.IntegerField(allow_null=True, help_text="Labels this step changes.")
    n = serializers.IntegerField()
    equal = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    ordinal = serializers.JSONField()
    interval = serializers.JSONField()
    difference = serializers.FloatField(allow_null=True)


class LabelComparisonSerializer(serializers.Serializer):
    """Label sets of a round beside one rater, and who else there is."""

    name = serializers.CharField()
    choices = ComparableSerializer(many=True)
    sets = LabelSetSerializer(many=True)
