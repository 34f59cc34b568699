"""A first guess which column of a table is which field, from the headers alone."""

import re
from collections.abc import Sequence

from .generic_table import FIELDS, VOTE_FIELDS

# Headers of our own votes export; a table with all of them needs no guessing.
EXPORT_COLUMNS = {
    "external_id": "item_id",
    "object1": "object1",
    "object2": "object2",
    "text": "text",
    "source_url": "source_url",
    "control_label": "control_label",
    "rater": "rater_id",
    "rater_kind": "rater_kind",
    "label": "label",
    "state": "state",
    "is_extra": "is_extra",
    "started": "answered_at",
    "active_ms": "active_ms",
    "block": "block",
    "position": "position",
}
# Younger exports have these too.
LATER_EXPORT_COLUMNS = ("is_excluded", "skip_reason", "is_flagged", "comment")

_KNOWN_AS = {
    "object1": ("object1", "obj1", "objecta", "firstobject", "a"),
    "object2": ("object2", "obj2", "objectb", "secondobject", "b"),
    "text": ("text", "argument", "arguments", "sentence", "content"),
    "source_url": ("sourceurl", "url", "source", "link", "document"),
    "external_id": ("itemid", "taskid", "externalid", "id", "item", "task"),
    "label": ("label", "relevance", "vote", "rating", "score", "value"),
    "rater": ("raterid", "rater", "workerid", "worker", "annotatorid", "annotator", "user"),
    "control_label": ("controllabel", "golden", "knownlabel", "expected"),
    "started": ("answeredat", "started", "submittedat", "timestamp", "createdat", "time", "date"),
    "comment": ("comment", "comments", "note", "remark"),
}


def is_own_export(columns: Sequence[str]) -> bool:
    """Whether the headers are those of our votes export.

    Examples
    --------
    >>> is_own_export(["object1", "object2", "text"])
    False
    """
    return set(EXPORT_COLUMNS.values()) <= set(columns)


def guess_mapping(columns: Sequence[str]) -> dict[str, str]:
    """Field to column, each column at most once; what is unclear stays open.

    Examples
    --------
    >>> guess_mapping(["Obj 1", "Obj 2", "Sentence", "Label"])
    {'object1': 'Obj 1', 'object2': 'Obj 2', 'text': 'Sentence'}
    """
    if is_own_export(columns):
        later = {name: name for name in LATER_EXPORT_COLUMNS if name in columns}
        return EXPORT_COLUMNS | later
    bare = {re.sub(r"[^a-z0-9]", "", column.lower()): column for column in reversed(columns)}
    guess: dict[str, str] = {}
    for field in FIELDS:
        names = _KNOWN_AS.get(field, (field.replace("_", ""),))
        found = next((bare[name] for name in names if name in bare), None)
        if found is not None and found not in guess.values():
            guess[field] = found
    if not all(field in guess for field in VOTE_FIELDS):
        # A label without its rater cannot be imported, so neither is proposed.
        guess = {field: column for field, column in guess.items() if field not in VOTE_FIELDS}
    return guess
