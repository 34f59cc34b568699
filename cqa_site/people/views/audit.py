"""The study's log."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study

PAGE_SIZE = 50


@study_page(*RESEARCHERS)
def audit(request: HttpRequest, study: Study) -> HttpResponse:
    """List who changed what, newest first."""
    events = study.audit_events.select_related("actor")
    page = Paginator(events, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "people/audit.html", {"study": study, "section": "audit", "page": page})
