"""Import of one file into a study: its rows, their comparison and the result."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, ClassVar

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _, ngettext

from cqa_site.files.format_parts import REGISTERED, empty_counts
from cqa_site.people.models import Study, User
from cqa_site.tabular import (
    Problem,
    ReadingLog,
    Table,
    UnreadableFile,
    open_table,
    open_table_or_lines,
    printable_name,
    spreadsheet_unsafe,
)

# Types of an import: the source, its entries and the result

# Options for opening a table.
READING = ("sheet", "encoding", "header_row")
# Kind of object under which unreadable rows are counted.
UNREADABLE = "rows"


class ImportRefused(Exception):
    """Raised if the whole file cannot be imported; the message gives the reason."""


@dataclass(frozen=True)
class ImportSource:
    """A file and how to read it; ``study`` resolves references in the file."""

    path: Path
    name: str
    study: Study
    options: Mapping[str, Any] = field(default_factory=dict)
    # Unreadable rows and omissions, reported at the end of every import.
    log: ReadingLog = field(default_factory=ReadingLog)

    def text(self, option: str) -> str:
        """Return an option without surrounding white space; empty if not set."""
        value = self.options.get(option)
        return "" if value is None else str(value).strip()

    def choice(self, option: str, offered: Collection[str], refusal: str) -> str:
        """Return an option that must be empty or one of the given words; raises ImportRefused."""
        word = self.text(option)
        if word and word not in offered:
            raise ImportRefused(refusal % word[:40])
        return word

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments for opening the table: the chosen settings and the log of this import."""
        return {**chosen_reading(self.options), "log": self.log}

    def table(self, *, may_be_lines: bool = False, is_again: bool = False) -> Table:
        """Open the file as a table with the chosen sheet, encoding and header row.

        With ``may_be_lines``, plain text is read as a table of its lines. To log problems only
        once, set ``is_again`` when the table is opened a second time.
        """
        opened = open_table_or_lines if may_be_lines else open_table
        reading = self.reading | ({"log": ReadingLog()} if is_again else {})
        table = opened(self.path, name=self.name, **reading)
        return _without_marks(table) if self.options.get("undo_spreadsheet_marks") else table


def chosen_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sheet, encoding and header row from the options; values not set are None."""
    chosen = {name: options.get(name) or None for name in READING}
    number = str(chosen["header_row"] or "")
    return chosen | {"header_row": int(number) if number.isdecimal() and len(number) < 7 else None}


def _without_marks(table: Table) -> Table:
    """Remove the apostrophes that our exports put before text that looks like a formula."""
    rows = table.rows
    table.rows = (
        type(row)(row.number, {name: _unmarked(value) for name, value in row.values.items()})
        for row in rows
    )
    return table


def _unmarked(value: Any) -> Any:
    return spreadsheet_unsafe(value)


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """Content of a file row; each paper defines its own entries.

    ``is_row`` is false for an entry that represents many rows of the file; ``makes`` names the
    kind of object under which a rejected entry is counted.
    """

    is_row: ClassVar[bool] = True
    makes: ClassVar[str] = UNREADABLE

    row: int | None


@dataclass(frozen=True, slots=True)
class Flag:
    """A row that was rejected, or accepted with a note.

    ``object`` is the object that the row would have created; ``place`` is the sheet of the
    workbook or the member of the archive that contains the row.
    """

    row: int | None
    column: str
    reason: str
    is_rejection: bool = False
    object: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A note on the file as a whole."""

    text: str


@dataclass(frozen=True, slots=True)
class Near:
    """A near match between a row's text and one in the study; a person confirms or rejects it.

    ``about`` describes the subject of both texts, ``known`` is the public id of the existing text,
    and ``decision`` is empty until a person has decided.
    """

    row: int
    about: str
    given: str
    found: str
    known: str
    likeness: float
    decision: str = ""


Line = ImportEntry | Flag | Note | Near
Row = tuple[str, int]


def named_by(options: Mapping[str, Any], option: str, file_name: str, longest: int = 120) -> str:
    """Return the name given as an option, or the file name without its extension."""
    name = str(options.get(option) or "").strip()
    return (name or PurePath(file_name).stem or file_name)[:longest]


