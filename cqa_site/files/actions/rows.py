"""The words of an import: what a reader is given, what a file says, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from cqa_site.files.counted import empty_counts
from cqa_site.people.models import Study
from cqa_site.tabular import (
    Problem,
    Table,
    open_table,
    open_table_or_lines,
    spreadsheet_unsafe,
)


class ImportRefused(Exception):
    """The file as a whole cannot be imported; the message says why."""


@dataclass(frozen=True)
class Source:
    """A file and how to read it; ``study`` is for what the file only describes."""

    path: Path
    name: str
    study: Study
    options: Mapping[str, Any] = field(default_factory=dict)

    def text(self, option: str) -> str:
        """An option without white space around it; empty where nothing was said."""
        return str(self.options.get(option) or "").strip()

    def table(self, *, may_be_lines: bool = False) -> Table:
        """The file as a table, in the sheet and encoding that were chosen.

        With ``may_be_lines`` plain text is a table of its lines.
        """
        chosen: dict[str, Any] = {
            name: self.options.get(name) or None for name in ("encoding", "sheet")
        }
        opened = open_table_or_lines if may_be_lines else open_table
        table = opened(self.path, name=self.name, **chosen)
        return _without_marks(table) if self.options.get("undo_spreadsheet_marks") else table


def _without_marks(table: Table) -> Table:
    """Undo the apostrophes our exports put before text that looks like a formula."""
    rows = table.rows
    table.rows = (
        type(row)(row.number, {name: _unmarked(value) for name, value in row.values.items()})
        for row in rows
    )
    return table


def _unmarked(value: Any) -> Any:
    return spreadsheet_unsafe(value)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a row of a file says; papers have their own.

    ``is_row`` is false for what stands for many rows of the file at once.
    """

    is_row: ClassVar[bool] = True

    row: int | None


@dataclass(frozen=True, slots=True)
class Flag:
    """A row that was rejected, or kept with a remark.

    ``object`` is what it would have made; ``place`` the sheet of a workbook or the member of an
    archive that the row stands in.
    """

    row: int | None
    column: str
    reason: str
    is_rejection: bool = False
    object: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about the file as a whole."""

    text: str


@dataclass(frozen=True, slots=True)
class Near:
    """A text of a row that is nearly one of the study's; a person says whether it is the same.

    ``about`` says in words what both are about, ``known`` is the public id of the one that is
    there; ``decision`` is empty while nobody has decided.
    """

    row: int
    about: str
    given: str
    found: str
    known: str
    likeness: float
    decision: str = ""


Line = Entry | Flag | Note | Near
Row = tuple[str, int]


def rejected(problem: Problem, *, of: str, place: str = "") -> Flag:
    """A record its reader could not use, counted among the objects it would have made."""
    column = " · ".join(part for part in (place, problem.column or "") if part)
    return Flag(problem.row, column, problem.reason, is_rejection=True, object=of, place=place)


@dataclass
class Outcome:
    """What an import did, or would do."""

    counts: dict[str, dict[str, int]] = field(default_factory=empty_counts)
    flags: list[Flag] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Keys of the rounds that rows went to, in the order of the file.
    rounds: list[int] = field(default_factory=list)
    near: list[Near] = field(default_factory=list)
    _rows: set[Row] = field(default_factory=set)
    _rejected: dict[str, set[Row]] = field(default_factory=dict)
    _rejected_as_a_whole: int = 0
    _has_other_than_rows: bool = False

    @property
    def rejected(self) -> int:
        """Rows that cannot be imported, each once however much is wrong with it."""
        return len(set().union(*self._rejected.values())) + self._rejected_as_a_whole

    @property
    def rows(self) -> dict[str, int | None]:
        """Rows of the file: read, rejected, and the problems of those, perhaps several of each.

        ``read`` is None where the reader takes many rows at once.
        """
        read = None if self._has_other_than_rows else len(self._rows)
        problems = sum(flag.is_rejection for flag in self.flags)
        return {"read": read, "rejected": self.rejected, "problems": problems}

    @property
    def added(self) -> int:
        """New objects of every kind."""
        return sum(counts["new"] for counts in self.counts.values())

    @property
    def changed(self) -> int:
        """Objects that are there with another content."""
        return sum(counts["changed"] for counts in self.counts.values())

    def saw(self, line: Line) -> None:
        """Count the row that a line comes from."""
        if isinstance(line, Entry) and not line.is_row:
            self._has_other_than_rows = True
        elif not isinstance(line, Note) and line.row is not None:
            self._rows.add((getattr(line, "place", ""), line.row))

    def flag(self, flag: Flag) -> None:
        """Keep a remark; a rejected row is counted once under its object."""
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
