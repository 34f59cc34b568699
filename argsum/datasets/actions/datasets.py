"""Change which steps of preprocessing apply to a dataset, or forget it; only while unused."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from argsum.datasets.actions.preparing import prepare_dataset
from argsum.datasets.methods.halves import Half
from argsum.datasets.methods.preprocessing import HALF, SAYS_SOMETHING, UNIQUE
from argsum.datasets.models import Dataset
from argsum.datasets.reports.comments import is_of_comments
from argsum.datasets.reports.datasets import analyses, imported_sets
from cqa_site.people.access import record
from cqa_site.people.models import User


class RecipeRefused(Exception):
    """Such a dataset has no such step; the message says why."""


class DatasetInUse(Exception):
    """Something was computed or counted from it, so it stays as it is; the message says what."""


def uses_of(dataset: Dataset) -> tuple[int, int, int]:
    """Runs of systems over the dataset, and imported sets and analyses of its cells."""
    keys = [dataset.pk]
    return dataset.system_runs.count(), imported_sets(keys).count(), analyses(keys).count()


def is_frozen(dataset: Dataset) -> bool:
    """Whether its arguments, key points and recipe have to stay as they are."""
    return any(uses_of(dataset))


@transaction.atomic
def change_recipe(
    *, dataset: Dataset, steps: Iterable[str], actor: User | None, half: Half | None = None
) -> Dataset:
    """Preprocess again with other steps; ``half`` is what the step of that name draws.

    Raises DatasetInUse, RecipeRefused for what statements of comments do not have, and ValueError
    for an unknown step.
    """
    held = _held(dataset)
    if is_of_comments(held):
        _require_of_statements(steps, half)
    before = held.recipe
    prepare_dataset(held, steps=steps, half=half)
    after = held.recipe
    if any(after.get(name) != before.get(name) for name in ("steps", "half")):
        _record(held, actor, "dataset_prepared", steps=after["steps"])
    return held


@transaction.atomic
def delete_dataset(*, dataset: Dataset, actor: User | None) -> None:
    """Forget a dataset with its cells; raises DatasetInUse."""
    held = _held(dataset)
    cells = held.cells.count()
    try:
        held.delete()
    except ProtectedError as error:
        raise DatasetInUse(in_use(held)) from error
    _record(held, actor, "dataset_deleted", cells=cells)


def in_use(dataset: Dataset) -> str:
    """Why a dataset stays as it is."""
    return (
        _("“%s” was summarized, or summaries of it were imported, so it stays as it is.")
        % dataset.name
    )


def _require_of_statements(steps: Iterable[str], half: Half | None) -> None:
    if half or HALF in steps:
        raise RecipeRefused(_("Of the statements of comments no half is drawn."))
    if not {*steps} <= {UNIQUE, SAYS_SOMETHING}:
        raise RecipeRefused(_("For statements of comments there is only the step says_something."))


def _held(dataset: Dataset) -> Dataset:
    """The row, locked against a run that starts meanwhile; raises DatasetInUse."""
    held = Dataset.objects.select_for_update().get(pk=dataset.pk)
    if is_frozen(held):
        raise DatasetInUse(in_use(held))
    return held


def _record(dataset: Dataset, actor: User | None, verb: str, **facts: Any) -> None:
    record(study=dataset.study, actor=actor, verb=verb, subject=dataset.name, **facts)
