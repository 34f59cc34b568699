"""Endpoints for groups, trends and the report of an analysis."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from argsum.analysis.models import Analysis
from argsum.analysis.reports import groups, trends
from argsum.analysis.reports.counts import (
    POINTS,
    THEMES,
    VIEWS,
    CommentColumn,
    CommentCounts,
    counted,
)
from argsum.analysis.reports.report import QUOTATIONS, USUAL, ReportRequest, report_of
from argsum.analysis.reports.voices import COMMENTS, UNITS
from cqa_site.api.base import Request, StudyViews, public_id
from cqa_site.results.api import FigureSerializer
from cqa_site.web.rest.queries import refuse_undeclared


class ShareSerializer(FigureSerializer):
    """k of n comments or voices with an exact 95 % interval, 0–1."""

    k = serializers.IntegerField()
    n = serializers.IntegerField()


class GroupSerializer(serializers.Serializer):
    """A value of the column. Groups with fewer than five comments are not tested."""

    value = serializers.CharField()
    comments = serializers.IntegerField(source="n")
    is_small = serializers.BooleanField()


class InGroupSerializer(serializers.Serializer):
    """The figures for a key point or theme in one group."""

    share = ShareSerializer()
    difference = FigureSerializer(
        allow_null=True,
        help_text="From the other of two groups, or from all other groups combined.",
    )
    p = serializers.FloatField(allow_null=True, help_text="For the difference, Holm-corrected.")


class ComparedThemeSerializer(serializers.Serializer):
    """A theme in all groups. ``p`` is corrected over all themes (Holm)."""

    theme = serializers.CharField(source="point.theme", allow_blank=True)
    share = ShareSerializer(source="found.all")
    p_alone = serializers.FloatField(source="found.p_alone", allow_null=True)
    p = serializers.FloatField(source="found.p", allow_null=True)
    test = serializers.CharField(source="found.test", allow_blank=True)
    groups = InGroupSerializer(source="found.groups", many=True)


class ComparedPointSerializer(ComparedThemeSerializer):
    """A key point in all groups. ``p`` is corrected over all key points (Holm)."""

    key_point = public_id("point")
    text = serializers.CharField(source="point.text")


class BarredColumnSerializer(serializers.Serializer):
    """A column that cannot form groups, and the reason."""

    name = serializers.CharField()
    reason = serializers.CharField()


class GroupsSerializer(serializers.Serializer):
    """Key points or themes by the groups of one column.

    ``attribute`` is null if no column forms groups. Either ``key_points`` or ``themes`` is empty.
    """

    attribute = serializers.CharField(allow_null=True)
    attributes = serializers.ListField(child=serializers.CharField())
    barred = BarredColumnSerializer(many=True)
    comments = serializers.IntegerField(help_text="Comments counted.")
    waiting = serializers.IntegerField(help_text="Newer comments that are not placed yet.")
    without = serializers.IntegerField(help_text="Comments without a value in the column.")
    finding = serializers.CharField(allow_blank=True)
    groups = GroupSerializer(many=True)
    key_points = ComparedPointSerializer(many=True)
    themes = ComparedThemeSerializer(many=True)


class PeriodSerializer(serializers.Serializer):
    """The first day of a period, and the number of comments in it."""

    start = serializers.DateField()
    comments = serializers.IntegerField()


class ThemeTrendSerializer(serializers.Serializer):
    """A theme over time, with ``shares`` in the order of the periods."""

    theme = serializers.CharField(source="point.theme", allow_blank=True)
    share = ShareSerializer(source="found.all")
    change = FigureSerializer(
        source="found.change",
        allow_null=True,
        help_text="Along a straight line from the first period to the last.",
    )
    p_alone = serializers.FloatField(source="found.p_alone", allow_null=True)
    p = serializers.FloatField(source="found.p", allow_null=True, help_text="Holm-corrected.")
    test = serializers.CharField(source="found.test", allow_blank=True)
    shares = ShareSerializer(source="found.shares", many=True)


class PointTrendSerializer(ThemeTrendSerializer):
    """A key point over time, with ``shares`` in the order of the periods."""

    key_point = public_id("point")
    text = serializers.CharField(source="point.text")


class TrendsSerializer(serializers.Serializer):
    """Key points or themes over time. ``period`` is null if dates are missing or all the same.

    Either ``key_points`` or ``themes`` is empty.
    """

    period = serializers.CharField(allow_null=True)
    periods = serializers.ListField(child=serializers.CharField(), help_text="Available periods.")
    undated = serializers.IntegerField()
    finding = serializers.CharField(allow_blank=True)
    times = PeriodSerializer(many=True)
    key_points = PointTrendSerializer(many=True)
    themes = ThemeTrendSerializer(many=True)


class FactSerializer(serializers.Serializer):
    """A name and its value."""

    name = serializers.CharField()
    text = serializers.CharField()


class ReportedPointSerializer(serializers.Serializer):
    """A key point with its share of all comments, and quotations."""

    key_point = public_id("point")
    text = serializers.CharField(source="point.text")
    theme = serializers.CharField(source="point.theme", allow_blank=True)
    share = ShareSerializer()
    quotations = serializers.ListField(child=serializers.CharField())
    writer = serializers.CharField(
        allow_blank=True, help_text="Language model and prompt. Empty if no model wrote it."
    )


class ReportedThemeSerializer(serializers.Serializer):
    """A theme with its share of all comments. The name is empty for key points without a theme."""

    name = serializers.CharField(allow_blank=True)
    share = ShareSerializer()


class EditsSerializer(serializers.Serializer):
    """Counts of one person's edits, by kind."""

    person = serializers.CharField()
    edits = FactSerializer(many=True)


