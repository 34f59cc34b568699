"""Describe, write and read a snapshot's vote table and its stored figures."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypedDict

from django.db import connection
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Collate

from annotation.consensus.models import Adjudication
from annotation.consensus.reports import OUTSIDE_THE_COUNT
from annotation.figures.models import Snapshot
from annotation.labelling.models import Assignment, Item, LabelRound, VoteEvent
from cqa_site.rounds.models import Place
from cqa_site.stats.estimate import ONLY_IF_KNOWN, Bounded, Estimate

if TYPE_CHECKING:
    import pandas as pd


# Figures of a round, as stored in a snapshot

# A class cannot have a field named "from".
SecondsBin = TypedDict("SecondsBin", {"from": float, "to": float | None, "votes": int})


@dataclass(frozen=True, kw_only=True)
class RoundProgress:
    """Counts for a round; labels by machines are not votes."""

    ordinary_items: int
    control_items: int
    items_voted: int
    ordinary_items_voted: int
    complete: int | None
    wanted: int | None
    filled: int | None
    votes: int
    control_votes: int
    raters: int
    answered: int
    skipped: int
    expired: int
    void: int
    extra: int
    excluded: int
    excluded_raters: int
    flagged: int
    machine_labels: int


@dataclass(frozen=True, kw_only=True)
class MedianOfPairs(Bounded):
    """A median in the form of an estimate; ``low`` and ``high`` are quartiles."""

    statistic: str
    level: str
    interval: str
    recipe: str
    n_items: int
    n_pairable_items: int
    n_raters: int
    n_values: int
    n_pairs: int


@dataclass(frozen=True, kw_only=True)
class LabelVotes:
    label: int
    ordinary: int
    control: int


@dataclass(frozen=True, kw_only=True)
class LabelItems:
    label: int
    items: int


@dataclass(frozen=True, kw_only=True)
class Majority:
    """Items by label, and how many of the ``total`` are tied, are unanimous or have one vote."""

    items: tuple[LabelItems, ...]
    tied: int
    unanimous: int
    single: int
    total: int


@dataclass(frozen=True, kw_only=True)
class CoincidenceTable:
    """Coincidences within items, and the cells of each row as shares of the row's total."""

    cells: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[float | None, ...], ...]
    sums: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class LabelAgreement:
    label: int
    n_values: int
    agreement: float | None
    chance: float | None


@dataclass(frozen=True, kw_only=True)
class AnnotatorPairs:
    """Pairs among the most active of ``n_raters`` raters, with alpha and count of shared items."""

    raters: tuple[str, ...]
    n_raters: int
    statistic: str
    min_shared: int
    values: tuple[tuple[float | None, ...], ...]
    n_shared: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class DisputedItem:
    """An item whose votes are far apart."""

    item: str
    object1: str
    object2: str
    text: str
    is_control: bool
    votes: tuple[int, ...]
    majority: int
    spread: int
    relative: float | None


@dataclass(frozen=True, kw_only=True)
class AnnotatorAgreement:
    """Counts for a rater; ``agreement`` uses the ``compared`` votes on items others also rated."""

    rater: str
    kind: str
    is_excluded: bool
    votes: int
    skipped: int
    extra: int
    controls: int
    controls_right: int
    compared: int
    agreement: float | None
    median_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """Quartiles of the seconds for ``n`` votes: all votes, or the votes with one label."""

    label: int | None = field(default=None, metadata=ONLY_IF_KNOWN)
    n: int
    q1: float | None
    median: float | None
    q3: float | None


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds per vote."""

    n_untimed: int
    all: Quartiles
    labels: tuple[Quartiles, ...]
    histogram: tuple[SecondsBin, ...]
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class TimeBin:
    """Votes in one interval of time, and the cumulative total at its end."""

    start: str
    votes: int
    total: int


@dataclass(frozen=True, kw_only=True)
class AgreementOverTime:
    step: str | None
    bins: tuple[TimeBin, ...]
    n_undated: int
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class RoundFigures:
    """All figures of a round; ``agreement`` covers all items, and ordinary items separately."""

    values: tuple[int, ...]
    progress: RoundProgress
    agreement: dict[str, tuple[Estimate | MedianOfPairs, ...]]
    labels: tuple[LabelVotes, ...]
    majority: Majority
    confusion: CoincidenceTable
    per_label: tuple[LabelAgreement, ...]
    pairs: AnnotatorPairs
    hardest: tuple[DisputedItem, ...]
    annotators: tuple[AnnotatorAgreement, ...]
    time: Times
    votes_over_time: AgreementOverTime


# The vote table in a snapshot
#
# The table is UTF-8 CSV with the columns in ``COLUMNS``, sorted by content, with one row for every
# assignment that was submitted, expired or is void (not merely served). Its SHA-256 is computed
# from the uncompressed bytes, so anybody with the file can check a citation.

COLUMNS = (
    "item_id", "object1", "object2", "text", "source_url", "control_label", "rater_id",
    "rater_kind", "label", "state", "is_extra", "is_excluded", "answered_at", "active_ms",
    "skip_reason", "is_flagged", "comment", "block", "position",
)  # fmt: skip
# Since version 2, labels by machines do not count; since version 3, intervals are corrected for
# skewness.
RECIPE_VERSION = 3
# Column ``is_extra`` of the table: the vote is in the table but does not count.
IS_OUTSIDE = ExpressionWrapper(OUTSIDE_THE_COUNT, output_field=BooleanField())
FETCH = 2_000
_FLAGS = tuple(COLUMNS.index(name) for name in ("is_extra", "is_excluded", "is_flagged"))
_TIME = COLUMNS.index("answered_at")


def build_votes_csv(label_round: LabelRound) -> Iterator[bytes]:
    """Write the round's votes as CSV, a few thousand rows at a time, from one query."""
    buffer = io.StringIO()
    # With CRLF, the csv module quotes both CR and LF in a sentence on every Python version.
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for number, row in enumerate(_rows(label_round).iterator(FETCH), start=1):
        writer.writerow(_cells(row))
        if number % FETCH == 0:
            yield _emptied(buffer)
    yield _emptied(buffer)


