"""Questions, numbered arguments, answers and revisions as files."""

import json
import tempfile
from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.exports.forms import AnswersFileForm
from annotation.exports.reports.answers_export import TABLES, Wish, plain_cells
from annotation.exports.reports.tables import ExportTable
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study
from cqa_site.tabular import write_csv, write_jsonl

CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
IN_MEMORY = 8 * 1024 * 1024


@study_page(*RESEARCHERS)
@require_POST
def answers_file(request: StudyRequest, study: Study) -> HttpResponse | FileResponse:
    """Write one table into a temporary file and send it."""
    form = AnswersFileForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose what is in the file, and its format."))
        return redirect("questions", study.public_id)
    asked = form.cleaned_data
    wish = Wish(study, with_comments=asked["with_comments"])
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  the response closes it
    _write(file, TABLES[asked["content"]](wish), asked["format"], is_raw=asked["is_raw"])
    file.seek(0)
    record(study=study, actor=request.user, verb="answers_exported", subject=study.name, **asked)
    name = f"{slugify(study.name, allow_unicode=True)[:60] or 'study'}-{asked['content']}"
    return FileResponse(
        file,
        as_attachment=True,
        filename=f"{name}.{asked['format']}",
        content_type=CONTENT_TYPES[asked["format"]],
    )


def _write(file: Any, table: ExportTable, format: str, *, is_raw: bool) -> None:
    columns = list(table.types)
    if format == "jsonl":
        write_jsonl(file, columns, table.rows)
        return
    rows = plain_cells(table.rows, _as_text)
    write_csv(file, columns, rows, for_spreadsheets=not is_raw)


def _as_text(nested: dict | list) -> str:
    return json.dumps(nested, ensure_ascii=False)


urlpatterns = [path("answers/file/", answers_file, name="answers_file")]
