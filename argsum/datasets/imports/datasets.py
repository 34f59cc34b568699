"""Import of datasets: compare cells with the stored cells and add new data."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django import forms
from django.db.models import F, Max, QuerySet
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.datasets.actions import in_use, prepare_dataset, stored_half, usual_steps
from argsum.datasets.forms import DatasetForm
from argsum.datasets.methods.argument_cells import RawArgument, RawCell
from argsum.datasets.methods.preprocessing import HALF, ONE_ROW, PUBLISHED, Half, prepare, summed
from argsum.datasets.models import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.files.forms import ImportForm
from cqa_site.tabular.cells import text_key
from .argument_files import (
    CELLS,
    PUBLISHED_RECIPE,
    CellEntry,
    CellReconciliation,
    dataset_name,
    funnel_words,
)


@dataclass
class CellChange:
    """Data that a file adds to a cell, and data that contradicts the cell.

    Positions refer to the file's cell. ``rated`` contains stored arguments whose quality
    differs from the file's quality, and ``unrated`` counts those without a stored quality.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    new_arguments: list[int] = field(default_factory=list)
    new_key_points: list[int] = field(default_factory=list)
    new_matches: list[tuple[int, int]] = field(default_factory=list)
    rated: list[CellArgument] = field(default_factory=list)
    unrated: int = 0
    relabelled: list[KeyPointMatch] = field(default_factory=list)
    differing: list[tuple[int | None, str, object]] = field(default_factory=list)
    argument_keys: dict[int, int] = field(default_factory=dict)
    key_point_keys: dict[int, int] = field(default_factory=dict)

    def is_change(self, *, update: bool) -> bool:
        """Return whether the import would write anything."""
        added = self.new_arguments or self.new_key_points or self.new_matches
        return bool(added or (update and (self.rated or self.relabelled)))


@dataclass
class StoredCell:
    """A stored cell with its rows, indexed by text hash and by pair of keys."""

    cell: Cell
    arguments: dict[str, CellArgument] = field(default_factory=dict)
    key_points: dict[str, int] = field(default_factory=dict)
    matches: dict[tuple[int | None, int | None], KeyPointMatch] = field(default_factory=dict)

    def compare(self, raw: RawCell) -> CellChange:
        change = CellChange()
        self._compare_arguments(raw, change)
        self._compare_key_points(raw, change)
        self._compare_matches(raw, change)
        return change

    def _compare_arguments(self, raw: RawCell, change: CellChange) -> None:
        for place, argument in enumerate(raw.arguments):
            stored = self.arguments.get(text_key(argument.text))
            if stored is None:
                change.new_arguments.append(place)
                change.counts["arguments", "new"] += 1
                continue
            change.argument_keys[place] = stored.pk
            result = "changed" if _compare_argument(stored, argument, change) else "same"
            change.counts["arguments", result] += 1

    def _compare_key_points(self, raw: RawCell, change: CellChange) -> None:
        for place, key_point in enumerate(raw.key_points):
            stored = self.key_points.get(text_key(key_point.text))
            if stored is None:
                change.new_key_points.append(place)
            else:
                change.key_point_keys[place] = stored
            change.counts["key_points", "new" if stored is None else "same"] += 1

    def _compare_matches(self, raw: RawCell, change: CellChange) -> None:
        for (argument, point), is_match in raw.matches.items():
            keys = (change.argument_keys.get(argument), change.key_point_keys.get(point))
            stored = self.matches.get(keys)
            if stored is None:
                change.new_matches.append((argument, point))
                change.counts["matches", "new"] += 1
            elif stored.is_match == is_match:
                change.counts["matches", "same"] += 1
            else:
                row = raw.arguments[argument].row
                change.differing.append((row, "label", int(stored.is_match)))
                stored.is_match = is_match
                change.relabelled.append(stored)
                change.counts["matches", "changed"] += 1


def _compare_argument(stored: CellArgument, argument: RawArgument, change: CellChange) -> bool:
    """Return whether the file's quality differs; an empty quality never does."""
    if argument.quality is None or argument.quality == stored.quality:
        return False
    if stored.quality is None:
        change.unrated += 1
    else:
        change.differing.append((argument.row, "quality", stored.quality))
    stored.quality = argument.quality
    change.rated.append(stored)
    return True


