"""Questions, numbered arguments, answers and revisions as files."""

import json

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.exports.forms import AnswersFileForm
from annotation.exports.reports.answers_export import TABLES, Wish, plain_cells
from cqa_site.files.sending import FileTable, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
@require_POST
def answers_file(request: StudyRequest, study: Study) -> HttpResponse | FileResponse:
    """One table, made anew."""
    form = AnswersFileForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose what is in the file, and its format."))
        return redirect("questions", study.public_id)
    asked = form.cleaned_data
    wish = Wish(study, with_comments=asked["with_comments"])
    record(study=study, actor=request.user, verb="answers_exported", subject=study.name, **asked)
    table = TABLES[asked["content"]](wish)
    if asked["format"] == "csv":
        table = FileTable(table.types, plain_cells(table.rows, _as_text))
    name = f"{slugify(study.name, allow_unicode=True)[:60] or 'study'}-{asked['content']}"
    return sent_table(
        table,
        name=f"{name}.{asked['format']}",
        format=asked["format"],
        is_raw=asked["is_raw"],
    )


def _as_text(nested: dict | list) -> str:
    return json.dumps(nested, ensure_ascii=False)


urlpatterns = [path("answers/file/", answers_file, name="answers_file")]
