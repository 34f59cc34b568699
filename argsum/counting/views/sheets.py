"""Count sheets for researchers: the list, the file, and one sheet beside the others of its set."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from argsum.counting.models import CountingRound
from argsum.counting.reports.sheets import (
    TYPES,
    Asked,
    beside_sheet,
    export_rows,
    rater_name,
    sheet_or_404,
    shown_sheets,
)
from cqa_site.files.sending import FileTable, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
FILTERS = {
    "round": "counting_round",
    "rater": "rater",
    "dataset": "dataset",
    "set": "summary_set",
}
FORMATS = ("csv", "jsonl")


@study_page(*RESEARCHERS)
@require_safe
def counting_sheets(request: StudyRequest, study: Study) -> HttpResponseBase:
    """List the sheets that were asked for, or give them as a file."""
    sheets = shown_sheets(study, _asked(request))
    format = request.GET.get("format", "")
    if format in FORMATS:
        return _file(request, study, sheets, format)
    page = Paginator(sheets, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "rows": [(sheet, rater_name(sheet.rater), sheet.is_counted) for sheet in page],
        "filters": {name: request.GET.get(name, "") for name in FILTERS},
        "rounds": CountingRound.objects.filter(study=study).values_list("public_id", "name"),
        "datasets": study.argument_datasets.values_list("public_id", "name"),
    }
    return render(request, "argsum/counting/sheets.html", context)


@study_page(*RESEARCHERS)
@require_safe
def count_sheet(request: StudyRequest, study: Study, count_id: uuid.UUID) -> HttpResponse:
    """Show one sheet with what others marked on the same set."""
    sheet = sheet_or_404(study, count_id)
    context = {
        "study": study,
        "sheet": sheet,
        "is_counted": sheet.is_counted,
        **beside_sheet(sheet),
    }
    return render(request, "argsum/counting/count_sheet.html", context)


def _asked(request: StudyRequest) -> Asked:
    """Ids from the address; raises Http404 for what is none."""
    given = {field: request.GET.get(name, "") for name, field in FILTERS.items()}
    try:
        return Asked(**{name: uuid.UUID(value) for name, value in given.items() if value})
    except ValueError as problem:
        raise Http404 from problem


def _file(request: StudyRequest, study: Study, sheets: Any, format: str) -> FileResponse:
    name = f"count-sheets.{format}"
    record(study=study, actor=request.user, verb="count_sheets_exported", subject=name)
    table = FileTable(TYPES, export_rows(sheets))
    return sent_table(table, name=name, format=format, is_raw=bool(request.GET.get("raw")))


urlpatterns = [
    path("key-points/sheets/", counting_sheets, name="counting_sheets"),
    path("key-points/sheets/<uuid:count_id>/", count_sheet, name="count_sheet"),
]
