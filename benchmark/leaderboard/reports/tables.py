"""Tables of a board, including those computed as in the CompQA paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _, gettext_lazy as lazy

from benchmark.leaderboard.methods.figures import PaperCell, PaperRow, ScoreBoard, StandingRow
from benchmark.leaderboard.models import BoardSnapshot
from cqa_site.results.figures import Column, EstimateColumn, FigureTable, table_of
from cqa_site.web.tables import TableData, one_line
from .part_tables import (
    CELL_COLUMNS,
    JUDGE_COLUMNS,
    beside_columns,
    cell_rows,
    condition_columns,
    distribution_columns,
    judge_rows,
    pair_columns,
    part_columns,
    part_rows,
    scenario_columns,
    scenario_rows,
    thin_columns,
)
from .snapshot import Filters
from .standings import BoardLine, board_rows, column_name, judge_name, ranking_of, thin_cells

RECIPE = lazy(
    "Counted: every sheet, even several for one answer, as in the CompQA paper; "
    "people's consolidated sheets if an answer has them; points outside the scale "
    "as given. Incomplete sheets are left out.\n\nCells: mean ± sample sd over "
    "sheets.\n\nRows: unweighted mean of the scenario means ± mean of their "
    "sds.\n\nUncertainty: no intervals and no ranks. Systems have different "
    "questions and unequal numbers of sheets, and these sds do not show how "
    "precise a mean is."
)


@dataclass(frozen=True)
class PaperLine:
    """One system's figures by the paper's recipe, with ``cells`` in the order of scenarios."""

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


PAPER_COLUMNS = (
    Column(lazy("System"), "name"),
    Column(lazy("Mean of scenario means"), "row.mean"),
    Column(lazy("Mean of sds"), "row.sd"),
    Column(lazy("Scenarios"), "row.cells"),
    Column(lazy("Sheets n"), "row.n"),
)
PAPER_CELL_COLUMNS = (
    Column(lazy("System"), "0"),
    Column(lazy("Scenario"), lambda row: row[1].scenario or _("No scenario")),
    Column(lazy("Mean"), "1.mean"),
    Column(lazy("sd"), "1.sd"),
    Column(lazy("Sheets n"), "1.n"),
    Column(lazy("Incomplete sheets, left out"), "1.dropped"),
    Column(lazy("Sheets with points outside the scale"), "1.off_scale"),
)


def _paper_cells(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> list[Any]:
    return [(line.name, cell) for line in paper_rows(board, judge) for cell in line.cells if cell]


@dataclass(frozen=True)
class ScenarioPair:
    """Cells of two systems in one scenario; at least one of them exists."""

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
    """Compare two systems by the paper's recipe, the higher mean first.

    Return None unless both have sheets.
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
    """Return a table with both means for each scenario."""
    columns = [Column(_("Scenario"), "0")]
    for side, name in (("1", pair.first), ("2", pair.second)):
        columns.append(Column(name, f"{side}.mean"))
        columns += [Column(_("sd"), f"{side}.sd"), Column("n", f"{side}.n")]
    columns.append(Column(_("Difference"), "3"))
    rows = [
        *((str(row.scenario), row.first, row.second, row.difference) for row in pair.rows),
        (_("Mean of scenario means"), *pair.means, pair.difference),
    ]
    return table_of(columns, rows, caption=caption, note=one_line(RECIPE), name="board-pair-paper")


def _minus(cell: PaperCell | PaperRow | None, other: PaperCell | PaperRow | None) -> float | None:
    if not cell or not other or cell.mean is None or other.mean is None:
        return None
    return cell.mean - other.mean


# The figures of a board as tables for pages and downloads


def board_table_of(
    snapshot: BoardSnapshot, board: ScoreBoard, judge: str, filters: Filters, slug: str
) -> TableData:
    """Return one figure as a table; raises KeyError if it is unknown."""
    where = source_of(snapshot, board, judge, filters)
    name = f"{_called(slug)}-snapshot-{snapshot.number}"
    return TABLES[slug].table(board, judge, snapshot.recipe, where=where, name=name)


