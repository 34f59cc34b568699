"""What a file with score sheets asks before it is looked at: rubric, judge, columns."""

import uuid
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from benchmark.imports.actions.entries import chosen_rubric
from benchmark.imports.actions.guessing import columns_of
from benchmark.imports.forms import (
    ColumnsForm,
    JudgeForm,
    RubricSheetForm,
    ScoredByForm,
    initial_columns,
)
from cqa_site.files import actions as importing
from cqa_site.files.actions.guessing import preview_of
from cqa_site.files.models import ImportFile
from cqa_site.files.views.imports import unreadable_page
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.tabular import UnreadableFile

Kind = ImportFile.Kind
KINDS = (Kind.JUDGED, Kind.HUMAN_SCORES, Kind.SCORE_SHEETS)


@study_page(*RESEARCHERS)
def import_scores(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Ask how to take a file with score sheets, then look at it."""
    file = get_object_or_404(study.import_files, public_id=file_id, kind__in=KINDS)
    if file.kind == Kind.SCORE_SHEETS:
        return _columns_page(request, study, file)
    form_class = JudgeForm if file.kind == Kind.JUDGED else ScoredByForm
    form = form_class(request.POST or None, study=study, initial=file.options)
    if request.method == "POST" and form.is_valid():
        return _look(request, study, file, file.options | form.cleaned_data)
    return _page(request, study, file, form)


def _columns_page(request: StudyRequest, study: Study, file: ImportFile) -> HttpResponse:
    """Show the first rows of a table and ask which column is what."""
    seen = {
        name: request.GET.get(name, file.options.get(name) or "")
        for name in ("sheet", "encoding", "rubric")
    }
    try:
        shown = preview_of(file, seen)
        rubric = chosen_rubric(study, seen).rubric
    except UnreadableFile as error:
        return unreadable_page(request, study, file, seen, str(error))
    except importing.ImportRefused as refusal:
        return unreadable_page(request, study, file, seen | {"rubric": ""}, str(refusal))
    form = ColumnsForm(
        request.POST or None,
        columns=shown.columns,
        rubric=rubric,
        initial=_initial(file, columns_of(file, shown, rubric)),
    )
    if request.method == "POST" and form.is_valid():
        wanted = ("rater", "rater_kind", "undo_spreadsheet_marks", "mapping")
        chosen = {name: form.cleaned_data[name] for name in wanted}
        return _look(request, study, file, chosen | seen)
    more = {
        "preview": shown,
        "rows": [(row.number, [row.values[name] for name in shown.columns]) for row in shown.rows],
        "sheet_form": RubricSheetForm(initial=seen, sheets=shown.sheets, study=study),
    }
    return _page(request, study, file, form, **more)


def _initial(file: ImportFile, guess: dict[str, Any]) -> dict[str, object]:
    """What was chosen before, else a guess from the headers."""
    options = file.options
    return {
        "rater": options.get("rater", ""),
        "rater_kind": options.get("rater_kind", "person"),
        "undo_spreadsheet_marks": options.get(
            "undo_spreadsheet_marks", guess["undo_spreadsheet_marks"]
        ),
        **initial_columns(options.get("mapping") or guess["mapping"]),
    }


def _look(request: StudyRequest, study: Study, file: ImportFile, options: dict) -> HttpResponse:
    try:
        importing.choose_mapping(import_file=file, options=options, actor=request.user)
    except importing.NotInThisState:
        messages.error(request, _("This file is being worked on or was imported already."))
    return redirect("import_file", study.public_id, file.public_id)


def _page(
    request: StudyRequest, study: Study, file: ImportFile, form: Form, **more: object
) -> HttpResponse:
    context = {"study": study, "section": "imports", "file": file, "form": form, **more}
    status = 422 if form.errors else 200
    return render(request, "benchmark/imports/scores.html", context, status=status)


urlpatterns = [path("imports/<uuid:file_id>/scores/", import_scores, name="import_scores")]
