"""What the templates of a board need: rows, cards, and why a column is hidden."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from benchmark.leaderboard.methods.figures import Board as Figures
from benchmark.leaderboard.reports.charts import CHARTS
from benchmark.leaderboard.reports.finding import board_finding, ground_of
from benchmark.leaderboard.reports.paper import RECIPE, has_paper
from benchmark.leaderboard.reports.tables import TABLES, board_table_of
from benchmark.leaderboard.reports.view import conditions_of, ranking_of, version_of
from benchmark.leaderboard.reports.warnings import first_version
from benchmark.leaderboard.views.face import leaderboard, paper_board
from cqa_site.results.boards import Board, bounds_of, with_columns
from cqa_site.results.figures import Figure, PageTable
from cqa_site.web.charts.chart import chart_of
from cqa_site.web.tables import TableData, text_of

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
PAPER_CARDS = ("paper-cells",)


def board_context(shown: Shown) -> dict[str, Any]:
    """What the templates of a board need."""
    if shown.snapshot is None or shown.board is None:
        return {"shown": shown, "snapshot": shown.snapshot}
    board, judge = shown.board, shown.judge
    return {
        "shown": shown,
        "snapshot": shown.snapshot,
        "board": board,
        "has_paper": has_paper(board),
        "n_several": len(conditions_of(board)),
        "first_version": first_version() if version_of(board) == 1 else "",
        "ranking": ranking_of(board, judge) if judge else None,
        "finding": board_finding(board, judge) if judge and not shown.is_paper else None,
        "chosen": next((each for each in board.judges if each.key == judge), None),
        "main": _main(shown),
        "leaderboard": _leaderboard(shown, board) if judge else None,
        "cards": board_cards(shown) if judge else [],
    }


def board_cards(shown: Shown) -> list[Figure]:
    """The figures below the leaderboard, in the order of the page."""
    slugs = PAPER_CARDS if shown.is_paper else CARDS
    hidden = () if conditions_of(shown.found[1]) else ("conditions",)
    found = [figure_of(shown, slug) for slug in slugs if slug not in hidden]
    return [replace(each, shown=_joined(each.table)) for each in found if each.table.rows]


def _main(shown: Shown) -> Figure:
    """The leaderboard itself; pages show its rows with more than its table has."""
    if shown.is_paper:
        found = figure_of(shown, "paper")
        return replace(found, title=TABLES["board"].title, recipe=RECIPE)
    found = figure_of(shown, "board")
    if shown.judge:
        ground = ground_of(shown.found[1], shown.judge)
        source = _("Source: %s.") % found.table.caption.removeprefix(f"{found.title}. ")
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
    return Figure(
        slug=slug,
        anchor=f"board-{slug}",
        title=entry.title,
        recipe=entry.recipe,
        table=board_table_of(snapshot, board, judge, shown.filters, slug),
        files=shown.files,
        is_wide=slug in WIDE,
        **chart_of(CHARTS, slug, board, judge, snapshot.recipe),
    )


def _leaderboard(shown: Shown, board: Figures) -> Board:
    face = paper_board if shown.is_paper else leaderboard
    found = face(board, shown.judge, is_ticked=not shown.is_public)
    return with_columns(found, shown.columns)


def _joined(table: TableData) -> PageTable:
    """Columns of a value and its bounds as one."""
    low, high = _("low"), _("high")
    places = [at for at, name in enumerate(table.columns) if name not in (low, high)]
    bounded = [table.columns[at + 1 : at + 3] == [low, high] for at in places]
    pairs = list(zip(places, bounded, strict=True))
    return PageTable(
        columns=[table.columns[at] for at in places],
        rows=[
            [_with_interval(row[at : at + 3]) if is_one else row[at] for at, is_one in pairs]
            for row in table.rows
        ],
        numeric=[table.numeric[at] for at in places],
        caption=table.caption,
    )


def _with_interval(cells: Sequence[Any]) -> str:
    value, low, high = cells
    if value is None or low is None:
        return text_of(value)
    return f"{text_of(value, 2)} {bounds_of(low, high)}"