def _called(slug: str) -> str:
    """Return the name of a figure for use in file names; the board itself needs no suffix."""
    return slug if slug == "board" else f"board-{slug}"


def source_of(snapshot: BoardSnapshot, board: ScoreBoard, judge: str, filters: Filters) -> str:
    """Return a figure's source: judge, column, filters, snapshot, hash and date."""
    names = {rater.key: judge_name(rater) for rater in board.judges}
    parts = [
        _("Scored by %s") % names.get(judge, "–"),
        column_name(snapshot.recipe, filters.column),
    ]
    if filters.aspect:
        parts.append(_("with an aspect") if filters.aspect == "with" else _("without an aspect"))
    if filters.scenario:
        parts.append(_("scenario %s") % filters.scenario)
    if filters.dataset:
        parts.append(filters.dataset)
    if filters.condition:
        names = {condition["id"]: condition["name"] for condition in snapshot.recipe["conditions"]}
        parts.append(names[filters.condition])
    assert snapshot.computed_at is not None  # noqa: S101 - there are figures
    number = _("Snapshot #%s") % snapshot.number if snapshot.is_frozen else _("Live figures")
    where = _("%(number)s of %(rubric)s, SHA-256 of rows: %(sha)s, %(date)s") % {
        "number": number,
        "rubric": f"{snapshot.recipe['rubric']['name']} v{snapshot.recipe['rubric']['number']}",
        "sha": snapshot.sha256[:12],
        "date": date_format(snapshot.computed_at, "Y-m-d H:i e"),
    }
    return f"{'; '.join(parts)}. {where}."


