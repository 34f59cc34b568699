"""Groups of comments, key points over time, and the report of an analysis."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.analysis.models import Analysis
from argsum.analysis.reports import groups, trends
from argsum.analysis.reports.counted import Column, Counted, counted
from argsum.analysis.reports.report import QUOTATIONS, USUAL, Asked, report_of
from cqa_site.api.requests import Request
from cqa_site.api.views import StudyViews
from cqa_site.web.rest.strict_filters import refuse_undeclared

from .comparing_bodies import GroupsSerializer, ReportSerializer, TrendsSerializer

ATTRIBUTE = OpenApiParameter("attribute", description="A column. Default: the first possible.")
PERIOD = OpenApiParameter(
    "period", enum=list(trends.WORDS), description="Default: what fits the span."
)
NUMBER = OpenApiParameter(
    "quotations",
    OpenApiTypes.INT,
    enum=[str(each) for each in QUOTATIONS],
    description=f"Of each key point. Default: {USUAL}.",
)


class AnalysisFigures(StudyViews):
    """What is computed from a finished analysis."""

    queryset = Analysis.objects.none()

    def rows(self) -> QuerySet:
        """Finished analyses of the study."""
        rows = self.study.analyses.filter(state=Analysis.State.DONE)
        return rows.select_related("cell__dataset", "match_scorer", "quality_scorer")

    def asked(self) -> Analysis:
        """The analysis of the address."""
        found: Analysis = get_object_or_404(
            self.get_queryset(), public_id=self.kwargs["analysis_id"]
        )
        return found


class GroupsViews(AnalysisFigures):
    """Key points by groups of comments."""

    serializer_class = GroupsSerializer

    @extend_schema(parameters=[ATTRIBUTE], responses=GroupsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """By one column of the comments."""
        analysis = self.asked()
        refuse_undeclared(request, [ATTRIBUTE])
        counts = counted(analysis)
        column = _column(request, counts)
        shown: dict[str, Any] = {
            "attribute": column.name if column else None,
            "attributes": [each.name for each in counts.comparable],
            "barred": [
                {"name": each.name, "reason": groups.why_barred(each)} for each in counts.barred
            ],
            "comments": counts.comments,
            "waiting": counts.waiting,
            "without": column.without if column else 0,
            "finding": "",
            "groups": [],
            "key_points": [],
        }
        if column is not None:
            found = groups.compared(analysis, column, counts.points)
            finding = groups.groups_finding(found)
            shown |= {"groups": found.groups, "key_points": found.rows}
            shown["finding"] = finding.says if finding else ""
        return Response(GroupsSerializer(shown).data)


class TrendsViews(AnalysisFigures):
    """Key points over time."""

    serializer_class = TrendsSerializer

    @extend_schema(parameters=[PERIOD], responses=TrendsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """By periods of one length."""
        analysis = self.asked()
        refuse_undeclared(request, [PERIOD])
        counts = counted(analysis)
        wanted = request.query_params.get("period", "")
        found = trends.over_time(analysis, counts, wanted)
        if wanted and (found is None or wanted not in found.choices):
            raise ValidationError({"period": ["The dates cannot be divided by this period."]})
        shown: dict[str, Any] = {
            "period": found.period if found else None,
            "periods": found.choices if found else [],
            "undated": counts.comments - counts.dated,
            "finding": trends.trends_finding(found).says if found else "",
            "times": [
                {"start": start, "comments": n}
                for start, n in zip(found.starts, found.sizes, strict=True)
            ]
            if found
            else [],
            "key_points": found.rows if found else [],
        }
        return Response(TrendsSerializer(shown).data)


class ReportViews(AnalysisFigures):
    """The report of an analysis."""

    serializer_class = ReportSerializer

    @extend_schema(parameters=[NUMBER], responses=ReportSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """The most frequent key points with quotations, and how they were found."""
        analysis = self.asked()
        refuse_undeclared(request, [NUMBER])
        asked = Asked(int(request.query_params.get("quotations", USUAL)))
        found = report_of(analysis, None, asked)
        shown = vars(found) | {
            "topic": analysis.cell.topic,
            "finding": found.says,
            "facts": _facts(found.facts),
            "key_points": found.points,
            "further_key_points": found.beyond,
            "edits": [
                {
                    "person": each.person,
                    "edits": _facts([(verb, str(n)) for verb, n in each.verbs]),
                }
                for each in found.edits
            ],
        }
        return Response(ReportSerializer(shown).data)


def _column(request: Request, counts: Counted) -> Column | None:
    wanted = request.query_params.get("attribute", "")
    column = groups.chosen_column(counts, wanted)
    if wanted and (column is None or column.name != wanted):
        raise ValidationError({"attribute": ["This column forms no groups."]})
    return column


def _facts(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "text": text} for name, text in pairs]
