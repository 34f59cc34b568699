"""What moved between two boards: judges and systems come or gone, means and ranks.

A description, not a test: most sheets are in both.
"""

from __future__ import annotations

from typing import Any

# Means that are printed alike have not moved.
LEAST_MOVE = 0.005
MOST_MOVES = 200


def board_changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Compare two boards as `Board.as_dict` gives them.

    Returns
    -------
    dict
        ``judges`` and ``systems``: names ``added`` and ``gone``; ``unscored``: judges whose
        number of unscored sheets changed; ``moved``: rows whose mean moved by `LEAST_MOVE` or
        whose rank changed, largest move first, at most `MOST_MOVES`; ``more``: how many moves
        are left out.
    """
    old, new = _rows(before), _rows(after)
    shared = [key for key in new if key in old]
    moved = [_move(new[key], old[key]) for key in shared]
    moved = sorted(
        (each for each in moved if _has_moved(each)),
        key=lambda each: (-abs(_shift(each)), each["judge"], each["system"]),
    )
    return {
        "judges": _names(before["judges"], after["judges"], "key"),
        "systems": _names(before["systems"], after["systems"], "id"),
        "unscored": _unscored(before, after),
        "moved": moved[:MOST_MOVES],
        "more": max(len(moved) - MOST_MOVES, 0),
    }


def _rows(board: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """(judge, id of the system) → name, mean and rank."""
    ranks = {
        (found["judge"], int(each["system"])): each["rank"]
        for found in board["rankings"]
        for each in found["standings"]
    }
    names = {each["key"]: each["name"] for each in board["judges"]}
    return {
        (row["judge"], board["systems"][row["system"]]["id"]): {
            "judge": names[row["judge"]],
            "system": board["systems"][row["system"]]["name"],
            "mean": row["mean"],
            "rank": ranks.get((row["judge"], row["system"])),
        }
        for row in board["rows"]
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
    before: list[dict[str, Any]], after: list[dict[str, Any]], key: str
) -> dict[str, list[str]]:
    old, new = ({each[key]: each["name"] for each in rows} for rows in (before, after))
    return {
        "added": [name for each, name in new.items() if each not in old],
        "gone": [name for each, name in old.items() if each not in new],
    }


def _unscored(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    old = {each["key"]: each["unscored"] for each in before["judges"]}
    return [
        {"judge": each["name"], "before": old[each["key"]], "after": each["unscored"]}
        for each in after["judges"]
        if each["key"] in old and old[each["key"]] != each["unscored"]
    ]
