"""The report of an analysis: as a page, and as files."""

import base64
import uuid
from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import path

from argsum.analysis.models import Analysis
from argsum.analysis.reports import trends
from argsum.analysis.reports.counted import Counted, counted, digest, is_counted, state_of
from argsum.analysis.reports.report import QUOTATIONS, USUAL, Asked, Report, report_of
from argsum.analysis.reports.report_parts import Part, parts_of
from argsum.analysis.reports.report_tables import (
    column_names,
    points_table,
    statement_rows,
    statement_types,
)
from cqa_site.files.sending import FileTable, streamed_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Files
from cqa_site.results.files import table_file
from cqa_site.web.charts import drawing
from cqa_site.web.downloads import as_file

from .analyses import ONE
from .comparing import finished_or_404

HTML = "text/html; charset=utf-8"


@study_page(*RESEARCHERS)
def analysis_report(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Show the report, and what it may hold."""
    analysis = finished_or_404(study, analysis_id)
    if not (is_counted(analysis) or request.GET.get("counting") == "now"):
        context = {"study": study, "analysis": analysis, "here": "report", "is_waiting": True}
        return render(request, "argsum/analysis/comparing/report.html", context)
    counts = counted(analysis)
    asked = asked_for(request, counts)
    found = report_of(analysis, counts, asked)
    context = {
        "study": study,
        "analysis": analysis,
        "here": "report",
        "asked": asked,
        "parts": parts_of(found, partial(_files, analysis, asked)),
        "numbers": QUOTATIONS,
        "columns": [each.name for each in counts.comparable],
        "periods": [(each, trends.WORDS[each]) for each in periods_of(counts)],
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


def asked_for(request: StudyRequest, counts: Counted) -> Asked:
    """What an address asks for; what it names and is not there falls back to the usual."""
    number = request.GET.get("quotations", "")
    quotations = int(number) if number in map(str, QUOTATIONS) else USUAL
    column, period = request.GET.get("attribute", ""), request.GET.get("period", "")
    return Asked(
        quotations=quotations,
        attribute=column if column in [each.name for each in counts.comparable] else "",
        period=period if period in periods_of(counts) else "",
    )


def periods_of(counts: Counted) -> list[str]:
    """Periods that the comments can be divided by."""
    from argsum.analysis.methods.trends import countable

    return countable(counts.first, counts.last) if counts.first and counts.last else []


def _report(request: StudyRequest, analysis: Analysis) -> tuple[Report, list[Part]]:
    counts = counted(analysis)
    asked = asked_for(request, counts)
    found = report_of(analysis, counts, asked)
    return found, parts_of(found, partial(_files, analysis, asked))


def _html(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """One file that needs no other: styles and charts are inside."""
    found, parts = _report(request, analysis)
    pictures = {id(part): _picture(part) for part in parts if part.kind == "chart"}
    context = {"report": found, "parts": [(part, pictures.get(id(part))) for part in parts]}
    content = render_to_string("argsum/analysis/comparing/report_file.html", context)
    return as_file(content, name=_name(analysis, "html"), content_type=HTML)


def _docx(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    from argsum.analysis.reports.docx_file import TYPE, docx_of

    content = docx_of(*_report(request, analysis))
    return as_file(content, name=_name(analysis, "docx"), content_type=TYPE)


def _points(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    return table_file(points_table(analysis), "csv")


def _statements(request: StudyRequest, analysis: Analysis) -> HttpResponseBase:
    names = column_names(counted(analysis))
    table = FileTable(statement_types(names), statement_rows(analysis, names))
    return streamed_table(table, name=f"statements-{analysis.number}.csv")


WRITERS: dict[str, Callable[[StudyRequest, Analysis], HttpResponseBase]] = {
    "report.html": _html,
    "report.docx": _docx,
    "key-points.csv": _points,
    "statements.csv": _statements,
}


def _picture(part: Part) -> str:
    """A chart as an address that holds it."""
    if part.draw is None:
        return ""
    content = drawing.picture(part.draw("wide"), format="svg", theme="light")
    return f"data:image/svg+xml;base64,{base64.b64encode(content).decode()}"


def _files(analysis: Analysis, asked: Asked, figure: str) -> Files:
    """Where the charts of the page come from."""
    choice = {"attribute": asked.attribute} if figure == "groups" else {"period": asked.period}
    query = urlencode(choice)
    return Files(
        view=f"analysis_{figure}_figure",
        ids=(analysis.study.public_id, analysis.public_id),
        query=query,
        version=digest(analysis.pk, state_of(analysis), query),
    )


def _name(analysis: Analysis, ending: str) -> str:
    return f"report-{analysis.number}.{ending}"


urlpatterns = [
    path(f"{ONE}/report/", analysis_report, name="analysis_report"),
    path(f"{ONE}/report/<str:name>", analysis_report_file, name="analysis_report_file"),
]
