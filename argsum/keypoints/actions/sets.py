"""Storage of key point sets, assignment of arguments, and collection of written parts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.datasets.models import Cell, CellArgument, Dataset
from argsum.keypoints.models import SummarySet, SystemRun, SystemSummary, WrittenPart
from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.scorers import default_scorers, match_scorer_of
from argsum.scorers.models import Scorer
from argsum.systems.contract import KeyPoint, Parameters, Summary
from argsum.systems.methods.clusters import (
    UNASSIGNED,
    KeyPointAssignment,
    assign,
    members,
    prevalence,
)
from argsum.systems.methods.inputs import count_combinations, setting_of
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue
from cqa_site.runs.models import Job
from .solver import NOTHING_WRITTEN
from .system_runs import WRITES_CELLS, WRITES_CLUSTERS, cells_of

# Storage of a system's results for a cell, with a separate transaction for each set
#
# A set is written once, under the lock of its run and only while the run is active. A worker that
# is killed therefore loses only its current set, and two workers never write the same set twice.

# Stored digits of a score; further digits would be noise from the model.
DIGITS = 6


class RunStopped(Exception):
    """The run was cancelled, or ended for another reason, during a computation."""


@dataclass(frozen=True)
class ArgumentPlacement:
    """Key points in order, and the assignment of each argument."""

    key_points: Sequence[KeyPoint]
    counts: Sequence[int]
    assigned: Sequence[int]
    scores: Sequence[float]


def place(solved: Summary) -> ArgumentPlacement:
    """Assign arguments to key points, and sort key points by number of arguments, largest first.

    An argument in a cluster belongs to the key point of that cluster. Every other argument belongs
    to the key point that it matches best, if the match score is above 0.
    """
    if solved.match is None:
        raise ValueError("Arguments cannot be matched to key points without scores.")
    best = assign(solved.match)
    positions, scores = list(best.positions), list(best.scores)
    own = {
        point.cluster: number
        for number, point in enumerate(solved.key_points)
        if point.cluster is not None
    }
    for row, cluster in enumerate(solved.clusters or ()):
        if cluster in own:
            positions[row] = own[cluster]
            scores[row] = float(solved.match[row, own[cluster]])
    counts = prevalence(positions, len(solved.key_points))
    order = sorted(range(len(counts)), key=lambda number: -counts[number])
    rank = {number: place for place, number in enumerate(order)} | {UNASSIGNED: UNASSIGNED}
    return ArgumentPlacement(
        [solved.key_points[number] for number in order],
        [counts[number] for number in order],
        [rank[position] for position in positions],
        [round(score, DIGITS) for score in scores],
    )


@transaction.atomic
def store_set(
    run: SystemRun,
    cell: Cell,
    parameters: Parameters,
    keys: Sequence[int],
    solved: Summary,
    seconds: float,
) -> None:
    """Store one setting of a cell if it is missing; raise `RunStopped` if the run has ended."""
    refuse_stopped(run)
    setting = setting_of(parameters)
    if run.sets.filter(cell=cell, setting=setting).exists():
        return
    summary_set = SummarySet.objects.create(
        study_id=run.study_id,
        cell=cell,
        system_run=run,
        system=run.label,
        parameters=dict(parameters),
        setting=setting,
        seconds=seconds,
        arguments=list(keys),
        clusters=None if solved.clusters is None else list(solved.clusters),
    )
    if not solved.waits:
        fill_set(summary_set, solved)


def fill_set(summary_set: SummarySet, solved: Summary) -> None:
    """Add key points to a waiting set, or the reason why it has no key points."""
    summary_set.done_at = Now()
    summary_set.reason = solved.reason[:300]
    if not solved.key_points:
        summary_set.state = SummarySet.State.NO_RESULT
        summary_set.save()
        return
    placed = place(solved)
    summary_set.state = SummarySet.State.DONE
    summary_set.assigned, summary_set.scores = list(placed.assigned), list(placed.scores)
    summary_set.save()
    SystemSummary.objects.bulk_create(
        SystemSummary(
            summary_set=summary_set,
            position=number,
            text=point.text,
            cluster=point.cluster,
            prevalence=count,
        )
        for number, (point, count) in enumerate(zip(placed.key_points, placed.counts, strict=True))
    )


def refuse_stopped(run: SystemRun) -> None:
    """Lock the run's row within a transaction; raise `RunStopped` if the run is not running."""
    rows = SystemRun.objects.select_for_update().filter(pk=run.pk)
    if rows.values_list("state", flat=True).first() != SystemRun.State.RUNNING:
        raise RunStopped