def stored_cells(dataset: Dataset, wanted: Sequence[RawCell]) -> dict[tuple[str, int], StoredCell]:
    """Return the requested cells that are stored, in four queries; a new dataset has none."""
    if dataset.pk is None:
        return {}
    rows = Cell.objects.filter(dataset=dataset, topic__in={cell.topic for cell in wanted})
    cells = {cell.pk: StoredCell(cell) for cell in rows}
    for argument in CellArgument.objects.filter(cell__in=cells).order_by():
        cells[argument.cell_id].arguments[argument.sha256] = argument
    key_points = ReferenceKeyPoint.objects.filter(cell__in=cells).order_by()
    for pk, cell, sha256 in key_points.values_list("pk", "cell_id", "sha256"):
        cells[cell].key_points[sha256] = pk
    matches = KeyPointMatch.objects.filter(key_point__cell__in=cells).order_by()
    for match in matches.annotate(cell=F("key_point__cell_id")).iterator(2_000):
        cells[match.cell].matches[match.argument_id, match.key_point_id] = match
    return {
        (stored_cell.cell.topic, stored_cell.cell.stance): stored_cell
        for stored_cell in cells.values()
    }


PIECE = 2_000


def write_cell(cell: Cell, raw: RawCell, change: CellChange, *, update: bool) -> None:
    """Add new rows and, with ``update``, replace differing values.

    The caller must open the transaction.
    """
    arguments = _add(cell, CellArgument, raw.arguments, change.new_arguments)
    arguments |= change.argument_keys
    key_points = _add(cell, ReferenceKeyPoint, raw.key_points, change.new_key_points)
    key_points |= change.key_point_keys
    KeyPointMatch.objects.bulk_create(
        (
            KeyPointMatch(
                argument_id=arguments[argument],
                key_point_id=key_points[point],
                is_match=raw.matches[argument, point],
            )
            for argument, point in change.new_matches
        ),
        batch_size=PIECE,
    )
    if update:
        CellArgument.objects.bulk_update(change.rated, ["quality"], batch_size=500)
        KeyPointMatch.objects.bulk_update(change.relabelled, ["is_match"], batch_size=500)


def _add(
    cell: Cell,
    model: type[CellArgument] | type[ReferenceKeyPoint],
    texts: Sequence[RawArgument],
    places: list[int],
) -> dict[int, int]:
    """Add new arguments or key points, and return their keys by position in the file's cell."""
    rows: QuerySet[Any] = model.objects.filter(cell=cell)
    last = rows.aggregate(last=Max("position"))["last"] or 0
    made: list[Any] = []
    for number, place in enumerate(places, start=last + 1):
        raw = texts[place]
        about: dict[str, Any] = {"text": raw.text, "sha256": text_key(raw.text), "name": raw.name}
        if model is CellArgument:
            about["quality"] = raw.quality
        made.append(model(cell=cell, position=number, **about))
    rows.bulk_create(made, batch_size=PIECE)
    return {place: row.pk for place, row in zip(places, made, strict=True)}


