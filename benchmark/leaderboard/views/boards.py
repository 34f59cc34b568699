"""Pages of live, frozen and public boards, of pairs of systems, and downloads."""

import base64
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from http import HTTPStatus
from typing import Any

from django.contrib.staticfiles import finders
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import path
from django.utils.translation import gettext as _

from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.methods.figures import ScoreBoard
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.part_tables import (
    SystemPair,
    pair_alt,
    pair_chart,
    pair_of,
    system_pair_table,
)
from benchmark.leaderboard.reports.snapshot import ASPECTS, Filters, rows_parquet
from benchmark.leaderboard.reports.standings import (
    board_warnings,
    chosen_judge,
    column_name,
    scenario_names,
    system_place,
)
from benchmark.leaderboard.reports.tables import (
    RECIPE,
    TABLES,
    PaperPair,
    paper_pair,
    paper_pair_table,
    source_of,
)
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, figure_file, snapshot_file
from cqa_site.results.pages import SnapshotPages, freezing_urls
from cqa_site.runs.jobs import is_worker_alive
from cqa_site.web.charts import vega
from .cards import board_context, figure_of
from .context import (
    BoardView,
    board_or_404,
    live_board,
    rubric_of,
    shown_board,
    wanted_columns,
    wants_paper,
    with_board,
)

PER_PAGE = 25
QUESTIONS_PER_PAGE = 50
PAIR = "pair"


