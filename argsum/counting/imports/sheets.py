"""Import of the count sheets in a file: match them with stored sets and add new sets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.imports.books.votes import RaterBook
from argsum.counting.methods.released_counts import (
    CountedSet,
    OtherReferences,
    ReferenceMatch,
    by_order,
    same_references,
)
from argsum.counting.models import CountSheet
from argsum.datasets.imports.argument_files import CellReconciliation
from argsum.datasets.methods.statements import plain
from argsum.datasets.models import Cell, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemSummary
from cqa_site.files.actions.imports import ImportEntry, named_by
from cqa_site.people.models import Rater, Study
from cqa_site.tabular.cells import text_key

# One judgement in a file, and its options

COUNT_SHEETS = "counts"
# Source of the sets in a file of counts; cell and system identify a set.
SOURCE = "human counts"
# Several files, one per person, are about the same sets, so no dataset is named after a file.
DATASET = "Judged by people"
LONGEST_NAME = 120
# Options for differently worded references; by default, clear matches are imported.
ONLY_SAME, BY_ORDER = "same", "order"


def dataset_of(options: Mapping[str, Any]) -> str:
    """Return the requested dataset name."""
    return named_by(options, "dataset", DATASET)


def rater_of(options: Mapping[str, Any], file_name: str) -> str:
    """Return the requested rater name, or the file name without its extension."""
    return named_by(options, "rater", file_name)


@dataclass(frozen=True, slots=True)
class CountEntry(ImportEntry):
    """One rater's counts for one set, identified by set and rater."""

    is_row: ClassVar[bool] = False
    makes: ClassVar[str] = COUNT_SHEETS

    row: int

    dataset: str
    source: str
    rater: str
    counted: CountedSet
    references: str = ""


# New count sheets from a file, and stored sheets

REPLACED = (
    "covered", "covered_is_unsure", "covered_is_typed", "unique", "unique_is_unsure",
    "unique_is_typed", "coverage", "redundancy",
)  # fmt: skip


def made_sheet(study: Study, entry: CountEntry, summary_set: SummarySet, rater: Any) -> CountSheet:
    """Return an unsaved sheet; its counts are typed, because the file has no marks."""
    counted = entry.counted
    covered, unique = _covered(counted), _unique(counted)
    return CountSheet(
        study=study,
        summary_set=summary_set,
        rater_id=rater,
        source=entry.source,
        position=entry.row,
        state=CountSheet.State.SUBMITTED,
        covered=covered,
        covered_is_typed=covered is not None,
        covered_is_unsure=covered is None,
        unique=unique,
        unique_is_typed=unique is not None,
        unique_is_unsure=unique is None,
        references=len(counted.references),
        summaries=len(counted.summaries),
        coverage=counted.coverage,
        redundancy=counted.redundancy,
    )


def values_of(sheet: CountSheet) -> tuple[float | None, float | None]:
    """Return the values by which two sheets are compared."""
    return sheet.coverage, sheet.redundancy


def stored_sheets(
    study: Study, sets: Iterable[SummarySet], raters: Iterable[int]
) -> dict[tuple[int, int], CountSheet]:
    """Return imported sheets by set and rater, using one query."""
    rows = CountSheet.objects.filter(
        study=study, summary_set__in=list(sets), rater__in=list(raters)
    ).exclude(source="")
    return {(row.summary_set_id, row.rater_id): row for row in rows.order_by("-pk")}


class FreePlaces:
    """Unused positions of a rater's sheets in one file, read in one query.

    A row keeps its number unless an earlier version of the file, or its import into another
    dataset, has a sheet for another set at that position. Such a row follows all other sheets.
    Set and rater identify a sheet, so a second import of the same rows still adds nothing.
    """

    def __init__(self, study: Study, source: str, rater: int | None) -> None:
        rows = CountSheet.objects.filter(study=study, source=source, rater=rater)
        self._taken = set(rows.values_list("position", flat=True)) if rater else set()

    def take(self, row: int) -> int:
        """Return the row's own number if it is free, or the number after the last one used."""
        place = row if row not in self._taken else max(self._taken) + 1
        self._taken.add(place)
        return place


def _covered(counted: CountedSet) -> float | None:
    if counted.coverage is None:
        return None
    return _half_step(counted.coverage * len(counted.references))


def _unique(counted: CountedSet) -> float | None:
    if counted.redundancy is None:
        return None
    return _half_step((1 - counted.redundancy) * len(counted.summaries))


def _half_step(count: float) -> float:
    """Return the nearest half step if it differs only by rounding, or the count itself."""
    near = round(2 * count) / 2
    return near if abs(near - count) < 1e-6 else count


