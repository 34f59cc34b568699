"""Progress of background work."""

import uuid

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from cqa_site.people.access import (
    RESEARCHERS,
    PersonRequest,
    StudyRequest,
    administrator_page,
    study_page,
)
from cqa_site.people.models import Study
from cqa_site.runs import jobs
from cqa_site.runs.models import Job


@study_page(*RESEARCHERS)
def job_progress(request: StudyRequest, study: Study, job_id: uuid.UUID) -> HttpResponse:
    """Return the progress fragment; it polls only while the job is active."""
    return _progress(request, get_object_or_404(study.jobs, public_id=job_id), study=study)


@administrator_page
def site_job_progress(request: PersonRequest, job_id: uuid.UUID) -> HttpResponse:
    """The same of work that the whole site asked for."""
    return _progress(request, get_object_or_404(Job, study=None, public_id=job_id))


def _progress(request: PersonRequest, job: Job, study: Study | None = None) -> HttpResponse:
    context: dict[str, object] = {"job": job, "study": study}
    if not job.is_active:
        response = render(request, "runs/_job.html", context)
        response["HX-Trigger"] = "job-ended"
        return response
    context |= {"worker_alive": jobs.is_worker_alive()}
    return render(request, "runs/_job.html", context)


of_site = [path("site/jobs/<uuid:job_id>/", site_job_progress, name="site_job_progress")]
urlpatterns = [path("jobs/<uuid:job_id>/", job_progress, name="job_progress")]
