"""JSON schemas of what a judge answers.

Every text has a longest length and every list a longest size: a constrained model may
otherwise write until its tokens run out. The reason stands before the label because a model
writes from left to right and an explanation after the label cannot bear on it; explained
ratings agree better with people than bare ones (Chiang & Lee 2023, arXiv 2310.05657).
The order of properties is part of the schema: keep it when storing one (PostgreSQL's jsonb
does not).
"""

from collections.abc import Sequence
from typing import Any

LONGEST_REASON = 300


def label_schema(allowed: Sequence[int]) -> dict[str, Any]:
    """Schema of ``{"reason": "…", "label": 2}``.

    Parameters
    ----------
    allowed
        Labels of the scale.
    """
    return closed_object(_reason_and_label(allowed))


def verdict_schema(name: str) -> dict[str, Any]:
    """Schema of ``{"reason": "…", "<name>": true}``."""
    reason = {"type": "string", "maxLength": LONGEST_REASON}
    return closed_object({"reason": reason, name: {"type": "boolean"}})


def batch_schema(ids: Sequence[int], allowed: Sequence[int]) -> dict[str, Any]:
    """Schema of ``{"labels": [{"id": 1, "reason": "…", "label": 2}, …]}``.

    Parameters
    ----------
    ids
        Numbers of the items, all different; the reply holds one entry for each.
    allowed
        Labels of the scale.
    """
    entry = closed_object(
        {"id": {"type": "integer", "enum": list(ids)}, **_reason_and_label(allowed)}
    )
    labels = {"type": "array", "items": entry, "minItems": len(ids), "maxItems": len(ids)}
    return closed_object({"labels": labels})


def _reason_and_label(allowed: Sequence[int]) -> dict[str, Any]:
    return {
        "reason": {"type": "string", "maxLength": LONGEST_REASON},
        "label": {"type": "integer", "enum": list(allowed)},
    }


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """Schema of an object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
