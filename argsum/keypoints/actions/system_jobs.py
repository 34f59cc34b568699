"""Background job of a system run, and completion of sets with texts from language models."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models.functions import Now

from argsum.keypoints.models import SummarySet, SystemRun
from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.scorers import writer_called
from argsum.systems.contract import KeyPoint, SummarizationSystem, Summary
from argsum.systems.methods.clusters import by_quality, members
from argsum.systems.methods.inputs import combinations, setting_of
from cqa_site.judging.embedding import EmbeddingsUnavailable, require_packages
from cqa_site.runs.jobs import JobContext, refusing
from .sets import (
    RunStopped,
    SetParts,
    answered_cells,
    fill_set,
    has_ready_sets,
    ready_sets,
    refuse_stopped,
    store_set,
    waits_for_writing,
)
from .solver import (
    NOTHING_WRITTEN,
    CellInputs,
    RunScorers,
    SummaryWriter,
    SystemFailed,
    WriterUnavailable,
    clock,
    solve,
)
from .system_runs import WRITES_CELLS, SystemRunRefused, cells_of, system_of

# Completion of waiting sets with written key points

WAITING = SummarySet.State.WAITING


def fill_written(run: SystemRun, work: JobContext) -> None:
    """Fill the waiting sets that are ready, each in its own transaction."""
    if run.variant == SystemRun.Variant.SEQ2SEQ:
        writer = SummaryWriter(run.writer_model, writer_called(run.study, run.writer_model))
        waiting = list(run.sets.filter(state=WAITING).values_list("pk", flat=True))
        _fill(
            run, work, waiting, lambda summary_set, inputs: _generate(writer, summary_set, inputs)
        )
        return
    ready = ready_sets(run)
    _fill(run, work, list(ready), lambda summary_set, inputs: ready[summary_set.pk])


def solve_written(summary_set: SummarySet, parts: SetParts, inputs: CellInputs) -> Summary:
    """Return a set's key points by cluster; a missing key point does not affect other clusters."""
    clusters = sorted(members(summary_set.clusters or []))
    points = [
        KeyPoint(parts.texts[cluster], cluster) for cluster in clusters if cluster in parts.texts
    ]
    reason = _reason(len(clusters), len(clusters) - len(points), parts.reasons)
    if not points:
        return Summary(clusters=summary_set.clusters, reason=reason)
    match = inputs.match([point.text for point in points])
    return Summary(points, summary_set.clusters, match, reason)


def _fill(
    run: SystemRun,
    work: JobContext,
    keys: list[int],
    parts_of: Callable[[SummarySet, CellInputs], SetParts],
) -> None:
    inputs: CellInputs | None = None
    reading = f"scores of argument %d of %d, {len(keys)} sets to fill"
    scorers = RunScorers(run, lambda row, n: work.progress(0, len(keys), reading % (row, n)))
    rows = run.sets.filter(pk__in=keys).select_related("cell").order_by("cell__position", "pk")
    for place, summary_set in enumerate(rows):
        if inputs is None or inputs.cell.pk != summary_set.cell_id:
            inputs = CellInputs(run, scorers, summary_set.cell, 1)
        work.progress(place, len(keys), f"key points of set {place + 1} of {len(keys)}")
        started = clock()
        solved = solve_written(summary_set, parts_of(summary_set, inputs), inputs)
        summary_set.seconds = (summary_set.seconds or 0.0) + clock() - started
        _store(run, summary_set, solved)


@transaction.atomic
def _store(run: SystemRun, summary_set: SummarySet, solved: Summary) -> None:
    refuse_stopped(run)
    if SummarySet.objects.filter(pk=summary_set.pk, state=WAITING).exists():
        fill_set(summary_set, solved)


def _generate(writer: SummaryWriter, summary_set: SummarySet, inputs: CellInputs) -> SetParts:
    """Write a key point per cluster with a local model, which reads the best arguments first."""
    parts = SetParts(is_whole=True)
    for cluster, rows in members(summary_set.clusters or []).items():
        texts = [inputs.texts[row] for row in by_quality(rows, inputs.quality)]
        cell = inputs.cell
        written = writer.write(topic=cell.topic, stance=cell.stance, arguments=texts)
        if written:
            parts.texts[cluster] = written
        else:
            parts.reasons[cluster] = "empty"
    return parts


def _reason(clusters: int, missing: int, reasons: Mapping[int, str]) -> str:
    """Return why some clusters have no key point, or "" if no key point is missing."""
    if not missing:
        return ""
    causes = ", ".join(sorted({reason for reason in reasons.values() if reason}))
    if missing == clusters:
        return f"{NOTHING_WRITTEN} ({causes})." if causes else f"{NOTHING_WRITTEN}."
    tail = f" ({causes})" if causes else ""
    return f"{missing} of {clusters} clusters have no key point{tail}."


