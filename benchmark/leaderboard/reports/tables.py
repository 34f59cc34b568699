"""The figures of a board as tables: what pages show and what people take away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.leaderboard.methods.figures import Board, Row
from benchmark.leaderboard.models import BoardSnapshot
from cqa_site.web.tables import TableData, one_line

from .filters import Filters
from .paper import RECIPE, paper_cell_table, paper_table
from .part_tables import (
    Made,
    beside_table,
    cell_table,
    condition_table,
    distribution_table,
    judge_table,
    pair_table,
    part_table,
    scenario_table,
    thin_table,
    with_bounds,
)
from .view import BoardLine, board_rows, column_name, judge_name

BOUNDED = ("mean", "low", "high")


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
        note=one_line(entry.recipe),
        name=f"{_called(slug)}-snapshot-{snapshot.number}",
    )


def _called(slug: str) -> str:
    """The name of a figure in names of files: the board itself needs no second one."""
    return slug if slug == "board" else f"board-{slug}"


def source_of(snapshot: BoardSnapshot, board: Board, judge: str, filters: Filters) -> str:
    """Where a figure comes from: judge, column, filters, snapshot, hash and date."""
    names = {each.key: judge_name(each) for each in board.judges}
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
    if filters.condition:
        names = {each["id"]: each["name"] for each in snapshot.recipe["conditions"]}
        parts.append(names[filters.condition])
    assert snapshot.computed_at is not None  # noqa: S101 - there are figures
    number = _("Snapshot #%s") % snapshot.number if snapshot.is_frozen else _("Live figures")
    where = _("%(number)s of %(rubric)s, rows sha256 %(sha)s, %(date)s") % {
        "number": number,
        "rubric": f"{snapshot.recipe['rubric']['name']} v{snapshot.recipe['rubric']['number']}",
        "sha": snapshot.sha256[:12],
        "date": date_format(snapshot.computed_at, "Y-m-d H:i e"),
    }
    return f"{'; '.join(parts)}. {where}."


def _board(board: Board, judge: str, recipe: dict[str, Any]) -> Made:
    others = [each for each in board.judges if each.key != judge]
    columns = [
        _("Rank"),
        _("Rank from"),
        _("Rank to"),
        _("System"),
        *with_bounds(_("Mean")),
        _("Group"),
        *with_bounds(_("Calibrated to people")),
        _("Mean over"),
        _("of scenarios"),
        _("Questions of the mean"),
        _("Answers n"),
        _("Questions n"),
        _("Asked"),
        _("Coverage"),
        _("Unscored sheets"),
        *with_bounds(_("Length-controlled mean")),
        _("Length-controlled rank"),
        *(_("Mean by %s") % judge_name(each) for each in others),
        _("Remark"),
    ]
    return columns, [_board_row(row) for row in board_rows(board, judge)]


def _board_row(line: BoardLine) -> list[Any]:
    counted = ("n_answers", "n_questions", "asked", "coverage", "unscored")
    return [
        *_parts(line.standing, "rank", "rank_low", "rank_high"),
        line.name,
        *_parts(line.row, *BOUNDED),
        *_parts(line.standing, "tie_group"),
        *_parts(line.calibrated, *BOUNDED),
        *_over(line.row),
        *_parts(line.row, *counted),
        *_parts(line.length, *BOUNDED, "rank"),
        *(each.mean if each else None for each in line.others),
        line.remark,
    ]


def _parts(found: Any, *names: str) -> list[Any]:
    """Some of its figures; None for each where it is missing."""
    return [getattr(found, name, None) for name in names]


def _over(own: Row) -> list[Any]:
    """What a mean is over."""
    if own.mean is None:
        return ["", "", None]
    ground = _("common questions") if own.is_common else _("its own questions")
    return [ground, " ".join(map(str, own.scenarios)), own.n_used]


TABLES: dict[str, Entry] = {
    "board": Entry(
        gettext_lazy("Leaderboard"),
        gettext_lazy(
            "Mean: over the questions that all ranked systems share, in the scenarios that those "
            "with scenarios share (a system without any, such as people, stands by its own "
            "answers), so that differences of means are those of the pairs. Means of other "
            "systems are over their own questions and comparable with none. Replicates, people "
            "and choices are averaged inside the question first; of a person's repeats the first "
            "sheet counts.\n\n"
            "Intervals: 95 %, Student's t over questions, corrected for skewness (Hall 1992), "
            "from ten questions on.\n\n"
            "Rank: every two systems are tested question by question (the same t; p at least that "
            "of the exact test that flips signs; Holm over all pairs), from ten common "
            "questions on. A range of ranks leaves out the systems shown to be above and those "
            "shown to be below. No two systems of a group can be told apart; two of different "
            "groups need not be separable.\n\n"
            "Left out: unscored sheets are in no mean; coverage is the share of asked answers "
            "with a score. Cells with too few scored questions stand apart and are in no "
            "mean.\n\n"
            "Without length: all scored answers, moved along the slope within systems to the "
            "systems' mean length; Student's t with questions as clusters.\n\n"
            "Calibrated to people: mean of the scenarios' prediction-powered means and of their "
            "bounds, which makes the interval rather too wide."
        ),
        _board,
    ),
    "thin": Entry(
        gettext_lazy("Thin cells, in no mean"),
        gettext_lazy(
            "So few questions have a score here that a mean says nothing yet: these cells change "
            "no rank, no mean and no choice of compared scenarios."
        ),
        thin_table,
    ),
    "conditions": Entry(
        gettext_lazy("What the answers were written under"),
        gettext_lazy(
            "A cell shows answers of one condition: the one whose filters and wording do not "
            "deviate, among several the one with most scored questions. Answers under the others "
            "are in no figure here; choose one to see them."
        ),
        condition_table,
    ),
    "paper": Entry(gettext_lazy("As the CompQA paper has it"), RECIPE, paper_table),
    "paper-cells": Entry(
        gettext_lazy("Every cell as the CompQA paper has it"), RECIPE, paper_cell_table
    ),
    "scenarios": Entry(
        gettext_lazy("Scores by scenario"),
        gettext_lazy(
            "Mean points over each system's own questions, thin cells left out. The last row is "
            "over all scored answers."
        ),
        scenario_table,
    ),
    "groups": Entry(
        gettext_lazy("Scores by group"),
        gettext_lazy(
            "Over the questions and scenarios of the system's mean, answers with all points of "
            "the group: groups of a ranked system add up to its mean."
        ),
        part_table("group"),
    ),
    "criteria": Entry(
        gettext_lazy("Scores by criterion"),
        gettext_lazy(
            "Over the questions and scenarios of the system's mean, answers with points for the "
            "criterion."
        ),
        part_table("criterion"),
    ),
    "cells": Entry(
        gettext_lazy("Every cell"),
        gettext_lazy(
            "sd: over answers, ddof 1; no basis for an interval. "
            "Worst and best case: the mean if every unscored answer had no points, or all."
        ),
        cell_table,
    ),
    "distributions": Entry(
        gettext_lazy("Spread of points"),
        gettext_lazy(
            "Scored answers by points, half points rounded down; the chart shows the first and "
            "the last ranked system."
        ),
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
            "First minus second over the common questions. Interval and p: Student's paired t, "
            "corrected for skewness, p never below that of sign flips; both of this pair alone. "
            "Detectable: the true difference that as many questions find with power .8, corrected "
            "for all pairs. Interval and detectable difference from ten questions on."
        ),
        pair_table,
    ),
    "judges": Entry(
        gettext_lazy("Judges of this board"),
        gettext_lazy(
            "Points per 100 characters: among answers to the same question under the same "
            "scenario, 95 % interval over questions; within one system: system and question as "
            "fixed effects. Cost in the units of the endpoint's price, where calls are known."
        ),
        judge_table,
    ),
}
