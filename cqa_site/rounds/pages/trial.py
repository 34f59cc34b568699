"""A round's work page for researchers, as people see it; whatever they enter is not stored."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST, require_safe

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

from ..trial import sheet_on_trial, tried_items
from .ways import trial_ways
from .work import Face, show_sheet, take_save, take_submit

# Digits of a version that fits its column.
LONGEST_VERSION = 9


def trial_urls(face: Face, rounds: str) -> list[URLPattern]:
    """The addresses of a kind's work page on trial; a converter in the route names the round."""
    name, place = face.kind.work_page, f"{rounds}trial/<int:number>/"

    @study_page(*RESEARCHERS)
    @require_safe
    def trial(request: StudyRequest, study: Study, number: int, **ids: uuid.UUID) -> HttpResponse:
        """Show an item of a round as people see it."""
        return _tried(face, request, study, ids, number, show_sheet)

    @study_page(*RESEARCHERS)
    @require_POST
    def save(request: StudyRequest, study: Study, number: int, **ids: uuid.UUID) -> HttpResponse:
        """Answer as a save would be."""
        return _tried(face, request, study, ids, number, take_save)

    @study_page(*RESEARCHERS)
    @require_POST
    def submit(request: StudyRequest, study: Study, number: int, **ids: uuid.UUID) -> HttpResponse:
        """Answer as a submission would be, and go on."""
        return _tried(face, request, study, ids, number, take_submit)

    return [
        path(place, trial, name=f"{name}_trial"),
        path(f"{place}save/", save, name=f"{name}_trial_save"),
        path(f"{place}submit/", submit, name=f"{name}_trial_submit"),
    ]


def _tried(
    face: Face,
    request: StudyRequest,
    study: Study,
    ids: dict[str, uuid.UUID],
    number: int,
    answer: Callable[..., HttpResponse],
) -> HttpResponse:
    """Answer about a sheet that is gone with the answer."""
    (round_id,) = ids.values()
    rounds = face.kind.Round._default_manager.filter(study=study).select_related("study")
    round_: Any = get_object_or_404(rounds, public_id=round_id)
    items = list(tried_items(round_))
    if not 1 <= number <= len(items):
        raise Http404
    begun = partial(sheet_on_trial, round_, items[number - 1], number=number)
    with begun(version=_version(request.POST.get("base_version", ""))) as sheet:
        sheet.ways = trial_ways(round_, number, len(items))
        return answer(face, request, sheet)


def _version(text: str) -> int:
    """That of the page, which saved before to no effect."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST_VERSION else 0
