"""Read crowd votes from Toloka and expert labels from a workbook."""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from annotation.corpus.methods.generic_table import RELEVANCE_SCALE, parse_label
from cqa_site.tabular import (
    BadCell,
    Problem,
    SheetRow,
    TableRow,
    UnreadableFile,
    open_table,
    open_workbook,
)

# Crowd votes as exported by Toloka (tab-separated, one row per item in an assignment)
#
# `INPUT:<field>` contains five lines: the pair in bold, a blank line, the
# instruction, a blank line, and the sentence with the objects in bold.
# `OUTPUT:<field>` is the vote, `GOLDEN:<field>` is the known label of a control
# item, and `ASSIGNMENT:*` gives the worker and the time. The field name (`R-4` in
# the released pool) differs between pools.

APPROVED = "APPROVED"

_PAIR = re.compile(r"\*\*(?P<object1>.+?)\*\* vs \*\*(?P<object2>.+?)\*\*")
# The released pool has "*Rate … 3*:" on ordinary items and "*Rate … 3:*" on control items.
_INSTRUCTION = re.compile(r"\*[^*]+(\*:|:\*|\*)")
_ASSIGNMENT = {
    part: f"ASSIGNMENT:{part}"
    for part in ("link", "task_id", "assignment_id", "worker_id", "status", "started")
}


@dataclass(frozen=True)
class CrowdVote:
    """One item of one assignment, with or without a vote.

    Attributes
    ----------
    row : int
        Physical line on which the record starts.
    object1, object2, text : str
        As shown, without the `**` for bold, and with the original white space.
    is_blank : bool
        Whether the sentence has no visible character.
    started : datetime
        Start of the assignment, in UTC.
    label : int or None
        The vote; None if nothing was submitted.
    control_label : int or None
        Known label; None for ordinary items.
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
        """Whether the vote counts in statistics, that is, the work was accepted."""
        return self.status == APPROVED and self.label is not None


@dataclass(frozen=True)
class _Columns:
    shown: str
    vote: str
    control: str | None


def read_toloka(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    field: str | None = None,
    input_field: str | None = None,
    scale: Collection[int] = RELEVANCE_SCALE,
    **how: Any,
) -> Iterator[CrowdVote | Problem]:
    """Read a pool's export row by row; a row with a problem yields no vote.

    ``field`` and ``input_field`` select the OUTPUT and INPUT fields to read; they are needed only
    if there are several. ``how`` is passed to `cqa_site.tabular.open_table`.

    Raises
    ------
    UnreadableFile
        While iterating, if the file is damaged or is not such an export. Votes yielded before the
        error are incomplete, so do not keep them.
    """
    with open_table(path, name=name, **how) as table:
        columns = _find_columns(table.columns, table.name, field, input_field)
        yield from table.records(partial(_read_vote, columns=columns, scale=scale))


def _find_columns(
    names: list[str], file: str, field: str | None, input_field: str | None
) -> _Columns:
    vote = _one_column(names, "OUTPUT", field, file)
    golden = "GOLDEN:" + vote.partition(":")[2]
    missing = [column for column in _ASSIGNMENT.values() if column not in names]
    if missing:
        raise UnreadableFile(file, f"is not a Toloka export: no column {', '.join(missing)}")
    return _Columns(
        shown=_one_column(names, "INPUT", input_field, file),
        vote=vote,
        control=golden if golden in names else None,
    )


def _one_column(names: list[str], prefix: str, field: str | None, file: str) -> str:
    columns = [name for name in names if name.startswith(prefix + ":")]
    if field is not None:
        columns = [name for name in columns if name == f"{prefix}:{field}"]
    if len(columns) == 1:
        return columns[0]
    if columns:
        raise UnreadableFile(
            file, f"has several {prefix} columns: {', '.join(columns)}; choose one"
        )
    raise UnreadableFile(file, f"is not a Toloka export: no column {prefix}:{field or '…'}")


def _read_vote(row: TableRow, columns: _Columns, scale: Collection[int]) -> CrowdVote:
    object1, object2, text = _split_shown(str(row.values[columns.shown]), columns.shown)
    work = {part: str(row.values[name]) for part, name in _ASSIGNMENT.items()}
    for part in ("task_id", "assignment_id", "worker_id", "status"):
        if not work[part]:
            raise BadCell(_ASSIGNMENT[part], "is empty")
    label = _label(row, columns.vote, scale)
    if label is None and work["status"] == APPROVED:
        raise BadCell(columns.vote, "accepted work without a vote")
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
        started=_utc(work["started"], _ASSIGNMENT["started"]),
        label=label,
        control_label=_label(row, columns.control, scale) if columns.control else None,
        link=work["link"],
    )


def _split_shown(text: str, column: str) -> tuple[str, str, str]:
    lines = text.split("\n", 4)
    if len(lines) < 5:
        raise BadCell(column, "does not have five lines: pair, blank, instruction, blank, text")
    pair = _PAIR.fullmatch(lines[0].rstrip("\r"))
    if pair is None:
        raise BadCell(column, "its first line does not have the form **object** vs **object**")
    if not _INSTRUCTION.fullmatch(lines[2].rstrip("\r")) or lines[1].strip() or lines[3].strip():
        raise BadCell(column, "its third line is not an instruction between blank lines")
    return pair["object1"], pair["object2"], lines[4].replace("**", "")


def _label(row: TableRow, column: str, scale: Collection[int]) -> int | None:
    try:
        return parse_label(row.values[column], scale)
    except ValueError as error:
        raise BadCell(column, str(error)) from None


def _utc(text: str, column: str) -> datetime:
    """Return the time in UTC, Toloka's implicit time zone; convert times in other zones."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadCell(column, f"{text[:40]!a} is not a date and time") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


