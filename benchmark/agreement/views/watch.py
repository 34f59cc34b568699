"""Whether newer figures are there than those a page shows; asks for them where sheets moved on."""

from http import HTTPStatus

from django.http import HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from benchmark.agreement.actions import shown_agreement
from benchmark.leaderboard.views.shown import live_board, rubric_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study


@study_page(*RESEARCHERS)
@require_safe
def score_watch(request: StudyRequest, study: Study) -> HttpResponse:
    """Nothing, or the word to load the page again once its figures are no longer the newest."""
    if request.GET.get("condition"):
        found = shown_agreement(study, request.GET, request.user)
        return _refresh_if(bool(found.stored) or found.is_failed)
    rubric, _known = rubric_of(study, request)
    shown = live_board(request, study, rubric) if rubric else None
    if shown is None or shown.snapshot is None:
        return _refresh_if(False)
    return _refresh_if(shown.digest != request.GET.get("seen", ""))


def _refresh_if(is_newer: bool) -> HttpResponse:
    if not is_newer:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = HttpResponse()
    response["HX-Refresh"] = "true"
    return response


urlpatterns = [path("scores/watch/", score_watch, name="score_watch")]
