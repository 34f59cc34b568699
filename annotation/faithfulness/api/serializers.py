"""Serializers, inputs and filters for faithfulness, verdicts and expert agreement."""

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from annotation.answers.models import Answer
from annotation.faithfulness.forms import CoherenceForm
from annotation.faithfulness.models import CoherenceVerdict, EditedText, FaithfulnessFigures
from annotation.faithfulness.reports import tables
from cqa_site.api.base import Input, public_id
from cqa_site.results.api import StatisticSerializer
from cqa_site.runs.api.bodies import PlanInput
from cqa_site.web.rest.queries import TrueFalseFilter


class VerdictCountsSerializer(serializers.Serializer):
    """Number of citations with a verdict, and number without a verdict, by reason."""

    scored = serializers.IntegerField()
    unscored = serializers.DictField(child=serializers.IntegerField())


class FaithfulnessGroupSerializer(serializers.Serializer):
    """Texts of one system and condition, either as written or as edited by experts."""

    system = serializers.UUIDField()
    system_name = serializers.CharField(source="name")
    scenario = serializers.IntegerField()
    condition = serializers.UUIDField()
    condition_name = serializers.CharField()
    is_plain = serializers.BooleanField()
    is_edited = serializers.BooleanField()
    answers = serializers.IntegerField(source="n_answers")
    questions = serializers.IntegerField(source="n_questions")
    segments = serializers.IntegerField(source="n_segments")
    scored_answers = serializers.IntegerField(source="n_scored")
    skipped = serializers.DictField(child=serializers.IntegerField())
    out_of_range = serializers.IntegerField()
    malformed = serializers.IntegerField()
    measures = serializers.DictField(child=StatisticSerializer())
    verdicts = VerdictCountsSerializer()


class FaithfulnessSerializer(serializers.Serializer):
    """All figures of a study in one mode, and the number of texts without current figures."""

    mode = serializers.ChoiceField(FaithfulnessFigures.Mode.choices)
    labels = serializers.CharField(
        help_text="Source of the labels for precision, recall and F1: a round's id, or newest."
    )
    embedding = serializers.CharField(allow_blank=True)
    run = serializers.UUIDField(allow_null=True, help_text="Run whose verdicts count.")
    texts = serializers.IntegerField()
    stale = serializers.IntegerField()
    without_similarity = serializers.IntegerField()
    stale_edited = serializers.IntegerField()
    groups = FaithfulnessGroupSerializer(many=True)


class FiguresSerializer(serializers.ModelSerializer):
    """Figures of one text in one mode; segment figures are means over the text's segments."""

    answer = serializers.UUIDField(source="about.public_id", read_only=True)
    revision = public_id("revision", allow_null=True, default=None)
    system = serializers.UUIDField(source="about.system.public_id", read_only=True)
    scenario = serializers.IntegerField(source="about.scenario", read_only=True)
    condition = serializers.UUIDField(source="about.condition.public_id", read_only=True)
    coherence = serializers.FloatField(read_only=True, allow_null=True)
    out_of_range = serializers.ListField(
        source="values.out_of_range", child=serializers.IntegerField(), read_only=True
    )
    malformed = serializers.ListField(
        source="values.malformed", child=serializers.CharField(), read_only=True
    )
    cited = serializers.ListField(
        source="values.cited", child=serializers.IntegerField(), read_only=True
    )
    skipped = serializers.DictField(
        source="values.skipped", child=serializers.IntegerField(), read_only=True
    )
    computed_at = serializers.DateTimeField(source="at", read_only=True)

    class Meta:
        model = FaithfulnessFigures
        fields = [
            "answer", "revision", "system", "scenario", "condition", "mode", "segments",
            "jaccard_text", "jaccard_segment", "levenshtein", "similarity", "precision", "recall",
            "f1", "coherence", "cited", "out_of_range", "malformed", "skipped", "embedding",
            "computed_at",
        ]  # fmt: skip
        read_only_fields = fields


class EditedTextSerializer(serializers.ModelSerializer):
    """A text written by people, compared with the machine answer it is based on."""

    before = public_id("before")
    revision = public_id("revision", allow_null=True, default=None)
    gold = public_id("gold", allow_null=True, default=None)
    active_seconds = serializers.IntegerField(
        source="revision.active_seconds", read_only=True, allow_null=True, default=None
    )

    class Meta:
        model = EditedText
        fields = [
            "before", "revision", "gold", "edit_distance", "words_before", "words_after",
            "checks_before", "checks_after", "active_seconds",
        ]  # fmt: skip
        read_only_fields = fields