State = SystemRun.State
ROUNDS = 100
# Errors that the person who started the run can fix; the page shows the reason.
REFUSED = (
    SystemRunRefused, SystemFailed, ScorerRefused, EmbeddingsUnavailable, WriterUnavailable,
    MemoryError,
)  # fmt: skip


@dataclass
class Steps:
    """Progress of a job, with a note for pages."""

    work: JobContext
    total: int
    done: int = 0
    cells: int = 0
    settings: int = 0
    place: int = 0

    def step(self, setting: int) -> None:
        """Report the current cell and setting."""
        note = f"cell {self.place} of {self.cells}, setting {setting} of {self.settings}"
        self.work.progress(self.done, self.total, note)

    def read(self, row: int, rows: int) -> None:
        """Report the number of matrix rows that have been read."""
        note = f"cell {self.place} of {self.cells}, scores of argument {row} of {rows}"
        self.work.progress(self.done, self.total, note)


def make_sets(work: JobContext) -> None:
    """Compute the missing sets of a run; stored sets survive a worker failure."""
    run = SystemRun.objects.select_related(
        "study", "dataset", "match_scorer", "quality_scorer"
    ).get(study=work.study, public_id=work.payload["system_run"])
    begun = SystemRun.objects.filter(pk=run.pk, state__in=SystemRun.ACTIVE)
    if not begun.update(state=State.RUNNING, job=work.job):
        return
    run.state = State.RUNNING
    with refusing(REFUSED, partial(_fail, run), _in_words), suppress(RunStopped):
        require_packages()
        for _round in range(ROUNDS):
            _compute(run, work)
            fill_written(run, work)
            if _settle(run, work):
                return


def _in_words(problem: Exception) -> str:
    return str(problem) or "The cell is too large for this machine's memory."


def _compute(run: SystemRun, work: JobContext) -> None:
    """Compute the missing sets; skip cells that are still waiting for a language model."""
    system = system_of(run)
    settings = combinations(system.in_order(run.grid))
    cells = list(cells_of(run.dataset, run.split))
    stored = set(run.sets.values_list("cell", "setting"))
    written = answered_cells(run) if run.variant in WRITES_CELLS else None
    steps = Steps(
        work, len(cells) * len(settings), len(stored), cells=len(cells), settings=len(settings)
    )
    scorers = RunScorers(run, steps.read)
    for place, cell in enumerate(cells, start=1):
        steps.place = place
        missing = [
            (number, setting)
            for number, setting in enumerate(settings, start=1)
            if (cell.pk, setting_of(setting)) not in stored
        ]
        if missing and (written is None or cell.pk in written):
            reply = None if written is None else written[cell.pk]
            inputs = CellInputs(run, scorers, cell, len(missing))
            _compute_cell(system, inputs, missing, steps, reply)


def _compute_cell(
    system: SummarizationSystem,
    inputs: CellInputs,
    missing: Sequence[tuple[int, dict]],
    steps: Steps,
    written: tuple[Sequence[str], str] | None,
) -> None:
    """Compute the missing sets of one cell; shared values are computed once."""
    grid = [setting for _number, setting in missing]
    if system.warm_up:
        system.warm_up(len(inputs.texts), grid)
    for number, parameters in missing:
        steps.step(number)
        inputs.shares.begin()
        started = clock()
        solved = solve(system, inputs, grid, parameters, written)
        seconds = max(0.0, clock() - started + inputs.shares.charge)
        store_set(inputs.run, inputs.cell, parameters, inputs.keys, solved, seconds)
        steps.done += 1


@transaction.atomic
def _settle(run: SystemRun, work: JobContext) -> bool:
    """End the job, and the run if it is complete; return False if new parts have arrived.

    The function holds the lock on the run's row, as does the code that stores a reply. A reply
    that is stored later finds no active job and queues a new one.
    """
    locked = SystemRun.objects.select_for_update().get(pk=run.pk)
    if locked.state != State.RUNNING:
        raise RunStopped
    if has_ready_sets(run):
        return False
    waits = waits_for_writing(run)
    locked.state = State.WRITING if waits else State.DONE
    locked.ended_at = None if waits else Now()
    locked.error = ""
    locked.save(update_fields=["state", "ended_at", "error"])
    work.progress(1, 1, "")
    work.finish()
    return True


def _fail(run: SystemRun, message: str) -> None:
    SystemRun.objects.filter(pk=run.pk, state=State.RUNNING).update(
        state=State.FAILED, error=message, ended_at=Now()
    )
