"""Endpoints for the leaderboard, metrics, agreement and snapshots."""

import uuid
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.counting.methods.released_counts import LEFT_OUT
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.actions import KEY_POINTS, request_board
from argsum.leaderboard.methods import FIGURES, INDICES, SELECTIONS
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.leaderboard.reports.board import board_choice, summary_board, usually_left_out
from argsum.leaderboard.reports.people_agreement import (
    DimensionAgreement,
    PeopleAgreement,
    people_agreement,
)
from argsum.leaderboard.reports.scores import (
    SetPoint,
    known_source,
    metric_points,
    metric_rows,
    sets_left_out,
)
from argsum.leaderboard.reports.tables import board_note
from argsum.metrics.methods import RaterPair
from cqa_site.api.base import DataSerializer, Input, Request, StudyViews, body_of, public_id
from cqa_site.results.api import (
    SNAPSHOT_FIELDS,
    FreezingViews,
    ListOfSnapshots,
    NumberedSnapshotSerializer,
    StatisticSerializer,
)
from cqa_site.runs.api.bodies import JobSerializer
from cqa_site.web.rest.queries import refuse_undeclared


class KeyPointBoardSerializer(NumberedSnapshotSerializer):
    """A numbered snapshot, without its figures."""

    kind = KEY_POINTS
    dataset = public_id("dataset")

    class Meta:
        model = KeyPointSnapshot
        fields = ["id", "number", "dataset", "split", *SNAPSHOT_FIELDS, "public_token"]


class KeyPointBoardDetailSerializer(KeyPointBoardSerializer):
    """A numbered snapshot with every figure and its manifest."""

    class Meta:
        model = KeyPointSnapshot
        fields = [*KeyPointBoardSerializer.Meta.fields, "figures", "manifest"]


class KeptChoiceInput(Input):
    """The leaderboard to store; omitted fields have the defaults of the leaderboard."""

    dataset = serializers.UUIDField(required=False)
    split = serializers.CharField(required=False, allow_blank=True)
    coverage = serializers.CharField(required=False)
    redundancy = serializers.CharField(required=False)
    weight = serializers.FloatField(required=False, min_value=0, max_value=1)
    selection = serializers.CharField(required=False)
    share = serializers.FloatField(required=False, min_value=0, max_value=1)
    without = serializers.CharField(required=False, allow_blank=True, max_length=120)


