"""Read arguments and votes from any table."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field as dataclass_field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from cqa_site.tabular import Problem, ReadingLog, Table, TableRow, UnreadableFile, Value
from cqa_site.tabular.cells import (
    LONGEST_VALUE,
    as_flag,
    as_moment,
    as_name,
    as_text,
    as_whole,
    as_words,
    is_missing,
    single,
    trimmed as trimmed_text,
)
from cqa_site.tabular.layout import mapping_errors
from cqa_site.tabular.shapes import counted

RELEVANCE_SCALE = range(4)
# "2 - relevant": a label with its name.
_NAMED = re.compile(r"\s*([+-]?\d{1,9})\s*[-–—:=.)]\s*[^\W\d].*", re.DOTALL)


def parse_label(value: Value, scale: Collection[int] = RELEVANCE_SCALE) -> int | None:
    """Return the label in a cell, or None if the cell contains no label.

    Parameters
    ----------
    value : Value
        Text ("2", "2.0" or "2 - relevant"), a number, "NA" or None; or a list of one label, as
        annotation tools write it.
    scale : collection of int
        Valid labels.

    Raises
    ------
    ValueError
        If the label is invalid; the message gives the scale. No label is ever rounded or clipped.

    Examples
    --------
    >>> parse_label("0"), parse_label(3.0), parse_label("2.0"), parse_label(" "), parse_label("NA")
    (0, 3, 2, None, None)
    """
    try:
        content = single(value)
        if is_missing(content):
            return None
        match = _NAMED.fullmatch(content) if isinstance(content, str) else None
        number = as_whole(match[1] if match else content)
    except ValueError:
        number = None
    if number is None or number not in scale:
        offered = ", ".join(str(label) for label in sorted(scale))
        raise ValueError(f"{str(value)[:40]!a} is not a label of the scale {offered}")
    return number


FLAGS = ("is_extra", "is_excluded", "is_flagged")
RATER_KINDS = ("person", "expert", "model", "classifier", "reference")
STATES = ("served", "answered", "skipped", "expired", "void")
# Words of crowd platforms for work that counts, and for work that does not.
FOREIGN_STATES = {
    **dict.fromkeys(("approved", "accepted", "submitted", "completed"), "answered"),
    **dict.fromkeys(("rejected", "returned", "timed-out"), "void"),
}
SKIP_REASONS = ("unclear", "broken", "unknown", "offensive", "other")
_LONGEST_URL = 2_000
_LARGEST_NUMBER = 2**31 - 1


def _object(value: Value) -> str:
    text = as_name(value)
    if text is None:
        raise ValueError("is empty")
    return text


def _optional(value: Value) -> str | None:
    text = as_text(value)
    return text if text and text.strip() else None


def _url(value: Value) -> str | None:
    """Return an http(s) address; raise ValueError for other links, which could be harmful."""
    address = as_name(value)
    if address is None:
        return None
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or len(address) > _LONGEST_URL:
        raise ValueError("is not an http(s) address")
    return address


def one_of(*offered: str, words: Mapping[str, str] | None = None) -> Callable[[Value], str | None]:
    """Return a case-insensitive parser for the offered words; ``words`` maps synonyms to them."""

    def read(value: Value) -> str | None:
        name = as_name(value)
        word = name.lower() if name else None
        word = (words or {}).get(word or "", word)
        if word is not None and word not in offered:
            raise ValueError(f"{str(name)[:40]!a} is not one of {', '.join(offered)}")
        return word

    return read


def _count(value: Value) -> int | None:
    try:
        number = as_whole(value)
    except ValueError:
        number = -1
    if number is not None and not 0 <= number <= _LARGEST_NUMBER:
        raise ValueError(f"{str(value)[:40]!a} is not a whole number of zero or more")
    return number


CELL_READERS: Mapping[str, Callable[[Value], object]] = {
    "object1": _object,
    "object2": _object,
    "text": lambda value: as_text(value) or "",
    "source_url": _url,
    "external_id": as_name,
    "rater": as_name,
    "started": as_moment,
    "comment": _optional,
    "rater_kind": one_of(*RATER_KINDS),
    "state": one_of(*STATES, words=FOREIGN_STATES),
    **dict.fromkeys(FLAGS, as_flag),
    "skip_reason": one_of(*SKIP_REASONS),
    "active_ms": _count,
    "block": _count,
    "position": _count,
}

REQUIRED_FIELDS = ("object1", "object2", "text")
VOTE_FIELDS = ("label", "rater")
FIELDS = (
    *REQUIRED_FIELDS, "source_url", "external_id", *VOTE_FIELDS, "control_label", "started",
    "comment", "rater_kind", "state", "is_extra", "is_excluded", "skip_reason", "is_flagged",
    "active_ms", "block", "position",
)  # fmt: skip
# A row without these fields is still an argument or a vote.
OPTIONAL_FIELDS = (
    "source_url", "external_id", "started", "comment", "active_ms", "block", "position",
)  # fmt: skip
# "label:Ann" in a mapping refers to the column with Ann's labels.
LABELS_OF = "label:"
_TRIMMED = ("object1", "object2", "rater")


@dataclass(frozen=True)
class GenericRecord:
    """One argument, with one vote on it if `label` is not None.

    Attributes
    ----------
    row : int
        Row number that people see, as in `TableRow`.
    object1, object2, text : str
        Objects without surrounding white space, and the text as in the file.
    started : datetime or None
        In UTC; a time without a zone is assumed to be in UTC.
    rater_kind, state : str or None
        One of `RATER_KINDS`, and one of `STATES`; only an answered vote has a label.
    is_extra, is_excluded, is_flagged : bool or None
        Whether the vote is late and does not count, whether the rater's votes do not count, and
        whether the rater flagged the vote.
    skip_reason : str or None
        One of `SKIP_REASONS`.
    active_ms : int or None
        Time spent, in milliseconds.
    block, position : int or None
        Position of the vote in the rater's work.
    labels : tuple of (rater, label)
        From a table with a column for each rater.
    attributes : dict
        Values of other columns by column name, if requested.
    """

    row: int
    object1: str
    object2: str
    text: str
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
    labels: tuple[tuple[str, int], ...] = ()
    attributes: Mapping[str, str] = dataclass_field(default_factory=dict)


@dataclass(frozen=True)
class Remark:
    """An invalid cell that was left out of an imported row."""

    row: int
    column: str
    reason: str


def labels_by_rater(mapping: Mapping[str, str]) -> dict[str, str]:
    """Map raters to columns in a table with one column per rater."""
    named = {field: column for field, column in mapping.items() if field.startswith(LABELS_OF)}
    return {field.removeprefix(LABELS_OF).strip(): column for field, column in named.items()}


def check_mapping(
    columns: Collection[str], mapping: Mapping[str, str], *, has_rater: bool = False
) -> list[str]:
    """Return the problems with a column mapping as sentences; an empty list if it is valid.

    ``has_rater`` is true if one rater was named for all rows.
    """
    wide = labels_by_rater(mapping)
    known = (*FIELDS, *(f"{LABELS_OF}{rater}" for rater in wide))
    wrong = mapping_errors(columns, mapping, known=known, required=REQUIRED_FIELDS)
    if "" in wide:
        wrong.append("name the rater of each column of labels: label:NAME")
    if wide and "label" in mapping:
        wrong.append("choose either a single column of labels or one for each rater")
    votes = [field for field in VOTE_FIELDS if field in mapping]
    if len(votes) == 1 and not (has_rater and votes == ["label"]) and not wide:
        wrong.append("label and rater go together: choose both columns or neither")
    return wrong


def read_generic_table(
    table: Table,
    mapping: Mapping[str, str],
    *,
    scale: Collection[int] = RELEVANCE_SCALE,
    rater: str = "",
    attributes: Collection[str] = (),
    log: ReadingLog | None = None,
) -> Iterator[GenericRecord | Problem | Remark]:
    """Read records by a mapping from fields to columns, then close the table.

    A row yields either one record, possibly after remarks, or all its problems. ``rater`` is the
    rater of all rows if the table has no rater column. ``attributes`` are columns to store with
    the argument. ``log`` receives the number of trimmed cells.

    Raises
    ------
    UnreadableFile
        If the mapping does not fit the table (see `check_mapping`), or if `Table` raises it.
    """
    with table:
        wrong = check_mapping(table.columns, mapping, has_rater=bool(rater))
        if wrong:
            raise UnreadableFile(table.name, "; ".join(wrong))
        options = _ReadOptions(
            table.name, mapping, scale, rater, attributes, labels_by_rater(mapping)
        )
        for row in table.rows:
            yield from _read_row(row, options)
        if log is not None:
            log.notes += [_of_trimmed(column, cells) for column, cells in options.trimmed.items()]


@dataclass(frozen=True)
class _ReadOptions:
    """Options for reading one table, and the number of trimmed cells by column."""

    file: str
    mapping: Mapping[str, str]
    scale: Collection[int]
    rater: str
    attributes: Collection[str]
    raters: Mapping[str, str]
    trimmed: Counter[str] = dataclass_field(default_factory=Counter)


def _of_trimmed(column: str, cells: int) -> str:
    return f"Removed spaces at the ends of {counted(cells, 'cell', 'cells')} of “{column}”."


def _read_row(row: TableRow, options: _ReadOptions) -> Iterator[GenericRecord | Problem | Remark]:
    read: dict[str, Any] = {}
    problems = []
    mapping = options.mapping
    for field, column in mapping.items():
        value = row.values[column]
        try:
            read[field] = _read_field(field, value, options.scale)
        except ValueError as error:
            if field in OPTIONAL_FIELDS:
                yield Remark(row.number, column, f"{error}: left out")
            else:
                problems.append(Problem(options.file, row.number, column, str(error)))
        if field in _TRIMMED and isinstance(value, str) and value != trimmed_text(value):
            options.trimmed[column] += 1
    if options.rater and "rater" not in mapping and read.get("label") is not None:
        read["rater"] = options.rater
    if "state" in mapping:
        _without_void_label(read, row.values[mapping["state"]])
    if not problems:
        conflicts = _conflicts(read)
        problems = [Problem(options.file, row.number, mapping[at], why) for at, why in conflicts]
    if problems:
        yield from problems
        return
    pairs = ((name, read.pop(f"{LABELS_OF}{name}")) for name in options.raters)
    labels = tuple((name, label) for name, label in pairs if label is not None)
    attributes = {column: as_words(row.values[column]).strip() for column in options.attributes}
    yield GenericRecord(
        row=row.number,
        labels=labels,
        attributes={
            column: words[:LONGEST_VALUE] for column, words in attributes.items() if words
        },
        **read,
    )


def _without_void_label(read: dict[str, Any], value: Value) -> None:
    """Move the label to the comment if a requester on a crowd platform rejected the work."""
    is_foreign = isinstance(value, str) and trimmed_text(value).lower() in FOREIGN_STATES
    if is_foreign and read.get("state") == "void" and read.get("label") is not None:
        read["comment"] = f"Status {value} in the source, label {read['label']}."
        read["label"] = None
    if is_foreign and read.get("state") == "answered" and read.get("label") is None:
        read["state"] = None


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
    if field in ("label", "control_label") or field.startswith(LABELS_OF):
        return parse_label(value, scale)
    return CELL_READERS[field](value)