class CitedStatementSerializer(serializers.Serializer):
    """A statement that a summary cites, and the number of comments that contain it."""

    number = serializers.IntegerField()
    statement = public_id("statement")
    text = serializers.CharField()
    comments = serializers.IntegerField()


class PrintedSentenceSerializer(serializers.Serializer):
    """A sentence and the numbers of the statements that support it."""

    text = serializers.CharField()
    cites = serializers.ListField(child=serializers.IntegerField())


class PrintedParagraphSerializer(serializers.Serializer):
    """A theme and its sentences."""

    theme = serializers.CharField()
    sentences = PrintedSentenceSerializer(many=True)


class PrintedSummarySerializer(serializers.Serializer):
    """A language model's summary in prose, without unsupported sentences.

    ``edits`` counts the edits of the analysis since the run of the summary began.
    """

    run = public_id("run")
    model = serializers.CharField(source="run.spec.model")
    prompt = public_id("run.prompt")
    prompt_number = serializers.IntegerField(source="run.prompt.number")
    checked_at = serializers.DateTimeField()
    paragraphs = PrintedParagraphSerializer(many=True)
    citations = CitedStatementSerializer(many=True)
    left_out = serializers.IntegerField()
    edits = serializers.IntegerField()


class ReportSerializer(serializers.Serializer):
    """The report of an analysis. Groups and trends have separate endpoints."""

    topic = serializers.CharField()
    finding = serializers.CharField()
    facts = FactSerializer(many=True)
    themes = ReportedThemeSerializer(many=True)
    key_points = ReportedPointSerializer(many=True)
    said_by_few = ReportedPointSerializer(
        many=True, help_text="In under 2 % of the comments; most distinctive first."
    )
    further_key_points = serializers.IntegerField()
    rest = ShareSerializer(help_text="Share of statements that fit no key point.")
    of_the_rest = serializers.ListField(child=serializers.CharField())
    edits = EditsSerializer(many=True)
    undone = serializers.IntegerField()
    caveats = serializers.ListField(child=serializers.CharField())
    summary = PrintedSummarySerializer(allow_null=True)


ATTRIBUTE = OpenApiParameter("attribute", description="Column. Default: the first available.")
PERIOD = OpenApiParameter(
    "period", enum=list(trends.WORDS), description="Default: chosen to fit the time span."
)
NUMBER = OpenApiParameter(
    "quotations",
    OpenApiTypes.INT,
    enum=[str(number) for number in QUOTATIONS],
    description=f"Number per key point. Default: {USUAL}.",
)

COUNT = OpenApiParameter(
    "count",
    enum=list(UNITS),
    description="Unit of shares and tests; near-duplicate comments are one voice. Default: "
    f"{COMMENTS}.",
)
VIEW = OpenApiParameter(
    "view",
    enum=list(VIEWS),
    description="Compare key points or themes. A comment counts once per theme, and audits "
    f"correct only key points. Default: {POINTS}.",
)


