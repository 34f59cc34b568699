"""Pages of groups, trends, and the report with its files."""

import base64
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import path, reverse

from argsum.analysis.models import Analysis, FoundPoint
from argsum.analysis.reports import groups, trends
from argsum.analysis.reports.counts import (
    POINTS,
    THEMES,
    CommentColumn,
    CommentCounts,
    CountedTheme,
    counted,
    digest,
    is_counted,
    state_of,
)
from argsum.analysis.reports.report import QUOTATIONS, USUAL, Report, ReportRequest, report_of
from argsum.analysis.reports.report_files import (
    ReportPart,
    column_names,
    parts_of,
    points_table,
    statement_rows,
    statement_types,
)
from argsum.analysis.reports.trends import PointTrend, PointTrends
from argsum.analysis.reports.voices import VOICES, unit_of
from cqa_site.files.actions.exports import FileTable, streamed_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.boards import Conclusion
from cqa_site.results.figures import Figure, Files, figure_file, table_file
from cqa_site.web.charts import vega
from cqa_site.web.pages import as_file
from .analyses import ONE, analysis_or_404

# Key points per page, which stays below 200 kB with twenty groups.
PER_PAGE = 20
# Number of key points offered for the chart.
OFFERED = 40


@study_page(*RESEARCHERS)
def analysis_groups(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Compare groups of comments by one of their columns."""
    analysis = finished_or_404(study, analysis_id)
    context: dict[str, Any] = {"study": study, "analysis": analysis, "here": "groups"}
    template = "argsum/analysis/comparing/groups.html"
    if not _is_ready(request, analysis):
        return render(request, template, context | {"is_waiting": True})
    counts = _counts(request, analysis)
    column = groups.chosen_column(counts, request.GET.get("attribute", ""))
    barred = [(own.name, groups.why_barred(own)) for own in counts.barred]
    context |= {"counts": counts, "column": column, "barred": barred}
    if column is not None:
        context |= _groups_context(request, analysis, counts, column)
    return render(request, template, context)


@study_page(*RESEARCHERS)
def analysis_groups_figure(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the table or chart of a column."""
    analysis = finished_or_404(study, analysis_id)
    counts = _counts(request, analysis)
    column = groups.chosen_column(counts, request.GET.get("attribute", ""))
    if column is None:
        return figure_file(request, [], figure, format)
    comparison = groups.compared(analysis, column, counts)
    card = groups.groups_figure(comparison, groups_files(comparison), [])
    return figure_file(request, [card], figure, format)


@study_page(*RESEARCHERS)
def analysis_trends(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Show how often key points are mentioned over time."""
    analysis = finished_or_404(study, analysis_id)
    context: dict[str, Any] = {"study": study, "analysis": analysis, "here": "trends"}
    template = "argsum/analysis/comparing/trends.html"
    if not _is_ready(request, analysis):
        return render(request, template, context | {"is_waiting": True})
    selection = _trend_selection(request, analysis)
    context |= {"found": selection.found, "counts": selection.counts}
    if selection.found is not None:
        context |= {
            "finding": trends.trends_finding(selection.found),
            "cards": trends.trends_figures(selection.found, selection.chosen, selection.files),
            "periods": [(choice, trends.WORDS[choice]) for choice in selection.found.choices],
            "offered": selection.offered,
            "chosen": {row.key for row in selection.chosen},
        }
    return render(request, template, context)


@study_page(*RESEARCHERS)
def analysis_trends_figure(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the table or chart of the chosen key points, or the table of all key points."""
    selection = _trend_selection(request, finished_or_404(study, analysis_id))
    cards: list[Figure] = []
    if selection.found is not None:
        cards = trends.trends_figures(selection.found, selection.chosen, selection.files)
    return figure_file(request, cards, figure, format)


def finished_or_404(study: Study, analysis_id: uuid.UUID) -> Analysis:
    """Return a finished analysis of the study."""
    analysis = analysis_or_404(study, analysis_id)
    if analysis.state != Analysis.State.DONE:
        raise Http404
    return analysis


def groups_files(comparison: groups.GroupComparison) -> Files:
    """Return the download URLs of the figures for a column."""
    query = {"attribute": comparison.column, "count": comparison.unit, "view": comparison.view}
    return _figure_files("analysis_groups_figure", comparison.analysis, urlencode(query))


@dataclass(frozen=True)
class TrendSelection:
    """Key points or themes in the chart, and those offered for it."""

    counts: CommentCounts
    found: PointTrends | None
    chosen: Sequence[PointTrend]
    offered: Sequence[PointTrend]
    files: Files


def _trend_selection(request: StudyRequest, analysis: Analysis) -> TrendSelection:
    """Return up to six key points or themes: those requested or, by default, the most frequent."""
    counts = _counts(request, analysis)
    trend = trends.over_time(analysis, counts, request.GET.get("period", ""))
    rows = trend.rows if trend else []
    wanted = set(request.GET.getlist("point"))
    named = [row for row in rows if row.key in wanted]
    chosen = (named or rows)[: trends.CHARTED]
    offered = [row for at, row in enumerate(rows) if at < OFFERED or row in chosen]
    query = [("period", trend.period)] if trend else []
    query += [("count", counts.unit), ("view", counts.view)]
    query += [("point", row.key) for row in chosen if named]
    files = _figure_files("analysis_trends_figure", analysis, urlencode(query))
    return TrendSelection(counts, trend, chosen, offered, files)


def _is_ready(request: StudyRequest, analysis: Analysis) -> bool:
    """Return whether the counts are cached, or the request can wait for them."""
    is_ready = is_counted(analysis, *_counting(request))
    return is_ready or request.GET.get("counting") == "now"


def _counting(request: StudyRequest) -> tuple[str, str]:
    """Return the unit (comments or voices) and the view (key points or themes) in the URL."""
    view = THEMES if request.GET.get("view") == THEMES else POINTS
    return unit_of(request.GET.get("count")), view


def _counts(request: StudyRequest, analysis: Analysis) -> CommentCounts:
    return counted(analysis, *_counting(request))


def _groups_context(
    request: StudyRequest, analysis: Analysis, counts: CommentCounts, column: CommentColumn
) -> dict[str, Any]:
    comparison = groups.compared(analysis, column, counts)
    page = Paginator(comparison.rows, PER_PAGE).get_page(request.GET.get("page"))
    part = replace(comparison, rows=list(page.object_list))
    rows = groups.cells_of(part, partial(point_address, analysis, counts.unit))
    finding: Conclusion | None = groups.groups_finding(comparison)
    return {
        "found": comparison,
        "finding": finding,
        "page": page,
        "card": groups.groups_figure(comparison, groups_files(comparison), rows),
    }


def point_address(
    analysis: Analysis, unit: str, point: FoundPoint | CountedTheme, column: str, value: str
) -> str:
    """Return the URL of a key point, or of a theme's key points, filtered by group if possible."""
    ids, query = [analysis.study.public_id, analysis.public_id], {}
    if isinstance(point, FoundPoint):
        address = reverse("found_point", args=[*ids, point.public_id])
    else:
        address = reverse("analysis", args=ids)
        # Key points without a theme come last on the page of all themes.
        query = {"view": POINTS, "theme": point.theme} if point.theme else {}
    known = dict(analysis.facets.get("attributes", {}).get(column, []))
    if value in known:
        query["group"] = json.dumps([column, value])
    if unit == VOICES:
        query["count"] = unit
    return f"{address}?{urlencode(query)}" if query else address


def _figure_files(view: str, analysis: Analysis, query: str) -> Files:
    return Files(
        view=view,
        ids=(analysis.study.public_id, analysis.public_id),
        query=query,
        version=digest(analysis.pk, state_of(analysis), query),
    )


FIGURE = "<slug:figure>.<str:format>"
urlpatterns = [
    path(f"{ONE}/groups/", analysis_groups, name="analysis_groups"),
    path(f"{ONE}/groups/{FIGURE}", analysis_groups_figure, name="analysis_groups_figure"),
    path(f"{ONE}/time/", analysis_trends, name="analysis_trends"),
    path(f"{ONE}/time/{FIGURE}", analysis_trends_figure, name="analysis_trends_figure"),
]

HTML = "text/html; charset=utf-8"


@study_page(*RESEARCHERS)
def analysis_report(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Show the report and its options."""
    analysis = finished_or_404(study, analysis_id)
    if not _is_ready(request, analysis):
        context = {"study": study, "analysis": analysis, "here": "report", "is_waiting": True}
        return render(request, "argsum/analysis/comparing/report.html", context)
    counts = _counts(request, analysis)
    report, parts = _report(request, analysis, counts)
    context = {
        "study": study,
        "analysis": analysis,
        "here": "report",
        "asked": report.asked,
        "counts": counts,
        "parts": parts,
        "numbers": QUOTATIONS,
        "columns": [column.name for column in counts.comparable],
        "periods": [(period, trends.WORDS[period]) for period in periods_of(counts)],
    }
    return render(request, "argsum/analysis/comparing/report.html", context)


@study_page(*RESEARCHERS)
def analysis_report_file(
    request: StudyRequest, study: Study, analysis_id: uuid.UUID, name: str
) -> HttpResponseBase:
    """Send the report as a document, or one of its tables."""
    write = WRITERS.get(name)
    if write is None:
        raise Http404
    return write(request, finished_or_404(study, analysis_id))


def asked_for(request: StudyRequest, counts: CommentCounts) -> ReportRequest:
    """Return the report options in the URL, with defaults for invalid values."""
    number = request.GET.get("quotations", "")
    quotations = int(number) if number in map(str, QUOTATIONS) else USUAL
    column, period = request.GET.get("attribute", ""), request.GET.get("period", "")
    return ReportRequest(
        quotations=quotations,
        attribute=column if column in [attribute.name for attribute in counts.comparable] else "",
        period=period if period in periods_of(counts) else "",
        unit=counts.unit,
        view=counts.view,
    )


def periods_of(counts: CommentCounts) -> list[str]:
    """Return the lengths of periods into which the comments can be divided."""
    from argsum.analysis.methods.trends import countable

    return countable(counts.first, counts.last) if counts.first and counts.last else []


def _report(
    request: StudyRequest, analysis: Analysis, counts: CommentCounts
) -> tuple[Report, list[ReportPart]]:
    options = asked_for(request, counts)
    report = report_of(analysis, counts, options)
    return report, parts_of(report, partial(_chart_files, analysis, options))


def _html(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """Return a self-contained HTML file that includes styles and charts."""
    report, parts = _report(request, analysis, _counts(request, analysis))
    pictures = {id(part): _picture(part) for part in parts if part.kind == "chart"}
    context = {"report": report, "parts": [(part, pictures.get(id(part))) for part in parts]}
    content = render_to_string("argsum/analysis/comparing/report_file.html", context)
    return as_file(content, name=f"report-{analysis.number}.html", content_type=HTML)


def _docx(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    from argsum.analysis.reports.report_files import TYPE, docx_of

    content = docx_of(*_report(request, analysis, _counts(request, analysis)))
    return as_file(content, name=f"report-{analysis.number}.docx", content_type=TYPE)


def _statements(request: StudyRequest, analysis: Analysis) -> HttpResponseBase:
    names = column_names(counted(analysis))
    table = FileTable(statement_types(names), statement_rows(analysis, names))
    return streamed_table(table, name=f"statements-{analysis.number}.csv")


WRITERS: dict[str, Callable[[StudyRequest, Analysis], HttpResponseBase]] = {
    "report.html": _html,
    "report.docx": _docx,
    "key-points.csv": lambda _request, analysis: table_file(points_table(analysis), "csv"),
    "statements.csv": _statements,
}


def _picture(part: ReportPart) -> str:
    """Return a chart as a data URL."""
    if part.draw is None:
        return ""
    content = vega.picture(part.draw("wide"), format="svg", theme="light")
    return f"data:image/svg+xml;base64,{base64.b64encode(content).decode()}"


def _chart_files(analysis: Analysis, request: ReportRequest, figure: str) -> Files:
    """Return the URLs of the charts on the page."""
    choice = {"attribute": request.attribute} if figure == "groups" else {"period": request.period}
    query = urlencode(choice | {"count": request.unit, "view": request.view})
    return _figure_files(f"analysis_{figure}_figure", analysis, query)


urlpatterns += [
    path(f"{ONE}/report/", analysis_report, name="analysis_report"),
    path(f"{ONE}/report/<str:name>", analysis_report_file, name="analysis_report_file"),
]
