"""The dataset of a file, found by its name or made, and its cells."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.actions import is_frozen
from argsum.datasets.models import Cell, Dataset
from argsum.datasets.reports.comments import is_of_comments
from cqa_site.files.actions.imports import ImportRefused, Reconciliation
from cqa_site.people.models import Study


def find_dataset(study: Study, name: str, *, lock: bool) -> Dataset | None:
    """Return the dataset of this name, locked for the transaction if asked."""
    rows = Dataset.objects.filter(study=study, name=name)
    return (rows.select_for_update() if lock else rows).first()


def existing_dataset(study: Study, name: str, *, lock: bool = False) -> Dataset:
    """Return the dataset of this name; raises ImportRefused without one."""
    if dataset := find_dataset(study, name, lock=lock):
        return dataset
    raise ImportRefused(_("The study has no dataset named “%s”.") % name)


class CellReconciliation(Reconciliation):
    """Comparison of one file, which creates or extends one dataset, cell by cell.

    A subclass sets the recipe of a new dataset and the refusal of one with other content, or that
    it takes any.
    """

    new_recipe: Mapping[str, Any] = {}
    takes_any = False
    other_content: Any = lazy("“%s” contains comments. Choose another name.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset: Dataset | None = None
        self.is_new = self.is_frozen = False
        self._last_position = 0

    def open(self, name: str, source: str) -> Dataset:
        """Return the dataset; raises ImportRefused for one with other content."""
        if self.dataset is not None:
            return self.dataset
        dataset = find_dataset(self.study, name, lock=self.write)
        self.is_new = dataset is None
        if dataset is None:
            dataset = Dataset(study=self.study, name=name, source=source, created_by=self.actor)
            dataset.recipe = dict(self.new_recipe)
            if self.write:
                dataset.save()
        elif not self.takes_any and is_of_comments(dataset) != bool(self.new_recipe):
            raise ImportRefused(self.other_content % dataset.name)
        else:
            self.is_frozen = not self.takes_any and is_frozen(dataset)
            self._last_position = dataset.cells.aggregate(last=Max("position"))["last"] or 0
        self.dataset = dataset
        return dataset

    def new_cell(self, topic: str, stance: int = 0, split: str = "") -> Cell:
        """Return a cell behind all others, stored in a writing pass."""
        self._last_position += 1
        about: dict[str, Any] = {"topic": topic, "stance": stance, "split": split}
        cell = Cell(dataset=self.dataset, position=self._last_position, **about)
        if self.write:
            cell.save()
        return cell
