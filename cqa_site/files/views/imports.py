"""Files that come in: upload, mapping, dry run, import."""

import io
import uuid
from collections.abc import Mapping

from django.conf import settings
from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import filesizeformat
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from annotation.answers.forms.questions import QuestionListForm
from annotation.corpus.methods.column_guess import is_own_export
from annotation.imports.methods.question_list import pasted_list
from cqa_site.files import actions as importing
from cqa_site.files.actions.guessing import preview_of, table_options
from cqa_site.files.forms import (
    ApplyForm,
    MappingForm,
    MatchForm,
    OriginForm,
    SheetForm,
    UploadForm,
)
from cqa_site.files.models import ImportFile, ImportProblem
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.tabular import Preview, UnreadableFile, write_csv
from cqa_site.web.downloads import as_file
from cqa_site.web.upload_limits import is_too_large

PER_PAGE = 50
MOST_MATCHES = 25


@study_page(*RESEARCHERS)
def imports(request: StudyRequest, study: Study) -> HttpResponse:
    """List earlier files beside the upload form."""
    return _list_page(request, study, UploadForm())


@csrf_exempt  # checked in _upload, once the size is known: reading the token reads the body
@study_page(*RESEARCHERS)
@require_POST
def import_upload(request: StudyRequest, study: Study) -> HttpResponse:
    """Take a file in, unless its size alone refuses it."""
    if is_too_large(request):
        return _too_large(request, study)
    return _upload(request, study)


@csrf_protect
def _upload(request: StudyRequest, study: Study) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _list_page(request, study, form, status=422)
    uploads = form.cleaned_data["file"]
    about = {
        "study": study,
        "kind": form.cleaned_data["kind"],
        "options": form.options,
        "actor": request.user,
    }
    try:
        if len(uploads) > 1:
            batch = importing.store_batch(files=uploads, **about)
            return redirect("import_batch", study.public_id, batch.public_id)
        (upload,) = uploads
        import_file = importing.store_upload(name=upload.name, chunks=upload.chunks(), **about)
    except importing.TooLarge:
        return _too_large(request, study)
    if asks := importing.format_of(import_file.kind).asks:
        return redirect(asks, study.public_id, import_file.public_id)
    importing.request_check(import_file=import_file, actor=request.user)
    return redirect("import_file", study.public_id, import_file.public_id)


@csrf_exempt  # checked in _question_list, as above
@study_page(*RESEARCHERS)
def question_list(request: StudyRequest, study: Study) -> HttpResponse:
    """Take a list of questions in, from a file or pasted."""
    if request.method == "POST" and is_too_large(request):
        return _too_large(request, study)
    return _question_list(request, study)


@csrf_protect
def _question_list(request: StudyRequest, study: Study) -> HttpResponse:
    form = QuestionListForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        context = {"study": study, "section": "answers", "form": form}
        status = 422 if form.errors else 200
        return render(request, "annotation/imports/question_list.html", context, status=status)
    upload = form.cleaned_data["file"]
    name, chunks = (upload.name, upload.chunks()) if upload else _pasted(form)
    try:
        stored = importing.store_upload(
            study=study,
            kind=ImportFile.Kind.QUESTIONS,
            name=name,
            chunks=chunks,
            actor=request.user,
        )
    except importing.TooLarge:
        return _too_large(request, study)
    importing.request_check(import_file=stored, actor=request.user)
    return redirect("import_file", study.public_id, stored.public_id)


def _pasted(form: QuestionListForm) -> tuple[str, list[bytes]]:
    name, content = pasted_list(form.cleaned_data["pasted"])
    return name, [content]


def _list_page(
    request: StudyRequest, study: Study, form: UploadForm, status: int = 200
) -> HttpResponse:
    files = study.import_files.select_related("created_by", "campaign")
    context = {
        "study": study,
        "section": "imports",
        "form": form,
        "page": Paginator(files, PER_PAGE).get_page(request.GET.get("page")),
        "kinds": ImportFile.Kind,
    }
    return render(request, "files/imports.html", context, status=status)


def _too_large(request: StudyRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "section": "imports",
        "limit": filesizeformat(settings.MAX_UPLOAD_BYTES),
    }
    return render(request, "files/too_large.html", context, status=413)


