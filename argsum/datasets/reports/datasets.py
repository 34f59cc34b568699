"""Datasets and cells in lists, with the counts after each preprocessing step."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from argsum.datasets.methods.preprocessing import (
    HALF,
    KEPT,
    ONE_KEY_POINT,
    ONE_ROW,
    ONE_SENTENCE,
    PAPER_STEPS,
    PUBLISHED_SENTENCE,
    READ,
    SAYS_SOMETHING,
    UNIQUE,
    checked_steps,
    funnel,
    summed,
)
from argsum.datasets.models import (
    Cell,
    CellArgument,
    Comment,
    Dataset,
    KeyPointMatch,
    ReferenceKeyPoint,
)
from argsum.datasets.reports.comments import COMMENTS, is_of_comments
from cqa_site.people.models import Study

STEP_NAMES = {
    READ: _("Imported"),
    UNIQUE: _("Unique"),
    ONE_KEY_POINT: _("Exactly one key point"),
    ONE_ROW: _("Match in one row"),
    ONE_SENTENCE: _("One sentence"),
    PUBLISHED_SENTENCE: _("One sentence, as published"),
    SAYS_SOMETHING: _("Says something"),
    HALF: _("In the chosen half"),
}
# The names of the steps for statements of comments.
STATEMENT_STEP_NAMES = STEP_NAMES | {
    READ: _("Statements"),
    UNIQUE: _("Different"),
    SAYS_SOMETHING: _("With content"),
}


@dataclass(frozen=True)
class RecipeStep:
    """A step with the numbers of arguments left and removed."""

    key: str
    left: int
    taken: int
    is_of_statements: bool = False

    @property
    def name(self) -> str:
        """Name of the step for display."""
        return str((STATEMENT_STEP_NAMES if self.is_of_statements else STEP_NAMES)[self.key])


@dataclass(frozen=True)
class Funnel:
    """Preprocessing steps of one split; ``comments`` counts the comments behind the statements."""

    split: str
    cells: int
    steps: tuple[RecipeStep, ...]
    comments: int | None = None

    @property
    def name(self) -> str:
        """Name of the split for display."""
        return str(Cell.Split(self.split).label)

    @property
    def read(self) -> int:
        """Number of arguments before the first step."""
        return self.steps[0].left

    @property
    def kept(self) -> int:
        """Number of arguments after the last step."""
        return self.steps[-1].left


@dataclass(frozen=True)
class DatasetRow:
    """One dataset with its counts; runs, imported sets and analyses lock it."""

    dataset: Dataset
    funnels: tuple[Funnel, ...]
    key_points: int
    runs: int
    imported_sets: int
    analyses: int = 0
    newest_analysis: UUID | None = None

    @property
    def is_frozen(self) -> bool:
        """Whether the arguments, key points and recipe can no longer change."""
        return bool(self.runs or self.imported_sets or self.analyses)

    @property
    def comments(self) -> int | None:
        """Number of comments, or None if the dataset was imported as arguments."""
        return self.dataset.recipe.get(COMMENTS, 0) if is_of_comments(self.dataset) else None

    @property
    def cells(self) -> int:
        """Number of cells in all splits."""
        return sum(funnel.cells for funnel in self.funnels)

    @property
    def read(self) -> int:
        """Number of arguments in all splits, before the first step."""
        return sum(funnel.read for funnel in self.funnels)

    @property
    def kept(self) -> int:
        """Number of arguments in all splits, after the last step."""
        return sum(funnel.kept for funnel in self.funnels)

    @property
    def steps(self) -> tuple[str, ...]:
        """Preprocessing steps, in order."""
        return steps_of(self.dataset)

    @property
    def half(self) -> dict[str, Any]:
        """Half that the recipe selects and its seed; empty if it uses all arguments."""
        return self.dataset.recipe.get("half") or {}

    @property
    def step_names(self) -> list[str]:
        """Names of the preprocessing steps for display."""
        return [str(STEP_NAMES[step]) for step in self.steps]


def steps_of(dataset: Dataset) -> tuple[str, ...]:
    """Return the steps of the recipe, or the paper's steps if no steps are stored."""
    return checked_steps(dataset.recipe.get("steps", PAPER_STEPS))


def half_initial(dataset: Dataset) -> dict[str, Any]:
    half = dataset.recipe.get("half") or {}
    return {"half": half.get("part", ""), "seed": half.get("seed")}


def datasets_of(study: Study) -> QuerySet[Dataset]:
    return study.argument_datasets.select_related("created_by")