# Expert labels: a workbook with batch sheets and one control sheet
#
# A batch sheet has one column of labels, by one expert, for numbered sentences;
# it may be entirely unlabelled. The control sheet has several columns with the
# same header, one per expert, for sentences without numbers. Sheet titles are
# people's names, which this module ignores and never returns.

_NUMBERED = re.compile(r"(\d{1,4})\. (.*)", re.DOTALL)
# UTF-8 bytes of U+0080…U+00FF that were decoded as Latin-1; the second byte of a
# no-break space has since become an ordinary space.
_MISREAD = re.compile("\u00c2([\u0080-\u00bf ])|\u00c3([\u0080-\u00bf])")


@dataclass(frozen=True)
class ExpertLabel:
    """One row of a batch sheet.

    Attributes
    ----------
    row : int
        Sheet row.
    number : int or None
        The number written before the sentence; `text` excludes it.
    label : int or None
        None if the expert left the cell empty.
    comment : str
        All text to the right of the label, or "".
    """

    row: int
    object1: str
    object2: str
    number: int | None
    text: str
    label: int | None
    comment: str


@dataclass(frozen=True)
class ExpertControl:
    """One row in the control sheet; `labels` are in the order of the sheet's `raters`.

    `is_scored` is False if the sheet's own variance and mean were cleared although
    rows below have them, because that item was left out of the published agreement.
    Below the last row with these values, the cells were simply never filled.
    """

    row: int
    object1: str
    object2: str
    text: str
    labels: tuple[int | None, ...]
    control_label: int | None
    is_scored: bool


@dataclass(frozen=True)
class ExpertSheet:
    """One sheet with a pseudonym; `position` counts from 1 in workbook order."""

    kind: Literal["batch", "control"]
    position: int
    name_pseudonym: str
    raters: tuple[str, ...]
    rows: tuple[ExpertLabel | ExpertControl, ...]
    problems: tuple[Problem, ...]

    @property
    def is_rated(self) -> bool:
        return any(_has_label(row) for row in self.rows)


@dataclass(frozen=True)
class _Layout:
    comparison: int
    text: int
    labels: tuple[int, ...]
    control: int | None
    statistics: tuple[int, ...]


def _has_label(row: ExpertLabel | ExpertControl) -> bool:
    if isinstance(row, ExpertLabel):
        return row.label is not None
    return any(label is not None for label in row.labels)


def match_key(text: str) -> str:
    """Return a key that a workbook sentence and the crowd's copy of it have in common.

    Repairs UTF-8 misread as Latin-1, then replaces runs of white space (including no-break spaces)
    with one space and removes it at the ends. Use the key only for matching; never store or show
    it. Case and all other characters are kept, even a space before a full stop, because the
    release has pairs of sentences that differ only in this space.

    Examples
    --------
    >>> match_key("ad\\u00c3\\u00a9 is fine\\u00c2 .") == match_key("ad\\u00e9 is fine\\u00a0 .")
    True
    """
    repaired = _MISREAD.sub(_reread, text)
    return " ".join(repaired.split())


def _reread(match: re.Match[str]) -> str:
    low, high = match.groups()
    if high is not None:
        return chr(ord(high) + 0x40)
    return "\u00a0" if low == " " else str(low)