@study_page(*RESEARCHERS)
def import_mapping(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Show the first rows of a table and ask which column is what."""
    import_file = get_object_or_404(
        study.import_files, public_id=file_id, kind=ImportFile.Kind.TABLE
    )
    seen = {name: request.GET.get(name, "") for name in ("sheet", "encoding")}
    try:
        shown = preview_of(import_file, seen)
    except UnreadableFile as error:
        return unreadable_page(request, study, import_file, seen, str(error))
    form = MappingForm(
        request.POST or None,
        columns=shown.columns,
        initial=_guess(import_file, shown),
    )
    if request.method == "POST" and form.is_valid():
        return _keep_mapping(request, study, import_file, form, seen)
    context = {
        "study": study,
        "section": "imports",
        "file": import_file,
        "form": form,
        "sheet_form": SheetForm(initial=seen, sheets=shown.sheets),
        "preview": shown,
        "rows": [(row.number, [row.values[name] for name in shown.columns]) for row in shown.rows],
        "is_own_export": is_own_export(shown.columns),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/imports/mapping.html", context, status=status)


def _guess(import_file: ImportFile, shown: Preview) -> dict[str, object]:
    """What was chosen before, else a guess from the headers."""
    options = import_file.options
    guess = table_options(import_file, shown)
    mapping = options.get("mapping") or guess["mapping"]
    is_safe_csv = guess["undo_spreadsheet_marks"]
    return {
        "campaign": options.get("campaign", ""),
        "rater_kind": options.get("rater_kind", "person"),
        "undo_spreadsheet_marks": options.get("undo_spreadsheet_marks", is_safe_csv),
        **{f"map_{field}": column for field, column in mapping.items()},
    }


def unreadable_page(
    request: StudyRequest, study: Study, import_file: ImportFile, seen: dict, reason: str
) -> HttpResponse:
    """Say why a file is no table, and offer to read it otherwise."""
    context = {
        "study": study,
        "section": "imports",
        "file": import_file,
        "reason": reason,
        "sheet_form": SheetForm(initial=seen, sheets=[]),
    }
    return render(request, "files/unreadable.html", context, status=422)


def _keep_mapping(
    request: StudyRequest, study: Study, import_file: ImportFile, form: MappingForm, seen: dict
) -> HttpResponse:
    wanted = ("campaign", "rater_kind", "undo_spreadsheet_marks", "mapping")
    options = {name: form.cleaned_data[name] for name in wanted} | seen
    try:
        importing.choose_mapping(import_file=import_file, options=options, actor=request.user)
    except importing.NotInThisState:
        messages.error(request, _("This file is being worked on or was imported already."))
    return redirect("import_file", study.public_id, import_file.public_id)


@study_page(*RESEARCHERS)
def import_file(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Show what the dry run found, or what was imported, row by row where needed."""
    file = get_object_or_404(
        study.import_files.select_related("job", "batch", "campaign", "created_by"),
        public_id=file_id,
    )
    problems = file.problems.all()
    matches = file.matches.order_by("decision", "row").select_related("answer")
    rejected = problems.filter(is_rejection=True).count()
    remarks = problems.filter(is_rejection=False).count()
    shown = request.GET.get("show", "")
    if shown in ("rejected", "remarks"):
        problems = problems.filter(is_rejection=shown == "rejected")
    context = {
        "study": study,
        "section": "imports",
        "file": file,
        "counts": _counts(file),
        "rejected": rejected,
        "rejected_rows": file.rows.get("rejected", rejected),
        "rows_read": file.rows.get("read"),
        "matches": matches[:MOST_MATCHES],
        "match_count": matches.count(),
        "undecided": matches.filter(decision="").count(),
        "remarks": remarks,
        "changed": sum(row["changed"] for row in file.counts.values()),
        "added": sum(row["new"] for row in file.counts.values()),
        "counted": {name: row["new"] for name, row in file.counts.items()},
        "brings": brings(file.counts),
        "shown": shown,
        "page": Paginator(problems, PER_PAGE).get_page(request.GET.get("page")),
        "is_stranded": importing.is_stranded(file),
        "form": ApplyForm(),
        "origin": _origin(file),
        "has_answers": importing.format_of(file.kind).has_answers,
        "has_sheets": any(file.counts.get("sheets", {}).values()),
        "asks": importing.format_of(file.kind).asks,
    }
    return render(request, "files/file.html", context)


def brings(counts: Mapping[str, Mapping[str, int]]) -> str:
    """What is new, in words; arguments are always named where nothing else is."""
    new = {name: row["new"] for name, row in counts.items()}
    words = {
        "arguments": ngettext("%s new argument", "%s new arguments", new.get("arguments", 0)),
        "questions": ngettext("%s new question", "%s new questions", new.get("questions", 0)),
        "answers": ngettext("%s new answer", "%s new answers", new.get("answers", 0)),
        "votes": ngettext("%s new vote", "%s new votes", new.get("votes", 0)),
        "sheets": ngettext("%s new score sheet", "%s new score sheets", new.get("sheets", 0)),
    }
    named = [name for name in words if new.get(name)] or ["arguments"]
    return ", ".join(words[name] % intcomma(new.get(name, 0)) for name in named)


def _origin(file: ImportFile) -> OriginForm | None:
    """Who wrote the answers, to be corrected until the file is imported."""
    waiting = (ImportFile.State.CHECKED, ImportFile.State.REFUSED)
    if not importing.format_of(file.kind).has_answers or file.state not in waiting:
        return None
    found = importing.origin_of(file.kind, file.name, file.options)
    return OriginForm(initial={"system": found.system, "scenario": found.scenario})


def _counts(file: ImportFile) -> list[tuple[str, list[int]]]:
    """Rows of the counts table; kinds of objects the file has nothing of are left out."""
    names = {
        "comparisons": _("Comparisons"),
        "arguments": _("Arguments"),
        "questions": _("Questions"),
        "systems": _("Systems"),
        "answers": _("Answers"),
        "campaigns": _("Campaigns"),
        "items": _("Items"),
        "raters": _("Raters"),
        "votes": _("Votes"),
        "sheets": _("Score sheets"),
        "cells": _("Topics with stance"),
        "key_points": _("Reference key points"),
        "matches": _("Labels of pairs"),
        "sets": _("Sets of key points"),
        "counts": _("Count sheets"),
        "metrics": _("Metrics of sets"),
    }
    rows = [(names[name], file.counts.get(name, {})) for name in importing.OBJECTS]
    return [
        (name, [row[result] for result in importing.RESULTS])
        for name, row in rows
        if any(row.values())
    ]


@study_page(*RESEARCHERS)
def import_problems(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Every rejected or flagged row as a CSV file."""
    file = get_object_or_404(study.import_files, public_id=file_id)
    body = io.BytesIO()
    columns = ["file", "row", "column", "kind", "reason"]
    write_csv(body, columns, (_problem_row(file, problem) for problem in file.problems.all()))
    name = f"problems-{file.public_id}.csv"
    return as_file(body.getvalue(), name=name, content_type="text/csv; charset=utf-8")


def _problem_row(file: ImportFile, problem: ImportProblem) -> tuple:
    kind = "rejected" if problem.is_rejection else "remark"
    return (file.name, problem.row, problem.column, kind, problem.reason)


@study_page(*RESEARCHERS)
@require_POST
def import_check(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Run the dry run again."""
    file = get_object_or_404(study.import_files.select_related("job"), public_id=file_id)
    try:
        importing.request_check(import_file=file, actor=request.user)
    except importing.NotInThisState:
        messages.error(request, _("This file is being worked on or was imported already."))
    return redirect("import_file", study.public_id, file.public_id)


@study_page(*RESEARCHERS)
@require_POST
def import_origin(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Correct who wrote the answers of a file, and look at it again."""
    file = get_object_or_404(study.import_files.select_related("job"), public_id=file_id)
    form = OriginForm(request.POST)
    if not importing.format_of(file.kind).has_answers or not form.is_valid():
        messages.error(request, _("Choose a scenario of the list and a name of 120 characters."))
        return redirect("import_file", study.public_id, file.public_id)
    options = file.options | form.cleaned_data
    try:
        importing.choose_mapping(import_file=file, options=options, actor=request.user)
    except importing.NotInThisState:
        messages.error(request, _("This file is being worked on or was imported already."))
    return redirect("import_file", study.public_id, file.public_id)


@study_page(*RESEARCHERS)
@require_POST
def import_matches(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Say whether rows are about answers that have nearly their text, and look again."""
    file = get_object_or_404(study.import_files, public_id=file_id)
    form = MatchForm(request.POST)
    if form.is_valid():
        try:
            importing.decide_matches(
                import_file=file, decision=form.decision, rows=form.rows, actor=request.user
            )
        except importing.NoSuchMatch:
            messages.error(request, _("This row waits for no decision any more."))
        except importing.NotInThisState:
            messages.error(request, _("This file is being worked on or was imported already."))
    return redirect("import_file", study.public_id, file.public_id)


@study_page(*RESEARCHERS)
@require_POST
def import_apply(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Import the file as the dry run described it."""
    file = get_object_or_404(study.import_files, public_id=file_id)
    form = ApplyForm(request.POST)
    form.is_valid()  # two boxes, each ticked or not
    try:
        importing.request_apply(import_file=file, actor=request.user, **form.cleaned_data)
    except importing.NotInThisState:
        messages.error(request, _("This file is being worked on or was imported already."))
    return redirect("import_file", study.public_id, file.public_id)


@study_page(*RESEARCHERS)
@require_POST
def import_discard(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Forget a file that was not imported."""
    file = get_object_or_404(study.import_files, public_id=file_id)
    try:
        importing.discard_import(import_file=file, actor=request.user)
    except importing.NotInThisState:
        messages.error(request, _("This file is being worked on or was imported already."))
        return redirect("import_file", study.public_id, file.public_id)
    messages.success(request, _("“%s” was discarded; nothing of it was imported.") % file.name)
    return redirect("imports", study.public_id)


urlpatterns = [
    path("imports/", imports, name="imports"),
    path("imports/upload/", import_upload, name="import_upload"),
    path("questions/list/", question_list, name="question_list"),
    path("imports/<uuid:file_id>/", import_file, name="import_file"),
    path("imports/<uuid:file_id>/mapping/", import_mapping, name="import_mapping"),
    path("imports/<uuid:file_id>/problems.csv", import_problems, name="import_problems"),
    path("imports/<uuid:file_id>/check/", import_check, name="import_check"),
    path("imports/<uuid:file_id>/origin/", import_origin, name="import_origin"),
    path("imports/<uuid:file_id>/matches/", import_matches, name="import_matches"),
    path("imports/<uuid:file_id>/apply/", import_apply, name="import_apply"),
    path("imports/<uuid:file_id>/discard/", import_discard, name="import_discard"),
]
