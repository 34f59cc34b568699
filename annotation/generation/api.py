"""REST API for runs and launches in which models write answers."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from annotation.generation.actions import launches as actions
from annotation.generation.actions.launches import MOST_RUNS, MOVES
from annotation.generation.forms import GenerationForm, MatrixForm
from annotation.generation.models import GenerationLaunch, GenerationRun
from annotation.generation.reports import CHOICES, AnswersComparison, compare_answers
from annotation.judges.api import RunComparisonSerializer, public_ids
from annotation.judges.reports.tables import compare_runs
from cqa_site.api.base import (
    DataSerializer,
    Input,
    ReadSerializer,
    Request,
    StudyViews,
    public_id,
    require_valid,
)
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.api.bodies import LARGEST_CAP, Given, PlanInput, Start, as_typed, keys_of, plain
from cqa_site.runs.api.run_bodies import EstimateSerializer
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.kinds import ApiExtension
from cqa_site.runs.models import Call, Run
from cqa_site.web.rest.queries import conflict_on


class QuestionOfCall(serializers.Serializer):
    """The question of a request."""

    question = serializers.UUIDField(read_only=True, allow_null=True, default=None)


class SystemOfRun(serializers.Serializer):
    """The system and the condition of a run's answers."""

    system = public_id("generation.system", allow_null=True, default=None)


class LeftOutOfRun(serializers.Serializer):
    """The arguments and questions left out of a run."""

    left_out = serializers.DictField(
        source="generation.left_out",
        default=None,
        allow_null=True,
        read_only=True,
        help_text="Arguments not shown in the run, by reason, and questions without arguments.",
    )


class AnswerTextSerializer(serializers.Serializer):
    """One answer with its length in words and the object it chooses."""

    answer = public_id("answer")
    number = serializers.IntegerField(source="answer.choice")
    words = serializers.IntegerField()
    choice = serializers.ChoiceField(list(CHOICES))


class PairSerializer(serializers.Serializer):
    """Answers of two runs to one question."""

    question = public_id("question")
    text = serializers.CharField(source="question")
    first = AnswerTextSerializer(many=True)
    second = AnswerTextSerializer(many=True)
    is_changed = serializers.BooleanField(allow_null=True)


class AnswersComparisonSerializer(DataSerializer):
    """Two runs compared on the questions they share.

    ``decided`` counts the questions for which, in both runs, most answers choose one object;
    ``changed`` counts those for which the runs choose different objects.
    """

    shows = AnswersComparison
    pairs = PairSerializer(many=True)


class LaunchedRunSerializer(serializers.Serializer):
    """One run of a launch, with its condition."""

    id = serializers.UUIDField(source="run.public_id")
    number = serializers.IntegerField(source="run.number")
    state = serializers.CharField(source="run.state")
    condition = serializers.UUIDField(source="condition.public_id")
    condition_name = serializers.CharField(source="condition.name")


