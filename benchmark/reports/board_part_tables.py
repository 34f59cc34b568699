"""What stands below a leaderboard as tables: parts, scenarios, spread, pairs, judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from .board_view import (
    Board,
    board_rows,
    column_name,
    judge_name,
    length_of,
    ranking_of,
    scenario_names,
)

Made = tuple[list[str], list[list[Any]]]


def with_bounds(name: str) -> list[str]:
    """Headings of a value and its interval."""
    return [name, _("low"), _("high")]


def cell_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Every system and scenario."""
    columns = [
        _("System"),
        _("Scenario"),
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
            row["name"],
            str(cell["scenario"]),
            *(cell[part] for part in (*parts, *rest)),
            cell["reason"] or "",
        ]
        for row in board_rows(board, judge)
        for cell in row["cells"]
        if cell
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
        columns = [_("System"), *names, _("Answers n, fewest"), _("most")]
        means = board["parts"].get(judge, {})
        rows = []
        for row in board_rows(board, judge):
            own = [means[each["key"]][row["place"]] for each in wanted]
            counts = [n for _mean, n in own]
            rows.append([row["name"], *(mean for mean, _n in own), min(counts), max(counts)])
        return columns, rows

    return build


def distribution_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Answers by points."""
    counts = board["distributions"].get(judge, [])
    width = len(counts[0]) if counts else 0
    columns = [_("System"), *(str(point) for point in range(width))]
    rows = [[row["name"], *counts[row["place"]]] for row in board_rows(board, judge)]
    return columns, rows


def beside_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """People and one judge on the same answers."""
    columns = [_("System"), _("Scenario"), _("People"), _("Judge"), _("Answers n")]
    return columns, [
        [
            board["systems"][each["system"]]["name"],
            str(each["scenario"]),
            each["people"],
            each["value"],
            each["n"],
        ]
        for each in board["beside"]
        if each["judge"] == judge
    ]


def scenario_table(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    """Scenarios in columns, all answers in the last row."""
    columns = [_("System"), *scenario_names(board)]
    rows = [
        [row["name"], *(cell["mean"] if cell else None for cell in row["cells"])]
        for row in board_rows(board, judge)
    ]
    every = [_("All answers"), *(each[0] for each in board["profile"].get(judge, []))]
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
    pairs = ranking_of(board, judge)["pairs"] if judge else {"first": [], "second": []}
    names = [each["name"] for each in board["systems"]]
    parts = ("mean", "low", "high", "p", "p_holm", "detectable")
    return columns, [
        [names[first], names[pairs["second"][at]], *(pairs[part][at] for part in parts)]
        for at, first in enumerate(pairs["first"])
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
    for each in board["judges"]:
        slope, cost = length_of(board, each["key"]), board["costs"]["judges"][each["key"]]
        rows.append(
            [
                judge_name(each),
                *(each[part] for part in ("raters", "sheets", "asked", "answers", "unscored")),
                *(slope[part] for part in ("slope", "low", "high", "within_systems")),
                None if cost[0] is None else cost[0] / 1_000_000,
                cost[1],
            ]
        )
    return columns, rows