# Background matching of arguments to key points from files without arguments

JOB = "assign_key_points"
# Source of the sets in a file of a system's key points.
SOURCE = "key points of systems"


def request_assignment(*, dataset: Dataset, scorer: str, actor: User | None) -> Job:
    """Queue the matching of arguments to those imported key points that have no arguments yet.

    ``scorer`` is the name of a match scorer; the default scorer is used if it is empty or unknown.
    """
    rows = dataset.study.scorers.filter(task=Scorer.Task.MATCH, state=Scorer.State.READY)
    chosen = rows.filter(name=scorer).first() or default_scorers(dataset.study)[0]
    return enqueue(
        study=dataset.study,
        kind=JOB,
        key=f"{dataset.pk}:{chosen.pk}",
        actor=actor,
        dataset=str(dataset.public_id),
        scorer=str(chosen.public_id),
    )


def bare_sets(dataset: Dataset) -> QuerySet[SummarySet]:
    """Return imported sets of key points whose files contained neither arguments nor counts."""
    counted = SystemSummary.objects.filter(summary_set=OuterRef("pk"), prevalence__isnull=False)
    return SummarySet.objects.filter(
        ~Exists(counted),
        cell__dataset=dataset,
        source=SOURCE,
        state=SummarySet.State.DONE,
        assigned__isnull=True,
    )


def assign_arguments(work: JobContext) -> None:
    """Handle a job: match arguments for all sets that have no arguments yet."""
    dataset = Dataset.objects.get(study=work.study, public_id=work.payload["dataset"])
    scorer = Scorer.objects.get(study=work.study, public_id=work.payload["scorer"])
    rows = bare_sets(dataset).select_related("cell").order_by("cell__position", "pk")
    cells: dict[int, list[SummarySet]] = defaultdict(list)
    for row in rows.prefetch_related("summaries"):
        cells[row.cell_id].append(row)
    total, done = sum(map(len, cells.values())), 0
    try:
        match = match_scorer_of(scorer)
        for sets in cells.values():
            arguments = CellArgument.objects.filter(cell=sets[0].cell_id, left_out="")
            pairs = list(arguments.order_by("position").values_list("pk", "text"))
            texts = list(
                dict.fromkeys(summary.text for row in sets for summary in row.summaries.all())
            )
            if pairs and texts:
                rows_of = [text for _pk, text in pairs]
                # All key points of a cell at once, so that its arguments are read only once.
                scores = match.matrix(rows_of, texts, topic=sets[0].cell.topic)
                at = {text: column for column, text in enumerate(texts)}
                for row in sets:
                    columns = [at[summary.text] for summary in _in_order(row)]
                    _store(row, [pk for pk, _text in pairs], assign(scores[:, columns]))
            done += len(sets)
            text = _("sets with arguments matched by “%s”")
            work.progress(done, total, text % scorer.name)
    except (ScorerRefused, EmbeddingsUnavailable) as reason:
        raise JobRefused(str(reason)) from reason


def _in_order(row: SummarySet) -> list[SystemSummary]:
    return sorted(row.summaries.all(), key=lambda summary: summary.position)


@transaction.atomic
def _store(row: SummarySet, keys: Sequence[int], assignment: KeyPointAssignment) -> None:
    """Store the assignment; sort key points by number of arguments unless the set was judged."""
    held = SummarySet.objects.select_for_update().get(pk=row.pk)
    if held.assigned is not None:
        return
    points = _in_order(row)
    counts = prevalence(assignment.positions, len(points))
    order = list(range(len(points)))
    if not (held.count_sheets.exists() or held.counting_items.exists()):
        order.sort(key=lambda place: -counts[place])
    rank = {old: new for new, old in enumerate(order)} | {UNASSIGNED: UNASSIGNED}
    held.arguments = list(keys)
    held.assigned = [rank[place] for place in assignment.positions]
    held.scores = [round(score, DIGITS) for score in assignment.scores]
    held.save(update_fields=["arguments", "assigned", "scores"])
    held.summaries.all().delete()
    SystemSummary.objects.bulk_create(
        SystemSummary(
            summary_set=held,
            position=new,
            text=points[old].text,
            cluster=points[old].cluster,
            prevalence=counts[old],
        )
        for new, old in enumerate(order)
    )


# Texts by language models for a system run, from all of its writing runs

WAITING = SummarySet.State.WAITING