CellKey = tuple[str, int]


class NotThisSet(Exception):
    """The set of a row does not match the stored set; the message gives the reason."""


class SetFinder:
    """The cells of one dataset and their imported sets, read in three queries.

    ``how`` defines how differently worded references are matched with those of the dataset: only
    if the match is clear (empty), not at all (`ONLY_SAME`), or by order (`BY_ORDER`).
    """

    def __init__(self, work: CellReconciliation, dataset: str, *, how: str = "") -> None:
        self.work, self.how = work, how
        # Remarks on differently worded texts; the caller clears them after each row.
        self.remarks: list[str] = []
        self._told: set[tuple[CellKey, str]] = set()
        self.dataset = work.open(dataset, SOURCE)
        self._cells: dict[CellKey, Cell] = {}
        self._references: dict[CellKey, list[str]] = {}
        self._sets: dict[tuple[CellKey, str], SummarySet] = {}
        self._texts: dict[tuple[CellKey, str], list[str]] = {}
        if not work.is_new:
            self._load()
        sets = SummarySet.objects.filter(study=work.study, source=SOURCE)
        self._last = sets.aggregate(last=Max("position"))["last"] or 0

    def _load(self) -> None:
        cells = Cell.objects.filter(dataset=self.dataset)
        for cell in cells.prefetch_related("key_points"):
            key = cell.topic, cell.stance
            self._cells[key] = cell
            rows = sorted(cell.key_points.all(), key=lambda point: point.position)
            self._references[key] = [row.text for row in rows]
        sets = SummarySet.objects.filter(cell__dataset=self.dataset, source=SOURCE)
        for summary_set in sets.select_related("cell").prefetch_related("summaries"):
            place = (summary_set.cell.topic, summary_set.cell.stance), summary_set.system
            self._sets[place] = summary_set
            self._texts[place] = [summary.text for summary in summary_set.summaries.all()]

    def find(self, counted: CountedSet) -> tuple[SummarySet, dict[str, str]]:
        """Return the set of a row, and the outcome for its cell and set (kind → "new" or "same").

        Raises NotThisSet.
        """
        key = self._key(counted)
        outcomes = {"cells": "same" if key in self._cells else "new"}
        cell = self._cells.get(key) or self._new_cell(key)
        self._check_references(cell, key, counted.references)
        place = key, counted.system
        known = self._sets.get(place)
        if known is None:
            outcomes["sets"] = "new"
            known = self._new_set(cell, place, counted)
        elif self._texts[place] != list(counted.summaries):
            raise NotThisSet(_("another set from this system was imported for this topic"))
        else:
            outcomes["sets"] = "same"
        return known, outcomes

    def _key(self, counted: CountedSet) -> CellKey:
        """Return the key of a row's cell; the topic may differ from the stored topic in case."""
        key = counted.topic, counted.stance
        if key in self._cells or self.how == ONLY_SAME:
            return key
        fitting = [
            cell
            for cell in self._cells
            if cell[1] == counted.stance and plain(cell[0]) == plain(counted.topic)
        ]
        if len(fitting) != 1:
            return key
        self._tell(fitting[0], ReferenceMatch(counted.topic, fitting[0][0], None))
        return fitting[0]

    def _tell(self, key: CellKey, match: ReferenceMatch) -> None:
        """Add a remark about a matched text, once per text and cell."""
        if (key, match.given) in self._told:
            return
        self._told.add((key, match.given))
        remark = _("“%(given)s” is matched with “%(known)s”") % {
            "given": match.given,
            "known": match.known,
        }
        if match.shared is None:
            self.remarks.append(f"{remark}.")
        else:
            shared = _("shared words: %s") % f"{match.shared:.0%}"
            self.remarks.append(f"{remark} ({shared}).")

    def _new_cell(self, key: CellKey) -> Cell:
        if not self.work.is_new and self.dataset.system_runs.exists():
            raise NotThisSet(
                _(
                    "the dataset lacks this topic and has system runs, so no topic can be added; "
                    "choose another dataset"
                )
            )
        cell = self._cells[key] = self.work.new_cell(*key)
        return cell

    def _check_references(self, cell: Cell, key: CellKey, texts: Sequence[str]) -> None:
        """Check that the file's references match the cell's; store them if the cell has none."""
        hashes = {text_key(text) for text in texts}
        if len(hashes) < len(texts):
            raise NotThisSet(_("a reference appears twice"))
        known = self._references.get(key)
        if not known:
            self._references[key] = list(texts)
            if self.work.write:
                ReferenceKeyPoint.objects.bulk_create(
                    ReferenceKeyPoint(cell=cell, position=at, text=text, sha256=text_key(text))
                    for at, text in enumerate(texts, start=1)
                )
        elif {text_key(text) for text in known} != hashes:
            self._match(key, texts, known)

    def _match(self, key: CellKey, texts: Sequence[str], known: Sequence[str]) -> None:
        """Match references and add remarks on them; raise NotThisSet if a match is unclear."""
        refusal = _("its references differ from the dataset's for this topic")
        if self.how == ONLY_SAME:
            raise NotThisSet(refusal)
        try:
            matches = (by_order if self.how == BY_ORDER else same_references)(texts, known)
        except OtherReferences as reason:
            raise NotThisSet(f"{refusal}: {reason}") from None
        for match in matches:
            self._tell(key, match)

    def _new_set(self, cell: Cell, place: tuple[CellKey, str], counted: CountedSet) -> SummarySet:
        self._last += 1
        new_set = SummarySet(
            study=self.work.study,
            cell=cell,
            system=counted.system,
            source=SOURCE,
            position=self._last,
            state=SummarySet.State.DONE,
        )
        if self.work.write:
            new_set.save()
            SystemSummary.objects.bulk_create(
                SystemSummary(summary_set=new_set, position=at, text=text)
                for at, text in enumerate(counted.summaries)
            )
        self._sets[place] = new_set
        self._texts[place] = list(counted.summaries)
        return new_set