@study_page(*RESEARCHERS)
def scores(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the stored leaderboard, even while a newer one is computed in the background."""
    return render(request, "benchmark/leaderboard/scores.html", _live_context(request, study))


@study_page(*RESEARCHERS)
def scores_fragment(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the leaderboard if it differs from the version on the page."""
    context = _live_context(request, study)
    board, seen = context.get("shown"), request.GET.get("seen", "")
    if board is not None and board.is_polling and seen == board.version:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = render(request, "benchmark/leaderboard/_board_live.html", context)
    if board is not None and seen.startswith("none") and board.snapshot:
        response["HX-Refresh"] = "true"
    return response


@study_page(*RESEARCHERS)
def boards(request: StudyRequest, study: Study) -> HttpResponse:
    """List the snapshots of a study."""
    rows = study.board_snapshots.filter(computed_at__isnull=False).select_related(
        "rubric", "frozen_by"
    )
    page = Paginator(rows.defer("rows", "figures"), PER_PAGE).get_page(request.GET.get("page"))
    context = {"study": study, "page": page}
    return render(request, "benchmark/leaderboard/boards.html", context)


@study_page(*RESEARCHERS)
def board(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """Show one snapshot at its permanent URL."""
    snapshot = board_or_404(study, number)
    board_view = shown_board(request, snapshot)
    context = {
        "study": study,
        **_filters_context(board_view),
        **board_context(board_view),
        "warnings": board_warnings(snapshot.board),
    }
    template = (
        "benchmark/leaderboard/_board_live.html"
        if request.htmx
        else "benchmark/leaderboard/board.html"
    )
    if request.htmx and request.GET.get("seen") == board_view.version and board_view.is_polling:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render(request, template, context)


@study_page(*RESEARCHERS)
def board_pair(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """Compare two systems question by question."""
    board_view = shown_board(request, board_or_404(study, number))
    chosen = request.GET.getlist("system")
    context: dict[str, Any] = {
        "study": study,
        "shown": board_view,
        "snapshot": board_view.snapshot,
        "board": board_view.board,
    }
    for card in pair_figures(board_view, chosen):
        pair = card.data
        name = "paper" if isinstance(pair, PaperPair) else "pair"
        context |= {"card": card, name: pair, "source": _source(board_view)}
        context["page"] = Paginator(pair.rows, QUESTIONS_PER_PAGE).get_page(
            request.GET.get("page")
        )
    return render(request, "benchmark/leaderboard/board_pair.html", context)


def _source(board_view: BoardView) -> str:
    return source_of(*board_view.found, board_view.judge, board_view.filters)


def pair_figures(board_view: BoardView, chosen: list[str]) -> list[Figure]:
    """Return the comparison of the two chosen systems; empty unless both can be compared."""
    pair = _pair(board_view, chosen)
    if pair is None:
        return []
    caption = f"{pair.first} − {pair.second}. {_source(board_view)}"
    query = "&".join([*(f"system={system}" for system in chosen), board_view.query])
    files = replace(board_view.files, query=query)
    if isinstance(pair, PaperPair):
        return [
            Figure(
                slug=PAIR,
                title=_("Scenario by scenario"),
                recipe=RECIPE,
                table=paper_pair_table(pair, caption),
                body="benchmark/leaderboard/_board_pair_paper.html",
                data=pair,
                files=files,
            )
        ]
    return [
        Figure(
            slug=PAIR,
            title=_("Question by question"),
            recipe=_(
                "Mean points over the compared scenarios of each common question; replicates, "
                "people and choices are averaged within the question first."
            ),
            table=system_pair_table(pair, caption),
            alt=pair_alt(pair),
            draw=partial(pair_chart, pair),
            body="benchmark/leaderboard/_board_pair_rows.html",
            data=pair,
            files=files,
        )
    ]


def _pair(board_view: BoardView, chosen: list[str]) -> SystemPair | PaperPair | None:
    """Return the chosen pair under the recipe shown; None unless both can be compared.

    Systems can be compared if they have ranks or, for the paper's recipe, sheets.
    """
    if board_view.board is None or not board_view.judge or len(set(chosen)) != 2:
        return None
    first, second = (system_place(board_view.board, system) for system in dict.fromkeys(chosen))
    if first is None or second is None:
        raise Http404
    between = paper_pair if board_view.is_paper else pair_of
    return between(board_view.board, board_view.judge, first, second)


def _live_context(request: StudyRequest, study: Study) -> dict[str, Any]:
    rubric, known = rubric_of(study, request)
    context: dict[str, Any] = {"study": study, "rubrics": known}
    if rubric is None:
        return context
    board_view = live_board(request, study, rubric)
    context |= {"rubric": rubric, **_filters_context(board_view), **board_context(board_view)}
    if board_view.job is not None and board_view.job.is_active:
        context["worker_alive"] = is_worker_alive()
    return context


def _filters_context(board_view: BoardView) -> dict[str, Any]:
    """Return the filter choices of the whole board; empty before any figures are computed."""
    if board_view.snapshot is None:
        return {}
    recipe, whole = board_view.snapshot.recipe, board_view.snapshot.board
    columns = [(column["key"], column_name(recipe, column["key"])) for column in recipe["columns"]]
    aspects = {aspect: any((q.aspect != "") == (aspect == "with") for q in whole.questions)
               for aspect in ASPECTS}  # fmt: skip
    return {
        "columns": columns,
        "column_name": column_name(recipe, board_view.filters.column),
        "scenario_choices": list(
            zip(map(str, whole.scenarios), scenario_names(whole), strict=True)
        ),
        "has_aspects": all(aspects.values()),
        "datasets": recipe["datasets"],
        "conditions": _several_conditions(recipe),
        "is_narrowed": board_view.filters != Filters(),
        "title": _("Leaderboard"),
    }


def _several_conditions(recipe: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the conditions to choose from; empty if the filter for scenarios is sufficient."""
    conditions = recipe.get("conditions", [])
    scenarios = {condition["scenario"] for condition in conditions}
    return conditions if len(conditions) > len(scenarios) else []


BASE = "scores/boards/<int:number>"
urlpatterns = [
    path("scores/", scores, name="scores"),
    path("scores/fragment/", scores_fragment, name="scores_fragment"),
    path("scores/boards/", boards, name="boards"),
    path(f"{BASE}/", board, name="board"),
    path(f"{BASE}/pair/", board_pair, name="board_pair"),
    *freezing_urls(SnapshotPages(BOARDS, BASE, "board", "boards")),
]

STYLES = (
    "css/counterpoint.css",
    "css/data.css",
    "css/results/figures.css",
    "css/results/boards.css",
)


def page_file(snapshot: BoardSnapshot) -> bytes:
    """Return a page with a snapshot's leaderboards by all judges, as on the public page."""
    board = ScoreBoard.from_dict(snapshot.figures["board"])
    parts = [_part(BoardView(snapshot, Filters(), judge.key, board)) for judge in board.judges]
    styles = "\n".join(_text(name) for name in STYLES)
    context = {
        "snapshot": snapshot,
        "parts": parts,
        "styles": styles,
        "is_public": True,
        "warnings": board_warnings(board),
    }
    return render_to_string("benchmark/leaderboard/board_file.html", context).encode()


def _part(board_view: BoardView) -> dict[str, Any]:
    context = board_context(board_view)
    context["drawn"] = [(card, _pictures(card)) for card in context["cards"]]
    return context


def _pictures(card: Figure) -> dict[str, str]:
    """Return light and dark images as data URLs; empty for a card without a chart."""
    if not card.alt or card.draw is None:
        return {}
    spec = card.draw("wide")
    return {theme: _data(spec, theme) for theme in vega.THEMES}


def _data(spec: vega.Spec, theme: Any) -> str:
    drawn = vega.picture(spec, format="svg", theme=theme)
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}"


def _text(name: str) -> str:
    path = finders.find(name)
    if path is None:
        raise FileNotFoundError(name)
    with open(path, encoding="utf-8") as file:
        return file.read()


# Files of a board, in addition to those of every snapshot
FILES = {
    "rows.parquet": ("application/vnd.apache.parquet", lambda board: rows_parquet(board.rows)),
    "board.html": ("text/html; charset=utf-8", page_file),
}


@study_page(*RESEARCHERS)
def board_file(request: StudyRequest, study: Study, number: int, name: str) -> HttpResponse:
    """Send the rows, the manifest, a single-file page, or an archive of everything."""
    rows = study.board_snapshots.filter(computed_at__isnull=False).select_related("rubric")
    snapshot = get_object_or_404(rows, number=number)
    return snapshot_file(BOARDS, snapshot, name, called="board", more=FILES)


@study_page(*RESEARCHERS)
def board_figure(
    request: StudyRequest, study: Study, number: int, figure: str, format: str
) -> HttpResponse:
    """Send one figure's table or chart."""
    board_view = shown_board(request, board_or_404(study, number))
    if figure == PAIR:
        chosen = request.GET.getlist("system")
        return figure_file(request, pair_figures(board_view, chosen), figure, format)
    return send_figure(request, board_view, figure, format)


def send_figure(
    request: HttpRequest, board_view: BoardView, figure: str, format: str
) -> HttpResponse:
    """Send one figure of the shown board; 404 if it is unknown."""
    figures = (figure_of(board_view, slug) for slug in TABLES if slug == figure)
    return figure_file(request, figures, figure, format)


urlpatterns += [
    path(f"{BASE}/files/<str:name>", board_file, name="board_file"),
    path(f"{BASE}/<slug:figure>.<str:format>", board_figure, name="board_figure"),
]


# Public pages of frozen boards, without the study, people or rows

NO_INDEX = "noindex, nofollow"


def public_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view to find the snapshot by its token and block search engines."""

    @wraps(view)
    def page(request: HttpRequest, token: uuid.UUID, **kwargs) -> HttpResponse:
        rows = BoardSnapshot.objects.filter(frozen_at__isnull=False)
        snapshot = get_object_or_404(with_board(rows), public_token=token)
        board = ScoreBoard.from_dict(snapshot.stored)
        judge = chosen_judge(board, request.GET.get("judge", ""))
        is_paper = wants_paper(request)
        board_view = BoardView(
            snapshot,
            Filters(),
            judge,
            board,
            is_paper=is_paper,
            is_public=True,
            columns=wanted_columns(request),
        )
        response = view(request, board_view, **kwargs)
        response["X-Robots-Tag"] = NO_INDEX
        return response

    return page


@public_page
def public_board(request: HttpRequest, board_view: BoardView) -> HttpResponse:
    """Show the public board."""
    context = board_context(board_view) | {"warnings": board_warnings(board_view.found[1])}
    return render(request, "benchmark/leaderboard/public_board.html", context)


@public_page
def public_board_figure(
    request: HttpRequest, board_view: BoardView, figure: str, format: str
) -> HttpResponse:
    return send_figure(request, board_view, figure, format)


PUBLIC_BASE = "public/boards/<uuid:token>"
public_urlpatterns = [
    path(f"{PUBLIC_BASE}/", public_board, name="public_board"),
    path(
        f"{PUBLIC_BASE}/<slug:figure>.<str:format>",
        public_board_figure,
        name="public_board_figure",
    ),
]
