"""REST API for judges, trained judges, their labels and label comparisons."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Manager, QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.consensus.models import FinalLabel
from annotation.judges.actions import trained_judge as actions
from annotation.judges.forms import RunForm
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.judges.reports.charts import figures_of
from annotation.judges.reports.results import JudgeSelection, model_card, state_of
from annotation.judges.reports.tables import RunAgreement
from annotation.labelling.api import LabelRoundViews, SentenceSerializer
from annotation.labelling.models import label_rounds_of
from cqa_site.api.base import (
    DataSerializer,
    Input,
    NothingInput,
    ReadSerializer,
    Request,
    public_id,
)
from cqa_site.people.models import Study, User
from cqa_site.results.api import FigureSerializer, StatisticSerializer
from cqa_site.runs.api.bodies import Given, JobSerializer, PlanInput, Start, as_typed
from cqa_site.runs.api.runs import RunPartViews
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.kinds import ApiExtension
from cqa_site.runs.models import Call, Run
from cqa_site.stats.estimate import to_json
from cqa_site.web.rest.queries import Conflict, TrueFalseFilter, invalid_on, refuse_undeclared


class JudgeLabelSerializer(SentenceSerializer):
    """One argument with the judge's label or the reason that it is missing."""

    call = public_id("call", allow_null=True, default=None)

    class Meta:
        model = JudgeLabel
        fields = [
            *SentenceSerializer.Meta.fields, "replicate", "label", "reason", "rationale", "call",
            "at",
        ]  # fmt: skip
        read_only_fields = fields


class ArgumentsOfCall(serializers.Serializer):
    """The arguments in a request."""

    arguments = serializers.ListField(child=serializers.UUIDField(), read_only=True, default=list)


class LabelsOfCall(serializers.Serializer):
    """The labels read from a reply."""

    labels = JudgeLabelSerializer(many=True, read_only=True, default=list)


class ReplacementSerializer(serializers.Serializer):
    """Effect on majority labels if the judge replaced one vote, as shares of the items."""

    n_items = serializers.IntegerField()
    changed = FigureSerializer()
    raised = serializers.FloatField(allow_null=True)
    lowered = serializers.FloatField(allow_null=True)
    tied_before = serializers.FloatField(allow_null=True)
    tied_after = serializers.FloatField(allow_null=True)


class JudgeSerializer(serializers.Serializer):
    """One judge, whose labels are never votes; ``kind`` is model, classifier or imported."""

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
    is_low = serializers.BooleanField(help_text="Coverage is below 95 %, so it is not ranked.")
    compared = serializers.IntegerField(
        source="n", help_text="Arguments that also have a final label."
    )
    exact = serializers.FloatField(allow_null=True)
    bias = serializers.FloatField(allow_null=True)
    mean_absolute_error = serializers.FloatField(source="error", allow_null=True)
    ordinal_alpha = StatisticSerializer(source="ordinal")
    interval_alpha = StatisticSerializer(source="interval")
    ordinal_alpha_with_votes = StatisticSerializer(source="with_votes")
    ordinal_alpha_difference = StatisticSerializer(
        source="difference",
        help_text="Alpha with votes minus people's own, over arguments with votes and its label.",
    )
    replacement = ReplacementSerializer()
    replicates = serializers.IntegerField()
    consistency = StatisticSerializer(allow_null=True)
    cost_per_thousand = serializers.FloatField(source="per_thousand", allow_null=True)


class TrainedJudgeSerializer(ReadSerializer):
    """One version of the trained judge."""

    figures = serializers.DictField()

    class Meta:
        model = TrainedJudge
        fields = ["id", "number", "kind", "sha256", "figures", "created_at"]


class ModelCardSerializer(TrainedJudgeSerializer):
    """One version with its full model card."""

    card = serializers.SerializerMethodField()

    class Meta:
        model = TrainedJudge
        fields = [*TrainedJudgeSerializer.Meta.fields, "card"]

    def get_card(self, version: TrainedJudge) -> dict:
        """Return data counts, recipe, library versions and figures."""
        return model_card(version)


