"""Figures about sets of key points: the leaderboard, metrics against people, agreement."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.counting.methods.released_rows import LEFT_OUT
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.methods.system_board import INDICES, SELECTIONS
from argsum.leaderboard.reports.board import summary_board
from argsum.leaderboard.reports.choice import board_choice, usually_left_out
from argsum.leaderboard.reports.correlation import (
    known_source,
    metric_points,
    metric_rows,
    sets_left_out,
)
from argsum.leaderboard.reports.people_agreement import people_agreement
from argsum.leaderboard.reports.tables import board_note
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.strict_filters import refuse_undeclared

from .figure_bodies import (
    CorrelationsSerializer,
    MetricPointsSerializer,
    PeopleAgreementSerializer,
    SummaryBoardSerializer,
)

DATASET = OpenApiParameter("dataset", OpenApiTypes.UUID, description="Only this one.")
WITHOUT = OpenApiParameter(
    "without",
    description=(
        f"Leaves out systems with this in their names. Default: {LEFT_OUT}, where released counts "
        "of them are here; empty: none."
    ),
)
WITHOUT_USUAL = OpenApiParameter(
    "without",
    description=f"Leaves out systems with this in their names. Default: {LEFT_OUT}; empty: none.",
)
POINTS = [
    OpenApiParameter("metric", required=True, description="As the metrics name it."),
    OpenApiParameter("setting", description="Default: empty, as of a metric without one."),
]
WHICH = [
    OpenApiParameter("dataset", OpenApiTypes.UUID, description="Default: the newest with sets."),
    OpenApiParameter("split", description="train, dev, test, or empty. Default: test."),
    OpenApiParameter("coverage", description="Source: people, or metric|setting."),
    OpenApiParameter("redundancy", description="Source: people, or metric|setting."),
    OpenApiParameter("weight", OpenApiTypes.FLOAT, description="Of coverage, 0 to 1."),
    OpenApiParameter("selection", enum=list(SELECTIONS), description="How settings are chosen."),
    OpenApiParameter("share", OpenApiTypes.FLOAT, description="Least share clustered."),
    WITHOUT,
]


class SummaryBoardViews(StudyViews):
    """The leaderboard of systems that sum up debates."""

    queryset = SummarySet.objects.none()
    serializer_class = SummaryBoardSerializer

    @extend_schema(parameters=WHICH, responses=SummaryBoardSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """As the page shows it; what is named and not there falls back to the usual."""
        refuse_undeclared(request, WHICH)
        choice = board_choice(self.study, request.query_params.dict())
        found = summary_board(choice)
        ids = {str(cell.pk): cell.public_id for cell in found.cells}
        shown = {
            "dataset": choice.dataset.public_id if choice.dataset else None,
            "split": choice.split,
            "coverage": choice.coverage.key,
            "redundancy": choice.redundancy.key,
            "weight": choice.terms.weight,
            "selection": choice.terms.selection,
            "least_share": choice.terms.least_share,
            "without": choice.without,
            "is_oracle": found.is_oracle,
            "cells": len(found.cells),
            "note": board_note(found) if found.rows else "",
            "sources": choice.sources,
            "system_rows": [
                {
                    "system": row.system,
                    "selection": row.selection,
                    "criterion": row.criterion,
                    "setting": row.setting,
                    "settings": row.settings,
                    "figures": row.figures,
                    "excluding_with_zeros": row.excluding.with_zeros,
                    "cells": [
                        {
                            "cell": ids[cell],
                            "summary_set": found.public_ids[each.key],
                            "setting": each.setting,
                            "values": row.by_cell[cell],
                            "other_settings": {
                                name: other
                                for name in INDICES
                                if (other := row.clustering_setting(cell, name))
                            },
                        }
                        for cell, each in row.chosen.items()
                    ],
                }
                for row in found.rows
            ],
        }
        return Response(SummaryBoardSerializer(shown).data)


class CorrelationViews(StudyViews):
    """Metrics against people, across and within cells."""

    queryset = SummarySet.objects.none()
    serializer_class = CorrelationsSerializer

    @extend_schema(parameters=[DATASET, WITHOUT_USUAL], responses=CorrelationsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Best first in each dimension."""
        refuse_undeclared(request, [DATASET, WITHOUT_USUAL])
        without = request.query_params.get("without", LEFT_OUT)
        asked = self.study, _dataset(self, request), without
        found = {
            "without": without,
            "left_out": sets_left_out(*asked),
            "metrics": metric_rows(*asked),
        }
        return Response(CorrelationsSerializer(found).data)

    @extend_schema(parameters=[*POINTS, DATASET, WITHOUT_USUAL], responses=MetricPointsSerializer)
    def points(self, request: Request, **kwargs: Any) -> Response:
        """The sets behind one correlation: the metric, and the people's mean."""
        refuse_undeclared(request, [*POINTS, DATASET, WITHOUT_USUAL])
        source = known_source(self.study, request.query_params.dict())
        if source is None:
            raise ValidationError({"metric": ["No set of this study has it with this setting."]})
        without = request.query_params.get("without", LEFT_OUT)
        found = metric_points(self.study, source, _dataset(self, request), without)
        return Response(MetricPointsSerializer({"without": without, "points": found}).data)


class PeopleAgreementViews(StudyViews):
    """How far people agree with each other and with themselves."""

    queryset = SummarySet.objects.none()
    serializer_class = PeopleAgreementSerializer

    @extend_schema(parameters=[DATASET, WITHOUT], responses=PeopleAgreementSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Over all sets, or those of one dataset."""
        refuse_undeclared(request, [DATASET, WITHOUT])
        dataset = _dataset(self, request)
        usual = usually_left_out(self.study, dataset=dataset)
        found = people_agreement(self.study, dataset, request.query_params.get("without", usual))
        return Response(PeopleAgreementSerializer(found).data)


def _dataset(views: StudyViews, request: Request) -> str:
    """The dataset asked for; 400 unless the study has it."""
    wanted = request.query_params.get("dataset", "")
    known = {
        str(each) for each in views.study.argument_datasets.values_list("public_id", flat=True)
    }
    if wanted and wanted not in known:
        raise ValidationError({"dataset": ["No such dataset in this study."]})
    return wanted
