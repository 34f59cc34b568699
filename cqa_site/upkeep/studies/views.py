"""Pages on which a study's admins archive or delete the study and see the progress."""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.people.access import PersonRequest, StudyRequest, is_administrator, study_page
from cqa_site.people.models import Role, Study
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.runs.models import Job
from .deletion import (
    DELETE_JOB,
    NotArchived,
    StudyBusy,
    archive_study,
    contents_of,
    delete_study,
    unarchive_study,
)


class StudyNameForm(forms.Form):
    """A form in which admins type the study's name, to prevent accidental deletion."""

    name = forms.CharField(label=lazy("Name of the study"))

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields["name"].widget.attrs["autocomplete"] = "off"

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.study.name.strip():
            raise forms.ValidationError(_("This does not match the study's name."))
        return name


@study_page(Role.ADMIN, only="POST")
def study_archive(request: StudyRequest, study: Study) -> HttpResponse:
    """Archive the study, or list the active work."""
    try:
        archive_study(study=study, actor=request.user)
    except StudyBusy as busy:
        return _busy(request, study, busy)
    messages.success(request, _("Archived. Everything can still be read and exported."))
    return redirect("study_settings", study.public_id)


@study_page(Role.ADMIN, in_archive=True, only="POST")
def study_unarchive(request: StudyRequest, study: Study) -> HttpResponse:
    unarchive_study(study=study, actor=request.user)
    messages.success(request, _("Restored. Its rounds stay closed until you reopen them."))
    return redirect("study", study.public_id)


@study_page(Role.ADMIN, in_archive=True)
def study_delete(request: StudyRequest, study: Study) -> HttpResponse:
    """List the content, and delete the study if its name was entered."""
    form = StudyNameForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        try:
            job = delete_study(study=study, actor=request.user)
        except NotArchived:
            return redirect("study_settings", study.public_id)
        except StudyBusy as busy:
            return _busy(request, study, busy)
        return redirect("study_deletion", job.public_id)
    if not study.is_archived:
        return redirect("study_settings", study.public_id)
    context = {"study": study, "form": form, "contents": contents_of(study)}
    status = 422 if form.errors else 200
    return render(request, "upkeep/study_delete.html", context, status=status)


def _busy(request: StudyRequest, study: Study, busy: StudyBusy) -> HttpResponse:
    context = {"study": study, "active": busy.active}
    return render(request, "upkeep/study_busy.html", context, status=409)


@login_required
def study_deletion(request: PersonRequest, job_id: uuid.UUID) -> HttpResponse:
    """Show a deletion's progress to the person who requested it and to site administrators."""
    jobs = Job.objects.filter(study=None, kind=DELETE_JOB)
    if not is_administrator(request.user):
        jobs = jobs.filter(created_by=request.user)
    job = get_object_or_404(jobs, public_id=job_id)
    context = {"job": job, "worker_alive": is_worker_alive() if job.is_active else None}
    template = "runs/_job.html" if request.htmx else "upkeep/study_deletion.html"
    return render(request, template, context | {"progress_url": request.path})
