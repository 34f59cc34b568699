"""How far packages are that features wait for."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path

from cqa_site.judging import packages
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
def packages_state(request: StudyRequest, study: Study, part: str) -> HttpResponse:
    """Return the notice; it polls only while they are being fetched."""
    if part not in list(packages.Part):
        raise Http404
    state = packages.state(packages.Part(part))
    return render(request, "runs/_packages.html", {"study": study, "state": state})


urlpatterns = [path("packages/<slug:part>/", packages_state, name="packages_state")]
