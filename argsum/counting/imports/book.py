"""Count sheets of a file: compared with those that are there, and the new ones added."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.books.raters import RaterBook
from argsum.counting.models import CountSheet
from argsum.keypoints.models import SummarySet
from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.people.models import Rater

from .entries import BOOK, CountEntry
from .sets import NotThisSet, SetFinder
from .sheets import REPLACED, FreePlaces, made_sheet, stored_sheets, values_of

LONGEST = {"topic": 500, "system": 120}


class CountReconciliation(Reconciliation):
    """One pass over one file, which is one person's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.raters = RaterBook(self)
        self._finder: SetFinder | None = None
        self._cells: set[tuple[str, int]] = set()
        self._places: FreePlaces | None = None

    def compare(self, entries: Sequence[CountEntry]) -> None:
        """Compare a piece of the file."""
        first = entries[0]
        if self._finder is None:
            self._finder = SetFinder(
                self.study,
                first.dataset,
                actor=self.actor,
                write=self.write,
                how=first.references,
            )
        finder = self._finder
        key = (Rater.Kind.PERSON.value, first.rater)
        self.raters.find({key: first.rater})
        rater = self.raters.known[key]
        placed = [
            (entry, found)
            for entry in entries
            if (found := self._set_of(finder, entry)) is not None
        ]
        known = [found for _entry, found in placed if found.pk is not None]
        stored = stored_sheets(self.study, known, [rater]) if rater else {}
        if self._places is None:
            self._places = FreePlaces(self.study, first.source, rater)
        new = []
        for entry, found in placed:
            sheet = stored.get((found.pk, rater)) if found.pk and rater else None
            made = made_sheet(self.study, entry, found, rater)
            if sheet is not None:
                self._compare_sheet(entry, sheet, made)
            else:
                self.result(BOOK, "new")
                made.position = self._places.take(made.position)
                new.append(made)
        if self.write:
            CountSheet.objects.bulk_create(new)

    def _set_of(self, finder: SetFinder, entry: CountEntry) -> SummarySet | None:
        """The set of a row, counted among what the file brings; None where it cannot be taken."""
        counted = entry.counted
        for name, most in LONGEST.items():
            if len(getattr(counted, name)) > most:
                column = "file_name" if name == "system" else name
                self._reject(entry, column, _("longer than %s characters") % most)
                return None
        try:
            found, made = finder.find(counted)
        except NotThisSet as reason:
            self._reject(entry, "", str(reason))
            return None
        finally:
            for remark in finder.remarks:
                self.mention(entry.row, "reference", remark)
            finder.remarks.clear()
        cell = counted.topic, counted.stance
        if cell not in self._cells:
            self.result("cells", made["cells"])
            self._cells.add(cell)
        self.result("sets", made["sets"])
        return found

    def _compare_sheet(self, entry: CountEntry, sheet: CountSheet, made: CountSheet) -> None:
        if values_of(sheet) == values_of(made):
            self.result(BOOK, "same")
            return
        self.result(BOOK, "changed")
        shares = (sheet.coverage, sheet.redundancy)
        shown = ", ".join(_("unsure") if each is None else f"{each:.3g}" for each in shares)
        self.mention(entry.row, "coverage", self.changed(shown))
        if self.write and self.update_changed:
            changes = {name: getattr(made, name) for name in REPLACED}
            CountSheet.objects.filter(pk=sheet.pk).update(**changes)

    def _reject(self, entry: CountEntry, column: str, reason: str) -> None:
        self.leave_out(entry.row, column, reason, of=BOOK)
