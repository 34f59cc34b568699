"""Cells and sets that a file of counts is about: found in a dataset, or made."""

from collections.abc import Sequence

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.corpus.models.questions import text_key
from argsum.counting.methods.released_rows import CountedSet
from argsum.counting.methods.same_references import (
    OtherReferences,
    Taken,
    by_order,
    same_references,
)
from argsum.datasets.methods.same_text import plain
from argsum.datasets.models import Cell, Dataset, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemSummary
from cqa_site.people.models import Study, User

from .entries import BY_ORDER, ONLY_SAME, SOURCE

CellKey = tuple[str, int]


class NotThisSet(Exception):
    """The row is about another set than the study knows; the message says why."""


class SetFinder:
    """The cells of one dataset, and the imported sets of them; three queries.

    ``how`` says when references worded otherwise are those of the dataset: where it is clear
    (empty), never (`ONLY_SAME`), or because they come in its order (`BY_ORDER`).
    """

    def __init__(
        self, study: Study, dataset: str, *, actor: User | None, write: bool, how: str = ""
    ) -> None:
        self.study, self.write, self.how = study, write, how
        # What is worded otherwise, since somebody asked last.
        self.remarks: list[str] = []
        self._told: set[tuple[CellKey, str]] = set()
        rows = Dataset.objects.filter(study=study, name=dataset)
        found = (rows.select_for_update() if write else rows).first()
        self.is_new = found is None
        self.dataset = found or Dataset(study=study, name=dataset, source=SOURCE, created_by=actor)
        if self.is_new and write:
            self.dataset.save()
        self._cells: dict[CellKey, Cell] = {}
        self._references: dict[CellKey, list[str]] = {}
        self._sets: dict[tuple[CellKey, str], SummarySet] = {}
        self._texts: dict[tuple[CellKey, str], list[str]] = {}
        if not self.is_new:
            self._load()
        sets = SummarySet.objects.filter(study=study, source=SOURCE)
        self._last = sets.aggregate(last=Max("position"))["last"] or 0

    def _load(self) -> None:
        cells = Cell.objects.filter(dataset=self.dataset)
        for cell in cells.prefetch_related("key_points"):
            key = cell.topic, cell.stance
            self._cells[key] = cell
            rows = sorted(cell.key_points.all(), key=lambda each: each.position)
            self._references[key] = [each.text for each in rows]
        sets = SummarySet.objects.filter(cell__dataset=self.dataset, source=SOURCE)
        for each in sets.select_related("cell").prefetch_related("summaries"):
            place = (each.cell.topic, each.cell.stance), each.system
            self._sets[place] = each
            self._texts[place] = [summary.text for summary in each.summaries.all()]

    def find(self, counted: CountedSet) -> tuple[SummarySet, dict[str, str]]:
        """The set of a row, and what had to be made for it (kind → "new" or "same").

        Raises NotThisSet.
        """
        key = self._key(counted)
        made = {"cells": "same" if key in self._cells else "new"}
        cell = self._cells.get(key) or self._new_cell(key)
        self._check_references(cell, key, counted.references)
        place = key, counted.system
        known = self._sets.get(place)
        if known is None:
            made["sets"] = "new"
            known = self._new_set(cell, place, counted)
        elif self._texts[place] != list(counted.summaries):
            raise NotThisSet(_("another set of this system was imported for this topic"))
        else:
            made["sets"] = "same"
        return known, made

    def _key(self, counted: CountedSet) -> CellKey:
        """The cell of a row; a topic in another case or punctuation is the one that is there."""
        key = counted.topic, counted.stance
        if key in self._cells or self.how == ONLY_SAME:
            return key
        fitting = [
            each
            for each in self._cells
            if each[1] == counted.stance and plain(each[0]) == plain(counted.topic)
        ]
        if len(fitting) != 1:
            return key
        self._tell(fitting[0], Taken(counted.topic, fitting[0][0], None))
        return fitting[0]

    def _tell(self, key: CellKey, taken: Taken) -> None:
        """Once for each text of a cell."""
        if (key, taken.given) in self._told:
            return
        self._told.add((key, taken.given))
        said = _("“%(given)s” is taken for “%(known)s”") % {
            "given": taken.given,
            "known": taken.known,
        }
        if taken.shared is None:
            self.remarks.append(f"{said}.")
        else:
            shared = _("shared words: %s") % f"{taken.shared:.0%}"
            self.remarks.append(f"{said} ({shared}).")

    def _new_cell(self, key: CellKey) -> Cell:
        if not self.is_new and self.dataset.system_runs.exists():
            raise NotThisSet(
                _("the dataset has no such topic and was summarized; choose another dataset")
            )
        topic, stance = key
        last = max((each.position for each in self._cells.values()), default=0)
        cell = Cell(dataset=self.dataset, topic=topic, stance=stance, position=last + 1)
        if self.write:
            cell.save()
        self._cells[key] = cell
        return cell

    def _check_references(self, cell: Cell, key: CellKey, texts: Sequence[str]) -> None:
        """The file's references are those of the cell; a cell without any gets them."""
        hashes = {text_key(text) for text in texts}
        if len(hashes) < len(texts):
            raise NotThisSet(_("a reference stands twice"))
        known = self._references.get(key)
        if not known:
            self._references[key] = list(texts)
            if self.write:
                ReferenceKeyPoint.objects.bulk_create(
                    ReferenceKeyPoint(cell=cell, position=at, text=text, sha256=text_key(text))
                    for at, text in enumerate(texts, start=1)
                )
        elif {text_key(text) for text in known} != hashes:
            self._match(key, texts, known)

    def _match(self, key: CellKey, texts: Sequence[str], known: Sequence[str]) -> None:
        """Tell which references are taken for which; raises NotThisSet where that is not clear."""
        refusal = _("its references are not those that the dataset has for this topic")
        if self.how == ONLY_SAME:
            raise NotThisSet(refusal)
        try:
            taken = (by_order if self.how == BY_ORDER else same_references)(texts, known)
        except OtherReferences as reason:
            raise NotThisSet(f"{refusal}: {reason}") from None
        for each in taken:
            self._tell(key, each)

    def _new_set(self, cell: Cell, place: tuple[CellKey, str], counted: CountedSet) -> SummarySet:
        self._last += 1
        made = SummarySet(
            study=self.study,
            cell=cell,
            system=counted.system,
            source=SOURCE,
            position=self._last,
            state=SummarySet.State.DONE,
        )
        if self.write:
            made.save()
            SystemSummary.objects.bulk_create(
                SystemSummary(summary_set=made, position=at, text=text)
                for at, text in enumerate(counted.summaries)
            )
        self._sets[place] = made
        self._texts[place] = list(counted.summaries)
        return made
