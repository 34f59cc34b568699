"""Finding arguments by a CAM service: asking it, and choosing among what it answers."""

import re
import uuid

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_POST

from annotation.corpus.models.questions import text_key
from annotation.retrieval.actions import cam as retrieval_cam
from annotation.retrieval.actions import taking as retrieval_taking
from annotation.retrieval.forms import CamForm
from annotation.retrieval.models import CamRequest
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

from .find_arguments import chosen, comparison_or_404, parts_of, tell

MOST_REQUESTS = 20


@study_page(*RESEARCHERS)
def find_cam(request: StudyRequest, study: Study, comparison_id: uuid.UUID) -> HttpResponse:
    """Ask the CAM service, and list what it was asked before."""
    comparison = comparison_or_404(study, comparison_id)
    form = CamForm(request.POST or None, initial={"aspects": request.GET.get("aspect", "")})
    if request.method == "POST" and form.is_valid():
        try:
            asked = retrieval_cam.ask(
                comparison=comparison, actor=request.user, **form.cleaned_data
            )
        except retrieval_cam.NoService as reason:
            form.add_error(None, str(reason))
        else:
            return redirect("cam_request", study.public_id, comparison.public_id, asked.public_id)
    context = {
        "study": study,
        "comparison": comparison,
        "form": form,
        "address": retrieval_cam.address_of(study),
        "requests": comparison.cam_requests.select_related("job", "created_by")[:MOST_REQUESTS],
        "argument_count": comparison.arguments.count(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/retrieval/arguments_cam.html", context, status=status)


@study_page(*RESEARCHERS)
def cam_request(
    request: StudyRequest, study: Study, comparison_id: uuid.UUID, request_id: uuid.UUID
) -> HttpResponse:
    """Show what the CAM service answered, or how far it is."""
    asked = _request(study, comparison_id, request_id)
    found = asked.found or []
    known = retrieval_taking.known_keys(
        asked.comparison, [text_key(each["text"]) for each in found]
    )
    rows = [
        {
            "place": place,
            "sentence": each,
            "parts": parts_of(each["text"], asked.comparison),
            "is_known": text_key(each["text"]) in known,
        }
        for place, each in enumerate(found, start=1)
    ]
    context = {
        "study": study,
        "comparison": asked.comparison,
        "asked": asked,
        "rows": rows,
        "fresh": len(found) - len(known),
        "argument_count": asked.comparison.arguments.count(),
    }
    return render(request, "annotation/retrieval/arguments_reply.html", context)


def _request(study: Study, comparison_id: uuid.UUID, request_id: uuid.UUID) -> CamRequest:
    rows = study.cam_requests.select_related("comparison__study", "job", "created_by")
    return get_object_or_404(rows, comparison__public_id=comparison_id, public_id=request_id)


@study_page(*RESEARCHERS)
@require_POST
def cam_take(
    request: StudyRequest, study: Study, comparison_id: uuid.UUID, request_id: uuid.UUID
) -> HttpResponse:
    """Make arguments of the chosen sentences of an answer."""
    asked = _request(study, comparison_id, request_id)
    places = [int(place) for place in chosen(request) if re.fullmatch("[0-9]{1,4}", place)]
    taken = retrieval_taking.take_cam_sentences(asked=asked, places=places, actor=request.user)
    tell(request, taken)
    return redirect("cam_request", study.public_id, comparison_id, request_id)


C = "comparisons/<uuid:comparison_id>/find/cam/"
urlpatterns = [
    path(C, find_cam, name="find_cam"),
    path(C + "<uuid:request_id>/", cam_request, name="cam_request"),
    path(C + "<uuid:request_id>/take/", cam_take, name="cam_take"),
]
