"""Runs of summarization systems."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.datasets.models import Cell
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
from argsum.keypoints.models import SystemRun
from argsum.keypoints.reports.system_runs import cell_lines, runs_of
from argsum.scorers.actions.scorers import default_scorers
from argsum.scorers.models import Scorer
from argsum.systems.methods.grids import MOST_VALUES, GridNotValid, read_values
from argsum.systems.registry import systems
from cqa_site.api.inputs import Input, NothingInput
from cqa_site.api.requests import Request
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.problems import conflict_on
from cqa_site.web.rest.strict_filters import refuse_unknown


class SystemRunSerializer(ReadSerializer):
    """A run with the number of its sets by outcome."""

    dataset = public_id("dataset")
    match_scorer = public_id("match_scorer", allow_null=True, default=None)
    quality_scorer = public_id("quality_scorer", allow_null=True, default=None)
    writing = public_id("writing", allow_null=True, default=None)
    grid = serializers.DictField(read_only=True)
    sets_done = serializers.IntegerField(read_only=True)
    sets_without_result = serializers.IntegerField(source="sets_none", read_only=True)
    sets_waiting = serializers.IntegerField(read_only=True)

    class Meta:
        model = SystemRun
        fields = [
            "id", "number", "label", "dataset", "split", "is_unfiltered", "system", "package",
            "variant", "match_scorer", "quality_scorer", "grid", "seed", "writer_model", "writing",
            "state", "error", "sets_done", "sets_without_result", "sets_waiting", "created_at",
            "ended_at",
        ]  # fmt: skip


class RunSetSerializer(serializers.Serializer):
    """One setting of a cell; a best index is an oracle: the references that judge it chose it."""

    id = serializers.UUIDField(source="row.public_id")
    setting = serializers.CharField(source="row.setting")
    state = serializers.CharField(source="row.state")
    reason = serializers.CharField(source="row.reason")
    key_points = serializers.IntegerField()
    clusters = serializers.IntegerField(allow_null=True)
    share = serializers.FloatField(source="figure.share", allow_null=True, default=None)
    excluding = serializers.FloatField(
        allow_null=True, help_text="Null where fewer than 75 % of the arguments are clustered."
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
    """A run's cells in order; adjusted Rand indices are null for very large runs."""

    cells = RunCellSerializer(many=True)


class SystemRunInput(Input):
    """What is run over what.

    ``grid`` maps a parameter to a list of values, or to a range such as ``"0.05-0.95 step
    0.025"``; parameters that it does not name take the values that ``settings`` stands for:
    those of the paper (``published``), one by the system's authors (``usual``), or one that the
    dev split chose when the match scorer was trained (``chosen``). Without scorers the study's
    first ones are used.
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
    """Runs of one system, state or dataset."""

    system = filters.CharFilter(method="of_system")
    state = filters.ChoiceFilter(choices=SystemRun.State.choices)
    dataset = filters.UUIDFilter(field_name="dataset__public_id")

    def of_system(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        """Those of a system that is installed or ran here; anything else is a 400."""
        found = rows.filter(system=value)
        if value not in {each.name for each in systems()} and not found.exists():
            raise ValidationError({name: ["There is no system of that name."]})
        return found


class SystemRunViews(StudyViews):
    """Runs of systems: listed, started, stopped, taken up again."""

    queryset = SystemRun.objects.none()
    serializer_class = SystemRunSerializer
    filterset_class = SystemRunFilter

    def rows(self) -> QuerySet:
        """Newest first."""
        return runs_of(self.study).select_related(
            "dataset", "match_scorer", "quality_scorer", "writing"
        )

    @extend_schema(request=SystemRunInput, responses={201: SystemRunSerializer})
    def create(self, request: Request, **kwargs: Any) -> Response:
        """Start a run; where a language model writes first, it waits for a writing run."""
        given = self.read(SystemRunInput)
        try:
            plan = SystemPlan(**self._plan(given))
            run = start_system(study=self.study, actor=request.user, plan=plan)
        except SystemRunRefused as reason:
            raise ValidationError({"non_field_errors": [str(reason)]}) from None
        return self.shown(self.get_queryset().get(pk=run.pk), 201)

    @extend_schema(responses=RunFiguresSerializer)
    def figures(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Every cell and setting with its clusters, and how good they are."""
        run = get_object_or_404(self.get_queryset(), public_id=public_id)
        refuse_unknown(request, set())
        lines = cell_lines(run, list(cells_of(run.dataset, run.split)))
        return Response(RunFiguresSerializer({"cells": lines}).data)

    @extend_schema(request=NothingInput, responses=SystemRunSerializer)
    def cancel(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Compute nothing more; what is there stays."""
        return self._steer(public_id, cancel_system)

    @extend_schema(request=NothingInput, responses=SystemRunSerializer)
    def resume(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> Response:
        """Go on with what is missing."""
        return self._steer(public_id, resume_system)

    def _steer(self, public_id: uuid.UUID, action: Callable[..., None]) -> Response:
        run = get_object_or_404(self.get_queryset(), public_id=public_id)
        self.read(NothingInput)
        with conflict_on(SystemRunRefused):
            action(run=run, actor=self.request.user)
        return self.shown(self.get_queryset().get(pk=run.pk))

    def _plan(self, given: dict[str, Any]) -> dict[str, Any]:
        dataset = self._named("dataset", self.study.argument_datasets, given["dataset"])
        match, quality = default_scorers(self.study, dataset)
        variant = given.get("variant", SystemRun.Variant.PLAIN)
        match = self._scorer(given, "match_scorer", match)
        usual = grid_named(given.pop("settings"), given["system"], variant, match)
        return given | {
            "dataset": dataset,
            "match_scorer": match,
            "quality_scorer": self._scorer(given, "quality_scorer", quality),
            "grid": usual | _read_grid(given["system"], variant, given.get("grid", {})),
        }

    def _scorer(self, given: dict[str, Any], name: str, usual: Scorer) -> Scorer:
        if not given.get(name):
            return usual
        rows = self.study.scorers.filter(task=usual.task, state=Scorer.State.READY)
        found: Scorer = self._named(name, rows, given[name])
        return found

    def _named(self, field: str, rows: Any, wanted: uuid.UUID) -> Any:
        found = rows.filter(public_id=wanted).first()
        if found is None:
            raise ValidationError({field: ["None of this study that is ready."]})
        return found


def _read_grid(system: str, variant: str, given: dict[str, Any]) -> dict[str, Any]:
    """Values as lists, with ranges written out."""
    grid: dict[str, Any] = dict(given)
    known = {each.name: each for each in system_named(system).parameters_for(variant)}
    for name, values in given.items():
        if isinstance(values, str) and name in known:
            try:
                grid[name] = read_values(values, known[name])
            except GridNotValid as problem:
                raise ValidationError({"grid": [f"{name}: {problem}"]}) from None
        elif not isinstance(values, list) or len(values) > MOST_VALUES:
            message = f"{name}: a range as text, or a list of at most {MOST_VALUES} values."
            raise ValidationError({"grid": [message]})
    return grid
