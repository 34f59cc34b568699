"""Standings of a stored board by one judge, with warnings and recent changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _, ngettext

from annotation.answers.models import Answer
from benchmark.leaderboard.methods.changes import board_changes
from benchmark.leaderboard.methods.figures import (
    BoardJudge,
    CalibratedStanding,
    Cost,
    JudgeRanking,
    LengthSlope,
    ScoreBoard,
    ScoreCell,
    StandingRow,
)
from benchmark.leaderboard.methods.options import PEOPLE, VERSION
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.scoring.models import ScoreSheet
from cqa_site.rounds.models import Place
from cqa_site.stats.estimate import BoundedMean, Standing
from .snapshot import read_rows

if TYPE_CHECKING:
    import pandas as pd


OfSystem = TypeVar("OfSystem", StandingRow, CalibratedStanding)


@dataclass(frozen=True)
class ConditionChoice:
    """The condition shown in a cell, and its other conditions."""

    shown: str
    others: list[str]


@dataclass(frozen=True)
class CellView:
    """A cell, with its conditions if there are several."""

    cell: ScoreCell
    several: ConditionChoice | None


@dataclass(frozen=True, kw_only=True)
class LengthRank(BoundedMean):
    """Length-controlled mean of a system, and its rank among ranked systems."""

    rank: int | None


@dataclass(frozen=True, kw_only=True)
class BoardLine:
    """One system on one judge's leaderboard.

    Attributes
    ----------
    place, id, name
        Position, id and name of the system.
    row, standing, why, remark
        The system's figures, its rank or the reason for a missing rank, and distinct remarks on
        missing data.
    cells, others
        Cells by scenario, and means by the board's other judges; None if missing.
    length, calibrated, cost
        Length-controlled and calibrated means, and the cost of an answer.
    """

    place: int
    id: str
    name: str
    row: StandingRow
    standing: Standing | None
    why: str
    remark: str
    cells: list[CellView | None]
    others: list[StandingRow | None]
    length: LengthRank | None
    calibrated: CalibratedStanding | None
    cost: Cost


def judge_name(judge: BoardJudge) -> str:
    """Return the display name of a judge: "People" for all people, or the model's name."""
    return _("People") if judge.key == PEOPLE else judge.name or judge.key[:8]


def chosen_judge(board: ScoreBoard, wanted: str) -> str:
    """Return the judge requested by key or position.

    By default, it is the judge with the most scored answers. The result is empty if there are no
    judges.
    """
    known = {judge.key: judge.answers for judge in board.judges}
    places = {str(at): key for at, key in enumerate(known)}
    wanted = places.get(wanted, wanted)
    if wanted in known:
        return wanted
    return max(known, key=lambda key: known[key]) if known else ""


def condition_names(board: ScoreBoard) -> dict[tuple[int, int], str]:
    """Map (position of the system, scenario) to the name of the shown condition."""
    return {
        (condition.system, condition.scenario): condition.name
        for condition in board.conditions
        if condition.is_shown
    }


def conditions_of(board: ScoreBoard) -> dict[tuple[int, int], ConditionChoice]:
    """Map cells with several conditions to the shown condition and the other conditions."""
    labels, others = condition_names(board), dict[tuple[int, int], list[str]]()
    for condition in board.conditions:
        if not condition.is_shown:
            others.setdefault((condition.system, condition.scenario), []).append(condition.name)
    return {key: ConditionChoice(labels.get(key, ""), names) for key, names in others.items()}


def thin_cells(board: ScoreBoard, judge: str) -> list[ScoreCell]:
    """Return the cells with too few scored questions for a mean."""
    return [cell for cell in board.cells if cell.judge == judge and cell.is_thin]


def ranking_of(board: ScoreBoard, judge: str) -> JudgeRanking:
    return next(ranking for ranking in board.rankings if ranking.judge == judge)


def length_of(board: ScoreBoard, judge: str) -> LengthSlope:
    return next(length for length in board.lengths if length.judge == judge)