def read_expert_workbook(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    scale: Collection[int] = RELEVANCE_SCALE,
) -> list[ExpertSheet]:
    """Read every sheet up to its last filled row.

    Returns
    -------
    list of ExpertSheet
        In workbook order: "Batch 1", "Batch 2", … and "Control 1". Raters in the control sheet are
        "Expert 1", … by column, and do not correspond to the experts of the batches. Rows with a
        problem are in `problems`, not in `rows`; a sheet without the expected header has only a
        problem.

    Raises
    ------
    UnreadableFile
        If the file is not a workbook or exceeds the limits.
    """
    shown_name = name or Path(path).name
    sheets: list[ExpertSheet] = []
    reader = open_workbook(path, name=shown_name)
    try:
        for position, rows in groupby(reader.rows(), key=lambda row: row.sheet):
            sheets.append(_read_sheet(position + 1, list(rows), shown_name, scale))
    finally:
        reader.close()
    return _with_pseudonyms(sheets)


def _with_pseudonyms(sheets: list[ExpertSheet]) -> list[ExpertSheet]:
    counts = {"batch": 0, "control": 0}
    result = []
    for sheet in sheets:
        counts[sheet.kind] += 1
        pseudonym = f"{sheet.kind.capitalize()} {counts[sheet.kind]}"
        raters = sheet.raters if sheet.kind == "control" else (pseudonym,)
        result.append(replace(sheet, name_pseudonym=pseudonym, raters=raters))
    return result


def _read_sheet(
    position: int, rows: list[SheetRow], file: str, scale: Collection[int]
) -> ExpertSheet:
    place = f"{file}, sheet {position}"
    layout = _find_layout(rows[0].cells)
    if layout is None:
        reason = "the first row is not comparison, arguments, relevance"
        return ExpertSheet("batch", position, "", (), (), (Problem(place, 1, None, reason),))
    read: list[ExpertLabel | ExpertControl] = []
    problems = []
    last_scored = max((row.number for row in rows[1:] if _has_statistics(row, layout)), default=0)
    for row in rows[1:]:
        try:
            read.append(_read_label(row, layout, scale, last_scored))
        except ValueError as error:
            problems.append(Problem(place, row.number, None, str(error)))
    is_control = len(layout.labels) > 1
    raters = tuple(f"Expert {at}" for at in range(1, len(layout.labels) + 1))
    kind: Literal["batch", "control"] = "control" if is_control else "batch"
    return ExpertSheet(kind, position, "", raters, tuple(read), tuple(problems))


def _find_layout(header: list[Any]) -> _Layout | None:
    names = [str(cell).strip().lower() if cell is not None else "" for cell in header]
    labels = tuple(at for at, name in enumerate(names) if name == "relevance")
    if "comparison" not in names or "arguments" not in names or not labels:
        return None
    control = [at for at, name in enumerate(names) if "supposed" in name]
    return _Layout(
        comparison=names.index("comparison"),
        text=names.index("arguments"),
        labels=labels,
        control=control[0] if control else None,
        statistics=tuple(at for at, name in enumerate(names) if name in ("var", "mean")),
    )


def _cell(row: SheetRow, at: int) -> Any:
    return row.cells[at] if at < len(row.cells) else None


def _has_statistics(row: SheetRow, layout: _Layout) -> bool:
    return any(_cell(row, at) is not None for at in layout.statistics)


def _read_label(
    row: SheetRow, layout: _Layout, scale: Collection[int], last_scored: int
) -> ExpertLabel | ExpertControl:
    cell = _cell(row, layout.comparison)
    parts = cell.split(" vs ") if isinstance(cell, str) else []
    if len(parts) != 2 or not all(part.strip() for part in parts):
        raise ValueError("the comparison does not have the form 'object vs object'")
    object1, object2 = parts
    text = _cell(row, layout.text)
    if not isinstance(text, str):
        raise ValueError("the sentence is missing or not text")
    labels = tuple(parse_label(_cell(row, at), scale) for at in layout.labels)
    if len(labels) == 1:
        match = _NUMBERED.fullmatch(text)
        number, bare = (int(match[1]), match[2]) if match else (None, text)
        comment = "\n".join(str(cell) for cell in _filled(row.cells[layout.labels[0] + 1 :]))
        return ExpertLabel(row.number, object1, object2, number, bare, labels[0], comment)
    control = None if layout.control is None else _cell(row, layout.control)
    is_scored = _has_statistics(row, layout) or row.number > last_scored
    known = parse_label(control, scale)
    return ExpertControl(row.number, object1, object2, text, labels, known, is_scored)


def _filled(cells: list[Any]) -> Iterator[Any]:
    return (cell for cell in cells if cell is not None)