class RoundOfRun(serializers.Serializer):
    """The round of a relevance judge's run."""

    label_round = public_id("relevance.label_round", allow_null=True, default=None)


class DifferingSerializer(serializers.Serializer):
    """One sentence with the labels and rationales of both runs."""

    argument = public_id("argument")
    object1 = serializers.CharField(source="argument.comparison.object1")
    object2 = serializers.CharField(source="argument.comparison.object2")
    text = serializers.CharField(source="argument.text")
    labels = serializers.ListField(child=serializers.IntegerField())
    rationales = serializers.ListField(child=serializers.CharField(allow_blank=True))


class RunComparisonSerializer(DataSerializer):
    """Agreement of two runs; the rows of the confusion table are the first run's labels."""

    shows = RunAgreement
    differing = DifferingSerializer(many=True, help_text="At most 20, largest distance first.")


class ComparableSerializer(serializers.Serializer):
    """A rater available for comparison."""

    key = serializers.CharField()
    name = serializers.CharField()


class LabelSetSerializer(serializers.Serializer):
    """One label set compared with the rater."""

    set = serializers.CharField()
    title = serializers.CharField()
    is_step = serializers.BooleanField(
        help_text="Whether it is one of the sources that overrule each other."
    )
    changed = serializers.IntegerField(
        allow_null=True, help_text="Number of labels that this step changes."
    )
    n = serializers.IntegerField()
    equal = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    ordinal = StatisticSerializer()
    interval = StatisticSerializer()
    difference = serializers.FloatField(allow_null=True)


class LabelComparisonSerializer(serializers.Serializer):
    """Label sets of a round compared with one rater, and the other available raters."""

    name = serializers.CharField()
    choices = ComparableSerializer(many=True)
    sets = LabelSetSerializer(many=True)


class RunInput(PlanInput):
    """A run in which a judge labels the sentences of a round."""

    form = RunForm
    kind = serializers.ChoiceField(["relevance"], default="relevance")
    label_round = serializers.UUIDField()


class TrainingInput(Input):
    """The round whose final labels are used for training; by default the round to be labelled."""

    source = serializers.UUIDField(required=False)


class JudgeLabelFilter(filters.FilterSet):
    argument = filters.UUIDFilter(field_name="argument__public_id")
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)
    is_unscored = TrueFalseFilter(field_name="label", lookup_expr="isnull")
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)


def _relevance(study: Study, actor: User, data: Given) -> RunPlanForm:
    label_rounds = label_rounds_of(study).select_related("guideline")
    label_round = label_rounds.filter(public_id=data.pop("label_round")).first()
    if label_round is None:
        raise ValidationError({"label_round": ["No such round in this study."]})
    return RunForm(as_typed(RunForm, study, data), label_round=label_round, actor=actor)


RELEVANCE_START = Start(RunInput, _relevance)


class JudgeLabelViews(RunPartViews):
    """Labels in a run."""

    serializer_class = JudgeLabelSerializer
    filterset_class = JudgeLabelFilter

    def rows(self) -> QuerySet:
        """Return the rows by argument, then replicate."""
        labels = self.run.judge_labels.select_related("argument__comparison", "call")
        return labels.order_by("argument", "replicate")


def _add_arguments(run: Run, calls: Iterable[Call]) -> None:
    calls = list(calls)
    ids = public_ids(run.study.arguments, {pk for call in calls for pk in call.subject_ids})
    for call in calls:
        labels = call.judge_labels.select_related("argument__comparison", "call")
        arguments = [ids[pk] for pk in call.subject_ids if pk in ids]
        vars(call).update(arguments=arguments, labels=labels.order_by("argument", "replicate"))


def public_ids(rows: Manager | QuerySet, keys: set[int]) -> dict[int, uuid.UUID]:
    return dict(rows.filter(pk__in=keys).values_list("pk", "public_id"))


