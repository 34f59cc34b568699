"""Pages about the REST interface, where a study's own addresses can be looked up and tried.

They are our own instead of Swagger UI or Redoc: these load one to two MB of script and the 730 kB
schema before the first word can be read, know neither the study nor the person, and Redoc adds
style elements, which the Content-Security-Policy refuses. Here is a list and a page for each
address, with 3 kB of script where a read is tried.
"""

from itertools import groupby

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

from .interface import Operation, operations

LONGEST = 100


@study_page(*RESEARCHERS)
def study_api(request: StudyRequest, study: Study) -> HttpResponse:
    """All addresses, in groups; with words, those that say all of them."""
    words = request.GET.get("q", "")[:LONGEST].casefold().split()
    found = sorted(
        (each for each in operations().values() if all(word in _text(each) for word in words)),
        key=lambda each: (each.group not in ("", "me"), str(each.title), each.path),
    )
    groups = [(title, list(rows)) for title, rows in groupby(found, lambda each: each.title)]
    context = {
        "study": study,
        "groups_of_addresses": groups,
        "number": len(found),
        "words": " ".join(words),
        "tokens": [each for each in request.user.api_tokens.all()[:50] if each.is_open],
    }
    return render(request, "api/addresses.html", context)


def _text(operation: Operation) -> str:
    return f"{operation.method} {operation.path} {operation.title} {operation.about}".casefold()


@study_page(*RESEARCHERS)
def study_api_address(request: StudyRequest, study: Study, operation: str) -> HttpResponse:
    """One address: what it takes and gives, how a shell asks for it, and a read to try."""
    found = operations().get(operation)
    if found is None:
        raise Http404
    site = f"{request.scheme}://{request.get_host()}"
    context = {
        "study": study,
        "operation": found,
        "path": found.at(study.public_id),
        "curl": found.curl(site, study.public_id),
        "asked": [each for each in found.parameters if each.name != "study_id"],
    }
    return render(request, "api/address.html", context)


urlpatterns = [
    path("api/", study_api, name="study_api"),
    path("api/<slug:operation>/", study_api_address, name="study_api_address"),
]