class AnalysisFigures(StudyViews):
    """Base of the views that return figures for a finished analysis."""

    queryset = Analysis.objects.none()

    def rows(self) -> QuerySet:
        """Return the finished analyses of the study."""
        rows = self.study.analyses.filter(state=Analysis.State.DONE)
        return rows.select_related("cell__dataset", "match_scorer", "quality_scorer")

    def asked(self) -> Analysis:
        """Return the analysis in the URL."""
        analysis: Analysis = get_object_or_404(
            self.get_queryset(), public_id=self.kwargs["analysis_id"]
        )
        return analysis


class GroupsViews(AnalysisFigures):
    """Key points by groups of comments."""

    serializer_class = GroupsSerializer

    @extend_schema(parameters=[ATTRIBUTE, COUNT, VIEW], responses=GroupsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Compare groups of comments by one column."""
        analysis = self.asked()
        refuse_undeclared(request, [ATTRIBUTE, COUNT, VIEW])
        counts = _counts(request, analysis)
        column = _column(request, counts)
        payload: dict[str, Any] = {
            "attribute": column.name if column else None,
            "attributes": [attribute.name for attribute in counts.comparable],
            "barred": [
                {"name": attribute.name, "reason": groups.why_barred(attribute)}
                for attribute in counts.barred
            ],
            "comments": counts.comments,
            "waiting": counts.waiting,
            "without": column.without if column else 0,
            "finding": "",
            "groups": [],
            **_rows(counts, []),
        }
        if column is not None:
            comparison = groups.compared(analysis, column, counts)
            finding = groups.groups_finding(comparison)
            payload |= {"groups": comparison.groups, **_rows(counts, comparison.rows)}
            payload["finding"] = finding.says if finding else ""
        return Response(GroupsSerializer(payload).data)


class TrendsViews(AnalysisFigures):
    """Key points over time."""

    serializer_class = TrendsSerializer

    @extend_schema(parameters=[PERIOD, COUNT, VIEW], responses=TrendsSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return key points or themes by period."""
        analysis = self.asked()
        refuse_undeclared(request, [PERIOD, COUNT, VIEW])
        counts = _counts(request, analysis)
        wanted = request.query_params.get("period", "")
        trend = trends.over_time(analysis, counts, wanted)
        if wanted and (trend is None or wanted not in trend.choices):
            raise ValidationError({"period": ["The dates cannot be divided by this period."]})
        payload: dict[str, Any] = {
            "period": trend.period if trend else None,
            "periods": trend.choices if trend else [],
            "undated": counts.comments - counts.dated,
            "finding": trends.trends_finding(trend).says if trend else "",
            "times": [
                {"start": start, "comments": n}
                for start, n in zip(trend.starts, trend.sizes, strict=True)
            ]
            if trend
            else [],
            **_rows(counts, trend.rows if trend else []),
        }
        return Response(TrendsSerializer(payload).data)


class ReportViews(AnalysisFigures):
    """The report of an analysis."""

    serializer_class = ReportSerializer

    @extend_schema(parameters=[NUMBER, COUNT], responses=ReportSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the most frequent key points with quotations, and how they were found."""
        analysis = self.asked()
        refuse_undeclared(request, [NUMBER, COUNT])
        quotations = int(request.query_params.get("quotations", USUAL))
        unit = request.query_params.get("count", COMMENTS)
        options = ReportRequest(quotations, unit=unit)
        report = report_of(analysis, None, options)
        payload = vars(report) | {
            "topic": analysis.cell.topic,
            "finding": report.says,
            "facts": _facts(report.facts),
            "key_points": report.points,
            "said_by_few": report.few,
            "further_key_points": report.beyond,
            "edits": [
                {
                    "person": edit.person,
                    "edits": _facts([(verb, str(n)) for verb, n in edit.verbs]),
                }
                for edit in report.edits
            ],
        }
        return Response(ReportSerializer(payload).data)


def _counts(request: Request, analysis: Analysis) -> CommentCounts:
    query = request.query_params
    return counted(analysis, query.get("count", COMMENTS), query.get("view", POINTS))


def _rows(counts: CommentCounts, rows: Any) -> dict[str, Any]:
    """Return a list of key points and a list of themes, one of which is empty."""
    return {"key_points": [], "themes": []} | {
        "themes" if counts.view == THEMES else "key_points": rows
    }


def _column(request: Request, counts: CommentCounts) -> CommentColumn | None:
    wanted = request.query_params.get("attribute", "")
    column = groups.chosen_column(counts, wanted)
    if wanted and (column is None or column.name != wanted):
        raise ValidationError({"attribute": ["This column cannot be compared."]})
    return column


def _facts(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "text": text} for name, text in pairs]
