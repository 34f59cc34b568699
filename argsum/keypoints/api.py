"""Endpoints for summarization systems, their runs, and sets of key points."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.datasets.models import Cell, CellArgument
from argsum.keypoints.actions.system_runs import (
    CHOSEN,
    PUBLISHED,
    USUAL,
    SystemPlan,
    SystemRunRefused,
    cancel_system,
    cells_of,
    grid_named,
    resume_system,
    start_system,
    system_named,
)
from argsum.keypoints.models import SummarySet, SystemRun, SystemSummary
from argsum.keypoints.reports.system_runs import cell_lines, runs_of
from argsum.scorers.actions.scorers import default_scorers
from argsum.scorers.models import Scorer
from argsum.systems.contract import SummarizationSystem
from argsum.systems.methods.inputs import MOST_VALUES, GridNotValid, Parameter, read_values
from argsum.systems.registry import Fault, faults, systems
from cqa_site.api.base import (
    DataSerializer,
    Input,
    NothingInput,
    ReadSerializer,
    Request,
    StudyViews,
    body_of,
    public_id,
)
from cqa_site.web.rest.queries import conflict_on, refuse_unknown


class ParameterSerializer(DataSerializer):
    """A parameter of a system; ``only`` lists the variants that use it, empty for all."""

    shows = Parameter
    left_out = ("help",)


class SummarizationSystemSerializer(DataSerializer):
    """A system; ``package`` is the package that provides it, empty for built-in systems."""

    shows = SummarizationSystem
    left_out = ("summarize", "warm_up", "chosen")


class SummarizationSystemsSerializer(serializers.Serializer):
    """Systems that can be run, and installed systems that cannot be run."""

    systems = SummarizationSystemSerializer(many=True)
    faults = body_of(Fault)(many=True)


class SummarizationSystemViews(StudyViews):
    """The systems of this server, which are the same for every study."""

    queryset = SystemRun.objects.none()
    serializer_class = SummarizationSystemsSerializer

    @extend_schema(responses=SummarizationSystemsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return all systems, built-in systems first."""
        refuse_unknown(request, set())
        payload = {"systems": systems(), "faults": faults()}
        return Response(SummarizationSystemsSerializer(payload).data)


class SystemRunSerializer(ReadSerializer):
    """A run with the number of its sets by outcome."""

    dataset = public_id("dataset")
    match_scorer = public_id("match_scorer", allow_null=True, default=None)
    quality_scorer = public_id("quality_scorer", allow_null=True, default=None)
    writing = public_id("writing", allow_null=True, default=None)
    grid = serializers.DictField()
    sets_done = serializers.IntegerField()
    sets_without_result = serializers.IntegerField(source="sets_none")
    sets_waiting = serializers.IntegerField()

    class Meta:
        model = SystemRun
        fields = [
            "id", "number", "label", "dataset", "split", "is_unfiltered", "system", "package",
            "variant", "match_scorer", "quality_scorer", "grid", "seed", "writer_model", "writing",
            "state", "error", "sets_done", "sets_without_result", "sets_waiting", "created_at",
            "ended_at",
        ]  # fmt: skip


class RunSetSerializer(serializers.Serializer):
    """One setting of a cell. The best is an oracle, as the references that judge it select it."""

    id = serializers.UUIDField(source="row.public_id")
    setting = serializers.CharField(source="row.setting")
    state = serializers.CharField(source="row.state")
    reason = serializers.CharField(source="row.reason")
    key_points = serializers.IntegerField()
    clusters = serializers.IntegerField(allow_null=True)
    share = serializers.FloatField(source="figure.share", allow_null=True, default=None)
    excluding = serializers.FloatField(
        allow_null=True, help_text="Null if fewer than 75 % of the arguments are clustered."
    )
    including = serializers.FloatField(source="figure.including", allow_null=True, default=None)
    is_best_excluding = serializers.BooleanField()
    is_best_including = serializers.BooleanField()
    seconds = serializers.FloatField(source="row.seconds", allow_null=True)


class RunCellSerializer(serializers.Serializer):
    """One cell of a run."""

    cell = serializers.UUIDField(source="cell.public_id")
    topic = serializers.CharField(source="cell.topic")
    stance = serializers.IntegerField(source="cell.stance")
    arguments = serializers.IntegerField()
    sets = RunSetSerializer(source="lines", many=True)


class RunFiguresSerializer(serializers.Serializer):
    """The cells of a run in order; adjusted Rand indices are null for very large runs."""

    cells = RunCellSerializer(many=True)


