"""Pages for importing files: upload, questions, dry run and import."""

import io
import uuid
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import filesizeformat
from django.urls import path, resolve, reverse
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from cqa_site.files.actions.files import (
    FITS,
    INSIDE,
    PROPOSED,
    TROUBLE,
    NoSuchMatch,
    NotInThisState,
    choose_kind,
    choose_mapping,
    choose_reading,
    decide_matches,
    discard_import,
    is_stranded,
    request_apply,
    request_check,
    store_upload,
)
from cqa_site.files.actions.import_jobs import (
    ExtractedGroup,
    NoSuchGroup,
    archive_of,
    store_batch,
    take_group,
    taken_from,
)
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.files.actions.recognition import found_in, guess_options, unclear
from cqa_site.files.format_parts import COUNTED, OPTIONS, RESULTS, OptionsForm, Sample
from cqa_site.files.formats import FORMATS, Format, Text, format_of, under_headings, usual_kind
from cqa_site.files.forms import ApplyForm, KindForm, MatchForm, ReadingForm, SheetForm, UploadForm
from cqa_site.files.models import ImportBatch, ImportFile, ImportProblem
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.tabular import UnreadableFile, write_csv
from cqa_site.web.navigation import path_of
from cqa_site.web.pages import as_file
from cqa_site.web.rest.queries import chosen
from cqa_site.web.uploads import TooLarge, is_too_large

PER_PAGE = 50
CHOOSE_FROM_LISTS = gettext_lazy("Choose from the lists, and use names of at most 120 characters.")
MOST_MATCHES = 25


