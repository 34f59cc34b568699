"""Pages of the leaderboard and its snapshots."""

import uuid
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import NoReverseMatch, path, reverse
from django.utils.translation import gettext as _, ngettext

from argsum.datasets.models import Cell
from argsum.leaderboard.actions import JOB, KEY_POINTS, request_board
from argsum.leaderboard.methods import FIGURES, SELECTIONS, SystemRow
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.leaderboard.reports.board import STEPS, SummaryBoard, board_choice, summary_board
from argsum.leaderboard.reports.charts import BOARD_CHARTS, MOST, board_finding, why_no_interval
from argsum.leaderboard.reports.snapshot import kept_tables
from argsum.leaderboard.reports.tables import (
    FIGURE_NAMES,
    SELECTION_NAMES,
    board_method,
    board_table,
    cells_table,
    printed_board,
    printed_cells,
    source_name,
    unfinished_notes,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.boards import NOTHING, Board, BoardCell, BoardColumn, BoardRow, figure_cell
from cqa_site.results.figures import TABLES, Figure, Files, figure_file, snapshot_file
from cqa_site.results.pages import SnapshotPages, freezing_urls
from cqa_site.runs.models import Job
from cqa_site.web.charts.points import chart_of


@study_page(*RESEARCHERS)
def key_points(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the systems of a dataset, best first; form changes reload only the board."""
    choice = board_choice(study, request.GET.dict())
    board = summary_board(choice)
    systems, _cells, *charts = _board_figures(study, board)
    is_part = request.headers.get("HX-Request") and not request.headers.get("HX-Boosted")
    context = {
        "study": study,
        "is_part": is_part,
        "choice": choice,
        "board": board,
        "splits": [(split, Cell.Split(split).label) for split in choice.splits],
        "selections": [(name, SELECTION_NAMES[name]) for name in SELECTIONS],
        "coverage_sources": [
            (coverage_source, source_name(coverage_source))
            for coverage_source in choice.coverage_sources
        ],
        "redundancy_sources": [
            (redundancy_source, source_name(redundancy_source))
            for redundancy_source in choice.redundancy_sources
        ],
        "step": 1 / STEPS,
        "finding": board_finding(board),
        "card": systems,
        "charts": [chart for chart in charts if chart.alt],
        "unfinished": unfinished_notes(board),
    }
    page = "argsum/leaderboard/_board.html" if is_part else "argsum/leaderboard/key_points.html"
    return render(request, page, context)


# Glossary entries for columns.
WORDS = {"weighted": "weighted score", "coverage": "coverage", "redundancy": "redundancy"}


def _board(study: Study, board: SummaryBoard) -> Board:
    n_cells = len(board.cells)
    columns = [
        BoardColumn(name, str(FIGURE_NAMES[name]), partial(_cell, name, n_cells), word=word)
        for name, word in ((name, WORDS.get(name, "")) for name in FIGURES)
    ]
    rows = [
        BoardRow(
            name=row.system,
            badge=_("oracle") if row.selection == "oracle" else "",
            about="; ".join([_about(row), *_without_interval(row)]),
            cells=[column.cell(row) for column in columns],
            behind=_behind(study, row, board),
        )
        for row in board.rows
    ]
    return Board(
        columns=columns, rows=rows, is_ranked=False, behind="argsum/leaderboard/_board_cells.html"
    )


def _about(row: SystemRow) -> str:
    """Return a system's setting and how it was chosen."""
    fields = {"n": row.settings, "by": FIGURE_NAMES.get(row.criterion, "")}
    if row.selection == "oracle":
        return _("best of %(n)d settings per cell, by %(by)s") % fields
    how = f"{row.setting or NOTHING} · {SELECTION_NAMES[row.selection]}"
    if row.criterion:
        return f"{how} ({_('one of %(n)d settings, by %(by)s') % fields})"
    return f"{how} ({_('one of %(n)d settings') % fields})" if row.settings > 1 else how


def _without_interval(row: SystemRow) -> list[str]:
    """Return why figures with a value have no interval, each reason once."""
    names: dict[str, list[str]] = {}
    for name in FIGURES:
        names.setdefault(why_no_interval(row.figures[name]), []).append(str(FIGURE_NAMES[name]))
    text = _("no interval for %s: %s")
    return [text % (", ".join(own), reason) for reason, own in names.items() if reason]


def _zeros(row: SystemRow, name: str) -> float | None:
    """Return the mean index, or None; cells with too few clustered arguments count as 0."""
    over = row.excluding
    return over.with_zeros if name == "excluding" and over.n < over.cells else None


def _cell(name: str, n_cells: int, row: SystemRow) -> BoardCell:
    estimate, with_zeros = row.figures[name], _zeros(row, name)
    fields = {"n": estimate.n_values, "all": n_cells}
    notes = [_("no interval")] if why_no_interval(estimate) else []
    if estimate.n_values < n_cells:
        notes.append(_("%(n)d of %(all)d cells") % fields)
    if with_zeros is not None:
        notes.append(_("%.3f, counting the other cells as 0") % with_zeros)
    return figure_cell(estimate, decimals=3, notes=notes)


def _behind(study: Study, row: SystemRow, board: SummaryBoard) -> dict[str, Any]:
    """Return the cells behind a row, and the cells without a set in its setting."""
    return {
        "cells": [
            {
                "cell": cell,
                "set": row.chosen[str(cell.pk)],
                "url": _set_url(study, board.public_ids[row.chosen[str(cell.pk)].key]),
                "values": [
                    (row.by_cell[str(cell.pk)][name], row.clustering_setting(str(cell.pk), name))
                    for name in FIGURES
                ],
            }
            for cell in board.cells
            if str(cell.pk) in row.by_cell
        ],
        "without": [cell for cell in board.cells if str(cell.pk) not in row.by_cell],
    }


def _set_url(study: Study, set_id: str) -> str:
    """Return the URL of a set, or "" if this site has no page for it."""
    try:
        return reverse("summary_set", args=[study.public_id, set_id])
    except NoReverseMatch:
        return ""


@study_page(*RESEARCHERS)
def key_points_figure(
    request: StudyRequest, study: Study, figure: str, format: str
) -> HttpResponse:
    """Send a chart, or the systems or cells as CSV, LaTeX or Markdown."""
    board = summary_board(board_choice(study, request.GET.dict()))
    return figure_file(request, _board_figures(study, board), figure, format)


def _board_figures(study: Study, board: SummaryBoard) -> list[Figure]:
    """Return the systems, their cells, and the charts."""
    files = Files(
        view="key_points_figure",
        ids=(study.public_id,),
        query=board.choice.query,
        version=board.digest,
    )
    n = len(board.cells)
    cells = Figure(
        slug="cells",
        title=_("Systems by cell"),
        table=cells_table(board),
        printed=partial(printed_cells, board),
        files=files,
    )
    systems = Figure(
        slug="systems",
        title=_("Systems"),
        about=f"{board.choice.dataset} · {ngettext('%d cell', '%d cells', n) % n}",
        recipe=board_method(board),
        table=board_table(board),
        printed=partial(printed_board, board),
        body="argsum/leaderboard/_systems.html",
        data=_board(study, board),
        files=files,
        more=cells.links_as({end: _("%s by cell") % words for end, words in TABLES.items()}),
    )
    return [systems, cells, *(_chart(name, board, files) for name in BOARD_CHARTS)]


def _chart(name: str, board: SummaryBoard, files: Files) -> Figure:
    chart = BOARD_CHARTS[name]
    drawn = _("The chart shows the first %d systems in the table.") % MOST
    return Figure(
        slug=name,
        anchor=f"chart-{name}",
        title=chart.title,
        recipe=f"{chart.recipe} {drawn}" if len(board.rows) > MOST else chart.recipe,
        table=chart.table(board, f"key-points-{name}"),
        files=files,
        **chart_of({name: chart.chart}, name, board),
    )


BOARD_BASE = "key-points"
urlpatterns = [
    path(f"{BOARD_BASE}/", key_points, name="key_points"),
    path(
        f"{BOARD_BASE}/leaderboard/<slug:figure>.<str:format>",
        key_points_figure,
        name="key_points_figure",
    ),
]

# Key point snapshots: request, list, page, files and public page

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


@study_page(*RESEARCHERS, only="POST")
def key_point_boards_ask(request: StudyRequest, study: Study) -> HttpResponse:
    """Save the chosen leaderboard; it becomes the live snapshot of its split."""
    choice = board_choice(
        study, dict(parse_qsl(request.POST.get("choice", ""), keep_blank_values=True))
    )
    if choice.dataset is None:
        raise Http404
    request_board(choice=choice, actor=request.user)
    messages.success(request, _("The snapshot is being computed. It will appear in the list."))
    return redirect("key_point_boards", study.public_id)


@study_page(*RESEARCHERS)
def key_point_board(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """Show one snapshot at its permanent address."""
    snapshot = _snapshot_or_404(study, number)
    place = (study.public_id, number)
    context = {
        "study": study,
        "snapshot": snapshot,
        "cards": _snapshot_figures(snapshot, "key_point_board_figure", place),
        "is_stale": not snapshot.is_frozen and _is_stale(study, snapshot),
    }
    return render(request, "argsum/leaderboard/key_point_board.html", context)


@study_page(*RESEARCHERS)
def key_point_board_figure(
    request: StudyRequest, study: Study, number: int, figure: str, format: str
) -> HttpResponse:
    """Send a figure of a snapshot."""
    snapshot = _snapshot_or_404(study, number)
    cards = _snapshot_figures(snapshot, "key_point_board_figure", (study.public_id, number))
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
    snapshot = get_object_or_404(rows, number=number)
    return snapshot_file(KEY_POINTS, snapshot, name, called="key-points")


def public_key_points(request: StudyRequest, token: uuid.UUID) -> HttpResponse:
    """Show a frozen snapshot to the public, without the study, people or rows."""
    snapshot = get_object_or_404(_public_rows(), public_token=token)
    cards = _snapshot_figures(snapshot, "public_key_points_figure", (token,))
    context = {"snapshot": snapshot, "cards": cards}
    response = render(request, "argsum/leaderboard/public_key_points.html", context)
    response["X-Robots-Tag"] = NO_INDEX
    return response


def public_key_points_figure(
    request: StudyRequest, token: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send a figure of a public snapshot."""
    snapshot = get_object_or_404(_public_rows(), public_token=token)
    cards = _snapshot_figures(snapshot, "public_key_points_figure", (token,))
    response = figure_file(request, cards, figure, format)
    response["X-Robots-Tag"] = NO_INDEX
    return response


def _public_rows() -> QuerySet[KeyPointSnapshot]:
    return KeyPointSnapshot.objects.filter(frozen_at__isnull=False).defer("rows")


def _snapshot_figures(snapshot: KeyPointSnapshot, view: str, ids: tuple[Any, ...]) -> list[Figure]:
    """Return all tables of a snapshot."""
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


SNAPSHOT_BASE = "key-points/boards"
ONE_SNAPSHOT = f"{SNAPSHOT_BASE}/<int:number>"
urlpatterns += [
    path(f"{SNAPSHOT_BASE}/", key_point_boards, name="key_point_boards"),
    path(f"{SNAPSHOT_BASE}/ask/", key_point_boards_ask, name="key_point_boards_ask"),
    path(f"{ONE_SNAPSHOT}/", key_point_board, name="key_point_board"),
    path(f"{ONE_SNAPSHOT}/files/<str:name>", key_point_board_file, name="key_point_board_file"),
    path(
        f"{ONE_SNAPSHOT}/<slug:figure>.<str:format>",
        key_point_board_figure,
        name="key_point_board_figure",
    ),
    *freezing_urls(SnapshotPages(KEY_POINTS, ONE_SNAPSHOT, "key_point_board", "key_point_boards")),
]
public_urlpatterns = [
    path("public/key-points/<uuid:token>/", public_key_points, name="public_key_points"),
    path(
        "public/key-points/<uuid:token>/<slug:figure>.<str:format>",
        public_key_points_figure,
        name="public_key_points_figure",
    ),
]
