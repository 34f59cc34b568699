"""What moved since the last frozen snapshot, and why: sheets come, gone and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef

from benchmark.leaderboard.methods.changes import board_changes
from benchmark.leaderboard.methods.figures import Board
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.rounds.models import Place

from .rows import read_rows

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 500


def changes_between(before: BoardSnapshot | None, after: BoardSnapshot) -> dict[str, Any]:
    """Everything that moved; empty for the first frozen snapshot of a rubric."""
    if before is None:
        return {}
    old, new = (_totals(each) for each in (before, after))
    both = new.index.intersection(old.index)
    gone = [str(each) for each in old.index.difference(new.index)]
    same = (new[both] == old[both]) | (new[both].isna() & old[both].isna())
    return {
        "against": before.number,
        "sheets": {
            "added": len(new) - len(both),
            "gone": len(gone),
            "changed": int((~same).sum()),
        },
        "why_gone": _why_gone(gone),
        **board_changes(*(Board.from_dict(each.figures["board"]) for each in (before, after))),
    }


def _totals(snapshot: BoardSnapshot) -> pd.Series:
    return read_rows(bytes(snapshot.rows)).set_index("sheet")["total"]


def _why_gone(sheets: list[str]) -> dict[str, int]:
    """Why sheets of the earlier snapshot no longer count."""
    found: dict[str, int] = {}
    excluded = Place.objects.filter(
        round=OuterRef("round"),
        rater=OuterRef("rater"),
        excluded_at__isnull=False,
    )
    for start in range(0, len(sheets), CHUNK):
        part = sheets[start : start + CHUNK]
        rows = ScoreSheet.objects.filter(public_id__in=part).values_list(
            Exists(excluded), "run__scoring__trust", "state", "is_extra"
        )
        reasons = [_reason(*row) for row in rows]
        reasons += ["deleted"] * (len(part) - len(reasons))
        for reason in reasons:
            found[reason] = found.get(reason, 0) + 1
    return dict(sorted(found.items()))


def _reason(is_excluded: bool, trust: str | None, state: str, is_extra: bool) -> str:
    if is_excluded:
        return "excluded"
    if trust == "untrusted":
        return "untrusted"
    return "void" if state == ScoreSheet.State.VOID else "extra" if is_extra else "other"
