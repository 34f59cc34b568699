"""Tables of parts, scenarios, spread and judges, and two systems compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.leaderboard.methods.figures import BoardQuestion, Mean, ScoreBoard, SystemPairs
from cqa_site.stats.verdicts import least_to_differ
from cqa_site.web.charts.bars import sorted_bars
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import TableData

from .standings import (
    board_rows,
    column_name,
    condition_names,
    judge_name,
    length_of,
    ranking_of,
    scenario_names,
    thin_cells,
)

# What stands below a leaderboard as tables: parts, scenarios, spread, pairs, judges.


TableContent = tuple[list[str], list[list[Any]]]


def with_bounds(name: str) -> list[str]:
    """Return the headings of a value and its interval."""
    return [name, _("low"), _("high")]


def cell_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return a row for every system and scenario."""
    names = condition_names(board)
    columns = [
        _("System"),
        _("Scenario"),
        _("Condition"),
        *with_bounds(_("Mean")),
        _("sd"),
        _("Answers n"),
        _("Questions n"),
        _("Requested"),
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
            str(cell.cell.scenario),
            names.get((row.place, cell.cell.scenario), ""),
            *(getattr(cell.cell, part) for part in (*parts, *rest)),
            cell.cell.reason or "",
        ]
        for row in board_rows(board, judge)
        for cell in row.cells
        if cell
    ]


def condition_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return every condition of every cell, the shown ones first; the same for all judges."""
    columns = [_("System"), _("Scenario"), _("Condition"), _("Shown"), _("Questions n")]
    return columns, [
        [
            board.systems[condition.system].name,
            str(condition.scenario),
            condition.name,
            _("yes") if condition.is_shown else _("no"),
            condition.n_questions,
        ]
        for condition in board.conditions
    ]


def thin_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return the cells with too few questions."""
    columns = [_("System"), _("Scenario"), _("Mean of these"), _("Questions n"), _("Answers n")]
    parts = ("mean", "n_questions", "n_answers")
    return columns, [
        [
            board.systems[cell.system].name,
            str(cell.scenario),
            *(getattr(cell, part) for part in parts),
        ]
        for cell in thin_cells(board, judge)
    ]