LONGEST = {"topic": 500, "system": 120}


class CountReconciliation(CellReconciliation):
    """Comparison of one person's file with the stored sheets."""

    takes_any = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.raters = RaterBook(self)
        self._finder: SetFinder | None = None
        self._cells: set[tuple[str, int]] = set()
        self._places: FreePlaces | None = None

    def compare(self, entries: Sequence[CountEntry]) -> None:
        """Compare a chunk of the file with stored sheets."""
        first = entries[0]
        if self._finder is None:
            self._finder = SetFinder(self, first.dataset, how=first.references)
        finder = self._finder
        key = (Rater.Kind.PERSON.value, first.rater)
        self.raters.find({key: first.rater})
        rater = self.raters.known[key]
        placed = [
            (entry, summary_set)
            for entry in entries
            if (summary_set := self._set_of(finder, entry)) is not None
        ]
        known = [summary_set for _entry, summary_set in placed if summary_set.pk is not None]
        stored = stored_sheets(self.study, known, [rater]) if rater else {}
        if self._places is None:
            self._places = FreePlaces(self.study, first.source, rater)
        new = []
        for entry, summary_set in placed:
            sheet = stored.get((summary_set.pk, rater)) if summary_set.pk and rater else None
            new_sheet = made_sheet(self.study, entry, summary_set, rater)
            if sheet is not None:
                self._compare_sheet(entry, sheet, new_sheet)
            else:
                self.result(COUNT_SHEETS, "new")
                new_sheet.position = self._places.take(new_sheet.position)
                new.append(new_sheet)
        if self.write:
            CountSheet.objects.bulk_create(new)

    def _set_of(self, finder: SetFinder, entry: CountEntry) -> SummarySet | None:
        """Return the set of a row and count it in the result, or None if the row is left out."""
        counted = entry.counted
        for name, most in LONGEST.items():
            if len(getattr(counted, name)) > most:
                column = "file_name" if name == "system" else name
                self.leave_out(entry, column, _("longer than %s characters") % most)
                return None
        try:
            summary_set, outcomes = finder.find(counted)
        except NotThisSet as reason:
            self.leave_out(entry, "", str(reason))
            return None
        finally:
            for remark in finder.remarks:
                self.mention(entry, "reference", remark)
            finder.remarks.clear()
        cell = counted.topic, counted.stance
        if cell not in self._cells:
            self.result("cells", outcomes["cells"])
            self._cells.add(cell)
        self.result("sets", outcomes["sets"])
        return summary_set

    def _compare_sheet(self, entry: CountEntry, sheet: CountSheet, new_sheet: CountSheet) -> None:
        if values_of(sheet) == values_of(new_sheet):
            self.result(COUNT_SHEETS, "same")
            return
        self.result(COUNT_SHEETS, "changed")
        shares = (sheet.coverage, sheet.redundancy)
        text = ", ".join(_("unsure") if share is None else f"{share:.3g}" for share in shares)
        self.mention(entry, "coverage", self.changed(text))
        if self.write and self.update_changed:
            changes = {name: getattr(new_sheet, name) for name in REPLACED}
            CountSheet.objects.filter(pk=sheet.pk).update(**changes)