class KeyPointBoardViews(FreezingViews):
    """The numbered key point snapshots of a study."""

    kind = KEY_POINTS
    related = ("dataset",)
    serializer_class: type[serializers.Serializer] = KeyPointBoardDetailSerializer

    @extend_schema(request=KeptChoiceInput, responses={202: JobSerializer})
    def ask(self, request: Request, **kwargs: Any) -> Response:
        """Compute a leaderboard in the background for the live snapshot of its split."""
        parameters = {name: str(value) for name, value in self.read(KeptChoiceInput).items()}
        choice = board_choice(self.study, parameters)
        query = {
            "dataset": str(choice.dataset.public_id) if choice.dataset else "",
            "split": choice.split,
            "coverage": choice.coverage.key,
            "redundancy": choice.redundancy.key,
            "selection": choice.terms.selection,
        }
        unknown = [name for name, value in query.items() if parameters.get(name, value) != value]
        if unknown or choice.dataset is None:
            wrong = unknown or ["dataset"]
            raise ValidationError({name: ["Not in this study."] for name in wrong})
        job = request_board(choice=choice, actor=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def kept_rows(self, request: Request, public_id: uuid.UUID, **kwargs: Any) -> HttpResponse:
        """Return the rows behind a snapshot as CSV, with the exact bytes covered by its sha256."""
        return self.rows_file(public_id, "key-points")


class KeyPointBoardListViews(ListOfSnapshots, KeyPointBoardViews):
    """The list of snapshots, without their figures."""

    serializer_class = KeyPointBoardSerializer


class BoardCellSerializer(serializers.Serializer):
    """A system on one cell: its chosen set and its figures."""

    cell = serializers.UUIDField()
    summary_set = serializers.UUIDField()
    setting = serializers.CharField()
    values = serializers.DictField(child=serializers.FloatField(allow_null=True))
    other_settings = serializers.DictField(
        child=serializers.CharField(),
        help_text="Oracle indices whose setting differs from the row's, with that setting.",
    )


class BoardRowSerializer(serializers.Serializer):
    """One system; ``setting`` is null if it differs from cell to cell (an oracle)."""

    system = serializers.CharField()
    selection = serializers.ChoiceField([*SELECTIONS, "only"])
    criterion = serializers.CharField(help_text="Figure by which the setting was chosen.")
    setting = serializers.CharField(allow_null=True)
    settings = serializers.IntegerField()
    figures = serializers.DictField(
        child=StatisticSerializer(), help_text=f"Means over n_values cells: {', '.join(FIGURES)}."
    )
    excluding_with_zeros = serializers.FloatField(
        allow_null=True,
        help_text="The index `excluding` over all cells with clusters, 0 for cells with too "
        "few clustered arguments.",
    )
    cells = BoardCellSerializer(many=True)


class SourceSerializer(serializers.Serializer):
    """A source of coverage or redundancy."""

    key = serializers.CharField()
    dimension = serializers.CharField()
    sets = serializers.IntegerField()


class SummaryBoardSerializer(serializers.Serializer):
    """The leaderboard of systems, best first; ``system_rows`` is empty if there are no sets."""

    dataset = serializers.UUIDField(allow_null=True)
    split = serializers.CharField()
    coverage = serializers.CharField()
    redundancy = serializers.CharField()
    weight = serializers.FloatField()
    selection = serializers.ChoiceField(SELECTIONS)
    least_share = serializers.FloatField()
    without = serializers.CharField(
        allow_blank=True, help_text="Systems with this text in their names are left out."
    )
    is_oracle = serializers.BooleanField()
    cells = serializers.IntegerField()
    note = serializers.CharField()
    sources = SourceSerializer(many=True)
    system_rows = BoardRowSerializer(many=True)


class CorrelationSerializer(serializers.Serializer):
    """Correlation of one metric with people's mean on its dimension."""

    metric = serializers.CharField(source="source.metric")
    setting = serializers.CharField(source="source.setting")
    dimension = serializers.CharField(source="source.dimension")
    across = serializers.FloatField(source="found.across", allow_null=True)
    n = serializers.IntegerField(source="found.n")
    within_mean = serializers.FloatField(source="found.within_mean", allow_null=True)
    within_sd = serializers.FloatField(source="found.within_sd", allow_null=True)
    per_cell = serializers.DictField(source="found.per_cell", child=serializers.FloatField())
    constant_cells = serializers.ListField(
        source="found.constant_cells", child=serializers.CharField()
    )
    small_cells = serializers.ListField(source="found.small_cells", child=serializers.CharField())
    without = serializers.IntegerField(
        help_text="Number of sets with a reason instead of a value."
    )


class CorrelationsSerializer(serializers.Serializer):
    """Pearson correlations of every metric of the judged sets."""

    without = serializers.CharField(
        allow_blank=True, help_text="Systems with this text in their names are left out."
    )
    left_out = serializers.IntegerField(help_text="Number of judged sets of these systems.")
    metrics = CorrelationSerializer(many=True)


class MetricPointSerializer(DataSerializer):
    """One judged set, with the metric and people's mean on its dimension."""

    shows = SetPoint
    left_out = ("public_id",)
    summary_set = serializers.UUIDField(source="public_id")


class MetricPointsSerializer(serializers.Serializer):
    """The sets behind one correlation, by cell and system."""

    without = serializers.CharField(allow_blank=True)
    points = MetricPointSerializer(many=True)


class DimensionSerializer(DataSerializer):
    """Agreement on coverage or redundancy; ``judges`` compares judges with individual people."""

    shows = DimensionAgreement
    left_out = ("raters",)
    pairs = body_of(RaterPair)(source="pairs.pairs", many=True)
    mean_pearson = serializers.FloatField(source="pairs.mean", allow_null=True)


class PeopleAgreementSerializer(DataSerializer):
    """Agreement among the people who judge sets."""

    shows = PeopleAgreement


DATASET = OpenApiParameter("dataset", OpenApiTypes.UUID, description="Only this dataset.")
WITHOUT = OpenApiParameter(
    "without",
    description=(
        f"Leaves out systems with this text in their names. Default: {LEFT_OUT}, if their "
        "released counts are imported. An empty value includes all systems."
    ),
)
WITHOUT_USUAL = OpenApiParameter(
    "without",
    description=(
        f"Leaves out systems with this text in their names. Default: {LEFT_OUT}. "
        "An empty value includes all systems."
    ),
)
POINTS = [
    OpenApiParameter("metric", required=True, description="Name of the metric."),
    OpenApiParameter("setting", description="Default: empty, for a metric without a setting."),
]
WHICH = [
    OpenApiParameter(
        "dataset", OpenApiTypes.UUID, description="Default: the newest dataset with sets."
    ),
    OpenApiParameter("split", description="train, dev, test, or empty. Default: test."),
    OpenApiParameter("coverage", description="Source: people, or metric|setting."),
    OpenApiParameter("redundancy", description="Source: people, or metric|setting."),
    OpenApiParameter("weight", OpenApiTypes.FLOAT, description="Weight of coverage, 0 to 1."),
    OpenApiParameter("selection", enum=list(SELECTIONS), description="How settings are chosen."),
    OpenApiParameter("share", OpenApiTypes.FLOAT, description="Minimum share clustered."),
    WITHOUT,
]


class SummaryBoardViews(StudyViews):
    """The leaderboard of systems that summarize debates."""

    queryset = SummarySet.objects.none()
    serializer_class = SummaryBoardSerializer

    @extend_schema(parameters=WHICH, responses=SummaryBoardSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the leaderboard shown on its page; unknown values fall back to the defaults."""
        refuse_undeclared(request, WHICH)
        choice = board_choice(self.study, request.query_params.dict())
        board = summary_board(choice)
        ids = {str(cell.pk): cell.public_id for cell in board.cells}
        payload = {
            "dataset": choice.dataset.public_id if choice.dataset else None,
            "split": choice.split,
            "coverage": choice.coverage.key,
            "redundancy": choice.redundancy.key,
            "weight": choice.terms.weight,
            "selection": choice.terms.selection,
            "least_share": choice.terms.least_share,
            "without": choice.without,
            "is_oracle": board.is_oracle,
            "cells": len(board.cells),
            "note": board_note(board) if board.rows else "",
            "sources": choice.sources,
            "system_rows": [
                vars(row)
                | {
                    "excluding_with_zeros": row.excluding.with_zeros,
                    "cells": [
                        {
                            "cell": ids[cell],
                            "summary_set": board.public_ids[figures.key],
                            "setting": figures.setting,
                            "values": row.by_cell[cell],
                            "other_settings": {
                                name: other
                                for name in INDICES
                                if (other := row.clustering_setting(cell, name))
                            },
                        }
                        for cell, figures in row.chosen.items()
                    ],
                }
                for row in board.rows
            ],
        }
        return Response(SummaryBoardSerializer(payload).data)


class CorrelationViews(StudyViews):
    """Metrics compared with people, across and within cells."""

    queryset = SummarySet.objects.none()
    serializer_class = CorrelationsSerializer

    @extend_schema(parameters=[DATASET, WITHOUT_USUAL], responses=CorrelationsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the metrics of each dimension, best first."""
        refuse_undeclared(request, [DATASET, WITHOUT_USUAL])
        without = request.query_params.get("without", LEFT_OUT)
        scope = self.study, _dataset(self, request), without
        payload = {
            "without": without,
            "left_out": sets_left_out(*scope),
            "metrics": metric_rows(*scope),
        }
        return Response(CorrelationsSerializer(payload).data)

    @extend_schema(parameters=[*POINTS, DATASET, WITHOUT_USUAL], responses=MetricPointsSerializer)
    def points(self, request: Request, **kwargs: Any) -> Response:
        """Return the sets behind one correlation, with the metric and people's mean."""
        refuse_undeclared(request, [*POINTS, DATASET, WITHOUT_USUAL])
        source = known_source(self.study, request.query_params.dict())
        if source is None:
            raise ValidationError(
                {"metric": ["No set of this study has this metric with this setting."]}
            )
        without = request.query_params.get("without", LEFT_OUT)
        set_points = metric_points(self.study, source, _dataset(self, request), without)
        return Response(MetricPointsSerializer({"without": without, "points": set_points}).data)


class PeopleAgreementViews(StudyViews):
    """Agreement of people with each other and with themselves."""

    queryset = SummarySet.objects.none()
    serializer_class = PeopleAgreementSerializer

    @extend_schema(parameters=[DATASET, WITHOUT], responses=PeopleAgreementSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return agreement over all sets, or over the sets of one dataset."""
        refuse_undeclared(request, [DATASET, WITHOUT])
        dataset = _dataset(self, request)
        usual = usually_left_out(self.study, dataset=dataset)
        agreement = people_agreement(
            self.study, dataset, request.query_params.get("without", usual)
        )
        return Response(PeopleAgreementSerializer(agreement).data)


def _dataset(views: StudyViews, request: Request) -> str:
    """Return the requested dataset, or status 400 if the study does not have it."""
    wanted = request.query_params.get("dataset", "")
    known = {
        str(public_id)
        for public_id in views.study.argument_datasets.values_list("public_id", flat=True)
    }
    if wanted and wanted not in known:
        raise ValidationError({"dataset": ["This dataset is not in this study."]})
    return wanted