def part_table(kind: str) -> Callable[[ScoreBoard, str, dict[str, Any]], TableContent]:
    """Return a table builder with groups or criteria in columns."""

    def build(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
        wanted = [column for column in recipe["columns"] if column["kind"] == kind]
        names = [
            f"{column_name(recipe, column['key'])} (0–{column['maximum']})"
            if kind == "group"
            else column["key"]
            for column in wanted
        ]
        bounded = [title for name in names for title in with_bounds(name)]
        columns = [_("System"), *bounded, _("Answers n, fewest"), _("Answers n, most")]
        means = board.parts.get(judge, {})
        rows = []
        for row in board_rows(board, judge):
            own = [means[column["key"]][row.place] for column in wanted]
            counts = [mean.n for mean in own]
            means_and_bounds = [value for mean in own for value in _bounded(mean)]
            rows.append([row.name, *means_and_bounds, min(counts), max(counts)])
        return columns, rows

    return build


def _bounded(mean: Mean) -> list[Any]:
    return [mean.mean, mean.low, mean.high]


def distribution_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return the number of answers by points."""
    counts = board.distributions.get(judge, ())
    width = len(counts[0]) if counts else 0
    columns = [_("System"), *(str(point) for point in range(width))]
    rows = [[row.name, *counts[row.place]] for row in board_rows(board, judge)]
    return columns, rows


def beside_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return means of people and one judge on the same answers."""
    columns = [_("System"), _("Scenario"), _("People"), _("Judge"), _("Answers n")]
    return columns, [
        [
            board.systems[comparison.system].name,
            str(comparison.scenario),
            comparison.people,
            comparison.value,
            comparison.n,
        ]
        for comparison in board.beside
        if comparison.judge == judge
    ]


def scenario_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return systems with scenarios in columns; the last row covers all answers."""
    bounded = [title for name in scenario_names(board) for title in with_bounds(name)]
    columns = [_("System"), *bounded]
    rows: list[list[Any]] = []
    for row in board_rows(board, judge):
        full = [cell.cell if cell and not cell.cell.is_thin else None for cell in row.cells]
        bounds = [getattr(cell, part, None) for cell in full for part in ("mean", "low", "high")]
        rows.append([row.name, *bounds])
    profile = board.profile.get(judge, ())
    every = [_("All answers"), *(value for mean in profile for value in _bounded(mean))]
    return columns, [*rows, every] if rows else []


def pair_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return a row for every pair of ranked systems."""
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
    names = [system.name for system in board.systems]
    parts = ("mean", "low", "high", "p", "p_holm", "detectable")
    return columns, [
        [names[first], names[pairs.second[at]], *(getattr(pairs, part)[at] for part in parts)]
        for at, first in enumerate(pairs.first)
    ]


def judge_table(board: ScoreBoard, judge: str, recipe: dict[str, Any]) -> TableContent:
    """Return a row for every judge of the board."""
    columns = [
        _("Judge"),
        _("Raters"),
        _("Sheets"),
        _("Answers requested"),
        _("Answers scored"),
        _("Unscored sheets"),
        *with_bounds(_("Points per 100 characters")),
        _("… within one system"),
        _("Cost per sheet"),
        _("Seconds per sheet"),
    ]
    rows = []
    counted = ("raters", "sheets", "asked", "answers", "unscored")
    for rater in board.judges:
        slope, cost = length_of(board, rater.key), board.costs.judges[rater.key]
        rows.append(
            [
                judge_name(rater),
                *(getattr(rater, part) for part in counted),
                *(getattr(slope, part) for part in ("slope", "low", "high", "within_systems")),
                None if cost.micro is None else cost.micro / 1_000_000,
                cost.seconds,
            ]
        )
    return columns, rows


# Two systems of a board against each other, question by question.


COLUMNS = ("mean", "low", "high", "p", "p_holm", "detectable")


@dataclass(frozen=True)
class QuestionPair:
    """Points of both systems for one question."""

    question: BoardQuestion
    first: float
    second: float

    @property
    def difference(self) -> float:
        """Difference in points, first minus second."""
        return round(float(self.first) - float(self.second), 4)


@dataclass(frozen=True)
class SystemPair:
    """Difference of two systems (first minus second) in points.

    ``rows`` are the common questions, largest first.

    ``least``: common questions from which two systems of this board can be told apart;
    ``needed``: how many would show a difference as large as here.
    """

    first: str
    second: str
    figures: dict[str, float | None]
    is_separable: bool
    n_pairs: int
    least: int
    needed: int | None
    rows: list[QuestionPair]
    wins: int
    losses: int
    means: tuple[float | None, float | None] | None = None

    @property
    def is_short(self) -> bool:
        """Whether there are too few questions to show any difference."""
        return len(self.rows) < self.least

    @property
    def ties(self) -> int:
        """Questions on which both have the same points."""
        return len(self.rows) - self.wins - self.losses


def pair_of(board: ScoreBoard, judge: str, system: int, other: int) -> SystemPair | None:
    """Return the paired difference of two ranked systems, the better one first.

    None without ranks.
    """
    ranking = ranking_of(board, judge)
    pairs = ranking.pairs
    place = _place(pairs, system, other)
    if place is None:
        return None
    first, second = pairs.first[place], pairs.second[place]
    scores = board.scores[judge]
    at, against = scores.systems.index(first), scores.systems.index(second)
    rows = [
        QuestionPair(board.questions[question], row[at], row[against])
        for question, row in zip(scores.questions, scores.values, strict=True)
    ]
    rows.sort(key=lambda row: (-row.difference, row.question.id))
    return SystemPair(
        first=board.systems[first].name,
        second=board.systems[second].name,
        figures={name: getattr(pairs, name)[place] for name in COLUMNS},
        is_separable=(first, second) in ranking.told_apart(board.options.confidence),
        n_pairs=len(pairs.first),
        least=least_to_differ(len(pairs.first)),
        needed=ranking.questions_needed(place) if board.options.version > 2 else None,
        rows=rows,
        wins=sum(row.difference > 0 for row in rows),
        losses=sum(row.difference < 0 for row in rows),
        means=_board_means(board, judge, first, second),
    )


def _board_means(
    board: ScoreBoard, judge: str, first: int, second: int
) -> tuple[float | None, float | None]:
    """Return both systems' means on the leaderboard."""
    means = {row.system: row.mean for row in board.rows if row.judge == judge}
    return means[first], means[second]


def _place(pairs: SystemPairs, system: int, other: int) -> int | None:
    both = {system, other}
    for place, pair in enumerate(zip(pairs.first, pairs.second, strict=True)):
        if set(pair) == both:
            return place
    return None


def system_pair_table(pair: SystemPair, caption: str) -> TableData:
    """Return all common questions with both systems' points as a table."""
    columns = [_("Object 1"), _("Object 2"), _("Aspect"), pair.first, pair.second]
    return TableData(
        [*columns, _("Difference")],
        [
            [
                row.question.object1,
                row.question.object2,
                row.question.aspect,
                float(row.first),
                float(row.second),
                row.difference,
            ]
            for row in pair.rows
        ],
        caption=caption,
        note=_("Mean points over the compared scenarios of each common question."),
        name="board-pair",
    )


def pair_chart(pair: SystemPair, size: str) -> Spec:
    """Plot the differences of all common questions in order of size."""
    rows = [{"at": at, "difference": row.difference} for at, row in enumerate(pair.rows)]
    titles = (
        ngettext("%d common question", "%d common questions, largest difference first", len(rows))
        % len(rows),
        _("More points for %s") % pair.first,
    )
    return sorted_bars(rows, x="at", y="difference", titles=titles, size=size)


def pair_alt(pair: SystemPair) -> str:
    """Return the chart's text alternative."""
    return _(
        "%(first)s has more points on %(wins)d of %(n)d questions, %(second)s on %(losses)d, and "
        "both have the same on %(ties)d."
    ) % {
        "first": pair.first,
        "second": pair.second,
        "wins": pair.wins,
        "losses": pair.losses,
        "ties": pair.ties,
        "n": len(pair.rows),
    }
