"""Tables of parts, scenarios, spread and judges, and the comparison of two systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from benchmark.leaderboard.methods.figures import (
    BoardQuestion,
    Mean,
    RankedPair,
    ScoreBoard,
    ScoreCell,
)
from cqa_site.results.figures import Column, EstimateColumn, TextColumn, Value, table_of
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
)

Columns = list[Column]
Recipe = dict[str, Any]


def with_scenario(system: Value, cell: Callable[[Any], Any] = lambda row: row) -> list[Column]:
    scenario = TextColumn(lazy("Scenario"), lambda row: cell(row).scenario or _("No scenario"))
    return [Column(lazy("System"), system), scenario]


def cell_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> list[tuple[str, ScoreCell, str]]:
    """Return (system's name, cell, condition) for each system and scenario."""
    names = condition_names(board)
    return [
        (row.name, cell.cell, names.get((row.place, cell.cell.scenario), ""))
        for row in board_rows(board, judge)
        for cell in row.cells
        if cell
    ]


CELL_COLUMNS = (
    *with_scenario("0", itemgetter(1)),
    Column(lazy("Condition"), "2"),
    EstimateColumn(lazy("Mean"), "1"),
    Column(lazy("sd"), "1.sd"),
    Column(lazy("Answers n"), "1.n_answers"),
    Column(lazy("Questions n"), "1.n_questions"),
    Column(lazy("Requested"), "1.asked"),
    Column(lazy("Coverage"), "1.coverage"),
    Column(lazy("Worst case"), "1.worst"),
    Column(lazy("Best case"), "1.best"),
    Column(lazy("Unscored sheets"), "1.unscored"),
    TextColumn(lazy("Remark"), "1.reason"),
)


def _system(board: ScoreBoard) -> Callable[[Any], str]:
    return lambda row: board.systems[row.system].name


def condition_columns(board: ScoreBoard, judge: str, recipe: Recipe) -> Columns:
    """Return the columns of conditions, which are the same for all judges."""
    return [
        *with_scenario(_system(board)),
        Column(_("Condition"), "name"),
        Column(_("Shown"), lambda row: _("yes") if row.is_shown else _("no")),
        Column(_("Questions n"), "n_questions"),
    ]


def thin_columns(board: ScoreBoard, judge: str, recipe: Recipe) -> Columns:
    """Return the columns of cells with too few questions."""
    return [
        *with_scenario(_system(board)),
        Column(_("Mean over these questions"), "mean"),
        Column(_("Questions n"), "n_questions"),
        Column(_("Answers n"), "n_answers"),
    ]


def beside_columns(board: ScoreBoard, judge: str, recipe: Recipe) -> Columns:
    """Return the columns with the means of people and one judge on the same answers."""
    return [
        *with_scenario(_system(board)),
        Column(_("People"), "people"),
        Column(_("Judge"), "value"),
        Column(_("Answers n"), "n"),
    ]


def part_columns(kind: str) -> Callable[[ScoreBoard, str, Recipe], Columns]:
    """Return a function that builds the columns of groups or criteria."""

    def build(board: ScoreBoard, judge: str, recipe: Recipe) -> Columns:
        wanted = [column for column in recipe["columns"] if column["kind"] == kind]
        return [
            Column(_("System"), "0"),
            *(EstimateColumn(_part_name(recipe, own), f"1.{at}") for at, own in enumerate(wanted)),
            Column(_("Answers n, minimum"), lambda row: min(mean.n for mean in row[1])),
            Column(_("Answers n, maximum"), lambda row: max(mean.n for mean in row[1])),
        ]

    return build


def part_rows(kind: str) -> Callable[[ScoreBoard, str, Recipe], list[tuple[str, list[Mean]]]]:
    """Return a function that reads each system's means of groups or criteria."""

    def read(board: ScoreBoard, judge: str, recipe: Recipe) -> list[tuple[str, list[Mean]]]:
        keys = [column["key"] for column in recipe["columns"] if column["kind"] == kind]
        return [
            (row.name, [board.parts[judge][key][row.place] for key in keys])
            for row in board_rows(board, judge)
        ]

    return read


def _part_name(recipe: Recipe, column: dict[str, Any]) -> str:
    name: str = column["key"]
    is_group = column["kind"] == "group"
    return f"{column_name(recipe, name)} (0–{column['maximum']})" if is_group else name


def distribution_columns(board: ScoreBoard, judge: str, recipe: Recipe) -> Columns:
    """Return a column for each number of points, with the number of answers."""
    counts = board.distributions.get(judge, ())
    width = len(counts[0]) if counts else 0
    points = (Column(str(at), lambda row, at=at: counts[row.place][at]) for at in range(width))
    return [Column(_("System"), "name"), *points]


def scenario_columns(board: ScoreBoard, judge: str, recipe: Recipe) -> Columns:
    """Return a column for each scenario; each row has a name and its means."""
    names = enumerate(scenario_names(board))
    return [Column(_("System"), "0"), *(EstimateColumn(name, f"1.{at}") for at, name in names)]


def scenario_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> list[tuple[str, Any]]:
    """Return each system's means by scenario; the last row covers all answers."""
    rows: list[tuple[str, Any]] = [
        (row.name, [cell.cell if cell and not cell.cell.is_thin else None for cell in row.cells])
        for row in board_rows(board, judge)
    ]
    return [*rows, (_("All answers"), board.profile.get(judge, ()))] if rows else []


def pair_columns(board: ScoreBoard, judge: str, recipe: Recipe) -> Columns:
    """Return the columns of pairs of ranked systems."""
    return [
        Column(_("First"), lambda pair: board.systems[pair.first].name),
        Column(_("Second"), lambda pair: board.systems[pair.second].name),
        EstimateColumn(_("Difference"), lambda pair: pair),
        Column("p", "p"),
        Column(_("Holm-adjusted p"), "p_holm"),
        Column(_("Detectable"), "detectable"),
    ]


def judge_rows(board: ScoreBoard, judge: str, recipe: Recipe) -> list[tuple[Any, ...]]:
    """Return the judges of the board with their length effects and costs."""
    return [
        (rater, length_of(board, rater.key), board.costs.judges[rater.key])
        for rater in board.judges
    ]


JUDGE_COLUMNS = (
    Column(lazy("Judge"), lambda row: judge_name(row[0])),
    Column(lazy("Raters"), "0.raters"),
    Column(lazy("Sheets"), "0.sheets"),
    Column(lazy("Answers requested"), "0.asked"),
    Column(lazy("Answers scored"), "0.answers"),
    Column(lazy("Unscored sheets"), "0.unscored"),
    EstimateColumn(lazy("Points per 100 characters"), "1"),
    Column(lazy("… within one system"), "1.within_systems"),
    Column(
        lazy("Cost per sheet"),
        lambda row: None if row[2].micro is None else row[2].micro / 1_000_000,
    ),
    Column(lazy("Seconds per sheet"), "2.seconds"),
)


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
    """Difference between two systems (first minus second) in points.

    ``rows`` are the common questions, largest difference first.

    ``least`` is the number of common questions that the tests need to tell two systems on this
    board apart; ``needed`` is the number that would show a difference of this size.
    """

    first: str
    second: str
    figures: RankedPair
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
        """Whether there are too few questions to show a difference of any size."""
        return len(self.rows) < self.least

    @property
    def ties(self) -> int:
        """Number of questions with the same points for both systems."""
        return len(self.rows) - self.wins - self.losses


def pair_of(board: ScoreBoard, judge: str, system: int, other: int) -> SystemPair | None:
    """Return the difference between two systems, the better first; None unless both are ranked."""
    ranking = ranking_of(board, judge)
    pairs = enumerate(ranking.pairs.rows())
    place, pair = next(
        ((at, pair) for at, pair in pairs if {pair.first, pair.second} == {system, other}),
        (0, None),
    )
    if pair is None:
        return None
    first, second, n_pairs = pair.first, pair.second, len(ranking.pairs.first)
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
        figures=pair,
        is_separable=(first, second) in ranking.told_apart(board.options.confidence),
        n_pairs=n_pairs,
        least=least_to_differ(n_pairs),
        needed=ranking.questions_needed(place),
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


def system_pair_table(pair: SystemPair, caption: str) -> TableData:
    """Return all common questions with both systems' points as a table."""
    columns = (
        Column(_("Object 1"), "question.object1"),
        Column(_("Object 2"), "question.object2"),
        Column(_("Aspect"), "question.aspect"),
        Column(pair.first, lambda row: float(row.first)),
        Column(pair.second, lambda row: float(row.second)),
        Column(_("Difference"), "difference"),
    )
    return table_of(
        columns,
        pair.rows,
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
        "%(first)s has more points on %(wins)d of %(n)d questions, %(second)s on "
        "%(losses)d, and both have equal points on %(ties)d."
    ) % {
        "first": pair.first,
        "second": pair.second,
        "wins": pair.wins,
        "losses": pair.losses,
        "ties": pair.ties,
        "n": len(pair.rows),
    }
