"""Score sheets as a file; it is written from a stream of rows and sent in pieces."""

from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.forms.sheet_export import SheetExportForm
from benchmark.scoring.reports.sheet_export import export_rows, export_types
from cqa_site.files.sending import FileTable, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
@require_safe
def score_sheets_export(request: StudyRequest, study: Study) -> HttpResponseBase:
    """Ask what the file is to hold, or give it."""
    is_asked = "format" in request.GET
    form = SheetExportForm(
        request.GET if is_asked else None,
        study=study,
        initial={"rubric": request.GET.get("rubric")},
    )
    if is_asked and form.is_valid():
        return _file(request, study, **form.cleaned_data)
    context = {
        "study": study,
        "form": form,
        "has_rubric": study.rubric_versions.exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "benchmark/scoring/score_sheets_export.html", context, status=status)


def _file(
    request: StudyRequest,
    study: Study,
    *,
    rubric: RubricVersion,
    sheets: str,
    conditions: list[str],
    format: str,
    with_texts: bool,
    is_raw: bool,
) -> FileResponse:
    types = export_types(rubric.rubric, with_texts=with_texts)
    rows = export_rows(
        rubric,
        only_counted=sheets == "counted",
        with_texts=with_texts,
        conditions=conditions,
    )
    name = f"score-sheets-{slugify(str(rubric)) or 'rubric'}-{sheets}.{format}"
    record(study=study, actor=request.user, verb="sheets_exported", subject=name)
    return sent_table(FileTable(types, rows), name=name, format=format, is_raw=is_raw)


urlpatterns = [path("scores/export/", score_sheets_export, name="score_sheets_export")]
