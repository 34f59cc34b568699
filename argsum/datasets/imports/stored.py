"""A stored cell beside what a file says about it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import F

from annotation.corpus.models.questions import text_key
from argsum.datasets.methods.raw_cells import RawArgument, RawCell
from argsum.datasets.models import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint


@dataclass
class Change:
    """What a file would add to a cell, and where it says something else.

    Positions are those of the file's cell. ``rated`` are stored arguments with the file's quality
    where it is not the stored one, ``unrated`` how many of them had none.
    """

    counts: dict[str, dict[str, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
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
        """Whether anything would be written."""
        added = self.new_arguments or self.new_key_points or self.new_matches
        return bool(added or (update and (self.rated or self.relabelled)))


@dataclass
class StoredCell:
    """A cell with what is stored of it, by hash of the text and by pair of keys."""

    cell: Cell
    arguments: dict[str, CellArgument] = field(default_factory=dict)
    key_points: dict[str, int] = field(default_factory=dict)
    matches: dict[tuple[int | None, int | None], KeyPointMatch] = field(default_factory=dict)

    def compare(self, raw: RawCell) -> Change:
        """What the file's cell is to this one."""
        change = Change()
        self._compare_arguments(raw, change)
        self._compare_key_points(raw, change)
        self._compare_matches(raw, change)
        return change

    def _compare_arguments(self, raw: RawCell, change: Change) -> None:
        for place, argument in enumerate(raw.arguments):
            stored = self.arguments.get(text_key(argument.text))
            if stored is None:
                change.new_arguments.append(place)
                change.counts["arguments"]["new"] += 1
                continue
            change.argument_keys[place] = stored.pk
            result = "changed" if _compare_argument(stored, argument, change) else "same"
            change.counts["arguments"][result] += 1

    def _compare_key_points(self, raw: RawCell, change: Change) -> None:
        for place, key_point in enumerate(raw.key_points):
            stored = self.key_points.get(text_key(key_point.text))
            if stored is None:
                change.new_key_points.append(place)
            else:
                change.key_point_keys[place] = stored
            change.counts["key_points"]["new" if stored is None else "same"] += 1

    def _compare_matches(self, raw: RawCell, change: Change) -> None:
        for (one, two), is_match in raw.matches.items():
            keys = (change.argument_keys.get(one), change.key_point_keys.get(two))
            stored = self.matches.get(keys)
            if stored is None:
                change.new_matches.append((one, two))
                change.counts["matches"]["new"] += 1
            elif stored.is_match == is_match:
                change.counts["matches"]["same"] += 1
            else:
                row = raw.arguments[one].row
                change.differing.append((row, "label", int(stored.is_match)))
                stored.is_match = is_match
                change.relabelled.append(stored)
                change.counts["matches"]["changed"] += 1


def _compare_argument(stored: CellArgument, found: RawArgument, change: Change) -> bool:
    """Whether the file says something else; an empty cell says nothing."""
    if found.quality is None or found.quality == stored.quality:
        return False
    if stored.quality is None:
        change.unrated += 1
    else:
        change.differing.append((found.row, "quality", stored.quality))
    stored.quality = found.quality
    change.rated.append(stored)
    return True


def stored_cells(dataset: Dataset, wanted: Sequence[RawCell]) -> dict[tuple[str, int], StoredCell]:
    """Those of the wanted cells that a dataset has, in four queries; none before it is saved."""
    if dataset.pk is None:
        return {}
    rows = Cell.objects.filter(dataset=dataset, topic__in={cell.topic for cell in wanted})
    found = {cell.pk: StoredCell(cell) for cell in rows}
    for argument in CellArgument.objects.filter(cell__in=found).order_by():
        found[argument.cell_id].arguments[argument.sha256] = argument
    key_points = ReferenceKeyPoint.objects.filter(cell__in=found).order_by()
    for pk, cell, sha256 in key_points.values_list("pk", "cell_id", "sha256"):
        found[cell].key_points[sha256] = pk
    matches = KeyPointMatch.objects.filter(key_point__cell__in=found).order_by()
    for match in matches.annotate(cell=F("key_point__cell_id")).iterator(2_000):
        found[match.cell].matches[match.argument_id, match.key_point_id] = match
    return {(each.cell.topic, each.cell.stance): each for each in found.values()}
