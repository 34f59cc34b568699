"""Files that go out: ask for them, watch them being made, download them."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from annotation.exports.actions import exports as actions
from annotation.exports.forms import ExportForm
from annotation.exports.models import ExportFile
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.files.sending import sent_file, sent_manifest
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.jobs import is_worker_alive

PER_PAGE = 25


@study_page(*RESEARCHERS)
def exports(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """List the files made so far, and take the wish for new ones."""
    campaign = get_object_or_404(campaigns_of(study), public_id=campaign_id)
    form = ExportForm(request.POST or None, campaign=campaign, initial=_asked_for(request))
    if request.method == "POST" and form.is_valid():
        return _request(request, study, campaign, form)
    context = _listed(request, study, campaign) | {"form": form}
    return render(
        request, "annotation/exports/exports.html", context, status=422 if form.errors else 200
    )


@study_page(*RESEARCHERS)
def export_list(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Only the list, for the page that waits."""
    campaign = get_object_or_404(campaigns_of(study), public_id=campaign_id)
    return render(request, "annotation/exports/_list.html", _listed(request, study, campaign))


@study_page(*RESEARCHERS)
def export_download(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, export_id: uuid.UUID
) -> FileResponse:
    """The finished file."""
    return sent_file(_finished(study, campaign_id, export_id))


@study_page(*RESEARCHERS)
def export_manifest(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, export_id: uuid.UUID
) -> FileResponse:
    """What is in the finished file."""
    return sent_manifest(_finished(study, campaign_id, export_id))


def _asked_for(request: StudyRequest) -> dict[str, str]:
    """The snapshot another page sent along in its link."""
    return {"snapshot": request.GET.get("snapshot", "")}


def _request(
    request: StudyRequest, study: Study, campaign: Campaign, form: ExportForm
) -> HttpResponse:
    try:
        actions.request_exports(
            campaign=campaign,
            snapshot=form.cleaned_data["snapshot"],
            contents=form.cleaned_data["contents"],
            format=form.cleaned_data["format"],
            options=form.options,
            actor=request.user,
        )
    except actions.ExportNotPossible as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("The files are being made."))
    return redirect("exports", study.public_id, campaign.public_id)


def _listed(request: StudyRequest, study: Study, campaign: Campaign) -> dict[str, object]:
    files = campaign.export_files.select_related("snapshot", "job", "created_by").defer(
        "snapshot__rows", "snapshot__figures"
    )
    page = Paginator(files, PER_PAGE).get_page(request.GET.get("page"))
    jobs = {file.job.pk: file.job for file in page if file.job and file.job.is_active}
    return {
        "study": study,
        "campaign": campaign,
        "page": page,
        "jobs": list(jobs.values()),
        "worker_alive": is_worker_alive() if jobs else None,
        "retention_days": settings.EXPORT_RETENTION_DAYS,
    }


def _finished(study: Study, campaign_id: uuid.UUID, export_id: uuid.UUID) -> ExportFile:
    files = ExportFile.objects.filter(campaign__study=study, campaign__public_id=campaign_id)
    file = get_object_or_404(
        files.select_related("campaign", "snapshot").defer("snapshot__rows", "snapshot__figures"),
        public_id=export_id,
    )
    if not file.finished_at:
        raise Http404
    return file


urlpatterns = [
    path("label-rounds/<uuid:campaign_id>/exports/", exports, name="exports"),
    path("label-rounds/<uuid:campaign_id>/exports/list/", export_list, name="export_list"),
    path(
        "label-rounds/<uuid:campaign_id>/exports/<uuid:export_id>/file/",
        export_download,
        name="export_download",
    ),
    path(
        "label-rounds/<uuid:campaign_id>/exports/<uuid:export_id>/manifest/",
        export_manifest,
        name="export_manifest",
    ),
]