def board_rows(board: ScoreBoard, judge: str) -> list[BoardLine]:
    """Return the rows of one judge's leaderboard, best first, then unranked systems by mean."""
    if not judge:
        return []
    ranking = ranking_of(board, judge)
    standings = {
        int(standing.system): standing
        for standing in ranking.standings
        if standing.rank is not None
    }
    by_system = _by(board.rows, judge)
    cells = {(cell.system, cell.scenario): cell for cell in board.cells if cell.judge == judge}
    order = sorted(
        by_system,
        key=lambda at: (
            standings[at].rank if at in standings else len(by_system) + 1,
            -_or_least(by_system[at].mean),
            at,
        ),
    )
    several = conditions_of(board)
    lengths, calibrated = _length_ranks(board, judge, standings), _by(board.calibrated, judge)
    theirs = [_by(board.rows, rater.key) for rater in board.judges if rater.key != judge]
    return [
        BoardLine(
            place=at,
            id=board.systems[at].id,
            name=board.systems[at].name,
            row=by_system[at],
            standing=standings.get(at),
            why=_why(ranking, at),
            remark=_remark(ranking, by_system[at], is_ranked=at in standings),
            cells=[
                CellView(cells[at, number], several.get((at, number)))
                if (at, number) in cells
                else None
                for number in board.scenarios
            ],
            others=[rows.get(at) for rows in theirs],
            length=lengths.get(at),
            calibrated=calibrated.get(at),
            cost=board.costs.systems[at],
        )
        for at in order
    ]


def _or_least(mean: float | None) -> float:
    """Return a mean as a sort key; a missing mean sorts last."""
    return -1 if mean is None else mean


def _why(ranking: JudgeRanking, at: int) -> str:
    """Return why a system has no rank."""
    return ranking.unranked.get(at) or ranking.reason or ""


def _remark(ranking: JudgeRanking, row: StandingRow, *, is_ranked: bool) -> str:
    """Return the reasons for a missing rank, mean or interval, without repeats."""
    remarks = ["" if is_ranked else _why(ranking, row.system), row.reason or ""]
    return "; ".join(dict.fromkeys(remark for remark in remarks if remark))


def _by(rows: Iterable[OfSystem], judge: str) -> dict[int, OfSystem]:
    return {row.system: row for row in rows if row.judge == judge}


def _length_ranks(
    board: ScoreBoard, judge: str, standings: dict[int, Standing]
) -> dict[int, LengthRank]:
    """Return each system's length-controlled mean and its rank among ranked systems."""
    slope = length_of(board, judge)
    ranked = [slope.means[at] for at in slope.means if at in standings]
    ranks = {at: 1 + sum(rival > mean for rival in ranked) for at, mean in slope.means.items()}
    return {
        at: LengthRank(
            mean=mean,
            **dict(zip(("low", "high"), slope.bounds.get(at, ()), strict=False)),
            rank=ranks[at] if at in standings else None,
        )
        for at, mean in slope.means.items()
    }


def scenario_names(board: ScoreBoard) -> list[str]:
    names = dict(Answer.Scenario.choices)
    return [str(names.get(number, number)) for number in board.scenarios]


def system_place(board: ScoreBoard, system: str) -> int | None:
    """Return the position of a system by its id; None if unknown."""
    places = {candidate.id: at for at, candidate in enumerate(board.systems)}
    return places.get(system)


def column_name(recipe: dict[str, Any], key: str) -> str:
    """Return the display name of a column."""
    column = next(spec for spec in recipe["columns"] if spec["key"] == key)
    if column["kind"] == "criterion":
        return f"{key} {column['name']}"
    return column["name"] or _("Total")


# Warnings about thin data, shown before a board is frozen or published, and to its readers

SHOWN_NAMES = 5


def board_warnings(board: ScoreBoard) -> list[str]:
    """Return warnings by judge; empty if every mean has an interval and a rank."""
    warnings = []
    if earlier := earlier_version(board):
        warnings.append(earlier)
    several = len(conditions_of(board))
    if several:
        text = ngettext(
            "In %d cell, answers under other conditions are left out.",
            "In %d cells, answers under other conditions are left out.",
            several,
        )
        warnings.append(text % several)
    for judge in board.judges:
        for warning in _of_judge(board, judge.key):
            warnings.append(f"{judge_name(judge)}: {warning}")
    return warnings


