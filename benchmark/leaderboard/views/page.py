"""A board as one HTML file that needs nothing else: styles and charts are inside."""

import base64
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from benchmark.leaderboard.methods.figures import Board
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.filters import Filters
from benchmark.leaderboard.reports.warnings import board_warnings
from cqa_site.results.figures import Figure
from cqa_site.web.charts import drawing as charts

from .cards import board_context
from .shown import Shown

STYLES = (
    "css/counterpoint.css",
    "css/data.css",
    "css/results/figures.css",
    "css/results/boards.css",
)


def page_file(snapshot: BoardSnapshot) -> bytes:
    """Every judge's leaderboard of a snapshot on one page, as the public page shows them."""
    board = Board.from_dict(snapshot.figures["board"])
    parts = [_part(Shown(snapshot, Filters(), each.key, board)) for each in board.judges]
    styles = "\n".join(_text(name) for name in STYLES)
    context = {
        "snapshot": snapshot,
        "parts": parts,
        "styles": styles,
        "is_public": True,
        "warnings": board_warnings(board),
    }
    return render_to_string("benchmark/leaderboard/board_file.html", context).encode()


def _part(shown: Shown) -> dict[str, Any]:
    context = board_context(shown)
    context["drawn"] = [(card, _pictures(card)) for card in context["cards"]]
    return context


def _pictures(card: Figure) -> dict[str, str]:
    """A light and a dark picture as data addresses; none for a card without a chart."""
    if not card.alt or card.draw is None:
        return {}
    spec = card.draw("wide")
    return {theme: _data(spec, theme) for theme in charts.THEMES}


def _data(spec: charts.Spec, theme: Any) -> str:
    drawn = charts.picture(spec, format="svg", theme=theme)
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}"


def _text(name: str) -> str:
    found = finders.find(name)
    if found is None:
        raise FileNotFoundError(name)
    with open(found, encoding="utf-8") as file:
        return file.read()
