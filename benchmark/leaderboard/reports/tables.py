"""Tables of a board, also with the recipe of the CompQA paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.leaderboard.methods.figures import PaperCell, PaperRow, ScoreBoard, StandingRow
from benchmark.leaderboard.models import BoardSnapshot
from cqa_site.web.tables import TableData, one_line

from .part_tables import (
    TableContent,
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
from .snapshot import Filters
from .standings import BoardLine, board_rows, column_name, judge_name

# A board by the recipe of the CompQA paper: the leaderboard, its cells, two systems.


RECIPE = gettext_lazy(
    "Counted: as in the CompQA paper, every sheet by itself, even several for one answer; "
    "people's consolidated sheets where an answer has them; points off the scale as given. "
    "Incomplete sheets are left out.\n\nCells: mean ± sample sd over sheets.\n\nRows: "
    "unweighted mean of the scenario means ± mean of their sds.\n\nCertainty: no intervals and "
    "no ranks. Systems have different questions and unequal numbers of sheets, and these sds "
    "do not say how far a mean may be off."
)


@dataclass(frozen=True)
class PaperLine:
    """One system under the paper's recipe; ``cells`` are in scenario order."""

    place: int
    id: str
    name: str
    row: PaperRow
    cells: list[PaperCell | None]


def paper_rows(board: ScoreBoard, judge: str) -> list[PaperLine]:
    """Return rows with their cells, highest mean first."""
    cells = {
        (cell.system, cell.scenario): cell for cell in board.paper.cells if cell.judge == judge
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
    return sorted(rows, key=lambda line: (line.row.mean is None, -(line.row.mean or 0)))


def paper_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return table 3 of the paper for one judge."""
    columns = [_("System"), _("Mean of scenario means"), _("Mean of sds"), _("Scenarios")]
    columns += [_("Sheets n")]
    parts = ("mean", "sd", "cells", "n")
    return columns, [
        [line.name, *(getattr(line.row, part) for part in parts)]
        for line in paper_rows(board, judge)
    ]


def paper_cell_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return table 5 of the paper for one judge."""
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
    """Cells of both systems in one scenario; at least one exists."""

    scenario: int
    first: PaperCell | None
    second: PaperCell | None

    @property
    def difference(self) -> float | None:
        return _minus(self.first, self.second)


@dataclass(frozen=True)
class PaperPair:
    """Differences of the paper's means, first minus second; ``rows`` are scenarios."""

    first: str
    second: str
    means: tuple[PaperRow, PaperRow]
    rows: list[ScenarioPair]

    @property
    def difference(self) -> float | None:
        return _minus(*self.means)


def paper_pair(board: ScoreBoard, judge: str, system: int, other: int) -> PaperPair | None:
    """Compare two systems with the paper's recipe, the higher mean first.

    None unless both have sheets.
    """
    lines = [row for row in paper_rows(board, judge) if row.place in (system, other)]
    if len(lines) != 2:
        return None
    first, second = lines
    rows = [
        ScenarioPair(number, a, b)
        for number, a, b in zip(board.scenarios, first.cells, second.cells, strict=True)
        if a or b
    ]
    return PaperPair(first.name, second.name, (first.row, second.row), rows)


def paper_pair_table(pair: PaperPair, caption: str) -> TableData:
    """Return a row per scenario with both means."""
    columns = [_("Scenario")]
    for name in (pair.first, pair.second):
        columns += [name, _("sd"), "n"]
    columns += [_("Difference")]
    rows = [
        [str(row.scenario), *_cell(row.first), *_cell(row.second), row.difference]
        for row in pair.rows
    ]
    first, other = pair.means
    rows.append([_("Mean of scenario means"), *_cell(first), *_cell(other), pair.difference])
    return TableData(
        columns, rows, caption=caption, note=one_line(RECIPE), name="board-pair-paper"
    )


def _cell(cell: PaperCell | PaperRow | None) -> list[Any]:
    return [cell.mean, cell.sd, cell.n] if cell else [None, None, None]


def _minus(cell: PaperCell | PaperRow | None, other: PaperCell | PaperRow | None) -> float | None:
    if not cell or not other or cell.mean is None or other.mean is None:
        return None
    return cell.mean - other.mean


# The figures of a board as tables: what pages show and what people take away.


BOUNDED = ("mean", "low", "high")


@dataclass(frozen=True)
class BoardTableSpec:
    """Title, recipe and content of one figure."""

    title: Any
    recipe: Any
    build: Callable[[ScoreBoard, str, dict[str, Any]], TableContent]


def board_table_of(
    snapshot: BoardSnapshot, board: ScoreBoard, judge: str, filters: Filters, slug: str
) -> TableData:
    """Return one figure as a table; raises KeyError for an unknown one."""
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
    """Return a figure's name for file names; the board itself needs no suffix."""
    return slug if slug == "board" else f"board-{slug}"


def source_of(snapshot: BoardSnapshot, board: ScoreBoard, judge: str, filters: Filters) -> str:
    """Return a figure's source: judge, column, filters, snapshot, hash and date."""
    names = {rater.key: judge_name(rater) for rater in board.judges}
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
        names = {condition["id"]: condition["name"] for condition in snapshot.recipe["conditions"]}
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


def _board(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    others = [rater for rater in board.judges if rater.key != judge]
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
        _("Questions in mean"),
        _("Answers n"),
        _("Questions n"),
        _("Requested"),
        _("Coverage"),
        _("Unscored sheets"),
        *with_bounds(_("Length-controlled mean")),
        _("Length-controlled rank"),
        *(_("Mean by %s") % judge_name(rater) for rater in others),
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
        *(row.mean if row else None for row in line.others),
        line.remark,
    ]


def _parts(estimate: Any, *names: str) -> list[Any]:
    """Return the named values of an estimate; None for each missing one."""
    return [getattr(estimate, name, None) for name in names]


def _over(own: StandingRow) -> list[Any]:
    """Return the questions, scenarios and number of answers that a mean covers."""
    if own.mean is None:
        return ["", "", None]
    ground = _("common questions") if own.is_common else _("its own questions")
    return [ground, " ".join(map(str, own.scenarios)), own.n_used]


TABLES: dict[str, BoardTableSpec] = {
    "board": BoardTableSpec(
        gettext_lazy("Leaderboard"),
        gettext_lazy(
            "Mean: over the questions that all ranked systems share, in the scenarios that those "
            "with scenarios share (a system without scenarios, such as people, counts with its "
            "own answers), so that differences of means are those of the pairs. Means of other "
            "systems are over their own questions and cannot be compared. Replicates, people and "
            "choices are averaged within the question first; of a person's repeats, the first "
            "sheet counts.\n\nIntervals: 95 %, Student's t over questions, corrected for "
            "skewness (Hall 1992), for ten questions or more.\n\nRank: every pair of systems is "
            "tested question by question (the same t; p at least that of the exact sign-flip "
            "test; Holm over all pairs), for ten common questions or more. A range of ranks "
            "leaves out the systems shown to be above and those shown to be below. Two systems "
            "in the same group cannot be told apart; two in different groups need not be "
            "separable.\n\nLeft out: unscored sheets are left out of every mean; coverage is the "
            "share of requested answers with a score. Cells with too few scored questions are "
            "listed separately and are left out of every mean.\n\nWithout length: all scored "
            "answers, moved along the slope within systems to the systems' mean length; "
            "Student's t with questions as clusters.\n\nCalibrated to people: mean of the "
            "scenarios' prediction-powered means and of their bounds, so the interval tends to "
            "be too wide."
        ),
        _board,
    ),
    "thin": BoardTableSpec(
        gettext_lazy("Thin cells, left out of every mean"),
        gettext_lazy(
            "Too few questions have a score here for a mean to say anything yet. These cells do "
            "not affect ranks, means or the choice of compared scenarios."
        ),
        thin_table,
    ),
    "conditions": BoardTableSpec(
        gettext_lazy("Conditions of the answers"),
        gettext_lazy(
            "A cell shows answers from one condition: a plain one if it has any, and among "
            "several the one with the most scored questions. Answers under other conditions are "
            "left out of all figures here; choose a condition to see them."
        ),
        condition_table,
    ),
    "paper": BoardTableSpec(gettext_lazy("As in the CompQA paper"), RECIPE, paper_table),
    "paper-cells": BoardTableSpec(
        gettext_lazy("All cells, as in the CompQA paper"), RECIPE, paper_cell_table
    ),
    "scenarios": BoardTableSpec(
        gettext_lazy("Scores by scenario"),
        gettext_lazy(
            "Mean points over each system's own questions, thin cells left out. The last row is "
            "over all scored answers."
        ),
        scenario_table,
    ),
    "groups": BoardTableSpec(
        gettext_lazy("Scores by group"),
        gettext_lazy(
            "Answers with points for the whole group, over the questions and scenarios of the "
            "system's mean: a ranked system's groups add up to its mean."
        ),
        part_table("group"),
    ),
    "criteria": BoardTableSpec(
        gettext_lazy("Scores by criterion"),
        gettext_lazy(
            "Answers with points for the criterion, over the questions and scenarios of the "
            "system's mean."
        ),
        part_table("criterion"),
    ),
    "cells": BoardTableSpec(
        gettext_lazy("All cells"),
        gettext_lazy(
            "sd: over answers, ddof 1; not a basis for an interval. "
            "Worst and best case: the mean if every unscored answer had no points or all points."
        ),
        cell_table,
    ),
    "distributions": BoardTableSpec(
        gettext_lazy("Spread of points"),
        gettext_lazy(
            "Scored answers by points, half points rounded down; the chart shows the first and "
            "the last ranked system."
        ),
        distribution_table,
    ),
    "beside": BoardTableSpec(
        gettext_lazy("People and judge on the same answers"),
        gettext_lazy(
            "Means over the answers for a system and scenario that both people and the judge "
            "have scored."
        ),
        beside_table,
    ),
    "pairs": BoardTableSpec(
        gettext_lazy("Pairs of systems"),
        gettext_lazy(
            "First minus second over the common questions. Interval and p: Student's paired t, "
            "corrected for skewness, p never below that of sign flips; both for this pair alone. "
            "Detectable: the true difference that this many questions detect with power .8, "
            "corrected for all pairs. Interval and detectable difference need at least ten "
            "questions."
        ),
        pair_table,
    ),
    "judges": BoardTableSpec(
        gettext_lazy("Judges"),
        gettext_lazy(
            "Points per 100 characters: among answers to the same question under the same "
            "scenario, 95 % interval over questions; within one system: system and question as "
            "fixed effects. Cost in the units of the endpoint's price, where calls are known."
        ),
        judge_table,
    ),
}
