"""Finishing the sets whose clusters somebody else put into words."""

from collections.abc import Callable, Mapping

from django.db import transaction

from argsum.keypoints.models import SummarySet, SystemRun
from argsum.scorers.actions.scorers import writer_called
from argsum.systems.contract import KeyPoint, Summary
from argsum.systems.methods.extractive import by_quality
from argsum.systems.methods.mcargsum import members
from cqa_site.runs.jobs import Work

from .seq2seq import Writer
from .set_storing import fill_set, refuse_stopped
from .system_inputs import CellInputs, RunScorers, clock
from .system_solving import NOTHING_WRITTEN
from .written_parts import SetParts, ready_sets

WAITING = SummarySet.State.WAITING


def fill_written(run: SystemRun, work: Work) -> None:
    """Give key points to the waiting sets that can have them now, each in its own transaction."""
    if run.variant == SystemRun.Variant.SEQ2SEQ:
        writer = Writer(run.writer_model, writer_called(run.study, run.writer_model))
        waiting = list(run.sets.filter(state=WAITING).values_list("pk", flat=True))
        _fill(run, work, waiting, lambda made, inputs: _generate(writer, made, inputs))
        return
    ready = ready_sets(run)
    _fill(run, work, list(ready), lambda made, inputs: ready[made.pk])


def solve_written(made: SummarySet, parts: SetParts, inputs: CellInputs) -> Summary:
    """The key points of a set by their clusters; a cluster without one has none, others stay."""
    clusters = sorted(members(made.clusters or []))
    points = [
        KeyPoint(parts.texts[cluster], cluster) for cluster in clusters if cluster in parts.texts
    ]
    reason = _reason(len(clusters), len(clusters) - len(points), parts.reasons)
    if not points:
        return Summary(clusters=made.clusters, reason=reason)
    match = inputs.match([point.text for point in points])
    return Summary(points, made.clusters, match, reason)


def _fill(
    run: SystemRun,
    work: Work,
    keys: list[int],
    parts_of: Callable[[SummarySet, CellInputs], SetParts],
) -> None:
    inputs: CellInputs | None = None
    reading = f"scores of argument %d of %d, {len(keys)} sets to fill"
    scorers = RunScorers(run, lambda row, n: work.progress(0, len(keys), reading % (row, n)))
    rows = run.sets.filter(pk__in=keys).select_related("cell").order_by("cell__position", "pk")
    for place, made in enumerate(rows):
        if inputs is None or inputs.cell.pk != made.cell_id:
            inputs = CellInputs(run, scorers, made.cell, 1)
        work.progress(place, len(keys), f"key points of set {place + 1} of {len(keys)}")
        started = clock()
        solved = solve_written(made, parts_of(made, inputs), inputs)
        made.seconds = (made.seconds or 0.0) + clock() - started
        _store(run, made, solved)


@transaction.atomic
def _store(run: SystemRun, made: SummarySet, solved: Summary) -> None:
    refuse_stopped(run)
    if SummarySet.objects.filter(pk=made.pk, state=WAITING).exists():
        fill_set(made, solved)


def _generate(writer: Writer, made: SummarySet, inputs: CellInputs) -> SetParts:
    """A local model writes a key point for each cluster, best arguments first."""
    parts = SetParts(is_whole=True)
    for cluster, rows in members(made.clusters or []).items():
        texts = [inputs.texts[row] for row in by_quality(rows, inputs.quality)]
        cell = inputs.cell
        written = writer.write(topic=cell.topic, stance=cell.stance, arguments=texts)
        if written:
            parts.texts[cluster] = written
        else:
            parts.reasons[cluster] = "empty"
    return parts


def _reason(clusters: int, missing: int, reasons: Mapping[int, str]) -> str:
    """Why some clusters have no key point; empty where all have."""
    if not missing:
        return ""
    said = ", ".join(sorted({reason for reason in reasons.values() if reason}))
    if missing == clusters:
        return f"{NOTHING_WRITTEN} ({said})." if said else f"{NOTHING_WRITTEN}."
    tail = f" ({said})" if said else ""
    return f"{missing} of {clusters} clusters have no key point{tail}."
