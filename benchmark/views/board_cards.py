"""What the templates of a board need: rows, cards, and why a column is hidden."""

from dataclasses import dataclass
from typing import Any

from benchmark.reports.board_charts import CHARTS, chart_alt, has_chart
from benchmark.reports.board_tables import TABLES, board_table_of
from benchmark.reports.board_view import board_rows, ranking_of, scenario_names
from cqa_site.web.tables import TableData

from .board_shown import Shown

# Cards below the leaderboard; the others are files only.
CARDS = ("scenarios", "groups", "criteria", "distributions", "beside", "judges")


@dataclass(frozen=True)
class Card:
    """One figure as the page shows it."""

    slug: str
    title: str
    recipe: str
    table: TableData
    alt: str


def board_context(shown: Shown) -> dict[str, Any]:
    """What the templates of a board need."""
    if shown.snapshot is None or shown.board is None:
        return {"shown": shown, "snapshot": shown.snapshot}
    board, judge = shown.board, shown.judge
    return {
        "shown": shown,
        "snapshot": shown.snapshot,
        "board": board,
        "rows": board_rows(board, judge),
        "ranking": ranking_of(board, judge) if judge else None,
        "scenarios": scenario_names(board),
        "others": [each for each in board["judges"] if each["key"] != judge],
        "chosen": next((each for each in board["judges"] if each["key"] == judge), None),
        "entry": TABLES["board"],
        "cards": board_cards(shown) if judge else [],
        "is_calibrated": _is_calibrated(board, judge),
        "why_not_calibrated": _why_not_calibrated(board, judge),
        "has_costs": any(each[2] for each in board["costs"]["systems"]),
    }


def _is_calibrated(board: dict[str, Any], judge: str) -> bool:
    return any(each["judge"] == judge and each["mean"] is not None for each in board["calibrated"])


def _why_not_calibrated(board: dict[str, Any], judge: str) -> str:
    """Why the calibrated column of a model judge is hidden; empty where it is shown."""
    own = [each for each in board["calibrated"] if each["judge"] == judge]
    if not own or any(each["mean"] is not None for each in own):
        return ""
    return board["why_not_calibrated"] or own[0]["reason"] or ""


def board_cards(shown: Shown) -> list[Card]:
    """The figures below the leaderboard, in the order of the page."""
    snapshot, board, judge = shown.snapshot, shown.board, shown.judge
    recipe = snapshot.recipe
    made = []
    for slug in CARDS:
        table = board_table_of(snapshot, board, judge, shown.filters, slug)
        is_drawn = slug in CHARTS and has_chart(board, judge, recipe, slug)
        alt = chart_alt(board, judge, recipe, slug) if is_drawn else ""
        if table.rows:
            made.append(Card(slug, str(TABLES[slug].title), str(TABLES[slug].recipe), table, alt))
    return made