class SystemRunInput(Input):
    """The system to run, its dataset and its settings.

    ``grid`` maps a parameter to a list of values, or to a range such as ``"0.05-0.95 step
    0.025"``. Other parameters have the values that ``settings`` selects: those of the paper
    (``published``), the recommendation of the system's authors (``usual``), or the setting chosen
    on the dev split when the match scorer was trained (``chosen``). The default scorers are the
    first ones of the study.
    """

    dataset = serializers.UUIDField()
    split = serializers.ChoiceField(Cell.Split.choices[1:], allow_blank=True, required=False)
    system = serializers.CharField(max_length=40)
    variant = serializers.ChoiceField(SystemRun.Variant.choices, required=False)
    settings = serializers.ChoiceField((PUBLISHED, USUAL, CHOSEN), default=USUAL)
    grid = serializers.DictField(required=False)
    match_scorer = serializers.UUIDField(required=False, allow_null=True)
    quality_scorer = serializers.UUIDField(required=False, allow_null=True)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False)
    is_unfiltered = serializers.BooleanField(required=False)
    label = serializers.CharField(max_length=120, required=False, allow_blank=True)
    writer_model = serializers.CharField(max_length=200, required=False, allow_blank=True)


class SystemRunFilter(filters.FilterSet):
    system = filters.CharFilter(method="of_system")
    state = filters.ChoiceFilter(choices=SystemRun.State.choices)
    dataset = filters.UUIDFilter(field_name="dataset__public_id")

    def of_system(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        """Filter by a system that is installed or has run here; return 400 for other systems."""
        system = rows.filter(system=value)
        if value not in {summarizer.name for summarizer in systems()} and not system.exists():
            raise ValidationError({name: ["There is no system with that name."]})
        return system


class SystemRunViews(StudyViews):
    """Runs of systems: list, start, cancel and resume."""

    serializer_class = SystemRunSerializer
    filterset_class = SystemRunFilter

    def rows(self) -> QuerySet:
        """Return the rows, newest first."""
        return runs_of(self.study).select_related(
            "dataset", "match_scorer", "quality_scorer", "writing"
        )

    @extend_schema(request=SystemRunInput, responses={201: SystemRunSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Start a run, which waits for a writing run if a language model writes first."""
        data = self.read(SystemRunInput)
        try:
            plan = SystemPlan(**self._plan(data))
            run = start_system(study=self.study, actor=request.user, plan=plan)
        except SystemRunRefused as reason:
            raise ValidationError({"non_field_errors": [str(reason)]}) from None
        return self.shown(self.get_queryset().get(pk=run.pk), 201)

    @extend_schema(responses=RunFiguresSerializer)
    def figures(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Return every cell and setting, with figures for the clusters."""
        run = self.find_row(public_id)
        refuse_unknown(request, set())
        lines = cell_lines(run, list(cells_of(run.dataset, run.split)))
        return Response(RunFiguresSerializer({"cells": lines}).data)

    @extend_schema(request=NothingInput, responses=SystemRunSerializer)
    def cancel(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Stop the run and keep its stored sets."""
        return self._steer(public_id, cancel_system)

    @extend_schema(request=NothingInput, responses=SystemRunSerializer)
    def resume(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Compute the missing sets."""
        return self._steer(public_id, resume_system)

    def _steer(self, public_id: uuid.UUID, action: Callable[..., None]) -> Response:
        run = self.find_row(public_id)
        self.read(NothingInput)
        with conflict_on(SystemRunRefused):
            action(run=run, actor=self.request.user)
        return self.shown(self.get_queryset().get(pk=run.pk))

    def _plan(self, data: dict[str, Any]) -> dict[str, Any]:
        dataset = self._named("dataset", self.study.argument_datasets, data["dataset"])
        match, quality = default_scorers(self.study, dataset)
        variant = data.get("variant", SystemRun.Variant.PLAIN)
        match = self._scorer(data, "match_scorer", match)
        usual = grid_named(data.pop("settings"), data["system"], variant, match)
        return data | {
            "dataset": dataset,
            "match_scorer": match,
            "quality_scorer": self._scorer(data, "quality_scorer", quality),
            "grid": usual | _read_grid(data["system"], variant, data.get("grid", {})),
        }

    def _scorer(self, data: dict[str, Any], name: str, usual: Scorer) -> Scorer:
        if not data.get(name):
            return usual
        rows = self.study.scorers.filter(task=usual.task, state=Scorer.State.READY)
        scorer: Scorer = self._named(name, rows, data[name])
        return scorer

    def _named(self, field: str, rows: Any, wanted: uuid.UUID) -> Any:
        row = rows.filter(public_id=wanted).first()
        if row is None:
            raise ValidationError({field: ["Not ready, or not in this study."]})
        return row


def _read_grid(system: str, variant: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the values as lists, with ranges expanded."""
    grid: dict[str, Any] = dict(data)
    known = {
        parameter.name: parameter for parameter in system_named(system).parameters_for(variant)
    }
    for name, values in data.items():
        if isinstance(values, str) and name in known:
            try:
                grid[name] = read_values(values, known[name])
            except GridNotValid as problem:
                raise ValidationError({"grid": [f"{name}: {problem}"]}) from None
        elif not isinstance(values, list) or len(values) > MOST_VALUES:
            message = f"{name}: a range as text, or a list of at most {MOST_VALUES} values."
            raise ValidationError({"grid": [message]})
    return grid


class SystemSummarySerializer(serializers.ModelSerializer):
    """A key point; ``position`` counts from 0, starting with the most arguments."""

    class Meta:
        model = SystemSummary
        fields = ["position", "text", "cluster", "prevalence"]
        read_only_fields = fields


class SummarySetSerializer(ReadSerializer):
    """A set with its key points."""

    cell = public_id("cell")
    dataset = public_id("cell.dataset")
    topic = serializers.CharField(source="cell.topic")
    stance = serializers.ChoiceField(Cell.Stance.choices, source="cell.stance")
    split = serializers.CharField(source="cell.split")
    system_run = public_id("system_run", allow_null=True, default=None)
    parameters = serializers.DictField()
    summaries = SystemSummarySerializer(many=True)

    class Meta:
        model = SummarySet
        fields = [
            "id", "cell", "dataset", "topic", "stance", "split", "system_run", "system",
            "parameters", "setting", "source", "state", "reason", "seconds", "summaries",
            "created_at", "done_at",
        ]  # fmt: skip


class SummarySetDetailSerializer(SummarySetSerializer):
    """A set with its key points and all of its arguments."""

    arguments = serializers.SerializerMethodField()

    class Meta(SummarySetSerializer.Meta):
        fields = [*SummarySetSerializer.Meta.fields, "arguments"]

    def get_arguments(self, row: SummarySet) -> list[dict[str, Any]]:
        """Return the arguments in the order of the cell; null means no key point or no cluster."""
        arguments = CellArgument.objects.in_bulk(row.arguments)
        n = len(row.arguments)
        columns = [
            row.assigned or [None] * n,
            row.scores or [None] * n,
            row.clusters or [None] * n,
        ]
        return [
            {
                "argument": str(arguments[pk].public_id),
                "text": arguments[pk].text,
                "key_point": _or_none(place),
                "score": score,
                "cluster": _or_none(cluster),
            }
            for pk, place, score, cluster in zip(row.arguments, *columns, strict=True)
            if pk in arguments
        ]


class SummarySetFilter(filters.FilterSet):
    dataset = filters.UUIDFilter(field_name="cell__dataset__public_id")
    cell = filters.UUIDFilter(field_name="cell__public_id")
    system_run = filters.UUIDFilter(field_name="system_run__public_id")
    system = filters.CharFilter(max_length=120)
    setting = filters.CharFilter(max_length=200)
    state = filters.ChoiceFilter(choices=SummarySet.State.choices)
    split = filters.ChoiceFilter(field_name="cell__split", choices=Cell.Split.choices[1:])


class SummarySetViews(StudyViews):
    """Sets with their key points."""

    serializer_class = SummarySetSerializer
    filterset_class = SummarySetFilter

    def rows(self) -> QuerySet:
        """Return the sets without their arguments, which only the details of a set include."""
        rows = self.study.summary_sets.select_related("cell__dataset", "system_run")
        return (
            rows.prefetch_related("summaries")
            .defer("arguments", "clusters", "assigned", "scores")
            .order_by("pk")
        )


class SummarySetDetailViews(SummarySetViews):
    """One set with its arguments."""

    serializer_class = SummarySetDetailSerializer

    def rows(self) -> QuerySet:
        """Return the sets with all their data."""
        rows = self.study.summary_sets.select_related("cell__dataset", "system_run")
        return rows.prefetch_related("summaries")


def _or_none(place: int | None) -> int | None:
    return None if place is None or place < 0 else place
