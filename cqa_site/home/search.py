"""What the menu of a study asks for after the page is there: counts, and things by their names."""

from django.http import HttpResponse, JsonResponse
from django.urls import path
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.web.navigation.menu import entries
from cqa_site.web.navigation.search import find

# Counts may be so many seconds old while somebody goes from page to page.
FRESH_SECONDS = 15
LONGEST = 100


@study_page(*RESEARCHERS, Role.EXPERT)
@require_safe
def waiting(request: StudyRequest, study: Study) -> HttpResponse:
    """How many things wait in each entry of the menu that counts them."""
    counts = {
        entry.page: entry.waits(study)
        for entry in entries()
        if entry.waits and request.membership.role in entry.roles
    }
    reply = JsonResponse({"waiting": counts})
    patch_cache_control(reply, private=True, max_age=FRESH_SECONDS)
    return reply


@study_page(*RESEARCHERS, Role.EXPERT)
@require_safe
def search(request: StudyRequest, study: Study) -> HttpResponse:
    """Things of the study whose names hold the words, a few of each kind."""
    words = request.GET.get("q", "")[:LONGEST].split()
    found = find(study, request.membership.role, words) if words else []
    return JsonResponse({"found": found})


urlpatterns = [
    path("waiting/", waiting, name="study_waiting"),
    path("search/", search, name="study_search"),
]
