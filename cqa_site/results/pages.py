"""Views to freeze, publish and withdraw a snapshot, with the same addresses for every kind."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.db import models
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from . import snapshots
from .snapshots import ResultKind

LONGEST_NOTE = 300


def of_study(study: Study) -> Study:
    """Return the study itself, as the owner of snapshots that are numbered within it."""
    return study


@dataclass(frozen=True)
class SnapshotPages:
    """The addresses and names of a kind's snapshot pages.

    Attributes
    ----------
    base
        Address of one snapshot inside a study, with ``<int:number>``.
    page, list_page
        Names of the addresses of one snapshot and of the list.
    owner
        Finds the owner of the numbering from the ids in an address; raises Http404.
    is_publishable
        Whether a frozen snapshot can have a public page.
    """

    kind: ResultKind
    base: str
    page: str
    list_page: str
    owner: Callable[..., models.Model] = of_study
    is_publishable: bool = True


def freezing_urls(pages: SnapshotPages) -> list[URLPattern]:
    """Return the addresses to freeze, publish and withdraw, named ``<page>_freeze`` and so on."""
    kind = pages.kind

    def freeze(request: StudyRequest, owner: models.Model, number: int) -> str:
        note = request.POST.get("note", "").replace("\x00", "").strip()[:LONGEST_NOTE]
        seen, actor = request.POST.get("seen", ""), request.user
        snapshots.freeze(kind, owner=owner, number=number, note=note, actor=actor, seen=seen)
        return _("Snapshot #%d is frozen. Its address will not change.") % number

    def publish(request: StudyRequest, owner: models.Model, number: int) -> str:
        snapshots.publish(kind, owner=owner, number=number, actor=request.user)
        return _("Snapshot #%d now has a public page.") % number

    def withdraw(request: StudyRequest, owner: models.Model, number: int) -> str:
        snapshots.withdraw(kind, owner=owner, number=number, actor=request.user)
        return _("The public page of snapshot #%d was withdrawn.") % number

    changes = [freeze, publish, withdraw] if pages.is_publishable else [freeze]
    return [
        path(
            f"{pages.base}/{change.__name__}/",
            _posted(pages, change),
            name=f"{pages.page}_{change.__name__}",
        )
        for change in changes
    ]


def _posted(pages: SnapshotPages, change: Callable[..., str]) -> Callable[..., HttpResponseBase]:
    @study_page(*RESEARCHERS, only="POST")
    def view(request: StudyRequest, study: Study, number: int, **ids: uuid.UUID) -> HttpResponse:
        owner = pages.owner(study, **ids)
        place = {"study_id": study.public_id, **ids}
        try:
            messages.success(request, change(request, owner, number))
        except snapshots.SnapshotNotReady as reason:
            messages.error(request, str(reason))
            return redirect(reverse(pages.list_page, kwargs=place))
        return redirect(reverse(pages.page, kwargs={**place, "number": number}))

    return view
