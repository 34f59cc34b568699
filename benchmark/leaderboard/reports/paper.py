"""A board by the recipe of the CompQA paper: the leaderboard, its cells, two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.leaderboard.methods.figures import Board, PaperCell, PaperRow
from cqa_site.web.tables import TableData, one_line

from .part_tables import Made

RECIPE = gettext_lazy(
    "Counted: by the recipe of the CompQA paper every sheet by itself, also several of one "
    "answer; of people's sheets the consolidated ones where an answer has them; points off the "
    "scale as they were given; incomplete sheets are left out.\n\n"
    "Cells: mean ± sample sd over sheets.\n\n"
    "Rows: unweighted mean of the scenario means ± mean of their sds.\n\n"
    "How sure: there are no intervals and no ranks. Systems have different questions and unequal "
    "numbers of sheets, and these sds say nothing about how far a mean may be off."
)


@dataclass(frozen=True)
class PaperLine:
    """One system by the paper's recipe; ``cells`` in the order of the scenarios."""

    place: int
    id: str
    name: str
    row: PaperRow
    cells: list[PaperCell | None]


def paper_rows(board: Board, judge: str) -> list[PaperLine]:
    """Rows with their cells, highest mean first."""
    cells = {
        (each.system, each.scenario): each for each in board.paper.cells if each.judge == judge
    }
    rows = [
        PaperLine(
            row.system,
            board.systems[row.system].id,
            board.systems[row.system].name,
            row,
            [cells.get((row.system, number)) for number in board.scenarios],
        )
        for row in board.paper.rows
        if row.judge == judge
    ]
    return sorted(rows, key=lambda each: (each.row.mean is None, -(each.row.mean or 0)))


def paper_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Table 3 of the paper for one judge."""
    columns = [_("System"), _("Mean of scenario means"), _("Mean of sds"), _("Scenarios")]
    columns += [_("Sheets n")]
    parts = ("mean", "sd", "cells", "n")
    return columns, [
        [line.name, *(getattr(line.row, part) for part in parts)]
        for line in paper_rows(board, judge)
    ]


def paper_cell_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Table 5 of the paper for one judge."""
    columns = [_("System"), _("Scenario"), _("Mean"), _("sd"), _("Sheets n")]
    columns += [_("Incomplete, left out"), _("With points off the scale")]
    parts = ("mean", "sd", "n", "dropped", "off_scale")
    return columns, [
        [line.name, cell.scenario or _("No scenario"), *(getattr(cell, part) for part in parts)]
        for line in paper_rows(board, judge)
        for cell in line.cells
        if cell
    ]


@dataclass(frozen=True)
class ScenarioPair:
    """Cells of both systems in one scenario; at least one is there."""

    scenario: int
    first: PaperCell | None
    second: PaperCell | None

    @property
    def difference(self) -> float | None:
        return _minus(self.first, self.second)


@dataclass(frozen=True)
class PaperPair:
    """First minus second as differences of the paper's means; ``rows`` are scenarios."""

    first: str
    second: str
    means: tuple[PaperRow, PaperRow]
    rows: list[ScenarioPair]

    @property
    def difference(self) -> float | None:
        return _minus(*self.means)


def paper_pair(board: Board, judge: str, one: int, other: int) -> PaperPair | None:
    """Two systems by the paper's recipe, the higher mean first; None unless both have sheets."""
    found = [each for each in paper_rows(board, judge) if each.place in (one, other)]
    if len(found) != 2:
        return None
    first, second = found
    rows = [
        ScenarioPair(number, a, b)
        for number, a, b in zip(board.scenarios, first.cells, second.cells, strict=True)
        if a or b
    ]
    return PaperPair(first.name, second.name, (first.row, second.row), rows)


def paper_pair_table(pair: PaperPair, caption: str) -> TableData:
    """Every scenario with both means."""
    columns = [_("Scenario")]
    for name in (pair.first, pair.second):
        columns += [name, _("sd"), "n"]
    columns += [_("Difference")]
    rows = [
        [str(row.scenario), *_cell(row.first), *_cell(row.second), row.difference]
        for row in pair.rows
    ]
    one, other = pair.means
    rows.append([_("Mean of scenario means"), *_cell(one), *_cell(other), pair.difference])
    return TableData(
        columns, rows, caption=caption, note=one_line(RECIPE), name="board-pair-paper"
    )


def _cell(cell: PaperCell | PaperRow | None) -> list[Any]:
    return [cell.mean, cell.sd, cell.n] if cell else [None, None, None]


def _minus(one: PaperCell | PaperRow | None, other: PaperCell | PaperRow | None) -> float | None:
    if not one or not other or one.mean is None or other.mean is None:
        return None
    return one.mean - other.mean
