"""Import of a system's key points: read the file, and find or create sets."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _, ngettext

from argsum.datasets.imports.argument_files import existing_dataset
from argsum.datasets.methods.argument_cells import LONGEST_TOPIC, as_stance
from argsum.datasets.methods.statements import plain
from argsum.datasets.models import Cell, CellArgument, Dataset
from argsum.imports.methods.released_scores import StoredRun
from argsum.imports.methods.system_files import SystemSet, read_system_file
from argsum.keypoints.actions.sets import SOURCE, request_assignment
from argsum.keypoints.models import SummarySet, SystemSummary
from argsum.systems.methods.clusters import UNASSIGNED, prevalence
from cqa_site.files.actions.imports import (
    Flag,
    ImportEntry,
    ImportRefused,
    ImportSource,
    Line,
    Note,
    Reconciliation,
    rejected,
)
from cqa_site.tabular import BadCell
from .placement import ArgumentOrder, MisplacedIdsError, system_of

POINT_SETS = "sets"
POINTS = "system_points"
# Value of `order` for an import that ignores the file's argument ids.
NO_ORDER = "none"


@dataclass(frozen=True, slots=True)
class SystemEntry(ImportEntry):
    """One set; ``together`` contains all sets of the file with ids, used to check their order."""

    is_row: ClassVar[bool] = False
    makes: ClassVar[str] = POINT_SETS

    dataset: str
    found: SystemSet
    order: str = ""
    scorer: str = ""
    together: Sequence[SystemSet] = ()

    @property
    def about(self) -> str:
        """Short description for remarks."""
        parts = (self.found.topic, self.found.system, self.found.setting)
        return " · ".join(part for part in parts if part)[:80]


def read_system_points(source: ImportSource) -> Iterator[Line]:
    """Yield one entry per set; the options supply data missing from the file."""
    file = read_system_file(source.path, name=source.name, **source.reading)
    for problem in file.problems:
        yield rejected(problem, of=POINT_SETS)
    order = source.text("order")
    cell = _asked(source.options)
    sets = [_completed(output, cell, source) for output in file.sets]
    if order == NO_ORDER:
        sets = [replace(output, places=()) for output in sets]
    empty = sum(not output.points for output in sets)
    if empty:
        text = ngettext(
            "%s setting has no key points in the file. It is stored without a result.",
            "%s settings have no key points in the file. They are stored without a result.",
            empty,
        )
        yield Note(text % f"{empty:,}")
    together = [output for output in sets if output.places]
    if together:
        yield Note(_("The file assigns arguments to key points by position."))
    for system_set in sets:
        yield SystemEntry(
            row=system_set.row,
            dataset=source.text("dataset"),
            found=system_set,
            order="" if order == NO_ORDER else order,
            scorer=source.text("scorer"),
            together=together if system_set.places else (),
        )


def _asked(options: Mapping[str, Any]) -> tuple[str, int | None]:
    """Return the topic and stance from the options, for a file that does not contain them."""
    topic = str(options.get("topic") or "").strip()[:LONGEST_TOPIC]
    stance = str(options.get("stance") or "").strip()
    if not stance:
        return topic, None
    try:
        return topic, as_stance({"stance": stance}, is_needed=False)
    except BadCell as misfit:
        raise ImportRefused(str(misfit)) from None


def _completed(
    system_set: SystemSet, cell: tuple[str, int | None], source: ImportSource
) -> SystemSet:
    topic, stance = cell
    return replace(
        system_set,
        topic=system_set.topic or topic,
        stance=stance if system_set.stance is None else system_set.stance,
        system=system_set.system or system_of(source.options, source.name),
    )


# Key points of systems compared with a study: missing sets are created, nothing is replaced.
#
# A set is identified by its cell, system and setting, regardless of the file's name.

NO_RESULT = "the file has no key points for this setting"
Placed = tuple[list[int], list[int]]


class NotThisCell(Exception):
    """No cell of the dataset fits the set; the message gives the reason."""


class SystemReconciliation(Reconciliation):
    """Comparison of one file with stored sets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dataset: Dataset | None = None
        self._asked_scorer = ""
        self._told: set[str] = set()
        self._bare = 0
        self._placing: ArgumentOrder | None = None

    def compare(self, entries: Sequence[SystemEntry]) -> None:
        if self._dataset is None:
            self._dataset = existing_dataset(self.study, entries[0].dataset)
            self._asked_scorer = entries[0].scorer
        for entry in entries:
            try:
                self._take(entry)
            except (NotThisCell, MisplacedIdsError) as reason:
                self.leave_out(entry, entry.about, str(reason))

    def finish(self) -> None:
        """Queue the matching of arguments for sets without arguments."""
        if not self._bare or self._dataset is None:
            return
        if self._asked_scorer == "none":
            return
        text = ngettext(
            "%s set has no arguments in the file. Arguments will be matched to its key points in "
            "the background.",
            "%s sets have no arguments in the file. Arguments will be matched to their key "
            "points in the background.",
            self._bare,
        )
        self.outcome.notes.append(text % f"{self._bare:,}")
        if self.write:
            request_assignment(dataset=self._dataset, scorer=self._asked_scorer, actor=self.actor)

    def _take(self, entry: SystemEntry) -> None:
        cell = self._cell(entry.found, entry.about)
        system_set = entry.found
        if not system_set.system:
            raise NotThisCell(_("The file does not name its system. Enter the name."))
        key = cell.pk, system_set.system, system_set.setting
        stored = self._stored.get(key)
        if stored is not None:
            if stored != sorted(point.text for point in system_set.points):
                raise NotThisCell(
                    _(
                        "This system and setting already have other key points. Use another "
                        "setting."
                    )
                )
            self.result(POINT_SETS, "same")
            self.outcome.counts[POINTS]["same"] += len(system_set.points)
            return
        self._stored[key] = sorted(point.text for point in system_set.points)
        placed = self._placed(entry, cell)
        self.result(POINT_SETS, "new")
        self.outcome.counts[POINTS]["new"] += len(system_set.points)
        has_prevalence = any(point.prevalence is not None for point in system_set.points)
        self._bare += bool(system_set.points) and placed is None and not has_prevalence
        if self.write:
            self._save(cell, system_set, placed)

    # -- stored data ------------------------------------------------------------------------------

    @property
    def _chosen(self) -> Dataset:
        if self._dataset is None:
            raise NotThisCell(_("No dataset was chosen."))
        return self._dataset

    @cached_property
    def _cells(self) -> list[Cell]:
        return list(self._chosen.cells.order_by("position"))

    @cached_property
    def _stored(self) -> dict[tuple[int, str, str], list[str]]:
        """Texts of the dataset's imported sets, in two queries."""
        sets = SummarySet.objects.filter(cell__dataset=self._chosen, source=SOURCE)
        rows = sets.only("cell_id", "system", "setting").prefetch_related("summaries")
        return {
            (row.cell_id, row.system, row.setting): sorted(
                summary.text for summary in row.summaries.all()
            )
            for row in rows
        }

    @cached_property
    def _arguments(self) -> dict[int, list[CellArgument]]:
        """Arguments of each cell in order, in one query; used only if a file names arguments."""
        arguments = defaultdict(list)
        rows = CellArgument.objects.filter(cell__dataset=self._chosen).order_by("cell", "position")
        for row in rows.only("cell_id", "name", "text", "left_out"):
            arguments[row.cell_id].append(row)
        return arguments

    def _cell(self, system_set: SystemSet, about: str) -> Cell:
        """Return the cell of the topic and stance or, if these are missing, the only cell."""
        fitting = self._fitting(system_set, str)
        if not fitting and system_set.topic:
            fitting = self._fitting(system_set, plain)
            if len(fitting) == 1 and system_set.topic not in self._told:
                self._told.add(system_set.topic)
                remark = _("Matched with “%s”.") % fitting[0].topic
                self.outcome.flag(Flag(system_set.row, about, remark))
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            raise NotThisCell(_("The dataset does not have this topic and stance."))
        raise NotThisCell(
            _(
                "The set could belong to any of %d topics and stances in the dataset. Specify "
                "the topic and stance."
            )
            % len(fitting)
        )

    def _fitting(self, system_set: SystemSet, spelled: Callable[[str], str]) -> list[Cell]:
        topic, stance = spelled(system_set.topic), system_set.stance
        return [
            cell
            for cell in self._cells
            if (not topic or spelled(cell.topic) == topic) and stance in (None, cell.stance)
        ]

    # -- placement of arguments -------------------------------------------------------------------

    def _placed(self, entry: SystemEntry, cell: Cell) -> Placed | None:
        """Return argument keys and key point positions, or None if the file does not give them."""
        system_set = entry.found
        if system_set.places:
            if self._placing is None:
                together = [run for member in entry.together if (run := self._run(member))]
                self._placing = ArgumentOrder(self._chosen, entry.order, together)
                self.outcome.notes.extend(self._placing.notes)
            return self._placing.arguments(_run_of(cell, system_set)), list(system_set.places)
        if all(point.arguments is None for point in system_set.points):
            return None
        return self._named(system_set, self._arguments[cell.pk])

    def _run(self, system_set: SystemSet) -> StoredRun | None:
        try:
            return _run_of(self._cell(system_set, ""), system_set)
        except NotThisCell:
            return None

    def _named(self, system_set: SystemSet, arguments: Sequence[CellArgument]) -> Placed:
        by_text = {argument.text: argument.pk for argument in arguments}
        by_name = {argument.name: argument.pk for argument in arguments if argument.name}
        belongs: dict[int, int] = {}
        for position, point in enumerate(system_set.points):
            for named in point.arguments or ():
                pk = by_name.get(named, by_text.get(named))
                if pk is None:
                    raise NotThisCell(
                        _("The dataset does not have the argument “%s”.") % named[:80]
                    )
                if belongs.setdefault(pk, position) != position:
                    reason = _("The argument “%s” is listed under two key points.")
                    raise NotThisCell(reason % named[:80])
        keys = [
            argument.pk
            for argument in arguments
            if not argument.left_out or argument.pk in belongs
        ]
        return keys, [belongs.get(key, UNASSIGNED) for key in keys]

    # -- writing ----------------------------------------------------------------------------------

    def _save(self, cell: Cell, system_set: SystemSet, placed: Placed | None) -> None:
        keys, places = placed or ([], None)
        points = list(enumerate(system_set.points))
        counts = (
            prevalence(places, len(points))
            if places is not None
            else [point.prevalence for point in system_set.points]
        )
        # The key point with the most arguments comes first, as everywhere.
        points.sort(key=lambda pair: -(counts[pair[0]] or 0))
        rank = {old: new for new, (old, _point) in enumerate(points)} | {UNASSIGNED: UNASSIGNED}
        ranked = None if places is None else [rank[place] for place in places]
        summary_set = SummarySet.objects.create(
            study=self.study,
            cell=cell,
            system=system_set.system,
            setting=system_set.setting,
            parameters=dict(system_set.parameters),
            seconds=system_set.seconds,
            source=SOURCE,
            position=self._next(),
            state=SummarySet.State.DONE if points else SummarySet.State.NO_RESULT,
            reason="" if points else NO_RESULT,
            arguments=keys,
            assigned=ranked,
            # Arguments under the same key point form a cluster.
            clusters=ranked,
            done_at=Now(),
        )
        SystemSummary.objects.bulk_create(
            SystemSummary(
                summary_set=summary_set,
                position=new,
                text=point.text,
                cluster=new if places is not None else point.cluster,
                prevalence=counts[old],
            )
            for new, (old, point) in enumerate(points)
        )

    def _next(self) -> int:
        self._last += 1
        return self._last

    @cached_property
    def _last(self) -> int:
        sets = SummarySet.objects.filter(study=self.study, source=SOURCE)
        return sets.aggregate(last=Max("position"))["last"] or 0


def _run_of(cell: Cell, system_set: SystemSet) -> StoredRun:
    """Return the placement of the arguments as cluster ids."""
    return StoredRun(cell.topic, cell.stance, {}, cluster_ids=system_set.places)
