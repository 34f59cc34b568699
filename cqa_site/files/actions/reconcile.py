"""Compare the entries of a file with a study, piece by piece, and write what is new.

A dry run takes the same path and leaves out the inserts, so it holds no write lock that people at
work would have to wait for.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _

from cqa_site.people.models import Study, User

from .rows import Entry, Flag, Line, Near, Note, Outcome

CHUNK = 2_000


class Reconciliation:
    """One pass over one file; a child compares what its formats read."""

    def __init__(
        self, study: Study, *, write: bool, update_changed: bool = False, actor: User | None = None
    ) -> None:
        self.study = study
        self.write = write
        self.update_changed = update_changed
        self.actor = actor
        self.outcome = Outcome()

    def run(self, lines: Iterable[Line], progress: Callable[[int], None] | None = None) -> Outcome:
        """Go through a file once; one that writes is given the transaction."""
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
        """Compare one piece of the file, and write what is new."""
        raise NotImplementedError

    def finish(self) -> None:
        """Say what only the whole file shows."""

    def _is_entry(self, line: Line) -> bool:
        """Keep flags, notes and near matches; everything else is to be compared."""
        self.outcome.saw(line)
        if isinstance(line, Entry):
            return True
        if isinstance(line, Near):
            self.outcome.near.append(line)
        elif isinstance(line, Note):
            self.outcome.notes.append(line.text)
        else:
            self.outcome.flag(line)
        return False

    # -- what children say --------------------------------------------------------------------

    def result(self, name: str, result: str) -> None:
        """Count one object."""
        self.outcome.counts[name][result] += 1

    def leave_out(
        self, row: int | None, column: str, reason: str, *, of: str, place: str = ""
    ) -> None:
        """Reject a row, counted among the objects it would have made."""
        flag = Flag(row, column, reason, is_rejection=True, object=of, place=place)
        self.outcome.flag(flag)

    def mention(self, row: int | None, column: str, reason: str, place: str = "") -> None:
        """Flag a row that is kept."""
        self.outcome.flag(Flag(row, column, reason, place=place))

    def changed(self, stored: object) -> str:
        """Say what is stored where the file has something else."""
        if self.update_changed:
            return _("Replaced; stored before: %s") % stored
        return _("Differs and was kept; stored: %s") % stored
