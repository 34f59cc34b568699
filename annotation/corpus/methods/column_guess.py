"""Guess the fields of a table's columns from the headers and the first values."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from cqa_site.tabular import TableRow, Value
from cqa_site.tabular.cells import as_number, is_missing
from cqa_site.tabular.layout import bare
from .generic_table import (
    CELL_READERS,
    FIELDS,
    LABELS_OF,
    RELEVANCE_SCALE,
    REQUIRED_FIELDS,
    VOTE_FIELDS,
    labels_by_rater,
    parse_label,
)

# Headers of our own votes export; a table with all of these headers needs no guessing.
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
# Newer exports have these columns too.
LATER_EXPORT_COLUMNS = ("is_excluded", "skip_reason", "is_flagged", "comment")

_KNOWN_AS = {
    "object1": ("object1", "obj1", "objecta", "firstobject", "a"),
    "object2": ("object2", "obj2", "objectb", "secondobject", "b"),
    "text": ("text", "argument", "arguments", "sentence", "content", "statement"),
    "source_url": ("sourceurl", "url", "source", "link", "document"),
    "external_id": ("itemid", "taskid", "hitid", "externalid", "id", "item", "task"),
    "label": ("label", "relevance", "vote", "rating", "score", "value"),
    "rater": (
        *("raterid", "rater", "workerid", "worker", "annotatorid", "annotator", "user"),
        *("coder", "judge", "completedby", "username", "reviewer", "labeler", "labeller"),
    ),
    "control_label": ("controllabel", "golden", "knownlabel", "expected"),
    "started": (
        *("answeredat", "started", "submittedat", "submittime", "timestamp", "createdat"),
        *("time", "date"),
    ),
    "comment": ("comment", "comments", "note", "remark"),
    "state": ("state", "assignmentstatus", "status"),
}
# Two columns whose names differ only in these words contain the two objects.
_PAIRS = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("one", "two"))
# Prefixes of crowd platforms for input columns and answer columns.
_PARTED = re.compile(r"(?:input|answer)\.", re.IGNORECASE)
_RATER_COLUMN = re.compile(r"(?:rater|annotator|coder|worker|judge|expert|label|vote|r)[_ .-]?\w+")
# Columns with texts from other kinds of files.
_NO_SENTENCES = (
    "comparison", "answer", "answertext", "summary", "keypoint", "question", "wording",
)  # fmt: skip
_LONGEST_OBJECT = 80
# Average number of characters.
_SHORTEST_SENTENCE = 15
# Minimum share of cells that must fit.
_MOST, _HALF = 0.8, 0.5
_FEWEST_LABELS, _LARGEST_LABEL = 3, 10


def is_own_export(columns: Sequence[str]) -> bool:
    """Return whether the headers are those of Counterpoint's votes export.

    Examples
    --------
    >>> is_own_export(["object1", "object2", "text"])
    False
    """
    return set(EXPORT_COLUMNS.values()) <= set(columns)


def guess_mapping(
    columns: Sequence[str], rows: Sequence[TableRow] = (), *, has_rater: bool = False
) -> dict[str, str]:
    """Map fields to columns, each column at most once; unclear fields are left out.

    Parameters
    ----------
    columns : sequence of str
        The headers.
    rows : sequence of Row
        The first rows. A column whose values do not fit a field is not proposed for it. If the
        headers are unclear, the objects, sentence and labels are inferred from the values.
    has_rater : bool
        Whether one rater was named for all rows.

    Examples
    --------
    >>> guess_mapping(["Obj 1", "Obj 2", "Sentence", "Label"])
    {'object1': 'Obj 1', 'object2': 'Obj 2', 'text': 'Sentence'}
    """
    if is_own_export(columns):
        later = {name: name for name in LATER_EXPORT_COLUMNS if name in columns}
        return EXPORT_COLUMNS | later
    table = _Values(columns, rows)
    guess: dict[str, str] = {}
    for field in FIELDS:
        header = table.named(field)
        if header is not None and header not in guess.values():
            guess[field] = header
    if not {"object1", "object2"} <= set(guess):
        guess |= table.pair(guess)
    if "text" not in guess and {"object1", "object2"} <= set(guess):
        guess |= table.longest(guess)
    if "rater" in guess and "label" not in guess and (candidates := table.labels(guess)):
        guess["label"] = candidates[0]
    if not all(field in guess for field in VOTE_FIELDS) and not (has_rater and "label" in guess):
        # A label without its rater cannot be imported, so neither column is proposed.
        guess = {field: column for field, column in guess.items() if field not in VOTE_FIELDS}
        guess |= table.labels_of_raters(guess)
    elif table.is_of_votes(guess.get("external_id")):
        del guess["external_id"]
    return {field: guess[field] for field in (*FIELDS, *guess) if field in guess}


def unread_labels(
    columns: Sequence[str], rows: Sequence[TableRow], mapping: Mapping[str, str]
) -> list[str]:
    """Return columns that may hold labels but are not imported, because their rater is unknown."""
    if "label" in mapping or labels_by_rater(mapping):
        return []
    table = _Values(columns, rows)
    named = table.named("label")
    return [named] if named and named not in mapping.values() else table.labels(mapping)


class _Values:
    """The columns of a table with their first values."""

    def __init__(self, columns: Sequence[str], rows: Sequence[TableRow]) -> None:
        self._values = {
            column: [row.values[column] for row in rows if not is_missing(row.values[column])]
            for column in columns
        }
        self._names: dict[str, str] = {}
        for column in reversed(columns):
            own = _PARTED.sub("", column)
            for name in (own.partition(".")[0], own, column):
                self._names[bare(name)] = column

    def named(self, field: str) -> str | None:
        """Return the column whose name matches the field, if its values fit; None otherwise."""
        names = _KNOWN_AS.get(field, (field.replace("_", ""),))
        columns = (self._names[name] for name in names if name in self._names)
        return next((column for column in columns if self._fits(field, column)), None)

    def _fits(self, field: str, column: str) -> bool:
        values = self._values[column]
        if field in ("label", "control_label"):
            return _share(as_label, values) >= _HALF
        if field in REQUIRED_FIELDS:
            return not values or _share(_as_sentence, values) >= _HALF
        return _share(CELL_READERS[field], values) >= _MOST

    def pair(self, guess: Mapping[str, str]) -> dict[str, str]:
        """Find two columns of short texts whose names differ only in “a”/“b” or “1”/“2”."""
        for value in self._values:
            for first, second in _PAIRS:
                for other in self._values:
                    is_pair = _is_pair(bare(value), bare(other), first, second)
                    is_free = not {value, other} & set(guess.values())
                    if is_pair and is_free and all(map(self._are_objects, (value, other))):
                        return {"object1": value, "object2": other}
        return {}

    def _are_objects(self, column: str) -> bool:
        values = self._values[column]
        short = [
            value for value in values if isinstance(value, str) and len(value) < _LONGEST_OBJECT
        ]
        return len(short) == len(values) and _share(as_number, values) < _HALF

    def longest(self, guess: Mapping[str, str]) -> dict[str, str]:
        """Find the column with the longest texts."""
        taken_names = {*guess.values(), *(self._names.get(name) for name in _NO_SENTENCES)}
        left = [column for column in self._values if column not in taken_names]
        lengths = {column: sum(map(_length, self._values[column])) for column in left}
        best = max(lengths, key=lambda column: lengths[column], default="")
        number = len(self._values.get(best, ())) or 1
        return {"text": best} if lengths.get(best, 0) / number > _SHORTEST_SENTENCE else {}

    def labels(self, guess: Mapping[str, str]) -> list[str]:
        """Return the columns with few distinct whole numbers."""
        left = (column for column in self._values if column not in guess.values())
        return [column for column in left if self._holds_labels(column)]

    def _holds_labels(self, column: str) -> bool:
        values = self._values[column]
        if not values or _share(as_label, values) < 1:
            return False
        labels = {as_label(value) for value in values}
        return len(labels) < len(values) or len(values) < _FEWEST_LABELS

    def labels_of_raters(self, guess: Mapping[str, str]) -> dict[str, str]:
        """Find several label columns, if their names or their combined labels identify them."""
        columns = self.labels(guess)
        named = [column for column in columns if _RATER_COLUMN.fullmatch(column.lower())]
        if len(named) > 1:
            columns = named
        labels = {as_label(value) for column in columns for value in self._values[column]}
        is_scale = labels <= set(RELEVANCE_SCALE) and len(labels) >= _FEWEST_LABELS
        if len(columns) < 2 or not (is_scale or len(named) > 1):
            return {}
        return {f"{LABELS_OF}{column}": column for column in columns}

    def is_of_votes(self, column: str | None) -> bool:
        """Return whether all rows have different ids, although several rows have the same text."""
        values = self._values.get(column or "", [])
        texts = self._values.get(self.named("text") or "", [])
        has_own = len(set(map(str, values))) == len(values) > 1
        return has_own and len(set(map(str, texts))) < len(texts)


def as_label(value: Value) -> int | None:
    """Parse a small whole number; raise ValueError for anything else."""
    return parse_label(value, range(-_LARGEST_LABEL, _LARGEST_LABEL + 1))


def _as_sentence(value: Value) -> str:
    if not isinstance(value, str | int | float):
        raise ValueError("is not text")
    return str(value)


def _share(read: Callable[[Value], object], values: Sequence[Value]) -> float:
    """Return the share of values that can be read; 1 if there are no values."""
    fitting = 0
    for value in values:
        with suppress(ValueError):
            read(value)
            fitting += 1
    return fitting / len(values) if values else 1


def _is_pair(name: str, other: str, first: str, second: str) -> bool:
    if name.endswith(first) and other.endswith(second):
        return name.removesuffix(first) == other.removesuffix(second)
    has_words = name.startswith(first) and other.startswith(second) and len(first) > 1
    return has_words and name.removeprefix(first) == other.removeprefix(second)


def _length(value: Value) -> int:
    return len(value) if isinstance(value, str) else 0
