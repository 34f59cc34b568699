"""Freezing a board, and the public page of a frozen one."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchmark.actions.board_freezing import (
    BoardNotReady,
    freeze_board,
    publish_board,
    withdraw_board,
)
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study

LONGEST_NOTE = 300


@study_page(*RESEARCHERS)
@require_POST
def board_freeze(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """Freeze the live snapshot for good."""
    note = request.POST.get("note", "").replace("\x00", "").strip()[:LONGEST_NOTE]
    try:
        seen = request.POST.get("seen", "")
        freeze_board(study=study, number=number, note=note, actor=request.user, seen=seen)
    except BoardNotReady as reason:
        messages.error(request, str(reason))
        return redirect("boards", study.public_id)
    messages.success(request, _("Snapshot #%d is frozen. Its address will not change.") % number)
    return redirect("board", study.public_id, number)


@study_page(*RESEARCHERS)
@require_POST
def board_publish(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """Give a frozen snapshot a public address."""
    said = _("Snapshot #%d has a public page now.") % number
    return _changed(request, study, number, publish_board, said)


@study_page(*RESEARCHERS)
@require_POST
def board_withdraw(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """Take the public address back."""
    said = _("The public page of snapshot #%d is gone.") % number
    return _changed(request, study, number, withdraw_board, said)


def _changed(
    request: HttpRequest, study: Study, number: int, change: Callable, said: str
) -> HttpResponse:
    try:
        change(study=study, number=number, actor=request.user)
    except BoardNotReady as reason:
        messages.error(request, str(reason))
        return redirect("boards", study.public_id)
    messages.success(request, said)
    return redirect("board", study.public_id, number)


BASE = "scores/boards/<int:number>"
urlpatterns = [
    path(f"{BASE}/freeze/", board_freeze, name="board_freeze"),
    path(f"{BASE}/publish/", board_publish, name="board_publish"),
    path(f"{BASE}/withdraw/", board_withdraw, name="board_withdraw"),
]
