"""Count sheets of a file: compared with those that are there, and the new ones added."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from argsum.counting.models import CountSheet
from argsum.keypoints.models import SummarySet
from cqa_site.files.actions.rows import Flag
from cqa_site.people.models import Rater

from .entries import BOOK, CountEntry
from .sets import NotThisSet, SetFinder
from .sheets import REPLACED, FreePlaces, made_sheet, stored_sheets, values_of

if TYPE_CHECKING:
    from cqa_site.files.actions.reconcile import Reconciliation

LONGEST = {"topic": 500, "system": 120}


class CountBook:
    """One pass over one file, which is one person's."""

    def __init__(self, work: "Reconciliation") -> None:
        self.work = work
        self._finder: SetFinder | None = None
        self._cells: set[tuple[str, int]] = set()
        self._places: FreePlaces | None = None

    def take(self, entries: Sequence[CountEntry]) -> None:
        """Compare a piece of the file."""
        first = entries[0]
        if self._finder is None:
            self._finder = SetFinder(
                self.work.study, first.dataset, actor=self.work.actor, write=self.work.write
            )
        key = (Rater.Kind.PERSON.value, first.rater)
        self.work.raters.find({key: first.rater})
        rater = self.work.raters.known[key]
        placed = [
            (entry, found) for entry in entries if (found := self._set_of(entry)) is not None
        ]
        known = [found for _entry, found in placed if found.pk is not None]
        stored = stored_sheets(self.work.study, known, [rater]) if rater else {}
        if self._places is None:
            self._places = FreePlaces(self.work.study, first.source, rater)
        new = []
        for entry, found in placed:
            sheet = stored.get((found.pk, rater)) if found.pk and rater else None
            made = made_sheet(self.work.study, entry, found, rater)
            if sheet is not None:
                self._compare(entry, sheet, made)
            else:
                self.work.result(BOOK, "new")
                made.position = self._places.take(made.position)
                new.append(made)
        if self.work.write:
            CountSheet.objects.bulk_create(new)

    def finish(self) -> None:
        """Every row says all there is to say."""

    def _set_of(self, entry: CountEntry) -> SummarySet | None:
        """The set of a row, counted among what the file brings; None where it cannot be taken."""
        counted = entry.counted
        for name, most in LONGEST.items():
            if len(getattr(counted, name)) > most:
                column = "file_name" if name == "system" else name
                self._reject(entry, column, _("longer than %s characters") % most)
                return None
        try:
            found, made = self._finder.find(counted)  # type: ignore[union-attr]
        except NotThisSet as reason:
            self._reject(entry, "", str(reason))
            return None
        cell = counted.topic, counted.stance
        if cell not in self._cells:
            self.work.result("cells", made["cells"])
            self._cells.add(cell)
        self.work.result("sets", made["sets"])
        return found

    def _compare(self, entry: CountEntry, sheet: CountSheet, made: CountSheet) -> None:
        if values_of(sheet) == values_of(made):
            self.work.result(BOOK, "same")
            return
        self.work.result(BOOK, "changed")
        shares = (sheet.coverage, sheet.redundancy)
        shown = ", ".join(_("unsure") if each is None else f"{each:.3g}" for each in shares)
        self.work.outcome.flag(Flag(entry.row, "coverage", self.work.changed(shown)))
        if self.work.write and self.work.update_changed:
            changes = {name: getattr(made, name) for name in REPLACED}
            CountSheet.objects.filter(pk=sheet.pk).update(**changes)

    def _reject(self, entry: CountEntry, column: str, reason: str) -> None:
        self.work.outcome.flag(Flag(entry.row, column, reason, is_rejection=True, object=BOOK))
