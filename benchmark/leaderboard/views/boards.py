"""The leaderboard of a rubric: live page, numbered snapshots, two systems compared."""

from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _

from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.reports.filters import ASPECTS, Filters
from benchmark.leaderboard.reports.pairs import Pair, pair_alt, pair_chart, pair_of, pair_table
from benchmark.leaderboard.reports.paper import RECIPE, PaperPair, paper_pair, paper_pair_table
from benchmark.leaderboard.reports.tables import source_of
from benchmark.leaderboard.reports.view import column_name, scenario_names, system_place
from benchmark.leaderboard.reports.warnings import board_warnings
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure
from cqa_site.results.pages import SnapshotFace, freezing_urls
from cqa_site.runs.jobs import is_worker_alive

from .cards import board_context
from .shown import Shown, board_or_404, live_board, rubric_of, shown_board

PER_PAGE = 25
QUESTIONS_PER_PAGE = 50
PAIR = "pair"


@study_page(*RESEARCHERS)
def scores(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the stored leaderboard; a newer one is computed in the background."""
    return render(request, "benchmark/leaderboard/scores.html", _live_context(request, study))


@study_page(*RESEARCHERS)
def scores_fragment(request: StudyRequest, study: Study) -> HttpResponse:
    """Return the leaderboard if it differs from what the page has seen."""
    context = _live_context(request, study)
    shown, seen = context.get("shown"), request.GET.get("seen", "")
    if shown is not None and shown.is_polling and seen == shown.version:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = render(request, "benchmark/leaderboard/_board_live.html", context)
    if shown is not None and seen.startswith("none") and shown.snapshot:
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
    """One snapshot under its permanent address."""
    snapshot = board_or_404(study, number)
    shown = shown_board(request, snapshot)
    context = {
        "study": study,
        **_filters_context(shown),
        **board_context(shown),
        "warnings": board_warnings(snapshot.board),
    }
    template = (
        "benchmark/leaderboard/_board_live.html"
        if request.htmx
        else "benchmark/leaderboard/board.html"
    )
    if request.htmx and request.GET.get("seen") == shown.version and shown.is_polling:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render(request, template, context)


@study_page(*RESEARCHERS)
def board_pair(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """Two systems against each other, question by question."""
    shown = shown_board(request, board_or_404(study, number))
    chosen = request.GET.getlist("system")
    context: dict[str, Any] = {
        "study": study,
        "shown": shown,
        "snapshot": shown.snapshot,
        "board": shown.board,
    }
    for card in pair_figures(shown, chosen):
        pair = card.data
        name = "paper" if isinstance(pair, PaperPair) else "pair"
        context |= {"card": card, name: pair, "source": _source(shown)}
        context["page"] = Paginator(pair.rows, QUESTIONS_PER_PAGE).get_page(
            request.GET.get("page")
        )
    return render(request, "benchmark/leaderboard/board_pair.html", context)


def _source(shown: Shown) -> str:
    return source_of(*shown.found, shown.judge, shown.filters)


def pair_figures(shown: Shown, chosen: list[str]) -> list[Figure]:
    """The two chosen systems side by side; nothing unless two that can be compared were."""
    pair = _pair(shown, chosen)
    if pair is None:
        return []
    caption = f"{pair.first} − {pair.second}. {_source(shown)}"
    query = "&".join([*(f"system={each}" for each in chosen), shown.query])
    files = replace(shown.files, query=query)
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
                "people and choices are averaged inside the question."
            ),
            table=pair_table(pair, caption),
            alt=pair_alt(pair),
            draw=partial(pair_chart, pair),
            body="benchmark/leaderboard/_board_pair_rows.html",
            data=pair,
            files=files,
        )
    ]


def _pair(shown: Shown, chosen: list[str]) -> Pair | PaperPair | None:
    """The two chosen systems by the recipe shown; None unless two that can be compared were.

    Those are systems with ranks, by the paper's recipe systems with sheets.
    """
    if shown.board is None or not shown.judge or len(set(chosen)) != 2:
        return None
    first, second = (system_place(shown.board, each) for each in dict.fromkeys(chosen))
    if first is None or second is None:
        raise Http404
    between = paper_pair if shown.is_paper else pair_of
    return between(shown.board, shown.judge, first, second)


def _live_context(request: StudyRequest, study: Study) -> dict[str, Any]:
    rubric, known = rubric_of(study, request)
    context: dict[str, Any] = {"study": study, "rubrics": known}
    if rubric is None:
        return context
    shown = live_board(request, study, rubric)
    context |= {"rubric": rubric, **_filters_context(shown), **board_context(shown)}
    if shown.job is not None and shown.job.is_active:
        context["worker_alive"] = is_worker_alive()
    return context


def _filters_context(shown: Shown) -> dict[str, Any]:
    """What can be chosen, from the whole board; nothing before the first figures."""
    if shown.snapshot is None:
        return {}
    recipe, whole = shown.snapshot.recipe, shown.snapshot.board
    columns = [(each["key"], column_name(recipe, each["key"])) for each in recipe["columns"]]
    aspects = {each: any((q.aspect != "") == (each == "with") for q in whole.questions)
               for each in ASPECTS}  # fmt: skip
    return {
        "columns": columns,
        "column_name": column_name(recipe, shown.filters.column),
        "scenario_choices": list(
            zip(map(str, whole.scenarios), scenario_names(whole), strict=True)
        ),
        "has_aspects": all(aspects.values()),
        "datasets": recipe["datasets"],
        "conditions": _several_conditions(recipe),
        "is_narrowed": shown.filters != Filters(),
        "title": _("Leaderboard"),
    }


def _several_conditions(recipe: dict[str, Any]) -> list[dict[str, Any]]:
    """Conditions to choose from; none where each is a scenario, which has a filter of its own."""
    found = recipe.get("conditions", [])
    scenarios = {each["scenario"] for each in found}
    return found if len(found) > len(scenarios) else []


BASE = "scores/boards/<int:number>"
urlpatterns = [
    path("scores/", scores, name="scores"),
    path("scores/fragment/", scores_fragment, name="scores_fragment"),
    path("scores/boards/", boards, name="boards"),
    path(f"{BASE}/", board, name="board"),
    path(f"{BASE}/pair/", board_pair, name="board_pair"),
    *freezing_urls(SnapshotFace(BOARDS, BASE, "board", "boards")),
]
