"""Storing what a system made of a cell: each set in a transaction of its own.

A set is written once, under the lock of its run and while the run still works. So a worker that
is killed loses nothing that was computed but the set at hand, and two workers that meet write no
set twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now

from argsum.datasets.models import Cell
from argsum.keypoints.models import SummarySet, SystemRun, SystemSummary
from argsum.systems.contract import KeyPoint, Parameters, Summary
from argsum.systems.methods.assignment import UNASSIGNED, assign, prevalence
from argsum.systems.methods.grids import setting_of

# A score is kept to so many digits: more would be noise of the model.
DIGITS = 6


class RunStopped(Exception):
    """The run was cancelled, or ended otherwise, while something was computed."""


@dataclass(frozen=True)
class Placed:
    """Key points in order, and where each argument belongs."""

    key_points: Sequence[KeyPoint]
    counts: Sequence[int]
    assigned: Sequence[int]
    scores: Sequence[float]


def place(solved: Summary) -> Placed:
    """Assign the arguments, and put the key point with most of them first.

    An argument in a cluster belongs to the key point of that cluster. Every other one belongs to
    the key point that it matches best, if that score is above 0.
    """
    if solved.match is None:
        raise ValueError("Key points without scores cannot be given arguments.")
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
    return Placed(
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
    """Store one setting of a cell unless it is there; raises `RunStopped` if the run ended."""
    refuse_stopped(run)
    setting = setting_of(parameters)
    if run.sets.filter(cell=cell, setting=setting).exists():
        return
    made = SummarySet.objects.create(
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
        fill_set(made, solved)


def fill_set(made: SummarySet, solved: Summary) -> None:
    """Give a waiting set its key points, or the reason why it has none."""
    made.done_at = Now()
    made.reason = solved.reason[:300]
    if not solved.key_points:
        made.state = SummarySet.State.NO_RESULT
        made.save()
        return
    placed = place(solved)
    made.state = SummarySet.State.DONE
    made.assigned, made.scores = list(placed.assigned), list(placed.scores)
    made.save()
    SystemSummary.objects.bulk_create(
        SystemSummary(
            summary_set=made,
            position=number,
            text=point.text,
            cluster=point.cluster,
            prevalence=count,
        )
        for number, (point, count) in enumerate(zip(placed.key_points, placed.counts, strict=True))
    )


def refuse_stopped(run: SystemRun) -> None:
    """Lock the run's row; raises `RunStopped` unless it is running. Inside a transaction."""
    rows = SystemRun.objects.select_for_update().filter(pk=run.pk)
    if rows.values_list("state", flat=True).first() != SystemRun.State.RUNNING:
        raise RunStopped
