"""What language models wrote for a run of a system, across all runs that asked."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from argsum.datasets.models import Cell
from argsum.keypoints.models import SummarySet, SystemRun, SystemSummary, WrittenPart
from argsum.systems.methods.grids import count_combinations
from argsum.systems.methods.mcargsum import members

from .system_runs import WRITES_CELLS, WRITES_CLUSTERS, cells_of
from .system_solving import NOTHING_WRITTEN

WAITING = SummarySet.State.WAITING


@dataclass
class SetParts:
    """What was written for one set: cluster → key point, and cluster → why there is none."""

    texts: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    # The reply about all clusters at once came, usable or not.
    is_whole: bool = False

    def covers(self, clusters: Collection[int]) -> bool:
        """Whether nothing more is to come for these clusters."""
        return self.is_whole or all(
            cluster in self.texts or cluster in self.reasons for cluster in clusters
        )


def written_cells(run: SystemRun) -> dict[int, tuple[list[str], str]]:
    """Cell → the texts written for it, and the reason where there are none; one query."""
    found: dict[int, tuple[list[str], str]] = {}
    parts = run.written_parts.filter(summary_set=None).order_by("pk")
    for cell, texts, reason in parts.values_list("cell", "texts", "reason"):
        if texts or cell not in found:
            found[cell] = ([texts[key] for key in sorted(texts, key=int)], reason)
    return found


def answered_cells(run: SystemRun) -> dict[int, tuple[list[str], str]]:
    """As `written_cells`, and nothing for each cell that nobody is asked about; two queries."""
    nothing: tuple[list[str], str] = ([], "")
    asked = cells_to_ask(run).values("pk")
    unasked = cells_of(run.dataset, run.split).exclude(pk__in=asked)
    return dict.fromkeys(unasked.values_list("pk", flat=True), nothing) | written_cells(run)


def parts_of_sets(run: SystemRun, sets: Collection[int]) -> dict[int, SetParts]:
    """Set → what was written for it; later replies win where they hold a text. One query."""
    found = {pk: SetParts() for pk in sets}
    rows = WrittenPart.objects.filter(system_run=run, summary_set__in=sets).order_by("pk")
    for pk, cluster, texts, reason in rows.values_list(
        "summary_set", "cluster", "texts", "reason"
    ):
        parts = found[pk]
        parts.texts |= {int(key): text for key, text in texts.items()}
        if cluster is None:
            parts.is_whole = True
        elif not texts:
            parts.reasons[cluster] = reason
    return found


def ready_sets(run: SystemRun) -> dict[int, SetParts]:
    """Waiting sets whose key points are all written, or will not be; two queries."""
    if run.variant not in WRITES_CLUSTERS:
        return {}
    waiting: dict[int, Any] = dict(run.sets.filter(state=WAITING).values_list("pk", "clusters"))
    parts = parts_of_sets(run, waiting.keys())
    return {pk: each for pk, each in parts.items() if each.covers(members(waiting[pk]))}


def has_ready_sets(run: SystemRun) -> bool:
    """Whether something was written that no set holds yet."""
    if run.variant in WRITES_CELLS:
        settings = count_combinations(run.grid)
        return run.sets.count() < settings * len(answered_cells(run))
    return bool(ready_sets(run))


def cells_to_ask(run: SystemRun) -> QuerySet[Cell]:
    """Cells of a run that have arguments; nothing is ever written about the others."""
    kept = Q(arguments__isnull=False) if run.is_unfiltered else Q(arguments__left_out="")
    return cells_of(run.dataset, run.split).filter(kept).distinct()


def waits_for_writing(run: SystemRun) -> bool:
    """Whether a language model still has to write something."""
    if run.variant in WRITES_CELLS:
        return cells_to_ask(run).exclude(pk__in=written_cells(run)).exists()
    return run.sets.filter(state=WAITING).exists()


def reopen_better(run: SystemRun, parts: Iterable[WrittenPart]) -> None:
    """Let sets wait again that lack key points for which a later reply has the words.

    Only a request that was asked once more brings that about. A set that somebody judged or
    scored meanwhile stays as it is. In the transaction that stores the parts.
    """
    good = [part for part in parts if part.texts]
    unused = run.sets.exclude(state=WAITING).exclude(reason="")
    unused = unused.filter(
        counting_items=None, count_sheets=None, metric_scores=None, count_replies=None
    )
    sets = {part.summary_set_id for part in good if part.summary_set_id}
    found = list(unused.filter(pk__in=sets).values_list("pk", flat=True))
    SystemSummary.objects.filter(summary_set__in=found).delete()
    SummarySet.objects.filter(pk__in=found).update(
        state=WAITING, reason="", assigned=None, scores=None, done_at=None
    )
    cells = {part.cell_id for part in good if not part.summary_set_id}
    empty = unused.filter(cell__in=cells, reason__startswith=NOTHING_WRITTEN)
    gone, _rows = empty.delete() if cells else (0, {})
    if found or gone:
        SystemRun.objects.filter(pk=run.pk, state=SystemRun.State.DONE).update(
            state=SystemRun.State.WRITING, ended_at=None
        )
