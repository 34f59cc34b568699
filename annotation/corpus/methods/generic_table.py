"""Arguments and votes from any table, once a person has said which column is what."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cqa_site.tabular import Problem, Row, Table, UnreadableFile, Value

from .label_scale import RELEVANCE_SCALE, parse_label
from .table_cells import CELL_READERS, FLAGS, as_text

REQUIRED_FIELDS = ("object1", "object2", "text")
VOTE_FIELDS = ("label", "rater")
FIELDS = (
    *REQUIRED_FIELDS,
    "source_url",
    "external_id",
    *VOTE_FIELDS,
    "control_label",
    "started",
    "comment",
    "rater_kind",
    "state",
    "is_extra",
    "is_excluded",
    "skip_reason",
    "is_flagged",
    "active_ms",
    "block",
    "position",
)


@dataclass(frozen=True)
class GenericRecord:
    """One argument, with one vote on it if `label` is not None.

    Attributes
    ----------
    row : int
        Row as a person sees it in the file.
    object1, object2, text : str
        As in the file, white space untouched.
    is_blank : bool
        The text has no visible character.
    started : datetime or None
        In UTC; a time without a zone is taken as UTC.
    rater_kind, state : str or None
        One of `table_cells.RATER_KINDS` and `STATES`; only an answered vote has a label.
    is_extra, is_excluded, is_flagged : bool or None
        A late vote that does not count; a rater whose votes do not count; a vote
        its rater marked.
    skip_reason : str or None
        One of `table_cells.SKIP_REASONS`.
    active_ms : int or None
        Time spent, in milliseconds.
    block, position : int or None
        Where in the rater's work the vote stood.
    """

    row: int
    object1: str
    object2: str
    text: str
    is_blank: bool
    source_url: str | None = None
    external_id: str | None = None
    label: int | None = None
    rater: str | None = None
    control_label: int | None = None
    started: datetime | None = None
    comment: str | None = None
    rater_kind: str | None = None
    state: str | None = None
    is_extra: bool | None = None
    is_excluded: bool | None = None
    skip_reason: str | None = None
    is_flagged: bool | None = None
    active_ms: int | None = None
    block: int | None = None
    position: int | None = None


def check_mapping(columns: Collection[str], mapping: Mapping[str, str]) -> list[str]:
    """What is wrong with a choice of columns, as sentences; empty if nothing is."""
    wrong = [f"there is no field {field!a}" for field in mapping if field not in FIELDS]
    wrong += [f"choose a column for {field}" for field in REQUIRED_FIELDS if field not in mapping]
    wrong += [
        f"there is no column {column!a} for {field}"
        for field, column in mapping.items()
        if column not in columns
    ]
    if len([field for field in VOTE_FIELDS if field in mapping]) == 1:
        wrong.append("label and rater go together: choose both columns or neither")
    if len(set(mapping.values())) < len(mapping):
        wrong.append("one column is chosen for two fields")
    return wrong


def read_generic_table(
    table: Table, mapping: Mapping[str, str], *, scale: Collection[int] = RELEVANCE_SCALE
) -> Iterator[GenericRecord | Problem]:
    """Read records by a mapping of field to column; the table is closed at the end.

    Parameters
    ----------
    table : Table
        As opened; its rows are used up.
    mapping : mapping of str to str
        Keys are among `FIELDS`; object1, object2 and text must be there, and
        label and rater go together.
    scale : collection of int
        Labels that votes and control items may carry.

    Yields
    ------
    GenericRecord or Problem
        In file order. A row gives either one record or all its problems.

    Raises
    ------
    UnreadableFile
        For a mapping that does not fit the table, and as `Table` does.
    """
    with table:
        wrong = check_mapping(table.columns, mapping)
        if wrong:
            raise UnreadableFile(table.name, "; ".join(wrong))
        for row in table.rows:
            yield from _read_row(row, table.name, mapping, scale)


def _read_row(
    row: Row, file: str, mapping: Mapping[str, str], scale: Collection[int]
) -> Iterator[GenericRecord | Problem]:
    read: dict[str, Any] = {}
    problems = []
    for field, column in mapping.items():
        try:
            read[field] = _read_field(field, row.values[column], scale)
        except ValueError as error:
            problems.append(Problem(file, row.number, column, str(error)))
    if not problems:
        problems = [Problem(file, row.number, mapping[at], why) for at, why in _conflicts(read)]
    if problems:
        yield from problems
        return
    is_blank = not str(read["text"]).strip()
    yield GenericRecord(row=row.number, is_blank=is_blank, **read)


def _conflicts(read: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    has_label = read.get("label") is not None
    state = read.get("state")
    if str(read["object1"]).strip() == str(read["object2"]).strip():
        yield "object2", "is the same as the other object"
    if has_label and read.get("rater") is None:
        yield "rater", "a label without its rater"
    if state == "answered" and not has_label:
        yield "label", "an answered vote without a label"
    if state not in (None, "answered") and has_label:
        yield "state", f"a label although the vote is {state}"
    if state is not None and read.get("rater") is None:
        yield "state", "a vote without its rater"


def _read_field(field: str, value: Value, scale: Collection[int]) -> object:
    if field in ("label", "control_label"):
        return parse_label(value, scale)
    if field in FLAGS and isinstance(value, bool):
        return value
    return CELL_READERS[field](as_text(value))
