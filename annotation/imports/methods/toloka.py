"""The crowd's votes as Toloka exports them (tab-separated, one assignment item a row).

`INPUT:<field>` holds five lines: the pair in bold, blank, instruction, blank,
and the sentence with the objects in bold. `OUTPUT:<field>` is the vote,
`GOLDEN:<field>` the known label of a control item, `ASSIGNMENT:*` who and when.
The field name (`R-4` in the released pool) differs from pool to pool.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from annotation.corpus.methods.label_scale import RELEVANCE_SCALE, parse_label
from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Row, UnreadableFile, open_table

APPROVED = "APPROVED"

_PAIR = re.compile(r"\*\*(?P<object1>.+?)\*\* vs \*\*(?P<object2>.+?)\*\*")
# The released pool spells it "*Rate … 3*:" on ordinary and "*Rate … 3:*" on control items.
_INSTRUCTION = re.compile(r"\*[^*]+(\*:|:\*|\*)")
_ASSIGNMENT = ("link", "task_id", "assignment_id", "worker_id", "status", "started")


@dataclass(frozen=True)
class CrowdVote:
    """One item of one assignment, voted on or not.

    Attributes
    ----------
    row : int
        Physical line on which the record starts.
    object1, object2, text : str
        As shown, without the `**` of bold; white space untouched.
    is_blank : bool
        The sentence has no visible character.
    started : datetime
        Start of the assignment, in UTC.
    label : int or None
        The vote; None where nothing was submitted.
    control_label : int or None
        Known label; None on ordinary items.
    """

    row: int
    object1: str
    object2: str
    text: str
    is_blank: bool
    task_id: str
    assignment_id: str
    worker_id: str
    status: str
    started: datetime
    label: int | None
    control_label: int | None
    link: str

    @property
    def is_counted(self) -> bool:
        """Whether the vote enters any statistic: accepted work only."""
        return self.status == APPROVED and self.label is not None


@dataclass(frozen=True)
class _Columns:
    shown: str
    vote: str
    control: str | None
    assignment: Mapping[str, str]


class _BadCell(Exception):
    def __init__(self, column: str | None, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.reason = reason


def read_toloka(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    field: str | None = None,
    input_field: str | None = None,
    scale: Collection[int] = RELEVANCE_SCALE,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[CrowdVote | Problem]:
    """Read a pool's export row by row.

    Parameters
    ----------
    path : path
        Where the export lies.
    name : str, optional
        What the file is called in messages; the path's last part by default.
    field, input_field : str, optional
        Which OUTPUT and INPUT field to read; needed only if there are several.
    scale : collection of int
        Labels that votes and control items may carry.
    limits : Limits
        What the file may cost.

    Yields
    ------
    CrowdVote or Problem
        One per row, in file order; a row with a problem gives no vote.

    Raises
    ------
    UnreadableFile
        While iterating, if the file is damaged or is no such export. Votes
        given before that are incomplete, so do not keep them.
    """
    shown_name = name or Path(path).name
    with open_table(path, name=shown_name, limits=limits) as table:
        columns = _find_columns(table.columns, table.name, field, input_field)
        for row in table.rows:
            try:
                yield _read_row(row, columns, scale)
            except _BadCell as bad:
                yield Problem(table.name, row.number, bad.column, bad.reason)


def _find_columns(
    names: list[str], file: str, field: str | None, input_field: str | None
) -> _Columns:
    vote = _one_column(names, "OUTPUT", field, file)
    golden = "GOLDEN:" + vote.partition(":")[2]
    assignment = {part: f"ASSIGNMENT:{part}" for part in _ASSIGNMENT}
    missing = [column for column in assignment.values() if column not in names]
    if missing:
        raise UnreadableFile(file, f"is no Toloka export: no column {', '.join(missing)}")
    return _Columns(
        shown=_one_column(names, "INPUT", input_field, file),
        vote=vote,
        control=golden if golden in names else None,
        assignment=assignment,
    )


def _one_column(names: list[str], prefix: str, field: str | None, file: str) -> str:
    found = [name for name in names if name.startswith(prefix + ":")]
    if field is not None:
        found = [name for name in found if name == f"{prefix}:{field}"]
    if len(found) == 1:
        return found[0]
    if found:
        raise UnreadableFile(file, f"has several {prefix} columns: {', '.join(found)}; choose one")
    raise UnreadableFile(file, f"is no Toloka export: no column {prefix}:{field or '…'}")


def _read_row(row: Row, columns: _Columns, scale: Collection[int]) -> CrowdVote:
    object1, object2, text = _split_shown(str(row.values[columns.shown]), columns.shown)
    work = {part: str(row.values[name]) for part, name in columns.assignment.items()}
    for part in ("task_id", "assignment_id", "worker_id", "status"):
        if not work[part]:
            raise _BadCell(columns.assignment[part], "is empty")
    label = _label(row, columns.vote, scale)
    if label is None and work["status"] == APPROVED:
        raise _BadCell(columns.vote, "accepted work without a vote")
    return CrowdVote(
        row=row.number,
        object1=object1,
        object2=object2,
        text=text,
        is_blank=not text.strip(),
        task_id=work["task_id"],
        assignment_id=work["assignment_id"],
        worker_id=work["worker_id"],
        status=work["status"],
        started=_utc(work["started"], columns.assignment["started"]),
        label=label,
        control_label=_label(row, columns.control, scale) if columns.control else None,
        link=work["link"],
    )


def _split_shown(shown: str, column: str) -> tuple[str, str, str]:
    lines = shown.split("\n", 4)
    if len(lines) < 5:
        raise _BadCell(column, "is not five lines: pair, blank, instruction, blank, text")
    pair = _PAIR.fullmatch(lines[0].rstrip("\r"))
    if pair is None:
        raise _BadCell(column, "its first line is not **object** vs **object**")
    if not _INSTRUCTION.fullmatch(lines[2].rstrip("\r")) or lines[1].strip() or lines[3].strip():
        raise _BadCell(column, "its third line is not an instruction between blank lines")
    return pair["object1"], pair["object2"], lines[4].replace("**", "")


def _label(row: Row, column: str, scale: Collection[int]) -> int | None:
    try:
        return parse_label(row.values[column], scale)
    except ValueError as error:
        raise _BadCell(column, str(error)) from None


def _utc(text: str, column: str) -> datetime:
    """Toloka writes UTC without saying so; a time that names its zone is converted."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise _BadCell(column, f"{text[:40]!a} is no date and time") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