def rejected(problem: Problem, *, of: str, place: str = "") -> Flag:
    """Return the flag for an unusable record, counted under the object it would have created."""
    column = cell_of(place, problem.column or "")
    return Flag(problem.row, column, problem.reason, is_rejection=True, object=of, place=place)


def cell_of(place: str, column: str) -> str:
    """Return a text that names the column and its sheet or archive member."""
    return " · ".join(part for part in (place, column) if part)


@dataclass
class ImportOutcome:
    """Result of an import or a dry run."""

    counts: dict[str, dict[str, int]] = field(default_factory=empty_counts)
    flags: list[Flag] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Keys of the rounds that received rows, in file order.
    rounds: list[int] = field(default_factory=list)
    near: list[Near] = field(default_factory=list)
    _rows: set[Row] = field(default_factory=set)
    _rejected: dict[str, set[Row]] = field(default_factory=dict)
    _rejected_as_a_whole: int = 0
    _has_other_than_rows: bool = False

    @property
    def rejected(self) -> int:
        """Number of rows that cannot be imported, each counted once."""
        return len(set().union(*self._rejected.values())) + self._rejected_as_a_whole

    @property
    def rows(self) -> dict[str, int | None]:
        """Counts of rows read and rejected, and of problems in the rejected rows.

        ``read`` is None if the reader combines many rows into one entry.
        """
        read = None if self._has_other_than_rows else len(self._rows)
        problems = sum(flag.is_rejection for flag in self.flags)
        return {"read": read, "rejected": self.rejected, "problems": problems}

    @property
    def added(self) -> int:
        """Number of new objects of all kinds."""
        return sum(counts["new"] for counts in self.counts.values())

    @property
    def changed(self) -> int:
        """Number of stored objects whose content differs from the file."""
        return sum(counts["changed"] for counts in self.counts.values())

    def saw(self, line: Line) -> None:
        """Count the row from which a line came."""
        if isinstance(line, ImportEntry) and not line.is_row:
            self._has_other_than_rows = True
        elif not isinstance(line, Note) and line.row is not None:
            self._rows.add((getattr(line, "place", ""), line.row))

    def flag(self, flag: Flag) -> None:
        """Add a flag; count a rejected row once, under its object."""
        self.flags.append(flag)
        if not flag.is_rejection:
            return
        rejected = self._rejected.setdefault(flag.object, set())
        if flag.row is None:
            self._rejected_as_a_whole += 1
        elif (flag.place, flag.row) in rejected:
            return
        else:
            rejected.add((flag.place, flag.row))
        self.counts[flag.object]["rejected"] += 1


# Comparison of a file's entries with a study, chunk by chunk, and insertion of the new objects
#
# A dry run uses the same code without the inserts, so it holds no write lock that would make
# users wait.

CHUNK = 2_000


