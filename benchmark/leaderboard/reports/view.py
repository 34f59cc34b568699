"""A stored board as one judge's leaderboard: rows in order, with everything beside them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer
from benchmark.leaderboard.methods.options import PEOPLE

Board = dict[str, Any]


def judge_name(judge: dict[str, Any]) -> str:
    """How a judge is called: people together, or the name of the model."""
    return _("People") if judge["key"] == PEOPLE else judge["name"] or judge["key"][:8]


def chosen_judge(board: Board, wanted: str) -> str:
    """The judge asked for by key or place, or the one who scored most answers; "" for none."""
    known = {each["key"]: each["answers"] for each in board["judges"]}
    places = {str(at): key for at, key in enumerate(known)}
    wanted = places.get(wanted, wanted)
    if wanted in known:
        return wanted
    return max(known, key=lambda key: known[key]) if known else ""


def version_of(board: Board) -> int:
    """Which version of the methods made the figures; see `benchmark.leaderboard.methods.board`."""
    return int(board["version"])


def condition_names(board: Board) -> dict[tuple[int, int], str]:
    """(place of the system, scenario) → the condition that is shown."""
    return {
        (each["system"], each["scenario"]): each["name"]
        for each in board.get("conditions", [])
        if each["is_shown"]
    }


def conditions_of(board: Board) -> dict[tuple[int, int], dict[str, Any]]:
    """Cells that have several conditions → which is ``shown``, and the ``others``."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for each in board.get("conditions", []):
        own = found.setdefault((each["system"], each["scenario"]), {"shown": "", "others": []})
        if each["is_shown"]:
            own["shown"] = each["name"]
        else:
            own["others"].append(each["name"])
    return {key: own for key, own in found.items() if own["others"]}


def thin_cells(board: Board, judge: str) -> list[dict[str, Any]]:
    """Cells with too few scored questions for a mean; boards of version 1 did not mark them."""
    return [
        {**each, "name": board["systems"][each["system"]]["name"]}
        for each in board["cells"]
        if each["judge"] == judge and each.get("is_thin")
    ]


def ranking_of(board: Board, judge: str) -> dict[str, Any]:
    """The ranks that one judge gives."""
    return next(each for each in board["rankings"] if each["judge"] == judge)


def length_of(board: Board, judge: str) -> dict[str, Any]:
    """What one judge pays for length."""
    return next(each for each in board["lengths"] if each["judge"] == judge)


def board_rows(board: Board, judge: str) -> list[dict[str, Any]]:
    """Rows of one judge's leaderboard, best first; those without a rank follow by mean."""
    if not judge:
        return []
    ranking = ranking_of(board, judge)
    standings = {
        int(each["system"]): each for each in ranking["standings"] if each["rank"] is not None
    }
    found = _by(board["rows"], judge)
    cells = {
        (each["system"], each["scenario"]): each
        for each in board["cells"]
        if each["judge"] == judge
    }
    order = sorted(
        found,
        key=lambda at: (
            standings[at]["rank"] if at in standings else len(found) + 1,
            1 if found[at]["mean"] is None else -found[at]["mean"],
            at,
        ),
    )
    several = conditions_of(board)
    lengths, calibrated = _length_ranks(board, judge, standings), _by(board["calibrated"], judge)
    others = [each for each in board["judges"] if each["key"] != judge]
    theirs = [_by(board["rows"], each["key"]) for each in others]
    return [
        {
            "place": at,
            **board["systems"][at],
            "row": found[at],
            "standing": standings.get(at),
            "why": _why(ranking, at),
            "remark": _remark(ranking, at, found[at], is_ranked=at in standings),
            "cells": [
                {**cells[at, number], "several": several.get((at, number))}
                if (at, number) in cells
                else None
                for number in board["scenarios"]
            ],
            "others": [rows.get(at) for rows in theirs],
            "length": lengths.get(at),
            "calibrated": calibrated.get(at),
            "cost": board["costs"]["systems"][at],
        }
        for at in order
    ]


def _why(ranking: dict[str, Any], at: int) -> str:
    """Why a system has no rank."""
    return ranking["unranked"].get(str(at)) or ranking["reason"] or ""


def _remark(ranking: dict[str, Any], at: int, row: dict[str, Any], *, is_ranked: bool) -> str:
    """Why a system has no rank, and why its mean or interval is missing, each said once."""
    said = ["" if is_ranked else _why(ranking, at), row.get("reason") or ""]
    return "; ".join(dict.fromkeys(each for each in said if each))


def _by(rows: list[dict[str, Any]], judge: str) -> dict[int, dict[str, Any]]:
    return {each["system"]: each for each in rows if each["judge"] == judge}


def _length_ranks(
    board: Board, judge: str, standings: dict[int, Any]
) -> dict[int, dict[str, Any]]:
    """Length-controlled mean of each system, and its rank among the ranked ones."""
    means = {int(key): value for key, value in length_of(board, judge)["means"].items()}
    bounds = length_of(board, judge).get("bounds", {})
    ranked = [means[at] for at in means if at in standings]
    return {
        at: {
            "mean": mean,
            "low": bounds.get(str(at), [None])[0],
            "high": bounds.get(str(at), [None])[-1],
            "rank": 1 + sum(each > mean for each in ranked) if at in standings else None,
        }
        for at, mean in means.items()
    }


def scenario_names(board: Board) -> list[str]:
    """The scenarios of the board in words."""
    names = dict(Answer.Scenario.choices)
    return [str(names.get(number, number)) for number in board["scenarios"]]


def system_place(board: Board, system: str) -> int | None:
    """Place of a system by its id."""
    places = {each["id"]: at for at, each in enumerate(board["systems"])}
    return places.get(system)


def column_name(recipe: dict[str, Any], key: str) -> str:
    """How a column is called."""
    found = next(each for each in recipe["columns"] if each["key"] == key)
    if found["kind"] == "criterion":
        return f"{key} {found['name']}"
    return found["name"] or _("Total")
