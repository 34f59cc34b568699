"""Changes between two boards: added and removed judges and systems, means and ranks.

They are a description and not a test, because most sheets are in both boards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.leaderboard.methods.figures import BoardJudge, BoardSystem, ScoreBoard

# Smaller changes are not visible in printed means.
LEAST_MOVE = 0.005
MOST_MOVES = 200


def board_changes(before: ScoreBoard, after: ScoreBoard) -> dict[str, Any]:
    """Compare two boards.

    Returns
    -------
    dict
        ``judges`` and ``systems`` each have two lists of names, ``added`` and ``gone``;
        ``unscored`` has judges whose number of unscored sheets changed; ``moved`` has at most
        `MOST_MOVES` rows whose mean changed by at least `LEAST_MOVE` or whose rank changed,
        largest change first; ``more`` is the number of changes left out.
    """
    old, new = _rows(before), _rows(after)
    moved = [_move(new[key], old[key]) for key in new if key in old]
    moved = sorted(
        (move for move in moved if _has_moved(move)),
        key=lambda move: (-abs(_shift(move)), move["judge"], move["system"]),
    )
    return {
        "judges": _names(_by_key(before), _by_key(after)),
        "systems": _names(_by_id(before), _by_id(after)),
        "unscored": _unscored(_by_key(before), _by_key(after)),
        "moved": moved[:MOST_MOVES],
        "more": max(len(moved) - MOST_MOVES, 0),
    }


def _by_key(board: ScoreBoard) -> dict[str, BoardJudge]:
    return {judge.key: judge for judge in board.judges}


def _by_id(board: ScoreBoard) -> dict[str, BoardSystem]:
    return {system.id: system for system in board.systems}


def _rows(board: ScoreBoard) -> dict[tuple[str, str], dict[str, Any]]:
    """Map (judge, system id) to name, mean and rank."""
    ranks = {
        (ranking.judge, int(standing.system)): standing.rank
        for ranking in board.rankings
        for standing in ranking.standings
    }
    judges = _by_key(board)
    return {
        (row.judge, board.systems[row.system].id): {
            "judge": judges[row.judge].name,
            "system": board.systems[row.system].name,
            "mean": row.mean,
            "rank": ranks.get((row.judge, row.system)),
        }
        for row in board.rows
    }


def _move(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    return {
        "judge": new["judge"],
        "system": new["system"],
        "mean": [old["mean"], new["mean"]],
        "rank": [old["rank"], new["rank"]],
    }


def _has_moved(move: dict[str, Any]) -> bool:
    return move["rank"][0] != move["rank"][1] or abs(_shift(move)) >= LEAST_MOVE


def _shift(move: dict[str, Any]) -> float:
    old, new = move["mean"]
    if old is None or new is None:
        return 0.0 if old == new else float("inf")
    return float(new - old)


def _names(
    old: Mapping[str, BoardJudge | BoardSystem], new: Mapping[str, BoardJudge | BoardSystem]
) -> dict[str, list[str]]:
    return {
        "added": [member.name for key, member in new.items() if key not in old],
        "gone": [member.name for key, member in old.items() if key not in new],
    }


def _unscored(
    old: Mapping[str, BoardJudge], new: Mapping[str, BoardJudge]
) -> list[dict[str, Any]]:
    return [
        {"judge": judge.name, "before": old[key].unscored, "after": judge.unscored}
        for key, judge in new.items()
        if key in old and old[key].unscored != judge.unscored
    ]