@dataclass
class SetParts:
    """Written parts of one set: cluster → key point, or cluster → reason for its absence."""

    texts: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    # Whether the reply about all clusters together has arrived, usable or not.
    is_whole: bool = False

    def covers(self, clusters: Collection[int]) -> bool:
        """Return whether each of the clusters has a key point or a reason for having none."""
        return self.is_whole or all(
            cluster in self.texts or cluster in self.reasons for cluster in clusters
        )


def written_cells(run: SystemRun) -> dict[int, tuple[list[str], str]]:
    """Map each cell to its written texts or the reason for their absence, using one query."""
    cells: dict[int, tuple[list[str], str]] = {}
    parts = run.written_parts.filter(summary_set=None).order_by("pk")
    for cell, texts, reason in parts.values_list("cell", "texts", "reason"):
        if texts or cell not in cells:
            cells[cell] = ([texts[key] for key in sorted(texts, key=int)], reason)
    return cells


def answered_cells(run: SystemRun) -> dict[int, tuple[list[str], str]]:
    """Return `written_cells`, plus empty entries for cells without requests, using two queries."""
    nothing: tuple[list[str], str] = ([], "")
    cells = cells_to_ask(run).values("pk")
    unasked = cells_of(run.dataset, run.split).exclude(pk__in=cells)
    return dict.fromkeys(unasked.values_list("pk", flat=True), nothing) | written_cells(run)


def parts_of_sets(run: SystemRun, sets: Collection[int]) -> dict[int, SetParts]:
    """Map each set to its written parts, using one query. Later replies with a text win."""
    set_parts = {pk: SetParts() for pk in sets}
    rows = WrittenPart.objects.filter(system_run=run, summary_set__in=sets).order_by("pk")
    for pk, cluster, texts, reason in rows.values_list(
        "summary_set", "cluster", "texts", "reason"
    ):
        parts = set_parts[pk]
        parts.texts |= {int(key): text for key, text in texts.items()}
        if cluster is None:
            parts.is_whole = True
        elif not texts:
            parts.reasons[cluster] = reason
    return set_parts


def ready_sets(run: SystemRun) -> dict[int, SetParts]:
    """Return waiting sets in which every key point is written or has failed, using two queries."""
    if run.variant not in WRITES_CLUSTERS:
        return {}
    waiting: dict[int, Any] = dict(run.sets.filter(state=WAITING).values_list("pk", "clusters"))
    parts = parts_of_sets(run, waiting.keys())
    return {pk: part for pk, part in parts.items() if part.covers(members(waiting[pk]))}


def has_ready_sets(run: SystemRun) -> bool:
    """Return whether any written text is not in a set yet."""
    if run.variant in WRITES_CELLS:
        settings = count_combinations(run.grid)
        return run.sets.count() < settings * len(answered_cells(run))
    return bool(ready_sets(run))


def cells_to_ask(run: SystemRun) -> QuerySet[Cell]:
    """Return a run's cells that have arguments; nothing is written about other cells."""
    condition = Q(arguments__isnull=False) if run.is_unfiltered else Q(arguments__left_out="")
    return cells_of(run.dataset, run.split).filter(condition).distinct()


def waits_for_writing(run: SystemRun) -> bool:
    """Return whether a language model has more to write."""
    if run.variant in WRITES_CELLS:
        return cells_to_ask(run).exclude(pk__in=written_cells(run)).exists()
    return run.sets.filter(state=WAITING).exists()


def reopen_better(run: SystemRun, parts: Iterable[WrittenPart]) -> None:
    """Reopen sets with missing key points that a later reply provides.

    This happens only if a request was repeated. A set that has been judged or scored in the
    meantime does not change. Call this in the transaction that stores the parts.
    """
    good = [part for part in parts if part.texts]
    unused = run.sets.exclude(state=WAITING).exclude(reason="")
    unused = unused.filter(
        counting_items=None, count_sheets=None, metric_scores=None, count_replies=None
    )
    sets = {part.summary_set_id for part in good if part.summary_set_id}
    keys = list(unused.filter(pk__in=sets).values_list("pk", flat=True))
    SystemSummary.objects.filter(summary_set__in=keys).delete()
    SummarySet.objects.filter(pk__in=keys).update(
        state=WAITING, reason="", assigned=None, scores=None, done_at=None
    )
    cells = {part.cell_id for part in good if not part.summary_set_id}
    empty = unused.filter(cell__in=cells, reason__startswith=NOTHING_WRITTEN)
    gone, _rows = empty.delete() if cells else (0, {})
    if keys or gone:
        SystemRun.objects.filter(pk=run.pk, state=SystemRun.State.DONE).update(
            state=SystemRun.State.WRITING, ended_at=None
        )