def dataset_rows(datasets: Sequence[Dataset]) -> list[DatasetRow]:
    """Return the counts of the given datasets, always in six queries."""
    keys = [dataset.pk for dataset in datasets]
    # There may be many comments, so their counts are stored by the import.
    reasons = _reasons([dataset.pk for dataset in datasets if not is_of_comments(dataset)])
    cells: dict[int, Counter[str]] = defaultdict(Counter)
    rows = Cell.objects.filter(dataset__in=keys).order_by()
    for key, split, number in rows.values_list("dataset", "split").annotate(n=Count("pk")):
        cells[key][split] = number
    key_points = _counts(ReferenceKeyPoint.objects.filter(cell__dataset__in=keys), "cell__dataset")
    runs = _counts(Dataset.objects.filter(pk__in=keys, system_runs__isnull=False), "pk")
    sets = _counts(imported_sets(keys), "dataset")
    analysed = _analysed(keys)
    return [
        DatasetRow(
            dataset=dataset,
            funnels=_funnels(dataset, reasons[dataset.pk], cells[dataset.pk]),
            key_points=key_points.get(dataset.pk, 0),
            runs=runs.get(dataset.pk, 0),
            imported_sets=sets.get(dataset.pk, 0),
            analyses=len(analysed[dataset.pk]),
            newest_analysis=next(iter(analysed[dataset.pk]), None),
        )
        for dataset in datasets
    ]


def imported_sets(datasets: Sequence[int]) -> QuerySet[Cell]:
    """Return the cells of the datasets, once per imported set of summaries."""
    return Cell.objects.filter(
        dataset__in=datasets, summary_sets__isnull=False, summary_sets__system_run__isnull=True
    )


def analyses(datasets: Sequence[int]) -> QuerySet[Cell]:
    """Return the cells of the datasets, once per analysis of their comments."""
    return Cell.objects.filter(dataset__in=datasets, analyses__isnull=False)


def _analysed(keys: Sequence[int]) -> dict[int, list[UUID]]:
    """Return analyses by dataset, newest first."""
    public_ids: dict[int, list[UUID]] = defaultdict(list)
    rows = analyses(keys).order_by("-analyses__number")
    for key, analysis in rows.values_list("dataset", "analyses__public_id"):
        public_ids[key].append(analysis)
    return public_ids


def _counts(rows: QuerySet, field: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(field).annotate(n=Count("*")))


