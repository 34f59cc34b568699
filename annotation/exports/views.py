"""Pages for requesting, tracking and downloading export files."""

import json
import uuid

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.exports import actions
from annotation.exports.forms import AnswersFileForm, ExportForm
from annotation.exports.models import ExportFile
from annotation.exports.reports.answers_export import TABLES, ExportRequest, plain_cells
from annotation.labelling.models import LabelRound
from annotation.labelling.views.rounds import label_round_or_404
from cqa_site.files.actions.exports import FileTable, sent_file, sent_manifest, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study
from cqa_site.runs.jobs import is_worker_alive

# Export files: requests, progress and downloads

PER_PAGE = 25


@study_page(*RESEARCHERS, in_archive=True)
def exports(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """List the existing files, and accept requests for new ones."""
    label_round = label_round_or_404(study, label_round_id)
    form = ExportForm(request.POST or None, label_round=label_round, initial=_asked_for(request))
    if request.method == "POST" and form.is_valid():
        return _request(request, study, label_round, form)
    context = _listed(request, study, label_round) | {"form": form}
    return render(
        request, "annotation/exports/exports.html", context, status=422 if form.errors else 200
    )


@study_page(*RESEARCHERS)
def export_list(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Return only the list, for pages that wait for a file."""
    label_round = label_round_or_404(study, label_round_id)
    return render(request, "annotation/exports/_list.html", _listed(request, study, label_round))


@study_page(*RESEARCHERS)
def export_download(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, export_id: uuid.UUID
) -> FileResponse:
    """Send the finished file."""
    return sent_file(_finished(study, label_round_id, export_id))


@study_page(*RESEARCHERS)
def export_manifest(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, export_id: uuid.UUID
) -> FileResponse:
    """Send the manifest of the finished file."""
    return sent_manifest(_finished(study, label_round_id, export_id))


def _asked_for(request: StudyRequest) -> dict[str, str]:
    """Return the snapshot selected in a link from another page."""
    return {"snapshot": request.GET.get("snapshot", "")}


def _request(
    request: StudyRequest, study: Study, label_round: LabelRound, form: ExportForm
) -> HttpResponse:
    try:
        actions.request_exports(
            label_round=label_round,
            snapshot=form.cleaned_data["snapshot"],
            contents=form.cleaned_data["contents"],
            format=form.cleaned_data["format"],
            options=form.options,
            actor=request.user,
        )
    except actions.ExportNotPossible as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("The files are being created."))
    return redirect("exports", study.public_id, label_round.public_id)


def _listed(request: StudyRequest, study: Study, label_round: LabelRound) -> dict[str, object]:
    files = label_round.export_files.select_related("snapshot", "job", "created_by").defer(
        "snapshot__rows", "snapshot__figures"
    )
    page = Paginator(files, PER_PAGE).get_page(request.GET.get("page"))
    jobs = {file.job.pk: file.job for file in page if file.job and file.job.is_active}
    return {
        "study": study,
        "round": label_round,
        "page": page,
        "jobs": list(jobs.values()),
        "worker_alive": is_worker_alive() if jobs else None,
        "retention_days": settings.EXPORT_RETENTION_DAYS,
    }


def _finished(study: Study, label_round_id: uuid.UUID, export_id: uuid.UUID) -> ExportFile:
    files = ExportFile.objects.filter(
        label_round__study=study, label_round__public_id=label_round_id
    )
    file = get_object_or_404(
        files.select_related("label_round", "snapshot").defer(
            "snapshot__rows", "snapshot__figures"
        ),
        public_id=export_id,
    )
    if not file.finished_at:
        raise Http404
    return file


export_urls = [
    path("label-rounds/<uuid:label_round_id>/exports/", exports, name="exports"),
    path("label-rounds/<uuid:label_round_id>/exports/list/", export_list, name="export_list"),
    path(
        "label-rounds/<uuid:label_round_id>/exports/<uuid:export_id>/file/",
        export_download,
        name="export_download",
    ),
    path(
        "label-rounds/<uuid:label_round_id>/exports/<uuid:export_id>/manifest/",
        export_manifest,
        name="export_manifest",
    ),
]


@study_page(*RESEARCHERS, in_archive=True, only="POST")
def answers_file(request: StudyRequest, study: Study) -> HttpResponse | FileResponse:
    """Send one table, created on request."""
    form = AnswersFileForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose the content and format of the file."))
        return redirect("questions", study.public_id)
    cleaned_data = form.cleaned_data
    wish = ExportRequest(study, with_comments=cleaned_data["with_comments"])
    record(
        study=study,
        actor=request.user,
        verb="answers_exported",
        subject=study.name,
        **cleaned_data,
    )
    table = TABLES[cleaned_data["content"]](wish)
    if cleaned_data["format"] == "csv":
        table = FileTable(table.types, plain_cells(table.rows, _as_text))
    name = f"{slugify(study.name, allow_unicode=True)[:60] or 'study'}-{cleaned_data['content']}"
    return sent_table(
        table,
        name=f"{name}.{cleaned_data['format']}",
        format=cleaned_data["format"],
        is_raw=cleaned_data["is_raw"],
    )


def _as_text(nested: dict | list) -> str:
    return json.dumps(nested, ensure_ascii=False)


answers_file_urls = [path("answers/file/", answers_file, name="answers_file")]
