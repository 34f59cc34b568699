"""A frozen board that anybody may read: the board alone, no study, no person, no rows."""

import uuid
from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from benchmark.leaderboard.methods.figures import Board
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.filters import Filters
from benchmark.leaderboard.reports.view import chosen_judge
from benchmark.leaderboard.reports.warnings import board_warnings

from .cards import board_context
from .files import send_figure
from .shown import Shown, wanted_columns, wants_paper, with_board

NO_INDEX = "noindex, nofollow"


def public_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate ``view(request, shown, …)``: finds the snapshot, keeps search engines away."""

    @wraps(view)
    def page(request: HttpRequest, token: uuid.UUID, **kwargs) -> HttpResponse:
        rows = BoardSnapshot.objects.filter(frozen_at__isnull=False)
        snapshot = get_object_or_404(with_board(rows), public_token=token)
        board = Board.from_dict(snapshot.stored)
        judge = chosen_judge(board, request.GET.get("judge", ""))
        is_paper = wants_paper(request)
        shown = Shown(
            snapshot,
            Filters(),
            judge,
            board,
            is_paper=is_paper,
            is_public=True,
            columns=wanted_columns(request),
        )
        response = view(request, shown, **kwargs)
        response["X-Robots-Tag"] = NO_INDEX
        return response

    return page


@public_page
def public_board(request: HttpRequest, shown: Shown) -> HttpResponse:
    """The board of the address."""
    context = board_context(shown) | {"warnings": board_warnings(shown.found[1])}
    return render(request, "benchmark/leaderboard/public_board.html", context)


@public_page
def public_board_figure(
    request: HttpRequest, shown: Shown, figure: str, format: str
) -> HttpResponse:
    """One of its figures."""
    return send_figure(request, shown, figure, format)


BASE = "public/boards/<uuid:token>"
public_urlpatterns = [
    path(f"{BASE}/", public_board, name="public_board"),
    path(f"{BASE}/<slug:figure>.<str:format>", public_board_figure, name="public_board_figure"),
]