def _reasons(keys: Sequence[int]) -> dict[int, dict[str, Counter[str]]]:
    """Count arguments by dataset, split and reason for exclusion."""
    reasons: dict[int, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    rows = CellArgument.objects.filter(cell__dataset__in=keys).order_by()
    groups = rows.values_list("cell__dataset", "cell__split", "left_out").annotate(n=Count("pk"))
    for key, split, reason, number in groups:
        reasons[key][split][reason] = number
    return reasons


def _funnels(
    dataset: Dataset, reasons: Mapping[str, Counter[str]], cells: Mapping[str, int]
) -> tuple[Funnel, ...]:
    repeats = dataset.recipe.get("repeats") or {}
    funnels = []
    for split in Cell.Split.values:
        if split not in cells:
            continue
        is_of_statements = is_of_comments(dataset)
        if is_of_statements:
            tally = (dataset.recipe.get("counts") or {}).get(split, {READ: 0})
            # A database may return the steps in another order.
            counts = summed([tally])
        else:
            counts = funnel(
                reasons.get(split, {}), steps=steps_of(dataset), repeats=repeats.get(split, 0)
            )
        comments = dataset.recipe.get(COMMENTS, 0) if is_of_statements else None
        funnels.append(Funnel(split, cells[split], _as_steps(counts, is_of_statements), comments))
    return tuple(funnels)


def _as_steps(counts: Mapping[str, int], is_of_statements: bool) -> tuple[RecipeStep, ...]:
    before = counts[READ]
    steps = []
    for key, left in counts.items():
        steps.append(RecipeStep(key, left, before - left, is_of_statements))
        before = left
    return tuple(steps)


@dataclass(frozen=True)
class CellRow:
    """One cell with its argument counts by reason for exclusion ("" means kept)."""

    cell: Cell
    reasons: Mapping[str, int]
    key_points: int
    comments: int = 0

    @property
    def arguments(self) -> int:
        """Number of arguments, kept or excluded."""
        return sum(self.reasons.values())

    @property
    def kept(self) -> int:
        """Number of kept arguments, which systems read."""
        return self.reasons.get(KEPT, 0)

    @property
    def left_out(self) -> list[tuple[str, int]]:
        """Reasons for exclusion in words, with counts."""
        names = dict(CellArgument.LeftOut.choices)
        return [(str(names[key]), n) for key, n in self.reasons.items() if key != KEPT]


def cell_rows(cells: Sequence[Cell]) -> list[CellRow]:
    """Return the counts of the given cells, in two queries, or three for comments."""
    keys = [cell.pk for cell in cells]
    reasons: dict[int, dict[str, int]] = defaultdict(dict)
    rows = CellArgument.objects.filter(cell__in=keys).order_by("left_out")
    for key, reason, number in rows.values_list("cell", "left_out").annotate(n=Count("pk")):
        reasons[key][reason] = number
    key_points = _counts(ReferenceKeyPoint.objects.filter(cell__in=keys), "cell")
    commented = [cell.pk for cell in cells if is_of_comments(cell.dataset)]
    comments = _counts(Comment.objects.filter(cell__in=commented), "cell") if commented else {}
    return [
        CellRow(cell, reasons[cell.pk], key_points.get(cell.pk, 0), comments.get(cell.pk, 0))
        for cell in cells
    ]


COLUMNS = (
    "topic", "stance", "set", "arg_id", "argument", "quality", "left_out", "key_point_id",
    "key_point", "label",
)  # fmt: skip
KEPT_ONLY, LEFT_OUT_ONLY = "kept", "left_out"


@dataclass(frozen=True)
class ArgumentRow:
    """One argument with the numbers of key points labelled as matching and not matching."""

    argument: CellArgument
    matched: tuple[int, ...]
    denied: tuple[int, ...]


def key_points_of(cell: Cell) -> QuerySet[ReferenceKeyPoint]:
    """Return key points with their counts of matching arguments: all, and those that are kept."""
    is_match = Q(matches__is_match=True)
    return cell.key_points.annotate(
        matched=Count("matches", filter=is_match),
        matched_kept=Count("matches", filter=is_match & Q(matches__argument__left_out="")),
        labelled=Count("matches"),
    )


def arguments_of(
    cell: Cell, *, show: str = "", search: str = "", key_point: int | None = None
) -> QuerySet[CellArgument]:
    """Return the cell's arguments that match the filters, ordered by position.

    ``show`` is ``kept``, ``left_out``, a reason of `CellArgument.LeftOut`, or "" for all.
    ``key_point`` is the position of a key point that the arguments match.
    """
    rows = shown_arguments(cell.arguments.order_by("position"), show)
    if search:
        rows = rows.filter(text__icontains=search)
    if key_point is not None:
        matches = KeyPointMatch.objects.filter(
            argument=OuterRef("pk"), key_point__position=key_point, is_match=True
        )
        rows = rows.filter(Exists(matches))
    return rows


def shown_arguments(rows: QuerySet[CellArgument], show: str) -> QuerySet[CellArgument]:
    """Filter arguments by ``show``; see `arguments_of`."""
    if not show:
        return rows
    if show == LEFT_OUT_ONLY:
        return rows.exclude(left_out="")
    return rows.filter(left_out="" if show == KEPT_ONLY else show)


def argument_rows(arguments: Sequence[CellArgument]) -> list[ArgumentRow]:
    """Return the given arguments with their labels, in one query."""
    labels: dict[int, dict[bool, list[int]]] = defaultdict(lambda: {True: [], False: []})
    rows = KeyPointMatch.objects.filter(argument__in=arguments).order_by("key_point__position")
    for key, position, is_match in rows.values_list("argument", "key_point__position", "is_match"):
        labels[key][is_match].append(position)
    return [
        ArgumentRow(argument, tuple(labels[argument.pk][True]), tuple(labels[argument.pk][False]))
        for argument in arguments
    ]


def exported_rows(dataset: Dataset) -> Iterator[tuple]:
    """Yield one row per label, and one row for each argument without labels; see `COLUMNS`.

    The exported file can be imported again as pairs.
    """
    for cell in dataset.cells.all():
        yield from _cell_rows(cell)


def _cell_rows(cell: Cell) -> Iterator[tuple]:
    labels: dict[int, list[tuple]] = defaultdict(list)
    matches = KeyPointMatch.objects.filter(argument__cell=cell).order_by("key_point__position")
    fields = ("argument", "key_point__name", "key_point__text", "is_match")
    for key, name, text, is_match in matches.values_list(*fields):
        labels[key].append((name, text, int(is_match)))
    for argument in cell.arguments.order_by("position"):
        values = (argument.name, argument.text, argument.quality, argument.left_out)
        for label in labels[argument.pk] or [("", "", None)]:
            yield (cell.topic, cell.stance, cell.split, *values, *label)
