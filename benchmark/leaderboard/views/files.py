"""What a board goes away as: tables, charts, rows, manifest, archive."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path

from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.reports.rows import rows_parquet
from benchmark.leaderboard.reports.tables import TABLES
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import figure_file
from cqa_site.results.files import snapshot_file

from .boards import PAIR, pair_figures
from .cards import figure_of
from .page import page_file
from .shown import Shown, board_or_404, shown_board

# Beside those of every snapshot.
FILES = {
    "rows.parquet": ("application/vnd.apache.parquet", lambda found: rows_parquet(found.rows)),
    "board.html": ("text/html; charset=utf-8", page_file),
}


@study_page(*RESEARCHERS)
def board_file(request: StudyRequest, study: Study, number: int, name: str) -> HttpResponse:
    """Send the rows, the manifest, a page in one file, or everything in one archive."""
    rows = study.board_snapshots.filter(computed_at__isnull=False).select_related("rubric")
    snapshot = get_object_or_404(rows, number=number)
    return snapshot_file(BOARDS, snapshot, name, called="board", more=FILES)


@study_page(*RESEARCHERS)
def board_figure(
    request: StudyRequest, study: Study, number: int, figure: str, format: str
) -> HttpResponse:
    """Send one figure's table or chart."""
    shown = shown_board(request, board_or_404(study, number))
    if figure == PAIR:
        chosen = request.GET.getlist("system")
        return figure_file(request, pair_figures(shown, chosen), figure, format)
    return send_figure(request, shown, figure, format)


def send_figure(request: HttpRequest, shown: Shown, figure: str, format: str) -> HttpResponse:
    """One figure of what is shown; 404 for an unknown one."""
    found = (figure_of(shown, slug) for slug in TABLES if slug == figure)
    return figure_file(request, found, figure, format)


BASE = "scores/boards/<int:number>"
urlpatterns = [
    path(f"{BASE}/files/<str:name>", board_file, name="board_file"),
    path(f"{BASE}/<slug:figure>.<str:format>", board_figure, name="board_figure"),
]