class VerdictSerializer(serializers.ModelSerializer):
    """A judge's verdict on one citation; ``start`` and ``end`` give the segment's position."""

    answer = public_id("answer")
    condition = serializers.UUIDField(source="answer.condition.public_id", read_only=True)
    revision = public_id("revision", allow_null=True, default=None)
    call = public_id("call")
    judged_at = serializers.DateTimeField(source="at", read_only=True)

    class Meta:
        model = CoherenceVerdict
        fields = [
            "answer", "condition", "revision", "start", "end", "number", "replicate",
            "is_coherent", "reason", "rationale", "call", "judged_at",
        ]  # fmt: skip
        read_only_fields = fields


class AgreementCellSerializer(serializers.Serializer):
    """Two texts in the heatmap; 0 stands for the machine, and other numbers for experts."""

    one = serializers.IntegerField()
    other = serializers.IntegerField()
    mean_cosine = serializers.FloatField(allow_null=True)
    answers = serializers.IntegerField()


class ExpertWorkSerializer(serializers.Serializer):
    """Changes by one expert, as means over texts; the time is a median."""

    expert = serializers.IntegerField()
    user = serializers.UUIDField()
    answers = serializers.IntegerField(source="n")
    calibration_answers = serializers.IntegerField(source="n_calibration")
    edit_distance = serializers.FloatField(source="distance", allow_null=True)
    words_before = serializers.FloatField(allow_null=True)
    words_after = serializers.FloatField(allow_null=True)
    checks_before = serializers.FloatField(allow_null=True)
    checks_after = serializers.FloatField(allow_null=True)
    checks = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)


class AgreementSerializer(serializers.Serializer):
    """Agreement of the experts of a round."""

    mode = serializers.CharField()
    embedding = serializers.CharField(allow_blank=True)
    calibration_answers = serializers.IntegerField()
    versions = serializers.IntegerField()
    without_vector = serializers.IntegerField()
    pairs = AgreementCellSerializer(many=True)
    work = ExpertWorkSerializer(many=True)


class FiguresInput(Input):
    """The sentence-embedding model, by default the study's choice; empty for no similarities."""

    embedding = serializers.ChoiceField(
        [*settings.EMBEDDING_MODELS], allow_blank=True, required=False
    )


class CoherenceRunInput(PlanInput):
    """A judge for the citations in answers, by default the answers of all systems and scenarios.

    Without conditions, only answers under the plain conditions are judged.
    """

    form = CoherenceForm
    kind = serializers.ChoiceField(["coherence"])


class LabelSetFilter(filters.CharFilter):
    """The id of a round, or "newest"; the view rejects any other text."""


class FiguresFilter(filters.FilterSet):
    """Filter for figures by mode, system and scenario, and by answers as written or as edited.

    This filter only validates the values, because the selection of texts depends on several
    values at once.
    """

    mode = filters.ChoiceFilter(choices=FaithfulnessFigures.Mode.choices, method="applied")
    texts = filters.ChoiceFilter(
        choices=[("answers", "as written"), ("edited", "by experts")], method="applied"
    )
    system = filters.UUIDFilter(method="applied")
    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices, method="applied")
    condition = filters.UUIDFilter(method="applied")
    problem = filters.ChoiceFilter(
        choices=[(name, name) for name in tables.PROBLEMS], method="applied"
    )
    sort = filters.ChoiceFilter(
        choices=[(sign + name, name) for name in tables.SORTED for sign in ("", "-")],
        method="applied",
    )
    run = filters.UUIDFilter(method="applied")
    labels = LabelSetFilter(method="applied")

    def applied(self, figures: QuerySet, name: str, value: Any) -> QuerySet:
        """Return the rows unchanged, because the view has already applied these values."""
        return figures


class VerdictFilter(filters.FilterSet):
    answer = filters.UUIDFilter(field_name="answer__public_id")
    condition = filters.UUIDFilter(field_name="answer__condition__public_id")
    number = filters.NumberFilter(min_value=0, max_value=9_999, decimal_places=0)
    is_coherent = TrueFalseFilter()
    is_unscored = TrueFalseFilter(field_name="is_coherent", lookup_expr="isnull")
    is_edited = TrueFalseFilter(field_name="revision", lookup_expr="isnull", exclude=True)
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)