# An argument or key point is identified by its cell and text, and a match by its pair. Differing
# values are replaced only on request, and so are missing qualities.
class DatasetReconciliation(CellReconciliation):
    """Comparison of one file of arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_changed = False
        self._unrated = 0
        self._cells: list[RawCell] = []
        self._asked: tuple[str, Half | None] = ("", None)

    def compare(self, entries: Sequence[CellEntry]) -> None:
        self._asked = entries[0].recipe, entries[0].half
        dataset = self.open(entries[0].dataset, entries[0].source)
        stored = stored_cells(dataset, [entry.cell for entry in entries])
        for entry in entries:
            self._take_cell(entry, stored.get((entry.cell.topic, entry.cell.stance)))

    def finish(self) -> None:
        """Reject changes to a dataset in use, report the preprocessing and prepare the dataset."""
        if self.dataset is None:
            return
        if self.is_frozen and self._is_changed:
            raise ImportRefused(
                in_use(self.dataset) + " " + _("Import the file under another name.")
            )
        steps = self.dataset.recipe.get("steps") or self._asked_steps()
        half = stored_half(self.dataset) or self._asked[1]
        self.outcome.notes.extend(self._funnels(steps, half))
        self.outcome.notes.extend([*self._as_published(steps), *self._missing_qualities()])
        self.outcome.notes.extend(self._other_recipe(self.dataset, steps))
        if self.write and self._is_changed:
            prepare_dataset(
                self.dataset,
                steps=steps,
                repeats=self._repeats(self.dataset),
                again=self._again(self.dataset),
                half=half,
            )

    def _asked_steps(self) -> Sequence[str]:
        recipe, half = self._asked
        has_key_points = any(cell.key_points for cell in self._cells)
        usual = usual_steps(has_key_points=has_key_points)
        steps = PUBLISHED if recipe == PUBLISHED_RECIPE else usual
        return (*steps, HALF) if half else steps

    def _other_recipe(self, dataset: Dataset, steps: Sequence[str]) -> list[str]:
        """Return a note if another recipe was requested for a dataset that keeps its own."""
        if not any(self._asked) or not dataset.recipe:
            return []
        recipe, half = self._asked
        is_same = set(steps) == set(self._asked_steps()) or (half and not recipe)
        if is_same and (half is None or half == stored_half(dataset)):
            return []
        return [_("The dataset keeps its own recipe. You can change it on the dataset page.")]

    def _as_published(self, steps: Sequence[str]) -> list[str]:
        """Return a note with the counts for the published recipe if matches are repeated."""
        if not any(cell.again for cell in self._cells) or ONE_ROW in steps:
            return []
        again = sum(len(cell.again) for cell in self._cells)
        text = ngettext(
            "%(n)s argument is repeated with the same key point and counts once. As published, "
            "by rows: %(funnel)s.",
            "%(n)s arguments are repeated with the same key point and count once. As published, "
            "by rows: %(funnel)s.",
            again,
        )
        funnel = "; ".join(self._funnels(PUBLISHED, None))
        return [text % {"n": f"{again:,}", "funnel": funnel.partition(": ")[2]}]

    def _funnels(self, steps: Sequence[str], half: Half | None) -> list[str]:
        """Return the funnel of the file for each split, as text."""
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
            f"{split or _('Arguments')}: {funnel_words(summed(count))}"
            for split, count in counts.items()
        ]

    def _repeats(self, dataset: Dataset) -> Counter[str]:
        """Count repeated arguments by split; importing the same file again adds none."""
        counts: Counter[str] = Counter()
        for cell in self._cells:
            counts[cell.split] += cell.repeats
        before: Counter[str] = Counter(dataset.recipe.get("repeats") or {})
        return before | counts

    def _again(self, dataset: Dataset) -> set[int]:
        """Return keys of arguments whose match is repeated in this or an earlier file."""
        again = set(dataset.recipe.get("again") or ())
        for raw in self._cells:
            if raw.again:
                keys = [text_key(raw.arguments[place].text) for place in raw.again]
                rows = CellArgument.objects.filter(
                    cell__dataset=dataset, cell__topic=raw.topic, cell__stance=raw.stance
                )
                again.update(rows.filter(sha256__in=keys).values_list("pk", flat=True))
        return again

    def _missing_qualities(self) -> list[str]:
        if not self._unrated:
            return []
        text = ngettext(
            "The file has a quality score for %s argument that does not have one yet. To "
            "import it, choose to replace differences.",
            "The file has quality scores for %s arguments that do not have one yet. To "
            "import them, choose to replace differences.",
            self._unrated,
        )
        return [text % f"{self._unrated:,}"]

    def _take_cell(self, entry: CellEntry, stored: StoredCell | None) -> None:
        cell = entry.cell
        if stored is not None and stored.cell.split != cell.split:
            known = stored.cell.get_split_display()
            reason = _("“%(topic)s” is stored in another split (%(split)s)")
            message = reason % {"topic": cell.topic[:80], "split": known}
            self.leave_out(entry, "set", message)
            return
        self.result(CELLS, "same" if stored else "new")
        self._cells.append(cell)
        stored_cell = stored or StoredCell(self.new_cell(cell.topic, cell.stance, cell.split))
        change = stored_cell.compare(cell)
        for (name, result), number in change.counts.items():
            self.outcome.counts[name][result] += number
        for row, column, before in change.differing:
            self.mention(replace(entry, row=row), column, self.changed(before))
        self._unrated += change.unrated
        is_written = change.is_change(update=self.update_changed)
        self._is_changed |= stored is None or is_written
        if self.write and not (self.is_frozen and self._is_changed):
            write_cell(stored_cell.cell, cell, change, update=self.update_changed)


MOST_NAMES = 20


class DatasetImportForm(ImportForm):
    title = lazy("Arguments")
    heading = lazy("Dataset")
    beside = "argsum/datasets/_names.html"

    @cached_property
    def names(self) -> list[str]:
        """Existing datasets."""
        return list(self.study.argument_datasets.values_list("name", flat=True)[:MOST_NAMES])

    def form(self, data: Any) -> forms.Form:
        """Return the form, filled in from the options and the file name."""
        options = self.file.options
        name = dataset_name(options, self.file.name)
        return DatasetForm(data, initial={**options, "dataset": name})


class ExistingDatasetImportForm(ImportForm):
    """Form for a file that needs an existing dataset."""

    heading = lazy("Dataset")
    import_first: Any = lazy("Import the arguments or people's counts first.")

    def missing(self) -> tuple[Any, Any] | None:
        """Return a message if the study has no dataset yet."""
        if self.study.argument_datasets.exists():
            return None
        return lazy("No datasets yet"), self.import_first
