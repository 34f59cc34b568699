"""Two systems of a board against each other, question by question."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.leaderboard.methods.figures import Board, Pairs, Question
from cqa_site.stats.verdicts import least_to_differ
from cqa_site.web.charts.bars import sorted_bars
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.tables import TableData

from .view import ranking_of

COLUMNS = ("mean", "low", "high", "p", "p_holm", "detectable")


@dataclass(frozen=True)
class QuestionPair:
    """Points of both systems for one question."""

    question: Question
    first: float
    second: float

    @property
    def difference(self) -> float:
        """First minus second."""
        return round(float(self.first) - float(self.second), 4)


@dataclass(frozen=True)
class Pair:
    """First minus second in points; ``rows`` are the common questions, largest first.

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
        """Whether there are so few questions that no difference could be shown."""
        return len(self.rows) < self.least

    @property
    def ties(self) -> int:
        """Questions on which both have the same points."""
        return len(self.rows) - self.wins - self.losses


def pair_of(board: Board, judge: str, one: int, other: int) -> Pair | None:
    """The paired difference of two ranked systems, the better one first; None without ranks."""
    ranking = ranking_of(board, judge)
    pairs = ranking.pairs
    place = _place(pairs, one, other)
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
    return Pair(
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
    board: Board, judge: str, first: int, second: int
) -> tuple[float | None, float | None]:
    """The two means of the leaderboard."""
    means = {row.system: row.mean for row in board.rows if row.judge == judge}
    return means[first], means[second]


def _place(pairs: Pairs, one: int, other: int) -> int | None:
    both = {one, other}
    for place, found in enumerate(zip(pairs.first, pairs.second, strict=True)):
        if set(found) == both:
            return place
    return None


def pair_table(pair: Pair, caption: str) -> TableData:
    """Every common question with both points."""
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


def pair_chart(pair: Pair, size: str) -> Spec:
    """Differences of all common questions in order of size."""
    rows = [{"at": at, "difference": row.difference} for at, row in enumerate(pair.rows)]
    titles = (
        ngettext("%d common question", "%d common questions, largest difference first", len(rows))
        % len(rows),
        _("Points more for %s") % pair.first,
    )
    return sorted_bars(rows, x="at", y="difference", titles=titles, size=size)


def pair_alt(pair: Pair) -> str:
    """The chart in words."""
    return _(
        "%(first)s has more points on %(wins)d of %(n)d questions, %(second)s on %(losses)d, and "
        "both the same on %(ties)d."
    ) % {
        "first": pair.first,
        "second": pair.second,
        "wins": pair.wins,
        "losses": pair.losses,
        "ties": pair.ties,
        "n": len(pair.rows),
    }
