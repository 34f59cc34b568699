"""Pages for uploads with many files: the effect of each file, their selection, and progress."""

import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from cqa_site.files.actions.files import is_stranded
from cqa_site.files.actions.import_jobs import (
    apply_batch,
    archive_of,
    check_batch,
    discard_batch,
    files_of,
)
from cqa_site.files.format_parts import COUNTED, OPTIONS, OptionsForm, asked_with_uploads
from cqa_site.files.formats import format_of
from cqa_site.files.forms import BatchApplyForm
from cqa_site.files.models import ImportBatch, ImportFile
from cqa_site.files.views.imports import CHOOSE_FROM_LISTS, brings, upload_action
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

State = ImportFile.State


@dataclass(frozen=True)
class FileRow:
    """A row in the table of files.

    ``counts`` gives the numbers of new, unchanged and changed objects; ``told`` contains the
    options that the format derives from the file.
    """

    file: ImportFile
    told: list[Any]
    counts: tuple[int, int, int] | None
    rejected: int
    is_stranded: bool


@study_page(*RESEARCHERS)
def import_batch(request: StudyRequest, study: Study, batch_id: uuid.UUID) -> HttpResponse:
    """Show the page with the table of files; the page's own requests get only the table."""
    batch = _batch(study, batch_id)
    format = format_of(batch.kind)
    files = list(files_of(batch))
    states = Counter(file.state for file in files)
    waiting = [file.public_id for file in files if file.state == State.CHECKED]
    rows = [_row(file) for file in files]
    total = _total([file.counts for file in files if file.state in (State.CHECKED, State.APPLIED)])
    context = {
        "study": study,
        "batch": batch,
        "rows": rows,
        "told": [OPTIONS[name].title for name in format.tells],
        "links": format.links(study, batch),
        "is_working": batch.job is not None and batch.job.is_active,
        "is_stranded": any(row.is_stranded or row.file.state == State.UPLOADED for row in rows),
        "waiting": len(waiting),
        "applied": states[State.APPLIED],
        "refused": states[State.REFUSED],
        "left": len(files) - states[State.APPLIED],
        "rejected": sum(row.rejected for row in rows if row.file.state == State.CHECKED),
        "changed": sum(
            row.counts[2] for row in rows if row.counts and row.file.state == State.CHECKED
        ),
        "brings": brings(total) if any(counts["new"] for counts in total.values()) else "",
        "form": BatchApplyForm(waiting=waiting),
        "shared": _shared(initial=batch.options),
    }
    is_piece = request.headers.get("HX-Request") == "true"
    if not is_piece:
        context["archive"] = archive_of(batch)
    name = "files/_batch.html" if is_piece else "files/batch.html"
    return render(request, name, context)


def _batch(study: Study, batch_id: uuid.UUID) -> ImportBatch:
    batches = study.import_batches.select_related("study", "job", "created_by")
    return get_object_or_404(batches, public_id=batch_id)


def _shared(**more: Any) -> OptionsForm:
    """Return the form for options that apply to all files."""
    return OptionsForm(asked=asked_with_uploads(of_batches=True), **more)


def _row(file: ImportFile) -> FileRow:
    known = file.state in (State.CHECKED, State.APPLYING, State.APPLIED) and file.counts
    names = ("new", "same", "changed")
    counts = tuple(sum(row[name] for row in file.counts.values()) for name in names)
    facts = file.told
    return FileRow(
        file=file,
        told=[facts.get(name) for name in format_of(file.kind).tells],
        counts=(counts[0], counts[1], counts[2]) if known else None,
        rejected=file.rows.get("rejected", 0) if known else 0,
        is_stranded=is_stranded(file),
    )


def _total(counts: list[dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    """Return the total number of new objects, excluding kinds that several files may share."""
    alike = {kind.name for kind in COUNTED.values() if kind.is_shared}
    total: Counter[str] = Counter()
    for count in counts:
        total.update({name: row["new"] for name, row in count.items() if name not in alike})
    return {name: {"new": number} for name, number in total.items()}


@upload_action(_batch, "batch_id")
def import_batch_check(request: StudyRequest, batch: ImportBatch) -> None:
    """Check all files again with the shared options."""
    form = _shared(data=request.POST)
    if not form.is_valid():
        messages.error(request, CHOOSE_FROM_LISTS)
        return
    check_batch(batch=batch, options=batch.options | form.cleaned_data, actor=request.user)


@upload_action(_batch, "batch_id")
def import_batch_apply(request: StudyRequest, batch: ImportBatch) -> None:
    """Import the selected files, each completely or not at all."""
    files = batch.files.filter(state=State.CHECKED)
    form = BatchApplyForm(request.POST, waiting=files.values_list("public_id", flat=True))
    if not form.is_valid():
        messages.error(request, _("Select at least one file that has not been imported yet."))
        return
    apply_batch(batch=batch, actor=request.user, **form.cleaned_data)


@upload_action(_batch, "batch_id")
def import_batch_discard(request: StudyRequest, batch: ImportBatch) -> HttpResponse:
    """Delete the files that were not imported."""
    discard_batch(batch=batch, actor=request.user)
    messages.success(request, _("The files that were not imported were discarded."))
    return redirect("imports", batch.study.public_id)


urlpatterns = [
    path("imports/batches/<uuid:batch_id>/", import_batch, name="import_batch"),
    path("imports/batches/<uuid:batch_id>/check/", import_batch_check, name="import_batch_check"),
    path("imports/batches/<uuid:batch_id>/apply/", import_batch_apply, name="import_batch_apply"),
    path(
        "imports/batches/<uuid:batch_id>/discard/",
        import_batch_discard,
        name="import_batch_discard",
    ),
]
