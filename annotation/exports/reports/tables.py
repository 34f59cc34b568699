"""Columns and rows of each export of a round, streamed from one snapshot."""

import csv
import gzip
import hashlib
import hmac
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import QuerySet

from annotation.consensus.reports import FINAL_PATHS
from annotation.exports.models import ExportFile
from annotation.figures.models import Snapshot
from annotation.figures.reports.snapshots import is_counted
from annotation.labelling.models import LabelRound
from cqa_site.files.actions.exports import FileTable, Row

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
    "guideline": int,
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

# Columns and rows of each kind of export, streamed from one snapshot
#
# This module never reads user accounts. Raters appear under pseudonyms that are valid only within
# one set of files, because the salt is discarded. Times are rounded to the minute, and free text
# is left out unless requested.

Record = dict[str, str]
Content = ExportFile.Content

PIECE = 2_000
# Flags of votes that are left out of every figure.
OUTSIDE = ("is_extra", "is_excluded")
# By default, Python's csv reader rejects longer cells; imports allow 100,000 characters.
csv.field_size_limit(1_000_000)


@dataclass(frozen=True)
class ExportSource:
    """One snapshot, read once, with options for its presentation."""

    snapshot: Snapshot
    salt: bytes
    with_comments: bool = False

    def pseudonym(self, rater_id: str) -> str:
        """Return the rater's pseudonym in this set of files."""
        return "A-" + hmac.new(self.salt, rater_id.encode(), hashlib.sha256).hexdigest()[:12]

    def records(self) -> Iterator[Record]:
        """Yield the votes as text, one at a time."""
        packed = io.BytesIO(bytes(self.snapshot.rows))
        with gzip.open(packed, "rt", encoding="utf-8", newline="") as text:
            yield from csv.DictReader(text)


def votes(source: ExportSource) -> FileTable:
    """Return every answer in the snapshot, including skips and extras."""
    hidden = () if source.with_comments else ("comment",)
    types = {name: kind for name, kind in VOTE_TYPES.items() if name not in hidden}
    label_round = source.snapshot.label_round
    versions, attributes = _guidelines(label_round), Attributes(label_round)
    rows = (
        _vote(source, record, types, versions) + attributes.of(record["item_id"])
        for record in source.records()
    )
    return FileTable(types | attributes.types, rows)


class Attributes:
    """Additional columns from files of imported arguments, as columns of an export.

    The values are current, because snapshots do not store them.
    """

    def __init__(self, label_round: LabelRound) -> None:
        items = label_round.items.exclude(argument__attributes={})
        self._of = dict(items.values_list("external_id", "argument__attributes"))
        self._names = sorted({name for attributes in self._of.values() for name in attributes})
        self.types: dict[str, type] = {f"attribute: {name}": str for name in self._names}

    def of(self, item: str) -> Row:
        """Return the values for an item, by its id in the round."""
        return self.among(self._of.get(item, {}))

    def among(self, values: Mapping[str, str]) -> Row:
        """Return the values in the order of the columns."""
        return tuple(values.get(name) for name in self._names)


def _guidelines(label_round: LabelRound) -> list[tuple[datetime, str]]:
    """Return the guideline versions, newest first, each with the time when its use began."""
    uses = label_round.guideline_uses.order_by("-since").values_list("since", "guideline__number")
    first = (datetime.min.replace(tzinfo=UTC), label_round.guideline.number)
    return [(since, str(number)) for since, number in uses or [first]]


def _vote(
    source: ExportSource,
    record: Record,
    types: dict[str, type],
    versions: list[tuple[datetime, str]],
) -> Row:
    at = record["answered_at"] and datetime.fromisoformat(record["answered_at"])
    had = next((number for since, number in versions if at and since <= at), versions[-1][1])
    fields = record | {"rater_id": source.pseudonym(record["rater_id"]), "guideline": had}
    return tuple(_READ[kind](fields[name]) for name, kind in types.items())


def crowdkit(source: ExportSource) -> FileTable:
    """Return counted votes as task, worker and label, including votes on control items."""
    rows = (
        (record["item_id"], source.pseudonym(record["rater_id"]), int(record["label"]))
        for record in source.records()
        if is_counted(record | {name: _flag(record[name]) for name in OUTSIDE})
    )
    return FileTable(CROWDKIT_TYPES, rows)