RELEVANCE_EXTENSION = ApiExtension(
    run=RoundOfRun, call=ArgumentsOfCall, call_detail=LabelsOfCall, add_to_calls=_add_arguments
)

CHOICE = [
    OpenApiParameter("judge", str, description="Key of the selected judge; by default the best."),
    OpenApiParameter("other", str, description="Key of a second judge."),
    OpenApiParameter(
        "common", str, enum=["1"], description="Only arguments that all judges labelled."
    ),
]


class JudgeViews(LabelRoundViews):
    """Models and classifiers that labelled arguments of the round."""

    queryset = JudgeLabel.objects.none()
    serializer_class = JudgeSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List judges by ordinal alpha with the final labels, highest first."""
        figures = figures_of(self.label_round, JudgeSelection(), state_of(self.label_round))
        return self.listed(figures.judges)

    @extend_schema(parameters=CHOICE, responses=OpenApiTypes.OBJECT)
    def figures(self, request: Request, **kwargs: Any) -> Response:
        """Return all figures of the Judges page, including confusions and the hardest items."""
        refuse_undeclared(request, CHOICE)
        choice = JudgeSelection.from_query(request.query_params)
        return Response(to_json(figures_of(self.label_round, choice, state_of(self.label_round))))


class TrainedJudgeViews(LabelRoundViews):
    """Versions of the judge trained on final labels."""

    serializer_class = TrainedJudgeSerializer

    def rows(self) -> QuerySet:
        """Return the versions, newest first, without the model files."""
        versions = self.label_round.trained_judges.select_related("label_round", "rater")
        return versions.defer("model")

    @extend_schema(responses=ModelCardSerializer)
    def retrieve(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return one version with its model card."""
        version = self.find_row(public_id)
        return Response(ModelCardSerializer(version).data)

    @extend_schema(request=TrainingInput, responses={202: JobSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Train the next version in the background; only one training runs per round at a time."""
        wanted = self.read(TrainingInput).get("source", self.label_round.public_id)
        label_rounds = label_rounds_of(self.study).select_related("guideline")
        source = label_rounds.filter(public_id=wanted).first()
        if source is None:
            raise ValidationError({"source": ["No such round in this study."]})
        with invalid_on("source", actions.TrainingNotPossible):
            job = actions.request_training(
                label_round=self.label_round, source=source, actor=request.user
            )
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(request=NothingInput, responses=JobSerializer)
    def cancel(self, request: Request, **kwargs: Any) -> Response:
        """Stop the pending or running training; it stores nothing."""
        self.read(NothingInput)
        if not actions.cancel_training(label_round=self.label_round, actor=request.user):
            raise Conflict("No training is waiting or running.")
        return Response(JobSerializer(actions.latest_job(self.label_round)).data)


class LabelComparisonViews(LabelRoundViews):
    """A round's final labels compared with any rater's labels."""

    queryset = FinalLabel.objects.none()
    serializer_class = LabelComparisonSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter("with", str, description="Key of another rater; see choices.")
        ],
        responses=LabelComparisonSerializer,
    )
    def compare(self, request: Request, **kwargs: Any) -> Response:
        """Compare every label set with any rater of the study.

        If ``with`` is omitted, return only the available keys. A person's key is
        ``rater-<round>:<rater>``.
        """
        from annotation.judges.reports.label_compare import choices, compare_sets, said_by

        key = request.query_params.get("with", "")
        offered = [{"key": choice, "name": name} for choice, name in choices(self.study)]
        source = said_by(self.study, key) if key else None
        if key and source is None:
            raise ValidationError({"with": ["No rater in this study has this key."]})
        sets = compare_sets(self.label_round, source[1]) if source else []
        payload = {"choices": offered, "name": source[0] if source else "", "sets": sets}
        return Response(LabelComparisonSerializer(payload).data)