def earlier_version(board: ScoreBoard) -> str:
    """Return the limits of a board frozen by an earlier version; empty for the current version."""
    version = board.options.version
    if version == VERSION:
        return ""
    sentence = _(
        "These figures were frozen by version %s of the leaderboard: the intervals "
        "are percentiles of resampled questions, which are too narrow for few "
        "questions. Its rank ranges and groups are not shown, because they claimed "
        "more than the tests support."
    )
    return sentence % version


def _of_judge(board: ScoreBoard, judge: str) -> list[str]:
    rows = [board_row for board_row in board.rows if board_row.judge == judge]
    ranking = ranking_of(board, judge)
    ranked = {int(standing.system) for standing in ranking.standings if standing.rank is not None}
    names = [system.name for system in board.systems]
    warnings = []
    thin = thin_cells(board, judge)
    if thin:
        cells = [f"{names[cell.system]} {cell.scenario or ''}".strip() for cell in thin]
        text = ngettext(
            "%(n)d thin cell is left out of every mean (%(which)s).",
            "%(n)d thin cells are left out of every mean (%(which)s).",
            len(thin),
        )
        warnings.append(text % {"n": len(thin), "which": _listed(cells)})
    bare = [names[row.system] for row in rows if row.low is None]
    if bare:
        warnings.append(_("without a mean or an interval: %s.") % _listed(bare))
    if ranking.reason:
        warnings.append(
            _("no system is ranked (%s); means are over each system's own questions.")
            % ranking.reason
        )
        return warnings
    others = [names[row.system] for row in rows if row.system not in ranked]
    if others:
        text = _("unranked, with at most a mean over their own questions: %s.")
        warnings.append(text % _listed(others))
    return warnings


def _listed(names: list[str]) -> str:
    text = ", ".join(names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return text if more <= 0 else _("%(names)s and %(n)d more") % {"names": text, "n": more}


CHUNK = 500


def changes_between(before: BoardSnapshot | None, after: BoardSnapshot) -> dict[str, Any]:
    """Return all changes; empty for the first frozen snapshot of a rubric."""
    if before is None:
        return {}
    old, new = (_totals(snapshot) for snapshot in (before, after))
    both = new.index.intersection(old.index)
    gone = [str(sheet) for sheet in old.index.difference(new.index)]
    same = (new[both] == old[both]) | (new[both].isna() & old[both].isna())
    return {
        "against": before.number,
        "sheets": {
            "added": len(new) - len(both),
            "gone": len(gone),
            "changed": int((~same).sum()),
        },
        "why_gone": _why_gone(gone),
        **board_changes(
            *(ScoreBoard.from_dict(snapshot.figures["board"]) for snapshot in (before, after))
        ),
    }


def _totals(snapshot: BoardSnapshot) -> pd.Series:
    return read_rows(bytes(snapshot.rows)).set_index("sheet")["total"]


def _why_gone(sheets: list[str]) -> dict[str, int]:
    """Count, by reason, the sheets from the earlier snapshot that no longer count."""
    counts: dict[str, int] = {}
    excluded = Place.objects.filter(
        round=OuterRef("round"), rater=OuterRef("rater"), excluded_at__isnull=False
    )
    for start in range(0, len(sheets), CHUNK):
        part = sheets[start : start + CHUNK]
        rows = ScoreSheet.objects.filter(public_id__in=part).values_list(
            Exists(excluded), "run__scoring__trust", "state", "is_extra", "known"
        )
        reasons = [_reason(*row) for row in rows]
        reasons += ["deleted"] * (len(part) - len(reasons))
        for reason in reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return dict(sorted(counts.items()))


def _reason(
    is_excluded: bool, trust: str | None, state: str, is_extra: bool, known: dict[str, Any] | None
) -> str:
    if is_excluded:
        return "excluded"
    if trust == "untrusted":
        return "untrusted"
    if state == ScoreSheet.State.VOID:
        return "void"
    return "control" if known else "extra" if is_extra else "other"
