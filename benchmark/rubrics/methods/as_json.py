"""Rubrics as plain values, as canonical JSON and by their hash.

Two sheets were scored by the same rubric exactly if the hashes are equal: every text and every
example counts, because raters and judges saw it.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .rubric import Criterion, Group, Level, Rubric, RubricError

_RUBRIC = {"name": str, "groups": list, "criteria": list}
_GROUP = {"key": str, "name": str, "maximum": int}
_CRITERION = {
    "key": str,
    "group": str,
    "name": str,
    "asks": str,
    "maximum": int,
    "levels": list,
}
_LEVEL = {"points": int, "text": str}
_WORDS = {str: "text", int: "a whole number", list: "a list", bool: "true or false"}


def rubric_to_dict(rubric: Rubric) -> dict[str, Any]:
    """Plain values in the order of the rubric; `rubric_from_dict` takes them back."""
    return {
        "name": rubric.name,
        "allows_halves": rubric.allows_halves,
        "maximum": rubric.maximum,
        "groups": [
            {"key": each.key, "name": each.name, "maximum": each.maximum} for each in rubric.groups
        ],
        "criteria": [_criterion_dict(each) for each in rubric.criteria],
    }


def canonical_json(rubric: Rubric) -> str:
    """One text for one rubric: keys sorted, no white space between values, letters as they are."""
    values = rubric_to_dict(rubric)
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def rubric_sha256(rubric: Rubric) -> str:
    """Hash of the canonical JSON in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(rubric).encode()).hexdigest()


def rubric_from_dict(stored: object) -> Rubric:
    """Read what `rubric_to_dict` gave, or what a person wrote in its shape.

    ``allows_halves``, ``maximum``, ``counted_by`` and examples may be missing; a maximum that is
    there must be right.

    Raises
    ------
    RubricError
        Naming criterion and field, also for fields that no rubric has.
    """
    fields = _fields(stored, None, _RUBRIC, {"allows_halves": bool, "maximum": int})
    rubric = Rubric(
        name=fields["name"],
        groups=tuple(Group(**_fields(each, None, _GROUP)) for each in fields["groups"]),
        criteria=tuple(
            _criterion_from(each, f"C{place}")
            for place, each in enumerate(fields["criteria"], start=1)
        ),
        allows_halves=fields.get("allows_halves", False),
    )
    if fields.get("maximum", rubric.maximum) != rubric.maximum:
        raise RubricError(None, "maximum", f"the criteria add up to {rubric.maximum}")
    return rubric


def _criterion_dict(criterion: Criterion) -> dict[str, Any]:
    return {
        "key": criterion.key,
        "group": criterion.group,
        "name": criterion.name,
        "asks": criterion.asks,
        "maximum": criterion.maximum,
        "levels": [
            {"points": each.points, "text": each.text, "example": each.example}
            for each in criterion.levels
        ],
        "counted_by": criterion.counted_by,
    }


def _criterion_from(stored: object, key: str) -> Criterion:
    # JSON's null says the same as a missing field.
    given = {
        name: each
        for name, each in (stored.items() if isinstance(stored, Mapping) else ())
        if (name, each) != ("counted_by", None)
    }
    is_object = isinstance(stored, Mapping)
    fields = _fields(given if is_object else stored, key, _CRITERION, {"counted_by": str})
    levels = tuple(
        Level(**_fields(each, key, _LEVEL, {"example": str})) for each in fields.pop("levels")
    )
    return Criterion(levels=levels, **fields)


def _fields(
    stored: object,
    criterion: str | None,
    needed: Mapping[str, type],
    optional: Mapping[str, type] | None = None,
) -> dict[str, Any]:
    """The fields of an object, each of its type, and no others."""
    if not isinstance(stored, Mapping):
        raise RubricError(criterion, "", "is no object with named fields")
    known = {**needed, **(optional or {})}
    for name in stored:
        if name not in known:
            raise RubricError(criterion, str(name)[:80], "is no field here")
    for name, kind in known.items():
        if name not in stored and name in needed:
            raise RubricError(criterion, name, "is missing")
        # Exactly the type: true is no whole number.
        if name in stored and type(stored[name]) is not kind:
            raise RubricError(criterion, name, f"is not {_WORDS[kind]}")
    return dict(stored)