class LaunchSerializer(ReadSerializer):
    """Runs that were started together; ``folded`` counts duplicate combinations.

    ``joined`` lists the numbers of runs that were already in progress, and ``refused`` the
    combinations without requests.
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
            "id", "number", "name", "cap_micro", "spent_micro", "folded", "joined", "refused",
            "runs", "created_at",
        ]  # fmt: skip
        read_only_fields = fields


class LaunchEstimateSerializer(EstimateSerializer):
    """Estimate for all runs together; ``empty`` is the number of runs without requests."""

    runs = serializers.IntegerField()
    folded = serializers.IntegerField()
    empty = serializers.IntegerField()


class AnswersRunInput(PlanInput):
    """A run in which a model answers questions; filters apply to scenarios with arguments."""

    form = GenerationForm
    most_chosen = 1_000
    kind: serializers.Field | None = serializers.ChoiceField(["answers"])


class LaunchInput(AnswersRunInput):
    """Lists of settings, with one run for each combination; the cap covers all runs together."""

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
    """The joint spending cap and an action for all runs; both are optional."""

    cap_micro = serializers.IntegerField(
        min_value=0, max_value=LARGEST_CAP, allow_null=True, required=False
    )
    move = serializers.ChoiceField(list(MOVES), required=False)


def _answers(study: Study, actor: User, data: Given) -> RunPlanForm:
    data["comparisons"] = keys_of(study.comparisons, data.pop("comparisons", []))
    return GenerationForm(as_typed(GenerationForm, study, data), study=study, actor=actor)


def matrix_form(study: Study, actor: User, data: Given) -> MatrixForm:
    """Return the launch form of the page, with defaults filled in."""
    offered = {name: field.initial for name, field in MatrixForm.base_fields.items()}
    rows: dict[str, tuple[Any, Any]] = {
        "endpoint": (study.endpoints, data.pop("endpoints")),
        "prompt": (study.prompt_versions, data.pop("prompts")),
        "comparisons": (study.comparisons, data.pop("comparisons", [])),
    }
    data |= {name: keys_of(*chosen) for name, chosen in rows.items()}
    return MatrixForm(offered | plain(data), study=study, actor=actor)


ANSWERS_START = Start(AnswersRunInput, _answers)


def _add_question(run: Run, calls: Iterable[Call]) -> None:
    calls = list(calls)
    ids = public_ids(run.study.questions, {call.subject_ids[0] for call in calls})
    for call in calls:
        vars(call).update(question=ids.get(call.subject_ids[0]))


ANSWERS_EXTENSION = ApiExtension(
    run=SystemOfRun, run_detail=LeftOutOfRun, call=QuestionOfCall, add_to_calls=_add_question
)


class RunComparisonViews(StudyViews):
    """Comparison of two runs."""

    queryset = Run.objects.none()

    def rows(self) -> QuerySet:
        """Return runs of any kind; each comparison selects the kind it needs."""
        return self.study.runs.select_related("prompt", "relevance__label_round")

    @extend_schema(responses=RunComparisonSerializer)
    def compare(
        self, request: Request, public_id: uuid.UUID, other_id: uuid.UUID, **kwargs: Any
    ) -> Response:
        """Compare this run with another run of the same round."""
        judges = self.get_queryset().filter(kind="relevance")
        run = get_object_or_404(judges, public_id=public_id)
        others = judges.filter(relevance__label_round=run.relevance.label_round)
        other = get_object_or_404(others.exclude(pk=run.pk), public_id=other_id)
        compared = compare_runs(run, other)
        return Response(RunComparisonSerializer(compared).data)

    @extend_schema(responses=AnswersComparisonSerializer)
    def compare_answers(
        self, request: Request, public_id: uuid.UUID, other_id: uuid.UUID, **kwargs: Any
    ) -> Response:
        """Compare the lengths and choices of this run's answers with those of another run."""
        writing = self.get_queryset().filter(kind="answers")
        run = get_object_or_404(writing, public_id=public_id)
        other = get_object_or_404(writing.exclude(pk=run.pk), public_id=other_id)
        compared = compare_answers(run, other)
        return Response(AnswersComparisonSerializer(compared).data)


LAUNCH = LaunchSerializer


class LaunchViews(StudyViews):
    """The launches of a study, each with its runs."""

    serializer_class = LAUNCH

    def rows(self) -> QuerySet:
        """Return the rows, newest first."""
        launches = self.study.generation_launches.select_related("budget")
        generations = GenerationRun.objects.select_related("run", "condition").order_by("run")
        return launches.prefetch_related(Prefetch("generations", generations))

    @extend_schema(request=LaunchInput, responses={201: LAUNCH})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Start one run per combination, or return the same launch if it is in progress."""
        matrix = self._form().matrix
        with conflict_on(RunRefused):
            launch = actions.start_launch(study=self.study, actor=request.user, matrix=matrix)
        return self._told(launch.public_id, 201)

    @extend_schema(request=LaunchInput, responses=LaunchEstimateSerializer)
    def estimate(self, request: Request, **kwargs: Any) -> Response:
        """Estimate all runs together. Nothing is stored or sent."""
        matrix = self._form().matrix
        forecast = actions.estimate_matrix(self.study, matrix)
        cap, total = matrix.cap_micro, forecast.total
        payload = {
            "runs": len(matrix.plans),
            "folded": matrix.folded,
            "empty": forecast.empty,
            "requests": total.requests,
            "tokens_in": total.tokens_in,
            "tokens_out": total.tokens_out,
            "cost_micro": total.cost_micro,
            "most_micro": total.most_micro,
            "is_sampled": forecast.is_sampled,
            "passes_cap": cap is not None and total.cost_micro > cap,
        }
        return Response(LaunchEstimateSerializer(payload).data)

    @extend_schema(request=LaunchChangeInput, responses=LAUNCH)
    def partial_update(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change the joint cap of all runs, or apply an action to all eligible runs."""
        launch = self.find_row(public_id)
        data = self.read(LaunchChangeInput, partial=True)
        if "cap_micro" in data:
            actions.set_launch_cap(launch=launch, actor=request.user, cap_micro=data["cap_micro"])
        if "move" in data:
            actions.steer(launch=launch, actor=request.user, move=data["move"])
        return self._told(public_id)

    def _told(self, public_id: uuid.UUID, status: int = 200) -> Response:
        return self.shown(self.get_queryset().get(public_id=public_id), status)

    def _form(self) -> MatrixForm:
        """Return the page's form, so that the API follows the same rules; raises 400."""
        data = self.read(LaunchInput)
        form = matrix_form(self.study, self.request.user, data)
        require_valid(form)
        return form