def annotators(source: ExportSource) -> FileTable:
    """Return one row per rater with the rater's activity, ordered by pseudonym."""
    tallies: dict[str, _Tally] = {}
    for record in source.records():
        tally = tallies.setdefault(record["rater_id"], _Tally(record["rater_kind"]))
        tally.add(record)
    named = {source.pseudonym(rater): tally for rater, tally in tallies.items()}
    return FileTable(ANNOTATOR_TYPES, (named[name].row(name) for name in sorted(named)))


class _Tally:
    """Counts for the votes of one rater."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.votes = self.extras = self.skipped = self.flagged = 0
        self.controls = self.correct = 0
        self.times: list[int] = []
        self.is_excluded = False

    def add(self, record: Record) -> None:
        self.skipped += record["state"] == "skipped"
        self.flagged += _flag(record["is_flagged"])
        self.is_excluded |= _flag(record["is_excluded"])
        if record["state"] != "answered":
            return
        self.votes += 1
        self.extras += _flag(record["is_extra"])
        if record["active_ms"]:
            self.times.append(int(float(record["active_ms"])))
        if record["control_label"]:
            self.controls += 1
            self.correct += _whole(record["control_label"]) == _whole(record["label"])

    def row(self, name: str) -> Row:
        return (
            name,
            self.kind,
            self.votes,
            self.extras,
            self.skipped,
            self.flagged,
            self.controls,
            self.correct,
            self.correct / self.controls if self.controls else None,
            float(median(self.times)) if self.times else None,
            self.is_excluded,
        )


def final_labels(source: ExportSource) -> FileTable:
    """Return the label and provenance of every argument, as last computed."""
    label_round = source.snapshot.label_round
    attributes = Attributes(label_round)
    paths = ("pk", *FINAL_PATHS, "argument__attributes")
    pieces = in_pieces(label_round.final_labels.order_by("pk").values_list(*paths))
    rows = (row[1:-1] + attributes.among(row[-1]) for row in pieces)
    return FileTable(FINAL_TYPES | attributes.types, rows)


def in_pieces(rows: QuerySet) -> Iterator[Row]:
    """Yield rows from short queries, because one long read would block writers in SQLite."""
    last = 0
    while piece := list(rows.filter(pk__gt=last)[:PIECE]):
        last = piece[-1][0]
        yield from piece


def figures(source: ExportSource) -> FileTable:
    """Return every figure in the snapshot with its path, as a number or text."""
    raters = {record["rater_id"] for record in source.records()}
    named = {rater: source.pseudonym(rater) for rater in raters}
    leaves = _leaves(source.snapshot.figures, named)
    return FileTable(FIGURE_TYPES, (_figure(path, value) for path, value in leaves))


def _leaves(value: Any, named: dict[str, str], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every single value with its path, replacing raters with pseudonyms."""
    pairs: list[tuple[Any, Any]]
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(str(place), child) for place, child in enumerate(value)]
    else:
        yield path, named.get(value, value) if isinstance(value, str) else value
        return
    for name, child in pairs:
        key = named.get(name, name)
        yield from _leaves(child, named, f"{path}.{key}" if path else key)


def _figure(path: str, value: Any) -> Row:
    if isinstance(value, bool):
        return path, None, "true" if value else "false"
    if isinstance(value, (int, float)):
        return path, float(value), None
    return path, None, value


def _flag(text: str) -> bool:
    return text.lower() in ("true", "1")


def _whole(text: str) -> int | None:
    """Return a whole number or None; in columns with gaps, pandas writes 3 as 3.0."""
    return int(float(text)) if text else None


def _minute(text: str) -> datetime | None:
    """Return the time rounded to the minute, in UTC, or None for an empty text."""
    if not text:
        return None
    moment = datetime.fromisoformat(text).astimezone(UTC) + timedelta(seconds=30)
    return moment.replace(second=0, microsecond=0)


_READ: dict[type, Callable[[str], Any]] = {
    str: lambda text: text or None,
    int: _whole,
    bool: _flag,
    datetime: _minute,
}

TABLES: dict[str, Callable[[ExportSource], FileTable]] = {
    Content.VOTES: votes,
    Content.FINAL_LABELS: final_labels,
    Content.ANNOTATORS: annotators,
    Content.FIGURES: figures,
    Content.CROWDKIT: crowdkit,
}