class Reconciliation:
    """One pass over one file; subclasses compare the entries of their formats."""

    def __init__(
        self, study: Study, *, write: bool, update_changed: bool = False, actor: User | None = None
    ) -> None:
        self.study = study
        self.write = write
        self.update_changed = update_changed
        self.actor = actor
        self.outcome = ImportOutcome()

    def run(
        self, lines: Iterable[Line], progress: Callable[[int], None] | None = None
    ) -> ImportOutcome:
        """Read a file once; if the pass writes, it runs in the caller's transaction."""
        stream = iter(lines)
        done = 0
        while chunk := list(islice(stream, CHUNK)):
            if entries := [line for line in chunk if self._is_entry(line)]:
                self.compare(entries)
            done += len(chunk)
            if progress is not None:
                progress(done)
        self.finish()
        return self.outcome

    def compare(self, entries: Sequence[Any]) -> None:
        """Compare one chunk of the file, and write the new objects."""
        raise NotImplementedError

    def finish(self) -> None:
        """Report findings that require the whole file."""

    def _is_entry(self, line: Line) -> bool:
        """Record flags, notes and near matches; return whether the line is an entry to compare."""
        self.outcome.saw(line)
        if isinstance(line, ImportEntry):
            return True
        if isinstance(line, Near):
            self.outcome.near.append(line)
        elif isinstance(line, Note):
            self.outcome.notes.append(line.text)
        else:
            self.outcome.flag(line)
        return False

    # -- for subclasses ------------------------------------------------------------------------

    def result(self, name: str, result: str) -> None:
        """Count one object under its result."""
        self.outcome.counts[name][result] += 1

    def leave_out(self, entry: ImportEntry, column: str, reason: str) -> None:
        """Reject an entry, and count it under the kind of object it would have created."""
        self._flag(entry, column, reason, is_rejection=True, object=self.made_by(entry))

    def mention(self, entry: ImportEntry, column: str, reason: str) -> None:
        """Flag an entry that is accepted."""
        self._flag(entry, column, reason)

    def made_by(self, entry: ImportEntry) -> str:
        """Return the kind of object that an entry would create."""
        return entry.makes

    def _flag(self, entry: ImportEntry, column: str, reason: str, **more: Any) -> None:
        place = getattr(entry, "place", "")
        flag = Flag(entry.row, cell_of(place, column), reason, place=place, **more)
        self.outcome.flag(flag)

    def changed(self, stored: object) -> str:
        """Return the message about a stored value that differs from the file."""
        if self.update_changed:
            return _("Replaced; previously stored: %s") % stored
        return _("Differs; the stored value was kept: %s") % stored


# Import of one file into a study, as used by every page, command and test

# Maximum number of notes on one file; more would add nothing.
MOST_NOTES = 20


def import_path(
    *,
    study: Study,
    kind: str,
    path: Path,
    name: str,
    options: Mapping[str, Any] | None = None,
    write: bool,
    leave_out_rejected: bool = False,
    update_changed: bool = False,
    actor: User | None = None,
    progress: Callable[[int], None] | None = None,
) -> ImportOutcome:
    """Compare a file with a study and, if ``write`` is true, import all or none of it.

    Raises ImportRefused for a file that cannot be read or imported, and for rejected rows unless
    ``leave_out_rejected`` is true. A dry run (``write=False``) only reads.
    """
    lines = _lines(kind, ImportSource(path, name, study, dict(options or {})))
    work: Reconciliation = REGISTERED[kind].reconciliation(
        study, write=write, update_changed=update_changed, actor=actor
    )
    if not write:
        return work.run(lines, progress)
    try:
        with transaction.atomic():
            outcome = work.run(lines)
            _refuse_rejected(outcome, leave_out_rejected)
    except IntegrityError as error:
        raise ImportRefused(
            _(
                "Nothing was imported, because someone else changed the same rows at "
                "the same time. Try again."
            )
        ) from error
    return outcome


def _lines(kind: str, source: ImportSource) -> Iterator[Line]:
    """Yield the lines of the file; refuse an unreadable file and reject bad rows."""
    try:
        yield from REGISTERED[kind].read(source)
    except UnreadableFile as error:
        raise ImportRefused(str(error)) from error
    for problem in source.log.rejected:
        yield rejected(problem, of=UNREADABLE)
    notes = [*source.log.notes[:MOST_NOTES], *_unread(source)]
    yield from (Note(text) for text in notes)


def _unread(source: ImportSource) -> Iterator[str]:
    """Yield a note on the columns that the import does not use."""
    if columns := source.log.unread:
        names = ", ".join(map(printable_name, columns[:MOST_NOTES]))
        text = ngettext(
            "%(number)s column is not read: %(columns)s.",
            "%(number)s columns are not read: %(columns)s.",
            len(columns),
        )
        yield text % {"number": len(columns), "columns": names}


def _refuse_rejected(outcome: ImportOutcome, leave_out_rejected: bool) -> None:
    if outcome.rejected and not leave_out_rejected:
        raise ImportRefused(
            ngettext(
                "Nothing was imported, because %s row is rejected.",
                "Nothing was imported, because %s rows are rejected.",
                outcome.rejected,
            )
            % outcome.rejected
        )


def timed(progress: Callable[[int], None], seconds: float = 0.5) -> Callable[[int], None]:
    """Limit calls to ``progress`` to one per interval."""
    last = 0.0

    def report(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            progress(done)

    return report
