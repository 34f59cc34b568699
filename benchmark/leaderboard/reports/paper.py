"""A board by the recipe of the CompQA paper: the leaderboard, its cells, two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cqa_site.web.tables import TableData

from .part_tables import Made
from .view import Board

RECIPE = gettext_lazy(
    "The recipe of the CompQA paper: every sheet counts by itself, also several of one answer; of "
    "people's sheets the consolidated ones where an answer has them; points off the scale as "
    "they were given; incomplete sheets are left out. Cells: mean ± sample sd over sheets. Rows: "
    "unweighted mean of the scenario means ± mean of their sds. There are no intervals and no "
    "ranks: systems have different questions and unequal numbers of sheets, and these sds say "
    "nothing about how far a mean may be off."
)


def has_paper(board: Board) -> bool:
    """Whether the figures hold the paper's; those of boards of version 1 do not."""
    return "paper" in board


def paper_rows(board: Board, judge: str) -> list[dict[str, Any]]:
    """Rows with their cells in the order of the scenarios, highest mean first."""
    cells = {
        (each["system"], each["scenario"]): each
        for each in board["paper"]["cells"]
        if each["judge"] == judge
    }
    rows = [
        {
            **board["systems"][row["system"]],
            "place": row["system"],
            "row": row,
            "cells": [cells.get((row["system"], number)) for number in board["scenarios"]],
        }
        for row in board["paper"]["rows"]
        if row["judge"] == judge
    ]
    return sorted(
        rows, key=lambda each: (each["row"]["mean"] is None, -(each["row"]["mean"] or 0))
    )


def paper_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Table 3 of the paper for one judge."""
    columns = [_("System"), _("Mean of scenario means"), _("Mean of sds"), _("Scenarios")]
    columns += [_("Sheets n")]
    parts = ("mean", "sd", "cells", "n")
    rows = paper_rows(board, judge) if has_paper(board) else []
    return columns, [[row["name"], *(row["row"][part] for part in parts)] for row in rows]


def paper_cell_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Table 5 of the paper for one judge."""
    columns = [_("System"), _("Scenario"), _("Mean"), _("sd"), _("Sheets n")]
    columns += [_("Incomplete, left out"), _("With points off the scale")]
    parts = ("mean", "sd", "n", "dropped", "off_scale")
    rows = paper_rows(board, judge) if has_paper(board) else []
    return columns, [
        [row["name"], cell["scenario"] or _("No scenario"), *(cell[part] for part in parts)]
        for row in rows
        for cell in row["cells"]
        if cell
    ]


@dataclass(frozen=True)
class PaperPair:
    """First minus second as differences of the paper's means; ``rows`` are scenarios."""

    first: str
    second: str
    means: tuple[dict[str, Any], dict[str, Any]]
    rows: list[dict[str, Any]]

    @property
    def difference(self) -> float | None:
        return _minus(*self.means)


def paper_pair(board: Board, judge: str, one: int, other: int) -> PaperPair | None:
    """Two systems by the paper's recipe, the higher mean first; None unless both have sheets."""
    found = [each for each in paper_rows(board, judge) if each["place"] in (one, other)]
    if len(found) != 2:
        return None
    first, second = found
    rows = [
        {"scenario": number, "first": a, "second": b, "difference": _minus(a, b)}
        for number, a, b in zip(board["scenarios"], first["cells"], second["cells"], strict=True)
        if a or b
    ]
    return PaperPair(first["name"], second["name"], (first["row"], second["row"]), rows)


def paper_pair_table(pair: PaperPair, caption: str) -> TableData:
    """Every scenario with both means."""
    columns = [_("Scenario")]
    for name in (pair.first, pair.second):
        columns += [name, _("sd"), "n"]
    columns += [_("Difference")]
    rows = [
        [str(row["scenario"]), *_cell(row["first"]), *_cell(row["second"]), row["difference"]]
        for row in pair.rows
    ]
    one, other = pair.means
    rows.append([_("Mean of scenario means"), *_cell(one), *_cell(other), pair.difference])
    return TableData(columns, rows, caption=caption, note=str(RECIPE), name="board-pair-paper")


def _cell(cell: dict[str, Any] | None) -> list[Any]:
    return [cell["mean"], cell["sd"], cell["n"]] if cell else [None, None, None]


def _minus(one: dict[str, Any] | None, other: dict[str, Any] | None) -> float | None:
    if not one or not other or one["mean"] is None or other["mean"] is None:
        return None
    return float(one["mean"] - other["mean"])