@study_page(*RESEARCHERS)
def imports(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the upload form and the list of earlier files."""
    proposed = {"kind": chosen(request, "kind", FORMATS)}
    return _list_page(request, study, UploadForm(initial=proposed, goal=_goal(study)))


@csrf_exempt  # checked in _upload after the size, because reading the token reads the body
@study_page(*RESEARCHERS, only="POST")
def import_upload(request: StudyRequest, study: Study) -> HttpResponse:
    """Accept an uploaded file unless it is too large."""
    if is_too_large(request):
        return too_large_page(request, study)
    return _upload(request, study)


@csrf_protect
def _upload(request: StudyRequest, study: Study) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES, goal=_goal(study))
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
            batch = store_batch(files=uploads, **about)
            return redirect("import_batch", study.public_id, batch.public_id)
        (upload,) = uploads
        if not about["kind"]:
            about |= _found(found_in(upload), form.options)
        import_file = store_upload(name=upload.name, chunks=upload.chunks(), **about)
    except TooLarge:
        return too_large_page(request, study)
    return _begin(request, import_file)


def _found(findings: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the recognized kind and options; an unclear kind is chosen on the file's page."""
    return {"kind": next(iter(findings[FITS]), usual_kind()), "options": options | findings}


def _begin(request: StudyRequest, file: ExtractedGroup) -> HttpResponse:
    """Check a file immediately unless questions must be answered first."""
    if isinstance(file, ImportBatch):
        return redirect(_page_of(file.study, file))
    format = format_of(file.kind)
    if unclear(file):
        return redirect(_page_of(file.study, file))
    if FITS in file.options:
        guess_options(file)
    if format.asks_page and not format.is_clear(file):
        return redirect(format.asks_page, file.study.public_id, file.public_id)
    request_check(import_file=file, actor=request.user)
    return redirect(_page_of(file.study, file))


def _file(study: Study, file_id: uuid.UUID) -> ImportFile:
    return get_object_or_404(study.import_files.select_related("job"), public_id=file_id)


def upload_action(
    find: Callable[[Study, uuid.UUID], ExtractedGroup], key: str
) -> Callable[..., Any]:
    """Decorate ``act(request, upload, …)``, which handles a form for the file or batch in the URL.

    The decorated view returns the response of ``act`` or, if there is none, redirects to the page
    of the upload, with a message if the state of the upload does not allow the request.
    """

    def decorate(act: Callable[..., HttpResponse | None]) -> Callable[..., Any]:
        @study_page(*RESEARCHERS, only="POST")
        @wraps(act)
        def page(request: StudyRequest, study: Study, **place: Any) -> HttpResponse:
            upload = find(study, place.pop(key))
            try:
                response = act(request, upload, **place)
            except NotInThisState as refusal:
                messages.error(request, str(refusal))
                response = None
            return response or redirect(_page_of(study, upload))

        return page

    return decorate


@upload_action(_file, "file_id")
def import_kind(request: StudyRequest, file: ImportFile) -> HttpResponse | None:
    """Set the kind of a file and continue its import."""
    form = KindForm(request.POST, goal=_goal(file.study))
    if not form.is_valid():
        messages.error(request, _("Choose the kind of data."))
        return None
    choose_kind(import_file=file, kind=form.cleaned_data["kind"])
    return _begin(request, file)


@upload_action(_file, "file_id")
def import_reading(request: StudyRequest, file: ImportFile) -> HttpResponse | None:
    """Open a file in its detected encoding and continue its import."""
    form = ReadingForm(request.POST)
    if not form.is_valid():
        return None
    choose_reading(import_file=file, chosen=form.cleaned_data)
    return _begin(request, file)


@upload_action(_file, "file_id")
def import_group(request: StudyRequest, archive: ImportFile, number: int) -> HttpResponse | None:
    """Extract a group of files from an archive and check them."""
    try:
        upload, is_new = take_group(archive=archive, number=number, actor=request.user)
    except NoSuchGroup:
        messages.error(request, _("This archive no longer contains this group of files."))
    except (TooLarge, UnreadableFile) as error:
        messages.error(request, str(error) or _("The files exceed the size limit of one upload."))
    else:
        return _begin(request, upload) if is_new else redirect(_page_of(archive.study, upload))
    return None


def _page_of(study: Study, upload: ExtractedGroup) -> str:
    page = "import_batch" if isinstance(upload, ImportBatch) else "import_file"
    return reverse(page, args=[study.public_id, upload.public_id])


@study_page(*RESEARCHERS, only="GET")
def import_sample(request: StudyRequest, study: Study, name: str) -> HttpResponse:
    """Return a small invented file of the named kind as a download."""
    sample = _sample(name)
    types = "application/octet-stream"
    return as_file(sample.make(), name=sample.name, content_type=types)


@study_page(*RESEARCHERS, only="POST")
def import_sample_take(request: StudyRequest, study: Study, name: str) -> HttpResponse:
    """Import the sample file as if it had been uploaded."""
    sample = _sample(name)
    options = dict(sample.options) | {FITS: {name: _("it is a sample file of this site")}}
    file = store_upload(
        study=study,
        kind=name,
        name=sample.name,
        chunks=[sample.make()],
        options=options,
        actor=request.user,
    )
    return _begin(request, file)


def _sample(kind: str) -> Sample:
    format = FORMATS.get(kind)
    if format is None or format.sample is None:
        raise Http404
    return format.sample


def _list_page(
    request: StudyRequest, study: Study, form: UploadForm, status: int = 200
) -> HttpResponse:
    page = Paginator(study.import_files.select_related("created_by"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    columns = [kind for kind in COUNTED.values() if kind.column]
    context = {
        "study": study,
        "form": form,
        "page": page,
        "columns": columns,
        "samples": _samples(study),
        "rows": [
            (file, [file.counts.get(column.name, {}).get("new") for column in columns])
            for file in page
        ],
    }
    return render(request, "files/imports.html", context, status=status)


def _samples(study: Study) -> list[tuple[Text, list[tuple[Format, Text]]]]:
    """Return the formats that have samples, grouped by heading, each with its prerequisite."""
    return [
        (
            title,
            [
                (file_format, _before(file_format.sample))
                for file_format in own
                if file_format.sample
            ],
        )
        for title, own in under_headings(_goal(study))
    ]


def _before(sample: Sample) -> Text:
    return format_of(sample.after).title if sample.after else ""


def _goal(study: Study) -> str:
    return path_of(study.goal).key


def too_large_page(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the page for an upload above the size limit."""
    context = {"study": study, "limit": filesizeformat(settings.MAX_UPLOAD_BYTES)}
    return render(request, "files/too_large.html", context, status=413)


@study_page(*RESEARCHERS)
def ask(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Ask the questions that the file cannot answer, then check it."""
    file = get_object_or_404(study.import_files, public_id=file_id)
    format = format_of(file.kind)
    if format.asking is None or format.asks_page != resolve(request.path_info).url_name:
        raise Http404
    seen = {
        name: request.GET.get(name, file.options.get(name) or "")
        for name in format.asking.seen_names
    }
    context: dict[str, Any] = {"study": study, "file": file, "format": format}
    try:
        asking = format.asking(study, file, seen)
    except (UnreadableFile, ImportRefused) as error:
        sheets, encoding = getattr(error, "sheets", []), getattr(error, "encoding", "")
        proposed = seen | ({"encoding": encoding} if encoding else {})
        # Here, too, a person can undo the choice of a header row.
        header_row = 1 if seen["header_row"] else None
        sheet_form = SheetForm(initial=proposed, sheets=sheets, header_row=header_row)
        context |= {"reason": str(error), "sheet_form": sheet_form}
        return render(request, "files/unreadable.html", context, status=422)
    form = asking.form(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            choose_mapping(import_file=file, options=asking.options(form), actor=request.user)
        except NotInThisState as refusal:
            messages.error(request, str(refusal))
        return redirect(_page_of(study, file))
    context |= {"asking": asking, "form": form, **_taken_for(file, format), "mapping": None}
    return render(request, "files/ask.html", context, status=422 if form.errors else 200)


@study_page(*RESEARCHERS)
def import_file(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Show the result of the dry run or import, row by row if necessary."""
    file = get_object_or_404(
        study.import_files.select_related("job", "batch", "round", "created_by"), public_id=file_id
    )
    format = format_of(file.kind)
    problems = file.problems.all()
    matches = file.matches.order_by("decision", "row")
    rejected = problems.filter(is_rejection=True).count()
    remarks = problems.filter(is_rejection=False).count()
    choice = request.GET.get("show", "")
    if choice in ("rejected", "remarks"):
        problems = problems.filter(is_rejection=choice == "rejected")
    context = {
        "study": study,
        "file": file,
        "format": format,
        "counts": _counts(file),
        "rejected": rejected,
        "rejected_rows": file.rows.get("rejected", rejected),
        "rows_read": file.rows.get("read"),
        "has_others": not rejected or _has_others(file),
        "matches": matches[:MOST_MATCHES],
        "match_count": matches.count(),
        "undecided": matches.filter(decision="").count(),
        "remarks": remarks,
        "changed": sum(row["changed"] for row in file.counts.values()),
        "added": sum(row["new"] for row in file.counts.values()),
        "brings": brings(file.counts),
        "shown": choice,
        "page": Paginator(problems, PER_PAGE).get_page(request.GET.get("page")),
        "is_stranded": is_stranded(file),
        "form": ApplyForm(),
        "origin": _origin(file, format),
        "archive": archive_of(file),
        **_taken_for(file, format),
    }
    if file.state == ImportFile.State.CHECKED:
        context["caution"] = format.caution(file)
    if file.state == ImportFile.State.APPLIED:
        context |= {"follow": format.follow(file), "links": format.links(study, file)}
    return render(request, "files/file.html", context)


def _has_others(file: ImportFile) -> bool:
    """Return whether any rows remain when the rejected rows are left out."""
    return any(
        number
        for row in file.counts.values()
        for result, number in row.items()
        if result != "rejected"
    )


def _taken_for(file: ImportFile, format: Format) -> dict[str, Any]:
    """Return the recognized kinds, the mapped columns and, if allowed, a form for the kind."""
    fits = file.options.get(FITS) or {}
    waiting = (ImportFile.State.UPLOADED, ImportFile.State.CHECKED, ImportFile.State.REFUSED)
    formats = [(FORMATS[kind], reason) for kind, reason in fits.items() if kind in FORMATS]
    other = None
    if file.state in waiting:
        other = KindForm(initial={"kind": file.kind}, goal=_goal(file.study))
    return {
        "is_unclear": unclear(file),
        "inside": _inside(file) if unclear(file) else None,
        "fits": formats,
        "reason": fits.get(file.kind, ""),
        "trouble": file.options.get(TROUBLE, ""),
        "proposed": (file.options.get(PROPOSED) or {}).get("encoding", ""),
        "kind_form": other,
        "mapping": file.options.get("mapping") if format.is_mapped else None,
    }


def _inside(file: ImportFile) -> dict[str, Any] | None:
    """Return the groups of files in an archive, each with its kind and extracted files."""
    if INSIDE not in file.options:
        return None
    option = file.options[INSIDE]
    uploads = taken_from(file, option["groups"])
    groups = [
        {
            **group,
            "title": format_of(group["kind"]).title,
            "names": [place.rpartition("/")[2] for place in group["files"]],
            "taken": uploads.get(group.get("taken", "")),
        }
        for group in option["groups"]
        if group["kind"] in FORMATS
    ]
    for group in groups:
        group["page"] = _page_of(file.study, group["taken"]) if group["taken"] else ""
    left = (part for part in groups if not part["page"])
    number = sum(len(part["files"]) for part in groups)
    return {**option, "groups": groups, "files": number, "next": next(left, None)}


def brings(counts: Mapping[str, Mapping[str, int]]) -> str:
    """List the new objects as text; if there are none, name the first kind of object."""
    named = [kind for kind in COUNTED.values() if kind.new]
    new = {kind.name: counts.get(kind.name, {}).get("new", 0) for kind in named}
    kinds = [kind for kind in named if new[kind.name]] or named[:1]
    return ", ".join(
        kind.new % {"number": new[kind.name], "shown": intcomma(new[kind.name])} for kind in kinds
    )


def _origin(file: ImportFile, format: Format) -> OptionsForm | None:
    """Return the form for the format's findings about the file; None if they cannot be edited."""
    waiting = (ImportFile.State.CHECKED, ImportFile.State.REFUSED)
    if not format.tells or file.state not in waiting:
        return None
    return _origin_form(format, initial=file.told)


def _origin_form(format: Format, **more: Any) -> OptionsForm:
    return OptionsForm(asked=[OPTIONS[name] for name in format.tells], is_short=True, **more)


def _counts(file: ImportFile) -> list[tuple[str, list[int]]]:
    """Return the rows of the counts table, without kinds that are not in the file."""
    rows = [(kind.title, file.counts.get(kind.name, {})) for kind in COUNTED.values()]
    return [
        (title, [row[result] for result in RESULTS]) for title, row in rows if any(row.values())
    ]


@study_page(*RESEARCHERS)
def import_problems(request: StudyRequest, study: Study, file_id: uuid.UUID) -> HttpResponse:
    """Return all rejected and flagged rows as a CSV file."""
    file = get_object_or_404(study.import_files, public_id=file_id)
    body = io.BytesIO()
    columns = ["file", "row", "column", "kind", "reason"]
    write_csv(body, columns, (_problem_row(file, problem) for problem in file.problems.all()))
    name = f"problems-{file.public_id}.csv"
    return as_file(body.getvalue(), name=name, content_type="text/csv; charset=utf-8")


def _problem_row(file: ImportFile, problem: ImportProblem) -> tuple:
    kind = "rejected" if problem.is_rejection else "remark"
    return (file.name, problem.row, problem.column, kind, problem.reason)


@upload_action(_file, "file_id")
def import_check(request: StudyRequest, file: ImportFile) -> None:
    """Run the dry run again."""
    request_check(import_file=file, actor=request.user)


@upload_action(_file, "file_id")
def import_origin(request: StudyRequest, file: ImportFile) -> None:
    """Correct the format's findings about a file and check it again."""
    format = format_of(file.kind)
    form = _origin_form(format, data=request.POST)
    if format.tells and form.is_valid():
        options = file.options | form.cleaned_data
        choose_mapping(import_file=file, options=options, actor=request.user)
    else:
        messages.error(request, CHOOSE_FROM_LISTS)


@upload_action(_file, "file_id")
def import_matches(request: StudyRequest, file: ImportFile) -> None:
    """Decide whether rows match their near-duplicates, then check the file again."""
    form = MatchForm(request.POST)
    if not form.is_valid():
        return
    decision, rows = form.decision, form.rows
    try:
        decide_matches(import_file=file, decision=decision, rows=rows, actor=request.user)
    except NoSuchMatch:
        messages.error(request, _("This row no longer needs a decision."))


@upload_action(_file, "file_id")
def import_apply(request: StudyRequest, file: ImportFile) -> None:
    """Import the file as shown in the dry run."""
    form = ApplyForm(request.POST)
    form.is_valid()  # two checkboxes
    request_apply(import_file=file, actor=request.user, **form.cleaned_data)


@upload_action(_file, "file_id")
def import_discard(request: StudyRequest, file: ImportFile) -> HttpResponse:
    """Delete a file that was not imported."""
    discard_import(import_file=file, actor=request.user)
    messages.success(request, _("“%s” was discarded. Nothing from it was imported.") % file.name)
    return redirect("imports", file.study.public_id)


# Each question once, even if several formats ask it; all formats are registered by now.
QUESTIONS = {
    file_format.asks: file_format.asks_page for file_format in FORMATS.values() if file_format.asks
}
urlpatterns = [
    path("imports/", imports, name="imports"),
    path("imports/upload/", import_upload, name="import_upload"),
    path("imports/samples/<slug:name>/", import_sample, name="import_sample"),
    path("imports/samples/<slug:name>/take/", import_sample_take, name="import_sample_take"),
    path("imports/<uuid:file_id>/", import_file, name="import_file"),
    path("imports/<uuid:file_id>/problems.csv", import_problems, name="import_problems"),
    path("imports/<uuid:file_id>/kind/", import_kind, name="import_kind"),
    path("imports/<uuid:file_id>/reading/", import_reading, name="import_reading"),
    path("imports/<uuid:file_id>/groups/<int:number>/", import_group, name="import_group"),
    path("imports/<uuid:file_id>/check/", import_check, name="import_check"),
    path("imports/<uuid:file_id>/origin/", import_origin, name="import_origin"),
    path("imports/<uuid:file_id>/matches/", import_matches, name="import_matches"),
    path("imports/<uuid:file_id>/apply/", import_apply, name="import_apply"),
    path("imports/<uuid:file_id>/discard/", import_discard, name="import_discard"),
    *(path(f"imports/<uuid:file_id>/{asks}/", ask, name=name) for asks, name in QUESTIONS.items()),
]
