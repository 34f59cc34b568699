"""Datasets of a file: compared with what is stored cell by cell, and filled up.

An argument or key point is known by its cell and text, a match by its pair. What differs, also a
quality where none is stored, is replaced only if that was asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.corpus.models.questions import text_key
from argsum.datasets.actions.datasets import in_use, is_frozen
from argsum.datasets.actions.preparing import prepare_dataset, stored_half, usual_steps
from argsum.datasets.methods.halves import Half
from argsum.datasets.methods.preprocessing import HALF, ONE_ROW, PUBLISHED, prepare, summed
from argsum.datasets.methods.raw_cells import RawCell
from argsum.datasets.models import Cell, CellArgument, Dataset
from argsum.datasets.reports.comments import is_of_comments
from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.files.actions.rows import Flag, ImportRefused

from .entries import BOOK, PUBLISHED_RECIPE, CellEntry, funnel_words
from .stored import StoredCell, stored_cells
from .writing import write_cell


class DatasetReconciliation(Reconciliation):
    """One pass over one file, which makes or fills one dataset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dataset: Dataset | None = None
        self._is_frozen = False
        self._is_changed = False
        self._last_position = 0
        self._unrated = 0
        self._cells: list[RawCell] = []
        self._asked: tuple[str, Half | None] = ("", None)

    def compare(self, entries: Sequence[CellEntry]) -> None:
        """Compare a piece of the file."""
        self._asked = entries[0].recipe, entries[0].half
        dataset = self._dataset or self._open(entries[0])
        stored = stored_cells(dataset, [entry.cell for entry in entries])
        for entry in entries:
            self._take_cell(entry, stored.get((entry.cell.topic, entry.cell.stance)))

    def finish(self) -> None:
        """Refuse a change of what was used, say what preprocessing leaves, and prepare it."""
        if self._dataset is None:
            return
        if self._is_frozen and self._is_changed:
            raise ImportRefused(
                in_use(self._dataset) + " " + _("Import the file under another name.")
            )
        steps = self._steps(self._dataset)
        half = stored_half(self._dataset) or self._asked[1]
        self.outcome.notes.extend(self._funnels(steps, half))
        self.outcome.notes.extend([*self._as_published(steps), *self._missing_qualities()])
        self.outcome.notes.extend(self._other_recipe(self._dataset, steps))
        if self.write and self._is_changed:
            prepare_dataset(
                self._dataset,
                steps=steps,
                repeats=self._repeats(self._dataset),
                again=self._again(self._dataset),
                half=half,
            )

    # -- the dataset --------------------------------------------------------------------------

    def _open(self, entry: CellEntry) -> Dataset:
        found = Dataset.objects.filter(study=self.study, name=entry.dataset)
        if self.write:
            found = found.select_for_update()
        dataset = found.first()
        if dataset is None:
            dataset = Dataset(
                study=self.study,
                name=entry.dataset,
                source=entry.source,
                created_by=self.actor,
            )
            if self.write:
                dataset.save()
        else:
            if is_of_comments(dataset):
                text = _("“%s” holds comments and their statements: choose another name.")
                raise ImportRefused(text % dataset.name)
            self._is_frozen = is_frozen(dataset)
            last = dataset.cells.order_by("-position").values_list("position", flat=True).first()
            self._last_position = last or 0
        self._dataset = dataset
        return dataset

    def _steps(self, dataset: Dataset) -> Sequence[str]:
        """Those chosen before, else the usual ones for what the file holds."""
        return dataset.recipe.get("steps") or self._asked_steps()

    def _asked_steps(self) -> Sequence[str]:
        recipe, half = self._asked
        has_key_points = any(cell.key_points for cell in self._cells)
        usual = usual_steps(has_key_points=has_key_points)
        steps = PUBLISHED if recipe == PUBLISHED_RECIPE else usual
        return (*steps, HALF) if half else steps

    def _other_recipe(self, dataset: Dataset, steps: Sequence[str]) -> list[str]:
        """That a dataset which is there keeps its own recipe, where another one was asked for."""
        if not any(self._asked) or not dataset.recipe:
            return []
        recipe, half = self._asked
        is_same = set(steps) == set(self._asked_steps()) or (half and not recipe)
        if is_same and (half is None or half == stored_half(dataset)):
            return []
        return [_("The dataset keeps its own recipe; it can be changed on its page.")]

    def _as_published(self, steps: Sequence[str]) -> list[str]:
        """What the recipe of the publication would leave, where rows and key points differ."""
        if not any(cell.again for cell in self._cells) or ONE_ROW in steps:
            return []
        again = sum(len(cell.again) for cell in self._cells)
        text = ngettext(
            "%(n)s argument comes again with the same key point, which counts once. As published, "
            "by rows: %(funnel)s.",
            "%(n)s arguments come again with the same key point, which counts once. As published, "
            "by rows: %(funnel)s.",
            again,
        )
        shown = "; ".join(self._funnels(PUBLISHED, None))
        return [text % {"n": f"{again:,}", "funnel": shown.partition(": ")[2]}]

    def _funnels(self, steps: Sequence[str], half: Half | None) -> list[str]:
        """What is left of the file in each split."""
        counts = defaultdict(list)
        for cell in self._cells:
            texts = [argument.text for argument in cell.arguments]
            prepared = prepare(
                texts,
                cell.matched(),
                steps=steps,
                repeats=cell.repeats,
                again=cell.again,
                groups=cell.groups() if half else (),
                half=half,
            )
            counts[cell.split].append(prepared.counts)
        return [
            f"{split or _('Arguments')}: {funnel_words(summed(each))}"
            for split, each in counts.items()
        ]

    def _repeats(self, dataset: Dataset) -> Counter[str]:
        """Arguments that one file named twice, by split; the same file again adds none."""
        found: Counter[str] = Counter()
        for cell in self._cells:
            found[cell.split] += cell.repeats
        before: Counter[str] = Counter(dataset.recipe.get("repeats") or {})
        return before | found

    def _again(self, dataset: Dataset) -> set[int]:
        """Keys of arguments with a match in one more row, in this file or an earlier one."""
        found = set(dataset.recipe.get("again") or ())
        for raw in self._cells:
            if raw.again:
                keys = [text_key(raw.arguments[place].text) for place in raw.again]
                rows = CellArgument.objects.filter(
                    cell__dataset=dataset, cell__topic=raw.topic, cell__stance=raw.stance
                )
                found.update(rows.filter(sha256__in=keys).values_list("pk", flat=True))
        return found

    def _missing_qualities(self) -> list[str]:
        if not self._unrated:
            return []
        text = ngettext(
            "The file knows the quality of %s argument that has none yet; replacing what differs "
            "takes it over.",
            "The file knows the quality of %s arguments that have none yet; replacing what "
            "differs takes it over.",
            self._unrated,
        )
        return [text % f"{self._unrated:,}"]

    # -- its cells ----------------------------------------------------------------------------

    def _take_cell(self, entry: CellEntry, stored: StoredCell | None) -> None:
        cell = entry.cell
        if stored is not None and stored.cell.split != cell.split:
            known = stored.cell.get_split_display()
            reason = _("“%(topic)s” is stored in another split (%(split)s)")
            said = reason % {"topic": cell.topic[:80], "split": known}
            self._flag(entry, entry.row, "set", said, is_rejection=True)
            return
        self.result(BOOK, "same" if stored else "new")
        self._cells.append(cell)
        found = stored or StoredCell(self._new_cell(entry))
        change = found.compare(cell)
        for name, results in change.counts.items():
            for result, number in results.items():
                self.outcome.counts[name][result] += number
        for row, column, before in change.differing:
            self._flag(entry, row, column, self.changed(before))
        self._unrated += change.unrated
        is_written = change.is_change(update=self.update_changed)
        self._is_changed |= stored is None or is_written
        if self.write and not (self._is_frozen and self._is_changed):
            write_cell(found.cell, cell, change, update=self.update_changed)

    def _new_cell(self, entry: CellEntry) -> Cell:
        self._last_position += 1
        return Cell(
            dataset=self._dataset,
            topic=entry.cell.topic,
            stance=entry.cell.stance,
            split=entry.cell.split,
            position=self._last_position,
        )

    def _flag(
        self,
        entry: CellEntry,
        row: int | None,
        column: str,
        reason: str,
        *,
        is_rejection: bool = False,
    ) -> None:
        where = " · ".join(part for part in (entry.place, column) if part)
        flag = Flag(row, where, reason, is_rejection=is_rejection, object=BOOK, place=entry.place)
        self.outcome.flag(flag)
