"""Import of stored scores: read the file, find or create sets, and add new scores."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.counting.methods.released_counts import LEFT_OUT
from argsum.datasets.imports.argument_files import existing_dataset
from argsum.datasets.models import Dataset
from argsum.imports.methods.released_scores import (
    CLUSTERINGS,
    StoredRun,
    an_object,
    read_clusterings,
    read_evaluations,
    read_json,
    read_llm_scores,
    read_soft_scores,
)
from argsum.imports.methods.system_files import holds_key_points
from argsum.keypoints.models import SummarySet
from argsum.metrics.actions.metrics import upsert
from argsum.metrics.methods import LLM, LONGEST_NAME, RELEASED_PARTS, soft_name
from argsum.metrics.models import MetricScore
from cqa_site.files.actions.imports import ImportRefused, ImportSource, Line, Note, Reconciliation
from cqa_site.tabular import UnreadableFile
from .placement import (
    METRIC_SETS,
    SETTING,
    ArgumentOrder,
    MisplacedIdsError,
    StoredEntry,
    system_of,
)


def read_stored(source: ImportSource) -> Iterator[Line]:
    """Yield one entry per set, for any supported content.

    A file may contain clusterings, evaluations, soft scores, or means of a language model's
    counts.
    """
    content = an_object(read_json(source.path, source.name), source.name)
    if any(part in content for part in CLUSTERINGS):
        for part in CLUSTERINGS:
            runs = read_clusterings(source.path, part=part, name=source.name)
            is_first = part == CLUSTERINGS[0]
            suffix = "" if is_first else " (iterative)"
            yield from _runs(source, runs, suffix=suffix, has_clusters=True)
    elif "scores" in content:
        yield Note(_("The file has scores but no texts, so its sets have no key points."))
        yield from _runs(source, read_evaluations(source.path, name=source.name))
    elif any(name in content for name in LLM):
        yield Note(_("Only the scores of sets that people have judged are read from this file."))
        yield from _llm_scores(source)
    elif holds_key_points(content):
        raise ImportRefused(
            _(
                "The file has key points by topic and stance but no scores. Import it as “Key "
                "points of a system”."
            )
        )
    else:
        yield from _soft_scores(source)


def _runs(
    source: ImportSource,
    runs: Sequence[StoredRun],
    *,
    suffix: str = "",
    has_clusters: bool = False,
) -> Iterator[StoredEntry]:
    for position, run in enumerate(runs, start=1):
        for name in run.scores:
            if len(name) > LONGEST_NAME:
                raise UnreadableFile(source.name, f"{name[:40]!r} is too long for a name")
        yield StoredEntry(
            row=None,
            dataset=source.text("dataset"),
            # Evaluations and clusterings have the same file name, in two folders.
            source=f"{source.name}{' clusters' if has_clusters else ''}{suffix}",
            position=position,
            of=len(runs),
            scores=run.scores,
            topic=run.topic,
            stance=run.stance,
            system=f"{system_of(source.options, source.name)}{suffix}",
            setting=run.setting,
            parameters=run.parameters,
            seconds=run.seconds,
            clusters=run if has_clusters else None,
            order=source.text("order"),
            together=runs if has_clusters else (),
        )


def _by_set(
    source: ImportSource, lists: Mapping[str, Sequence[float]], scored_with: str = SETTING
) -> Iterator[StoredEntry]:
    """Yield the scores of each set that people counted."""
    rows = list(zip(*lists.values(), strict=True))
    for place, values in enumerate(rows):
        yield StoredEntry(
            row=None,
            dataset=source.text("dataset"),
            source=source.name,
            position=place,
            of=len(rows),
            scores=dict(zip(lists, values, strict=True)),
            scored_with=scored_with,
        )


def _llm_scores(source: ImportSource) -> Iterator[StoredEntry]:
    for temperature, lists in read_llm_scores(source.path, name=source.name).items():
        yield from _by_set(source, lists, f"{SETTING}, temperature {temperature}"[:LONGEST_NAME])


def _soft_scores(source: ImportSource) -> Iterator[StoredEntry]:
    functions = read_soft_scores(source.path, name=source.name)
    named = {}
    for function, lists in functions.items():
        for part, released in RELEASED_PARTS.items():
            try:
                named[soft_name(function, part)] = lists[released]
            except ValueError as error:
                raise UnreadableFile(source.name, str(error), column=function) from None
    return _by_set(source, named)


NO_SCORES = "the file has no scores for this setting"
CLOSE = 1e-12
LONGEST_SETTING = 200
CellKey = tuple[str, int]


class StoredScoreReconciliation(Reconciliation):
    """Comparison of one file with stored scores."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dataset: Dataset | None = None
        self._cells: dict[CellKey, int] = {}
        self._placings: dict[str, ArgumentOrder] = {}
        self._counted: list[int] | None = None

    def compare(self, entries: Sequence[StoredEntry]) -> None:
        if self._dataset is None:
            self._dataset = self._find(entries[0])
        placed = self._placed(entries)
        stored = _stored_scores([key for key in placed.values() if key])
        new: list[MetricScore] = []
        for position, entry in enumerate(entries):
            if position not in placed:
                continue
            key = placed[position]
            for metric, value in entry.scores.items():
                known = stored.get((key, metric, entry.scored_with))
                if known is not None and abs(known - value) <= CLOSE:
                    self.result(METRIC_SETS, "same")
                    continue
                self.result(METRIC_SETS, "new" if known is None else "changed")
                if known is not None and not self.update_changed:
                    self.mention(entry, metric, self.changed(f"{known:.6g}"))
                    continue
                new.append(_score(key, metric, value, entry))
        if self.write:
            upsert(iter(new))

    def _find(self, entry: StoredEntry) -> Dataset:
        """Return the dataset and load its cells. Raises ImportRefused."""
        dataset = existing_dataset(self.study, entry.dataset)
        cells = dataset.cells.values_list("topic", "stance", "pk")
        self._cells = {(topic, stance): pk for topic, stance, pk in cells}
        if not entry.topic:
            self._counted = self._counted_sets(dataset)
            if len(self._counted) != entry.of:
                raise ImportRefused(
                    _(
                        "The file has %(file)d sets, but people have judged %(here)d sets in the "
                        "dataset."
                    )
                    % {"file": entry.of, "here": len(self._counted)}
                )
        return dataset

    def _counted_sets(self, dataset: Dataset) -> list[int]:
        """Return sets counted by people, in the order of topic, stance as text, and system."""
        sets = SummarySet.objects.filter(
            cell__dataset=dataset, count_sheets__isnull=False
        ).exclude(system__contains=LEFT_OUT)
        rows = sets.distinct().values_list("cell__topic", "cell__stance", "system", "pk")
        return [pk for _topic, _stance, _system, pk in sorted(rows, key=_place)]

    def _placed(self, entries: Sequence[StoredEntry]) -> dict[int, int | None]:
        """Map positions in the chunk to set keys; None for a set that a dry run would create."""
        if self._counted is not None:
            return {
                at: self._counted[stored_entry.position] for at, stored_entry in enumerate(entries)
            }
        sources = {stored_entry.source for stored_entry in entries}
        rows = SummarySet.objects.filter(study=self.study, source__in=sources)
        names = ("source", "position", "cell", "system", "setting", "arguments", "clusters")
        rows = rows.only(*names)
        known = {(row.source, row.position): row for row in rows}
        placed: dict[int, int | None] = {}
        for at, entry in enumerate(entries):
            there = known.get((entry.source, entry.position))
            if there is not None:
                other = self._other(there, entry)
                if other:
                    self._reject(entry, other)
                    continue
                self.result("sets", "same")
                placed[at] = there.pk
                continue
            summary_set = self._made(entry)
            if summary_set is None:
                continue
            self.result("sets", "new")
            if self.write:
                summary_set.save()
            placed[at] = summary_set.pk
        return placed

    def _other(self, there: SummarySet, entry: StoredEntry) -> str:
        """Return how the stored set at the same file position differs from the entry, or ""."""
        if there.cell_id != self._cells.get((entry.topic, entry.stance)):
            what = _("another dataset, topic or stance")
        elif there.system != entry.system:
            what = _("another system (%s)") % there.system
        elif there.setting != entry.setting[:LONGEST_SETTING]:
            what = _("another setting (%s)") % there.setting
        elif entry.clusters is not None and self._is_other_clustering(there, entry):
            what = _("other clusters, or clusters of arguments in another order,")
        else:
            return ""
        reason = _(
            "A set with %(other)s was imported from position %(place)d in a file with "
            "this name. Rename the file."
        )
        return reason % {"other": what, "place": entry.position}

    def _is_other_clustering(self, there: SummarySet, entry: StoredEntry) -> bool:
        run = entry.clusters
        if run is None:
            return False
        try:
            arguments = self._arguments(entry, run)
        except MisplacedIdsError:
            return True
        stored = dict(zip(there.arguments, there.clusters or (), strict=False))
        return stored != dict(zip(arguments, run.cluster_ids, strict=True))

    def _made(self, entry: StoredEntry) -> SummarySet | None:
        """Return a new set from the file, or None if no cell of the dataset fits."""
        cell = self._cells.get((entry.topic, entry.stance))
        if cell is None:
            reason = _("The dataset does not have this topic and stance: %(topic)s (%(stance)d).")
            self._reject(entry, reason % {"topic": entry.topic, "stance": entry.stance})
            return None
        run = entry.clusters
        try:
            arguments = [] if run is None else self._arguments(entry, run)
        except MisplacedIdsError as error:
            self._reject(entry, str(error))
            return None
        is_empty = not entry.scores and run is None
        return SummarySet(
            study=self.study,
            cell_id=cell,
            system=entry.system,
            source=entry.source,
            position=entry.position,
            setting=entry.setting[:LONGEST_SETTING],
            parameters=dict(entry.parameters),
            seconds=entry.seconds,
            state=SummarySet.State.NO_RESULT if is_empty else SummarySet.State.DONE,
            reason=NO_SCORES if is_empty else "",
            arguments=arguments,
            clusters=None if run is None else list(run.cluster_ids),
            done_at=Now(),
        )

    def _arguments(self, entry: StoredEntry, run: StoredRun) -> list[int]:
        """Return the arguments behind an entry's ids.

        Raises MisplacedIdsError or ImportRefused.
        """
        if entry.source not in self._placings:
            # The dataset is always known at this point.
            dataset = cast(Dataset, self._dataset)
            placing = ArgumentOrder(dataset, entry.order, entry.together)
            self.outcome.notes.extend(placing.notes)
            self._placings[entry.source] = placing
        return self._placings[entry.source].arguments(run)

    def _reject(self, entry: StoredEntry, reason: str) -> None:
        place = f"{entry.setting or entry.topic}"[:80]
        self.leave_out(entry, place, reason)


def _place(row: tuple[str, int, str, int]) -> tuple[str, str, str]:
    return row[0], str(row[1]), row[2]


def _stored_scores(keys: Sequence[int]) -> dict[tuple[int | None, str, str], float | None]:
    rows = MetricScore.objects.filter(
        summary_set__in=keys, setting__startswith=SETTING, value__isnull=False
    )
    scores = rows.values_list("summary_set", "metric", "setting", "value")
    return {(key, metric, setting): value for key, metric, setting, value in scores}


def _score(key: Any, metric: str, value: float, entry: StoredEntry) -> MetricScore:
    return MetricScore(
        summary_set_id=key,
        metric=metric,
        setting=entry.scored_with,
        value=value,
        source=entry.source[:255],
    )
