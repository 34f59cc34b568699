"""The study's log."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

PAGE_SIZE = 50


@study_page(*RESEARCHERS)
def audit(request: StudyRequest, study: Study) -> HttpResponse:
    """List who changed what, newest first."""
    events = study.audit_events.select_related("actor")
    page = Paginator(events, PAGE_SIZE).get_page(request.GET.get("page"))
    for event in page:  # not in the template, where "items" may be a key of the details
        lines = [(name, _in_words(value)) for name, value in event.details.items()]
        vars(event).update(lines=lines)
    return render(request, "people/audit.html", {"study": study, "page": page})


def _in_words(value: object) -> object:
    """Nested counts and settings on one line; what is zero or empty is left out."""
    if isinstance(value, dict):
        parts = [(name, _in_words(part)) for name, part in value.items() if part]
        return "; ".join(f"{name} {part}" for name, part in parts if part)
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return value
