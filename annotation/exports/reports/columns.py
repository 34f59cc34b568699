"""Columns of every export with the type of their values, in the order written."""

from datetime import datetime

VOTE_TYPES: dict[str, type] = {
    "item_id": str,
    "object1": str,
    "object2": str,
    "text": str,
    "source_url": str,
    "control_label": int,
    "rater_id": str,
    "rater_kind": str,
    "label": int,
    "state": str,
    "is_extra": bool,
    "is_excluded": bool,
    "answered_at": datetime,
    "active_ms": int,
    "skip_reason": str,
    "is_flagged": bool,
    "comment": str,
    "block": int,
    "position": int,
}
ANNOTATOR_TYPES: dict[str, type] = {
    "rater_id": str,
    "rater_kind": str,
    "votes": int,
    "extra_votes": int,
    "skipped": int,
    "flagged": int,
    "control_votes": int,
    "control_correct": int,
    "control_accuracy": float,
    "median_active_ms": float,
    "is_excluded": bool,
}
FINAL_TYPES: dict[str, type] = {
    "object1": str,
    "object2": str,
    "text": str,
    "label": int,
    "provenance": str,
    "majority": int,
    "dawid_skene": int,
    "mace": int,
    "expert": int,
    "adopted": int,
    "adjudicated": int,
    "votes": int,
    "pattern": str,
    "is_tied": bool,
    "spread": int,
}
FIGURE_TYPES: dict[str, type] = {"figure": str, "number": float, "text": str}
CROWDKIT_TYPES: dict[str, type] = {"task": str, "worker": str, "label": int}
