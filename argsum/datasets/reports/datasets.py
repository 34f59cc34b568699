"""Datasets as pages show them: what each step of preprocessing left, and what uses them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet
from django.utils.translation import gettext_lazy as _

from argsum.datasets.methods.preprocessing import (
    HALF,
    KEPT,
    ONE_KEY_POINT,
    ONE_ROW,
    ONE_SENTENCE,
    PUBLISHED_SENTENCE,
    READ,
    STEPS,
    UNIQUE,
    checked_steps,
    funnel,
)
from argsum.datasets.models import Cell, CellArgument, Dataset, ReferenceKeyPoint
from cqa_site.people.models import Study

STEP_NAMES = {
    READ: _("Read"),
    UNIQUE: _("Unique"),
    ONE_KEY_POINT: _("Exactly one key point"),
    ONE_ROW: _("In one row"),
    ONE_SENTENCE: _("One sentence"),
    PUBLISHED_SENTENCE: _("One sentence, as published"),
    HALF: _("In the half"),
}


@dataclass(frozen=True)
class Step:
    """How many arguments are left after a step, and how many it took."""

    key: str
    left: int
    taken: int

    @property
    def name(self) -> str:
        """The step in words."""
        return str(STEP_NAMES[self.key])


@dataclass(frozen=True)
class Funnel:
    """One split from what was read to what is kept."""

    split: str
    cells: int
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """The split in words."""
        return str(Cell.Split(self.split).label)

    @property
    def read(self) -> int:
        """Arguments before the first step."""
        return self.steps[0].left

    @property
    def kept(self) -> int:
        """Arguments after the last step."""
        return self.steps[-1].left


@dataclass(frozen=True)
class DatasetRow:
    """One dataset with its counts; ``runs`` and ``imported_sets`` are what keeps it as it is."""

    dataset: Dataset
    funnels: tuple[Funnel, ...]
    key_points: int
    runs: int
    imported_sets: int

    @property
    def is_frozen(self) -> bool:
        """Whether arguments, key points and recipe have to stay."""
        return bool(self.runs or self.imported_sets)

    @property
    def cells(self) -> int:
        """Topics with stance."""
        return sum(each.cells for each in self.funnels)

    @property
    def read(self) -> int:
        """Arguments of every split, before the first step."""
        return sum(each.read for each in self.funnels)

    @property
    def kept(self) -> int:
        """Arguments of every split, after the last step."""
        return sum(each.kept for each in self.funnels)

    @property
    def steps(self) -> tuple[str, ...]:
        """Steps that apply, in order."""
        return steps_of(self.dataset)

    @property
    def half(self) -> dict[str, Any]:
        """Which part the recipe draws, and its seed; empty where it draws none."""
        return self.dataset.recipe.get("half") or {}

    @property
    def step_names(self) -> list[str]:
        """The same in words."""
        return [str(STEP_NAMES[step]) for step in self.steps]


def steps_of(dataset: Dataset) -> tuple[str, ...]:
    """Steps of its recipe; those of the paper where none was kept."""
    return checked_steps(dataset.recipe.get("steps", STEPS))


def half_initial(dataset: Dataset) -> dict[str, Any]:
    """The half of its recipe as a form has it."""
    found = dataset.recipe.get("half") or {}
    return {"half": found.get("part", ""), "seed": found.get("seed")}


def datasets_of(study: Study) -> QuerySet[Dataset]:
    """By name."""
    return study.argument_datasets.select_related("created_by")


def dataset_rows(datasets: Sequence[Dataset]) -> list[DatasetRow]:
    """Counts of some datasets, in five queries however many there are."""
    keys = [each.pk for each in datasets]
    reasons = _reasons(keys)
    cells: dict[int, Counter[str]] = defaultdict(Counter)
    found = Cell.objects.filter(dataset__in=keys).order_by()
    for key, split, number in found.values_list("dataset", "split").annotate(n=Count("pk")):
        cells[key][split] = number
    key_points = _counts(ReferenceKeyPoint.objects.filter(cell__dataset__in=keys), "cell__dataset")
    runs = _counts(Dataset.objects.filter(pk__in=keys, system_runs__isnull=False), "pk")
    sets = _counts(imported_sets(keys), "dataset")
    return [
        DatasetRow(
            dataset=each,
            funnels=_funnels(each, reasons[each.pk], cells[each.pk]),
            key_points=key_points.get(each.pk, 0),
            runs=runs.get(each.pk, 0),
            imported_sets=sets.get(each.pk, 0),
        )
        for each in datasets
    ]


def imported_sets(datasets: Sequence[int]) -> QuerySet[Cell]:
    """The cells of datasets, once for each set of summaries that was imported for them."""
    return Cell.objects.filter(
        dataset__in=datasets, summary_sets__isnull=False, summary_sets__system_run__isnull=True
    )


def _counts(rows: QuerySet, field: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(field).annotate(n=Count("*")))


def _reasons(keys: Sequence[int]) -> dict[int, dict[str, Counter[str]]]:
    """Arguments by dataset, split and why they are left out."""
    found: dict[int, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    rows = CellArgument.objects.filter(cell__dataset__in=keys).order_by()
    groups = rows.values_list("cell__dataset", "cell__split", "left_out").annotate(n=Count("pk"))
    for key, split, reason, number in groups:
        found[key][split][reason] = number
    return found


def _funnels(
    dataset: Dataset, reasons: Mapping[str, Counter[str]], cells: Mapping[str, int]
) -> tuple[Funnel, ...]:
    repeats = dataset.recipe.get("repeats") or {}
    made = []
    for split in Cell.Split.values:
        if split not in cells:
            continue
        counts = funnel(
            reasons.get(split, {}), steps=steps_of(dataset), repeats=repeats.get(split, 0)
        )
        made.append(Funnel(split, cells[split], _as_steps(counts)))
    return tuple(made)


def _as_steps(counts: Mapping[str, int]) -> tuple[Step, ...]:
    before = counts[READ]
    made = []
    for key, left in counts.items():
        made.append(Step(key, left, before - left))
        before = left
    return tuple(made)


@dataclass(frozen=True)
class CellRow:
    """One cell with how many of its arguments are kept or left out, and why."""

    cell: Cell
    reasons: Mapping[str, int]
    key_points: int

    @property
    def arguments(self) -> int:
        """Kept and left out."""
        return sum(self.reasons.values())

    @property
    def kept(self) -> int:
        """Those that systems see."""
        return self.reasons.get(KEPT, 0)

    @property
    def left_out(self) -> list[tuple[str, int]]:
        """Reason in words and number."""
        names = dict(CellArgument.LeftOut.choices)
        return [(str(names[key]), n) for key, n in self.reasons.items() if key != KEPT]


def cell_rows(cells: Sequence[Cell]) -> list[CellRow]:
    """Counts of some cells, in two queries however many there are."""
    keys = [each.pk for each in cells]
    reasons: dict[int, dict[str, int]] = defaultdict(dict)
    rows = CellArgument.objects.filter(cell__in=keys).order_by("left_out")
    for key, reason, number in rows.values_list("cell", "left_out").annotate(n=Count("pk")):
        reasons[key][reason] = number
    key_points = _counts(ReferenceKeyPoint.objects.filter(cell__in=keys), "cell")
    return [CellRow(each, reasons[each.pk], key_points.get(each.pk, 0)) for each in cells]
