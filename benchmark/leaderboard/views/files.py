"""What a board goes away as: tables, charts, rows, manifest, archive."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path

from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.reports.charts import CHARTS, chart_spec, has_chart
from benchmark.leaderboard.reports.pairs import pair_chart, pair_table
from benchmark.leaderboard.reports.paper import PaperPair, paper_pair_table
from benchmark.leaderboard.reports.rows import rows_parquet
from benchmark.leaderboard.reports.tables import TABLES, board_table_of, source_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import chart_file, snapshot_file, table_file
from cqa_site.web.charts import drawing as charts

from .boards import find_pair
from .page import page_file
from .shown import Shown, board_or_404, shown_board

# Beside those of every snapshot.
FILES = {
    "rows.parquet": ("application/vnd.apache.parquet", lambda found: rows_parquet(found.rows)),
    "board.html": ("text/html; charset=utf-8", page_file),
}
PAIR = "pair"


@study_page(*RESEARCHERS)
def board_file(request: StudyRequest, study: Study, number: int, name: str) -> HttpResponse:
    """Send the rows, the manifest, a page in one file, or everything in one archive."""
    rows = study.board_snapshots.filter(computed_at__isnull=False).select_related("rubric")
    snapshot = get_object_or_404(rows, number=number)
    return snapshot_file(BOARDS, snapshot, name, called="board", more=FILES)


@study_page(*RESEARCHERS)
def board_table(
    request: StudyRequest, study: Study, number: int, figure: str, format: str
) -> HttpResponse:
    """Send one figure as CSV, LaTeX or Markdown."""
    shown = shown_board(request, board_or_404(study, number))
    snapshot, board = shown.found
    if figure == PAIR:
        pair = find_pair(shown, request.GET.getlist("system"))
        if pair is None:
            raise Http404
        source = source_of(snapshot, board, shown.judge, shown.filters)
        caption = f"{pair.first} − {pair.second}. {source}"
        if isinstance(pair, PaperPair):
            return table_file(paper_pair_table(pair, caption), format)
        return table_file(pair_table(pair, caption), format)
    return send_table(shown, figure, format)


@study_page(*RESEARCHERS)
def board_chart(
    request: StudyRequest, study: Study, number: int, name: str, format: str
) -> HttpResponse:
    """Draw one chart; the address names the figures' version, so browsers may keep it."""
    shown = shown_board(request, board_or_404(study, number))
    if name != PAIR:
        return send_chart(request, shown, name, format)
    pair = find_pair(shown, request.GET.getlist("system"))
    if pair is None or isinstance(pair, PaperPair):
        raise Http404
    return chart_file(
        request,
        lambda size: pair_chart(pair, size),
        state=shown.digest,
        name=PAIR,
        format=format,
    )


def send_table(shown: Shown, figure: str, format: str) -> HttpResponse:
    """One figure of what is shown; 404 for an unknown one."""
    if figure not in TABLES:
        raise Http404
    table = board_table_of(*shown.found, shown.judge, shown.filters, figure)
    return table_file(table, format)


def send_chart(request: HttpRequest, shown: Shown, name: str, format: str) -> HttpResponse:
    """One chart of what is shown; 404 where there is nothing to draw."""
    (snapshot, board), judge = shown.found, shown.judge
    recipe = snapshot.recipe
    if name not in CHARTS or not has_chart(board, judge, recipe, name):
        raise Http404

    def draw(size: str) -> charts.Spec:
        return chart_spec(board, judge, recipe, name, size)

    return chart_file(request, draw, state=shown.digest, name=name, format=format)


BASE = "scores/boards/<int:number>"
urlpatterns = [
    path(f"{BASE}/charts/<slug:name>.<str:format>", board_chart, name="board_chart"),
    path(f"{BASE}/files/<str:name>", board_file, name="board_file"),
    path(f"{BASE}/<slug:figure>.<str:format>", board_table, name="board_table"),
]
