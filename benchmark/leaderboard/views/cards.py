"""What the templates of a board need: rows, cards, and why a column is hidden."""

from dataclasses import replace
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from benchmark.leaderboard.methods.figures import Board as Figures
from benchmark.leaderboard.reports.charts import CHARTS
from benchmark.leaderboard.reports.finding import board_finding, ground_of
from benchmark.leaderboard.reports.paper import RECIPE
from benchmark.leaderboard.reports.tables import TABLES, board_table_of
from benchmark.leaderboard.reports.view import column_name, conditions_of, ranking_of
from benchmark.leaderboard.reports.warnings import earlier_version
from benchmark.leaderboard.views.face import leaderboard, paper_board
from cqa_site.results.boards import Board, with_columns
from cqa_site.results.figures import Figure
from cqa_site.results.finding import Finding
from cqa_site.results.page_tables import PageTable, joined, turned
from cqa_site.web.charts.chart import chart_of

from .shown import Shown

# Cards below the leaderboard; the others are files only.
CARDS = (
    "thin",
    "conditions",
    "scenarios",
    "groups",
    "criteria",
    "distributions",
    "beside",
    "judges",
)


WIDE = ("conditions", "criteria", "judges", "paper-cells")
MEANS = ("groups", "criteria")
PAPER_CARDS = ("paper-cells",)
# Of more systems than these the chart of points shows the first and the last.
MOST_SPREAD = 2
# Figures that the glossary explains.
WORDS = {"thin": "thin cell"}


def board_context(shown: Shown) -> dict[str, Any]:
    """What the templates of a board need."""
    if shown.snapshot is None or shown.board is None:
        return {"shown": shown, "snapshot": shown.snapshot}
    board, judge = shown.board, shown.judge
    return {
        "shown": shown,
        "snapshot": shown.snapshot,
        "board": board,
        "n_several": len(conditions_of(board)),
        "earlier_version": earlier_version(board),
        "ranking": ranking_of(board, judge) if judge else None,
        "finding": _finding(shown, board) if judge and not shown.is_paper else None,
        "chosen": next((each for each in board.judges if each.key == judge), None),
        "main": _main(shown),
        "leaderboard": _leaderboard(shown, board) if judge else None,
        "cards": board_cards(shown) if judge else [],
    }


def _finding(shown: Shown, board: Figures) -> Finding:
    """What was found; where nobody can be ranked, with the way to what is missing."""
    found = board_finding(board, shown.judge)
    snapshot = shown.found[0]
    is_ranked = any(each.rank for each in ranking_of(board, shown.judge).standings)
    if is_ranked or shown.is_public:
        return found
    address = reverse("study", args=[snapshot.study.public_id])
    return replace(found, way=(_("See what is missing, step by step"), f"{address}?path=answers"))


def board_cards(shown: Shown) -> list[Figure]:
    """The figures below the leaderboard, in the order of the page."""
    slugs = PAPER_CARDS if shown.is_paper else CARDS
    hidden = () if conditions_of(shown.found[1]) else ("conditions",)
    found = [figure_of(shown, slug) for slug in slugs if slug not in hidden]
    recipe = shown.found[0].recipe
    return [_as_shown(each, recipe) for each in found if _says_something(each)]


def _says_something(figure: Figure) -> bool:
    """Whether there are rows, and in a figure of means any mean."""
    cells = (cell for row in figure.table.rows for cell in row)
    if figure.slug in MEANS:
        return any(isinstance(cell, float) for cell in cells)
    return bool(figure.table.rows)


def _main(shown: Shown) -> Figure:
    """The leaderboard itself; pages show its rows with more than its table has."""
    if shown.is_paper:
        found = figure_of(shown, "paper")
        return replace(found, title=TABLES["board"].title, recipe=RECIPE)
    found = figure_of(shown, "board")
    if shown.judge:
        ground = ground_of(shown.found[1], shown.judge)
        source = _("Source: %s") % found.table.caption.removeprefix(f"{found.title}. ")
        found = replace(found, recipe="\n\n".join((ground, str(found.recipe), source)))
    if shown.is_public:
        return found
    tables = {"cells": _("cells (CSV)"), "pairs": _("pairs (CSV)")}
    more = [
        each
        for slug, words in tables.items()
        for each in figure_of(shown, slug).links_as({"csv": words})
    ]
    rows = reverse("board_file", args=[*found.files.ids, "rows.csv"])
    return replace(found, more=[*more, (_("sheets behind it (CSV)"), rows)])


def figure_of(shown: Shown, slug: str) -> Figure:
    """One figure of what is shown; raises KeyError for an unknown one."""
    entry, judge, (snapshot, board) = TABLES[slug], shown.judge, shown.found
    table = board_table_of(snapshot, board, judge, shown.filters, slug)
    is_part = slug == "distributions" and len(table.rows) > MOST_SPREAD
    return Figure(
        slug=slug,
        anchor=f"board-{slug}",
        title=entry.title,
        word=WORDS.get(slug, ""),
        about=_("of the first and the last system; the numbers have all") if is_part else "",
        recipe=entry.recipe,
        table=table,
        files=shown.files,
        is_wide=slug in WIDE,
        **chart_of(CHARTS, slug, board, judge, snapshot.recipe),
    )


def _leaderboard(shown: Shown, board: Figures) -> Board:
    face = paper_board if shown.is_paper else leaderboard
    found = face(board, shown.judge, is_ticked=not shown.is_public)
    return with_columns(found, shown.columns)


def _as_shown(figure: Figure, recipe: dict[str, Any]) -> Figure:
    """A figure as the page shows it: criteria are too many for columns, and have names."""
    table = joined(figure.table)
    if figure.slug not in ("groups", "criteria") or not isinstance(table, PageTable):
        return figure
    table = _counted(table)
    if figure.slug == "groups":
        return replace(figure, shown=table)
    names = {key: column_name(recipe, key) for key in table.columns if key[1:].isdigit()}
    named = [names.get(each, each) for each in table.columns[1:]]
    return replace(figure, shown=turned(replace(table, columns=[_("Criterion"), *named])))


def _counted(table: PageTable) -> PageTable:
    """The fewest and the most answers behind a row, the last two columns, as one."""
    rows = [
        [*row[:-2], row[-1] if row[-2] == row[-1] else f"{row[-2]}–{row[-1]}"]
        for row in table.rows
    ]
    columns = [*table.columns[:-2], _("Answers n")]
    return replace(table, columns=columns, rows=rows, numeric=table.numeric[:-1])
