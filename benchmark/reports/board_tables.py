"""The figures of a board as tables: what pages show and what people take away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.models import BoardSnapshot
from cqa_site.web.tables import TableData

from .board_filters import Filters
from .board_part_tables import (
    Made,
    beside_table,
    cell_table,
    distribution_table,
    judge_table,
    pair_table,
    part_table,
    scenario_table,
    with_bounds,
)
from .board_view import Board, board_rows, column_name, judge_name


@dataclass(frozen=True)
class Entry:
    """Title, recipe and content of one figure."""

    title: Any
    recipe: Any
    build: Callable[[Board, str, dict[str, Any]], Made]


def board_table_of(
    snapshot: BoardSnapshot, board: Board, judge: str, filters: Filters, slug: str
) -> TableData:
    """One figure as a table; raises KeyError for an unknown one."""
    entry = TABLES[slug]
    columns, rows = entry.build(board, judge, snapshot.recipe)
    return TableData(
        columns,
        rows,
        caption=f"{entry.title}. {source_of(snapshot, board, judge, filters)}",
        note=str(entry.recipe),
        name=f"board-{slug}-snapshot-{snapshot.number}",
    )


def source_of(snapshot: BoardSnapshot, board: Board, judge: str, filters: Filters) -> str:
    """Where a figure comes from: judge, column, filters, snapshot, hash and date."""
    names = {each["key"]: judge_name(each) for each in board["judges"]}
    parts = [
        _("Scored by %s") % names.get(judge, "–"),
        column_name(snapshot.recipe, filters.column),
    ]
    if filters.aspect:
        parts.append(_("with aspect") if filters.aspect == "with" else _("without aspect"))
    if filters.scenario:
        parts.append(_("scenario %s") % filters.scenario)
    if filters.dataset:
        parts.append(filters.dataset)
    where = _("Snapshot #%(number)s of %(rubric)s, rows sha256 %(sha)s, %(date)s") % {
        "number": snapshot.number,
        "rubric": f"{snapshot.recipe['rubric']['name']} v{snapshot.recipe['rubric']['number']}",
        "sha": snapshot.sha256[:12],
        "date": date_format(snapshot.computed_at, "Y-m-d H:i e"),
    }
    return f"{'; '.join(parts)}. {where}."


def _board(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    others = [each for each in board["judges"] if each["key"] != judge]
    columns = [
        _("Rank"),
        _("Rank from"),
        _("Rank to"),
        _("System"),
        *with_bounds(_("Mean")),
        _("Mean on common questions"),
        _("Probability of being best"),
        _("Tie group"),
        *with_bounds(_("Calibrated to people")),
        _("Paper: mean of scenario means"),
        _("Paper: mean of sds"),
        _("Pooled mean"),
        _("Pooled sd"),
        _("Answers n"),
        _("Questions n"),
        _("Asked"),
        _("Coverage"),
        _("Unscored sheets"),
        _("Length-controlled mean"),
        _("Length-controlled rank"),
        *(_("Mean by %s") % judge_name(each) for each in others),
        _("Remark"),
    ]
    return columns, [_board_row(row) for row in board_rows(board, judge)]


def _board_row(row: dict[str, Any]) -> list[Any]:
    standing, own = row["standing"] or {}, row["row"]
    calibrated, length = row["calibrated"] or {}, row["length"] or {}
    return [
        standing.get("rank"),
        standing.get("rank_low"),
        standing.get("rank_high"),
        row["name"],
        *(own[part] for part in ("mean", "low", "high")),
        standing.get("mean"),
        standing.get("p_best"),
        standing.get("tie_group"),
        *(calibrated.get(part) for part in ("mean", "low", "high")),
        *(own[part] for part in ("paper_mean", "paper_sd", "pooled_mean", "pooled_sd")),
        *(own[part] for part in ("n_answers", "n_questions", "asked", "coverage", "unscored")),
        length.get("mean"),
        length.get("rank"),
        *(each["mean"] if each else None for each in row["others"]),
        "" if standing else row["why"],
    ]


TABLES: dict[str, Entry] = {
    "board": Entry(
        gettext_lazy("Leaderboard"),
        gettext_lazy(
            "Mean of scenario means over questions; replicates, people and choices are averaged "
            "inside the question first; of a person's repeats the first sheet counts. 95 % "
            "intervals: percentile bootstrap of questions. Rank ranges: the middle 95 % of ranks "
            "in one paired bootstrap on the questions that all ranked systems share. Tie groups: "
            "not separable from the group's best system (paired t test, Holm over all pairs). "
            "Unscored sheets enter no mean; coverage is the share of asked answers with a score. "
            "Length-controlled: all scored answers, moved along the slope within systems to the "
            "systems' mean length. Calibrated: mean of the scenarios' prediction-powered means, "
            "with the mean of their half widths, which is rather too wide. Behind ±, no basis "
            "for an interval: paper, the mean of the scenarios' sds; pooled, sd over all answers."
        ),
        _board,
    ),
    "scenarios": Entry(
        gettext_lazy("Scores by scenario"),
        gettext_lazy(
            "Mean points over questions. The last row is over all scored answers. The chart "
            "shows the best 30 systems at most."
        ),
        scenario_table,
    ),
    "groups": Entry(
        gettext_lazy("Scores by group"),
        gettext_lazy("Mean of scenario means over answers that have all points of the group."),
        part_table("group"),
    ),
    "criteria": Entry(
        gettext_lazy("Scores by criterion"),
        gettext_lazy("Mean of scenario means over answers with points for the criterion."),
        part_table("criterion"),
    ),
    "cells": Entry(
        gettext_lazy("Every cell"),
        gettext_lazy(
            "sd: over answers, ddof 1, as the CompQA paper prints it; no basis for an interval. "
            "Worst and best case: the mean if every unscored answer had no points, or all."
        ),
        cell_table,
    ),
    "distributions": Entry(
        gettext_lazy("Spread of points"),
        gettext_lazy("Scored answers by points, half points rounded down."),
        distribution_table,
    ),
    "beside": Entry(
        gettext_lazy("People and judge on the same answers"),
        gettext_lazy("Means over the answers of a system and scenario that both have scored."),
        beside_table,
    ),
    "pairs": Entry(
        gettext_lazy("Every two systems"),
        gettext_lazy(
            "First minus second over the common questions; interval from the paired bootstrap, "
            "p of the paired t test. Detectable: the smallest true difference that these "
            "questions would find with power .8."
        ),
        pair_table,
    ),
    "judges": Entry(
        gettext_lazy("Judges of this board"),
        gettext_lazy(
            "Points per 100 characters: among answers to the same question under the same "
            "scenario, 95 % bootstrap of questions; within one system: system and question as "
            "fixed effects. Cost in the units of the endpoint's price, where calls are known."
        ),
        judge_table,
    ),
}
