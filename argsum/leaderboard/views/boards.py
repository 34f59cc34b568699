"""Snapshots of key points: asked for, listed, read, taken away, and read by anybody."""

import uuid
from typing import Any
from urllib.parse import parse_qsl

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from argsum.leaderboard.actions import JOB, KEY_POINTS, request_board
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.leaderboard.reports.choice import board_choice
from argsum.leaderboard.reports.kept_tables import kept_tables
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file
from cqa_site.results.files import snapshot_file
from cqa_site.results.pages import SnapshotFace, freezing_urls
from cqa_site.runs.models import Job

PER_PAGE = 25
NO_INDEX = "noindex, nofollow"


@study_page(*RESEARCHERS)
def key_point_boards(request: StudyRequest, study: Study) -> HttpResponse:
    """List the snapshots of a study."""
    rows = study.key_point_snapshots.filter(computed_at__isnull=False)
    rows = rows.select_related("dataset", "frozen_by").defer("rows", "figures")
    jobs = Job.objects.filter(study=study, kind=JOB).order_by("-created_at", "-pk")
    context = {
        "study": study,
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "job": jobs.first(),
    }
    return render(request, "argsum/leaderboard/key_point_boards.html", context)


@study_page(*RESEARCHERS)
@require_POST
def key_point_boards_ask(request: StudyRequest, study: Study) -> HttpResponse:
    """Keep a leaderboard as it is chosen; it becomes the live snapshot of its split."""
    choice = board_choice(
        study, dict(parse_qsl(request.POST.get("choice", ""), keep_blank_values=True))
    )
    if choice.dataset is None:
        raise Http404
    request_board(choice=choice, actor=request.user)
    messages.success(request, _("The snapshot is being computed; it will stand in the list."))
    return redirect("key_point_boards", study.public_id)


@study_page(*RESEARCHERS)
def key_point_board(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """One snapshot under its permanent address."""
    snapshot = _snapshot_or_404(study, number)
    place = (study.public_id, number)
    context = {
        "study": study,
        "snapshot": snapshot,
        "cards": _figures(snapshot, "key_point_board_figure", place),
        "is_stale": not snapshot.is_frozen and _is_stale(study, snapshot),
    }
    return render(request, "argsum/leaderboard/key_point_board.html", context)


@study_page(*RESEARCHERS)
def key_point_board_figure(
    request: StudyRequest, study: Study, number: int, figure: str, format: str
) -> HttpResponse:
    """Send one of its figures."""
    snapshot = _snapshot_or_404(study, number)
    cards = _figures(snapshot, "key_point_board_figure", (study.public_id, number))
    return figure_file(request, cards, figure, format)


def _snapshot_or_404(study: Study, number: int) -> KeyPointSnapshot:
    rows = study.key_point_snapshots.select_related("dataset", "frozen_by").defer("rows")
    return get_object_or_404(rows, number=number, computed_at__isnull=False)


@study_page(*RESEARCHERS)
def key_point_board_file(
    request: StudyRequest, study: Study, number: int, name: str
) -> HttpResponse:
    """Send the rows, the manifest, or everything in one archive."""
    rows = study.key_point_snapshots.filter(computed_at__isnull=False)
    found = get_object_or_404(rows, number=number)
    return snapshot_file(KEY_POINTS, found, name, called="key-points")


def public_key_points(request: StudyRequest, token: uuid.UUID) -> HttpResponse:
    """A frozen snapshot that anybody may read: no study, no person, no rows."""
    snapshot = get_object_or_404(_public_rows(), public_token=token)
    cards = _figures(snapshot, "public_key_points_figure", (token,))
    context = {"snapshot": snapshot, "cards": cards}
    response = render(request, "argsum/leaderboard/public_key_points.html", context)
    response["X-Robots-Tag"] = NO_INDEX
    return response


def public_key_points_figure(
    request: StudyRequest, token: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """One of its figures."""
    snapshot = get_object_or_404(_public_rows(), public_token=token)
    cards = _figures(snapshot, "public_key_points_figure", (token,))
    response = figure_file(request, cards, figure, format)
    response["X-Robots-Tag"] = NO_INDEX
    return response


def _public_rows() -> QuerySet[KeyPointSnapshot]:
    return KeyPointSnapshot.objects.filter(frozen_at__isnull=False).defer("rows")


def _figures(snapshot: KeyPointSnapshot, view: str, ids: tuple[Any, ...]) -> list[Figure]:
    """Everything that a snapshot holds."""
    return [
        Figure(
            slug=table.name,
            title=table.caption,
            recipe=table.note,
            table=table,
            files=Files(view=view, ids=ids),
        )
        for table in kept_tables(snapshot)
    ]


def _is_stale(study: Study, snapshot: KeyPointSnapshot) -> bool:
    choice = board_choice(study, dict(parse_qsl(snapshot.recipe["query"], keep_blank_values=True)))
    return snapshot.marker != KEY_POINTS.marker(choice)


BASE = "key-points/boards"
ONE = f"{BASE}/<int:number>"
urlpatterns = [
    path(f"{BASE}/", key_point_boards, name="key_point_boards"),
    path(f"{BASE}/ask/", key_point_boards_ask, name="key_point_boards_ask"),
    path(f"{ONE}/", key_point_board, name="key_point_board"),
    path(f"{ONE}/files/<str:name>", key_point_board_file, name="key_point_board_file"),
    path(
        f"{ONE}/<slug:figure>.<str:format>", key_point_board_figure, name="key_point_board_figure"
    ),
    *freezing_urls(SnapshotFace(KEY_POINTS, ONE, "key_point_board", "key_point_boards")),
]
public_urlpatterns = [
    path("public/key-points/<uuid:token>/", public_key_points, name="public_key_points"),
    path(
        "public/key-points/<uuid:token>/<slug:figure>.<str:format>",
        public_key_points_figure,
        name="public_key_points_figure",
    ),
]
