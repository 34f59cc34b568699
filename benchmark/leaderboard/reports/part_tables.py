"""What stands below a leaderboard as tables: parts, scenarios, spread, pairs, judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from benchmark.leaderboard.methods.figures import Board, Mean

from .view import (
    board_rows,
    column_name,
    condition_names,
    judge_name,
    length_of,
    ranking_of,
    scenario_names,
    thin_cells,
)

Made = tuple[list[str], list[list[Any]]]


def with_bounds(name: str) -> list[str]:
    """Headings of a value and its interval."""
    return [name, _("low"), _("high")]


def cell_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Every system and scenario."""
    names = condition_names(board)
    columns = [
        _("System"),
        _("Scenario"),
        _("Condition"),
        *with_bounds(_("Mean")),
        _("sd"),
        _("Answers n"),
        _("Questions n"),
        _("Asked"),
        _("Coverage"),
        _("Worst case"),
        _("Best case"),
        _("Unscored sheets"),
        _("Remark"),
    ]
    parts = ("mean", "low", "high", "sd", "n_answers", "n_questions", "asked", "coverage")
    rest = ("worst", "best", "unscored")
    return columns, [
        [
            row.name,
            str(one.cell.scenario),
            names.get((row.place, one.cell.scenario), ""),
            *(getattr(one.cell, part) for part in (*parts, *rest)),
            one.cell.reason or "",
        ]
        for row in board_rows(board, judge)
        for one in row.cells
        if one
    ]


def condition_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Every condition of every cell, the shown ones first; of all judges alike."""
    columns = [_("System"), _("Scenario"), _("Condition"), _("Shown"), _("Questions n")]
    return columns, [
        [
            board.systems[each.system].name,
            str(each.scenario),
            each.name,
            _("yes") if each.is_shown else _("no"),
            each.n_questions,
        ]
        for each in board.conditions
    ]


def thin_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Cells of too few questions."""
    columns = [_("System"), _("Scenario"), _("Mean of these"), _("Questions n"), _("Answers n")]
    parts = ("mean", "n_questions", "n_answers")
    return columns, [
        [
            board.systems[each.system].name,
            str(each.scenario),
            *(getattr(each, part) for part in parts),
        ]
        for each in thin_cells(board, judge)
    ]


def part_table(kind: str) -> Callable[[Board, str, dict[str, Any]], Made]:
    """Groups or criteria in columns."""

    def build(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
        wanted = [each for each in recipe["columns"] if each["kind"] == kind]
        names = [
            f"{column_name(recipe, each['key'])} (0–{each['maximum']})"
            if kind == "group"
            else each["key"]
            for each in wanted
        ]
        bounded = [title for name in names for title in with_bounds(name)]
        columns = [_("System"), *bounded, _("Answers n, fewest"), _("Answers n, most")]
        means = board.parts.get(judge, {})
        rows = []
        for row in board_rows(board, judge):
            own = [means[each["key"]][row.place] for each in wanted]
            counts = [each.n for each in own]
            means_and_bounds = [value for each in own for value in _bounded(each)]
            rows.append([row.name, *means_and_bounds, min(counts), max(counts)])
        return columns, rows

    return build


def _bounded(found: Mean) -> list[Any]:
    return [found.mean, found.low, found.high]


def distribution_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Answers by points."""
    counts = board.distributions.get(judge, ())
    width = len(counts[0]) if counts else 0
    columns = [_("System"), *(str(point) for point in range(width))]
    rows = [[row.name, *counts[row.place]] for row in board_rows(board, judge)]
    return columns, rows


def beside_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """People and one judge on the same answers."""
    columns = [_("System"), _("Scenario"), _("People"), _("Judge"), _("Answers n")]
    return columns, [
        [
            board.systems[each.system].name,
            str(each.scenario),
            each.people,
            each.value,
            each.n,
        ]
        for each in board.beside
        if each.judge == judge
    ]


def scenario_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Scenarios in columns, all answers in the last row."""
    bounded = [title for name in scenario_names(board) for title in with_bounds(name)]
    columns = [_("System"), *bounded]
    rows: list[list[Any]] = []
    for row in board_rows(board, judge):
        full = [one.cell if one and not one.cell.is_thin else None for one in row.cells]
        bounds = [getattr(each, part, None) for each in full for part in ("mean", "low", "high")]
        rows.append([row.name, *bounds])
    profile = board.profile.get(judge, ())
    every = [_("All answers"), *(value for each in profile for value in _bounded(each))]
    return columns, [*rows, every] if rows else []


def pair_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Every two ranked systems."""
    columns = [
        _("First"),
        _("Second"),
        *with_bounds(_("Difference")),
        "p",
        _("p after Holm"),
        _("Detectable"),
    ]
    if not judge:
        return columns, []
    pairs = ranking_of(board, judge).pairs
    names = [each.name for each in board.systems]
    parts = ("mean", "low", "high", "p", "p_holm", "detectable")
    return columns, [
        [names[first], names[pairs.second[at]], *(getattr(pairs, part)[at] for part in parts)]
        for at, first in enumerate(pairs.first)
    ]


def judge_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Every judge of the board."""
    columns = [
        _("Judge"),
        _("Raters"),
        _("Sheets"),
        _("Answers asked"),
        _("Answers scored"),
        _("Unscored sheets"),
        *with_bounds(_("Points per 100 characters")),
        _("… within one system"),
        _("Cost per sheet"),
        _("Seconds per sheet"),
    ]
    rows = []
    counted = ("raters", "sheets", "asked", "answers", "unscored")
    for each in board.judges:
        slope, cost = length_of(board, each.key), board.costs.judges[each.key]
        rows.append(
            [
                judge_name(each),
                *(getattr(each, part) for part in counted),
                *(getattr(slope, part) for part in ("slope", "low", "high", "within_systems")),
                None if cost.micro is None else cost.micro / 1_000_000,
                cost.seconds,
            ]
        )
    return columns, rows
