"""Progress of background work."""

import uuid

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs import jobs


@study_page(*RESEARCHERS)
def job_progress(request: StudyRequest, study: Study, job_id: uuid.UUID) -> HttpResponse:
    """Return the progress fragment; it polls only while the job is active."""
    job = get_object_or_404(study.jobs, public_id=job_id)
    if not job.is_active:
        response = render(request, "runs/_job.html", {"job": job, "study": study})
        response["HX-Trigger"] = "job-ended"
        return response
    return render(
        request,
        "runs/_job.html",
        {"job": job, "study": study, "worker_alive": jobs.is_worker_alive()},
    )


urlpatterns = [path("jobs/<uuid:job_id>/", job_progress, name="job_progress")]