def snapshot_votes(snapshot: Snapshot) -> pd.DataFrame:
    """Read the snapshot's own table; see `read_votes`."""
    return read_votes(bytes(snapshot.rows))


def read_votes(packed: bytes) -> pd.DataFrame:
    """Read a packed table.

    Labels, control labels and ``active_ms`` are Int64 and may be missing, flags are booleans, and
    ``answered_at`` is a UTC time or missing; everything else is text exactly as stored.
    """
    import pandas as pd
    from pyarrow import csv as arrow, int64, string

    whole = dict.fromkeys(("control_label", "label", "active_ms", "block", "position"), int64())
    table = arrow.read_csv(
        io.BytesIO(gzip.decompress(packed)),
        parse_options=arrow.ParseOptions(newlines_in_values=True),
        convert_options=arrow.ConvertOptions(
            column_types={**dict.fromkeys(COLUMNS, string()), **whole},
            null_values=[""],
            strings_can_be_null=False,
        ),
    )
    frame = table.to_pandas(types_mapper={int64(): pd.Int64Dtype()}.get)
    for flag in (COLUMNS[place] for place in _FLAGS):
        frame[flag] = frame[flag] == "true"
    frame["answered_at"] = pd.to_datetime(
        frame["answered_at"].replace("", None), format="ISO8601", utc=True
    )
    return frame


def counted(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the votes that all figures count: answered, not extra, annotator not excluded."""
    return votes[is_counted(votes)]


def is_counted(votes: Mapping[str, Any]) -> Any:
    """Return which votes in a table count in all figures, or whether a single vote counts."""
    is_outside = votes["is_extra"] | votes["is_excluded"]
    # `^ True` negates both a single boolean and a column of booleans.
    return (votes["state"] == "answered") & (is_outside ^ True)


def recipe_of(label_round: LabelRound) -> dict[str, Any]:
    """Return all inputs to a round's figures except the votes, including the settings used."""
    items = label_round.items.aggregate(all=Count("pk"), controls=Count("control_label"))
    return {
        "version": RECIPE_VERSION,
        "origin": label_round.origin,
        "scale": label_round.guideline.values,
        "guideline": label_round.guideline.number,
        "ordinary_items": items["all"] - items["controls"],
        "control_items": items["controls"],
        "votes_per_item": label_round.votes_per_item if label_round.is_live else None,
        "counted": "answered, no extra votes, no excluded annotators, no machines",
        "confidence": 0.95,
        "min_shared": 5,
    }


def marker(label_round: LabelRound) -> str:
    """Return a digest of everything the figures depend on, in four cheap queries.

    A snapshot with a different marker is stale. Items that are merely served do not count.
    """
    states = (
        label_round.assignments.exclude(state=Assignment.State.SERVED)
        .order_by("state", "is_extra")
        .values_list("state", "is_extra")
        .annotate(Count("pk"))
    )
    newest = LabelRound.objects.filter(pk=label_round.pk).values_list(
        _newest(VoteEvent.objects.filter(assignment__round=OuterRef("pk"))),
        _newest(Adjudication.objects.filter(label_round=OuterRef("pk"))),
        _newest(Item.objects.filter(round=OuterRef("pk"))),
    )
    excluded = label_round.places.filter(excluded_at__isnull=False)
    controls = label_round.items.filter(control_label__isnull=False)
    parts = (
        (RECIPE_VERSION, label_round.guideline_id, label_round.votes_per_item),
        list(states),
        newest.get(),
        list(excluded.order_by("rater").values_list("rater", flat=True)),
        list(controls.order_by("pk").values_list("pk", "control_label", "is_retired")),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _newest(rows: QuerySet) -> Subquery:
    return Subquery(rows.order_by("-pk").values("pk")[:1])


def _rows(label_round: LabelRound) -> QuerySet:
    """Return rows of ``COLUMNS``, in the same order on every database and after a re-import."""
    excluded = Place.objects.filter(
        round=OuterRef("round"), rater=OuterRef("rater"), excluded_at__isnull=False
    )
    by_code_point = "C" if connection.vendor == "postgresql" else "BINARY"
    return (
        label_round.assignments.exclude(state=Assignment.State.SERVED)
        .order_by(
            Collate("item__external_id", by_code_point),
            "rater__public_id",
            "state",
            F("answered_at").asc(nulls_first=True),
            "block",
            "position",
            "pk",
        )
        .values_list(
            "item__external_id",
            "item__argument__comparison__object1",
            "item__argument__comparison__object2",
            "item__argument__text",
            "item__argument__source_url",
            "item__control_label",
            "rater__public_id",
            "rater__kind",
            "label",
            "state",
            IS_OUTSIDE,
            Exists(excluded),
            "answered_at",
            "active_ms",
            "skip_reason",
            "is_flagged",
            "comment",
            "block",
            "position",
        )
    )


def _cells(row: tuple[Any, ...]) -> list[Any]:
    cells = list(row)
    for place in _FLAGS:
        cells[place] = "true" if cells[place] else "false"
    at: datetime | None = cells[_TIME]
    if at is not None:
        cells[_TIME] = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return cells


def _emptied(buffer: io.StringIO) -> bytes:
    content = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    return content