def _board(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> list[Column]:
    others = enumerate(rater for rater in board.judges if rater.key != judge)
    return [
        Column(_("Rank"), "standing.rank"),
        Column(_("Rank from"), "standing.rank_low"),
        Column(_("Rank to"), "standing.rank_high"),
        Column(_("System"), "name"),
        EstimateColumn(_("Mean"), "row"),
        Column(_("Group"), "standing.tie_group"),
        EstimateColumn(_("Calibrated to people"), "calibrated"),
        Column(_("Mean over"), lambda line: _ground(line.row)),
        Column(_("Scenarios in mean"), lambda line: " ".join(map(str, line.row.scenarios))),
        Column(
            _("Questions in mean"), lambda line: None if line.row.mean is None else line.row.n_used
        ),
        Column(_("Answers n"), "row.n_answers"),
        Column(_("Questions n"), "row.n_questions"),
        Column(_("Requested"), "row.asked"),
        Column(_("Coverage"), "row.coverage"),
        Column(_("Unscored sheets"), "row.unscored"),
        EstimateColumn(_("Length-controlled mean"), "length"),
        Column(_("Length-controlled rank"), "length.rank"),
        *(
            Column(_("Mean by %s") % judge_name(rater), f"others.{at}.mean")
            for at, rater in others
        ),
        Column(_("Remark"), "remark"),
    ]


def _ground(own: StandingRow) -> str:
    """Describe the questions that a mean covers."""
    if own.mean is None:
        return ""
    return _("common questions") if own.is_common else _("its own questions")


def _lines(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> list[BoardLine]:
    return board_rows(board, judge)


TABLES: dict[str, FigureTable] = {
    "board": FigureTable(
        lazy("Leaderboard"),
        lazy(
            "Mean: over the questions that all ranked systems share, in the scenarios "
            "that systems with scenarios share (a system without scenarios, such as "
            "people, counts with its own answers), so that differences of means are "
            "paired differences. Means of other systems are over their own questions and "
            "cannot be compared. Replicates, people and choices are averaged within the "
            "question first; of a person's repeats, the first sheet counts.\n\nIntervals: "
            "95 %, Student's t over questions, corrected for skewness (Hall 1992), for "
            "ten questions or more.\n\nRank: every pair of systems is tested question by "
            "question (the same t; p at least that of the exact sign-flip test; Holm over "
            "all pairs), for ten common questions or more. A range of ranks leaves out "
            "the systems shown to be above and those shown to be below. Two systems in "
            "the same group cannot be told apart; two in different groups may still be "
            "indistinguishable.\n\nLeft out: unscored sheets are not part of any mean; "
            "coverage is the share of requested answers with a score. Cells with too few "
            "scored questions are listed separately and are left out of every "
            "mean.\n\nLength-controlled: all scored answers, adjusted to the systems' mean "
            "length along the slope within systems; Student's t with questions as "
            "clusters.\n\nCalibrated to people: mean of the scenarios' prediction-powered "
            "means and of their bounds, so the interval tends to be too wide."
        ),
        _board,
        _lines,
    ),
    "thin": FigureTable(
        lazy("Thin cells, left out of every mean"),
        lazy(
            "These cells have too few scored questions for a meaningful mean. They do "
            "not affect ranks, means or the choice of compared scenarios."
        ),
        thin_columns,
        lambda board, judge, recipe: thin_cells(board, judge),
    ),
    "conditions": FigureTable(
        lazy("Conditions of the answers"),
        lazy(
            "A cell shows answers from one condition: a plain condition if there is one; if "
            "several qualify, the condition with the most scored questions. Answers under other "
            "conditions are left out of all figures here; choose a condition to see them."
        ),
        condition_columns,
        "conditions",
    ),
    "paper": FigureTable(
        lazy("As in the CompQA paper"),
        RECIPE,
        PAPER_COLUMNS,
        lambda board, judge, recipe: paper_rows(board, judge),
    ),
    "paper-cells": FigureTable(
        lazy("All cells, as in the CompQA paper"), RECIPE, PAPER_CELL_COLUMNS, _paper_cells
    ),
    "scenarios": FigureTable(
        lazy("Scores by scenario"),
        lazy(
            "Mean points over each system's own questions, thin cells left out. The last row is "
            "over all scored answers."
        ),
        scenario_columns,
        scenario_rows,
    ),
    "groups": FigureTable(
        lazy("Scores by group"),
        lazy(
            "Answers with points for the whole group, over the questions and scenarios of the "
            "system's mean: a ranked system's groups add up to its mean."
        ),
        part_columns("group"),
        part_rows("group"),
    ),
    "criteria": FigureTable(
        lazy("Scores by criterion"),
        lazy(
            "Answers with points for the criterion, over the questions and scenarios of the "
            "system's mean."
        ),
        part_columns("criterion"),
        part_rows("criterion"),
    ),
    "cells": FigureTable(
        lazy("All cells"),
        lazy(
            "sd: over answers, ddof 1; not usable for intervals. "
            "Worst and best case: the mean if every unscored answer had no points or all points."
        ),
        CELL_COLUMNS,
        cell_rows,
    ),
    "distributions": FigureTable(
        lazy("Distribution of points"),
        lazy(
            "Scored answers by points, half points rounded down; the chart shows the first and "
            "the last ranked system."
        ),
        distribution_columns,
        _lines,
    ),
    "beside": FigureTable(
        lazy("People and judge on the same answers"),
        lazy(
            "Means over the answers for a system and scenario that both people and the judge "
            "have scored."
        ),
        beside_columns,
        lambda board, judge, recipe: [row for row in board.beside if row.judge == judge],
    ),
    "pairs": FigureTable(
        lazy("Pairs of systems"),
        lazy(
            "First minus second over the common questions. Interval and p: Student's paired t, "
            "corrected for skewness, with p at least that of the sign-flip test; both are for "
            "this pair alone. Detectable: the true difference that this many questions detect "
            "with power .8, corrected for all pairs. Interval and detectable difference need at "
            "least ten questions."
        ),
        pair_columns,
        lambda board, judge, recipe: ranking_of(board, judge).pairs.rows() if judge else [],
    ),
    "judges": FigureTable(
        lazy("Judges"),
        lazy(
            "Points per 100 characters: among answers to the same question under the same "
            "scenario, 95 % interval over questions; within one system: system and question as "
            "fixed effects. Cost in the units of the endpoint's price, if calls were recorded."
        ),
        JUDGE_COLUMNS,
        judge_rows,
    ),
}
