"""Runs of summarization systems: plan, estimate, start, cancel and resume."""

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.datasets.models import Cell, Dataset
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.scorers.actions.scorers import has_qualities, writer_called
from argsum.scorers.models import Scorer
from argsum.systems.contract import QUALITY, SummarizationSystem
from argsum.systems.methods.clusters import MOST_ARGUMENTS
from argsum.systems.methods.inputs import (
    Grid,
    GridNotValid,
    check_values,
    combinations,
    count_combinations,
    setting_of,
)
from argsum.systems.registry import UnknownSystem, find_system
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.runs import RunRefused, pause_run, resume_run
from cqa_site.runs.jobs import cancel, enqueue
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.models import Job

Variant, State = SystemRun.Variant, SystemRun.State
JOB = "system_run"
MOST_SETTINGS = 500
MOST_SETS = 5_000
LONGEST_SETTING = SummarySet._meta.get_field("setting").max_length or 0
# Names of grids: the paper's grid, the setting recommended by the system's authors, and the
# setting chosen on dev.
PUBLISHED, USUAL, CHOSEN = "published", "usual", "chosen"
# A language model writes for whole cells before the system runs, or for clusters afterwards.
WRITES_CELLS = (Variant.CANDIDATES, Variant.SUMMARIES)
WRITES_CLUSTERS = (Variant.GLOBAL, Variant.LOCAL)


class SystemRunRefused(Exception):
    """The run does not allow the action; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class SystemPlan:
    """All options of a system run.

    Parameters
    ----------
    split
        One of `Cell.Split`; the empty value selects all cells of the dataset.
    grid
        Parameter → values; all combinations are run.
    is_unfiltered
        Whether to include arguments that preprocessing left out.
    writer_model
        Name or folder of a sequence-to-sequence model; only for that variant.
    """

    dataset: Dataset
    system: str
    grid: Mapping[str, Sequence[Any]]
    match_scorer: Scorer
    quality_scorer: Scorer | None = None
    split: str = ""
    variant: str = Variant.PLAIN
    seed: int = 1
    is_unfiltered: bool = False
    label: str = ""
    writer_model: str = ""
    checked: Grid = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "checked", _checked(self))


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """Size of a system run; ``arguments`` counts the arguments in the selected cells.

    ``pairs`` counts the pairs for a scorer that reads both texts together; otherwise it is 0.
    """

    cells: int
    settings: int
    arguments: int
    largest: int
    pairs: int = 0

    @property
    def sets(self) -> int:
        """Number of summary sets that the run will produce."""
        return self.cells * self.settings


def system_named(name: str) -> SummarizationSystem:
    """Return a system by name; raise `SystemRunRefused` if it cannot be used."""
    try:
        return find_system(name)
    except UnknownSystem as problem:
        raise SystemRunRefused(str(problem)) from None


def system_of(run: SystemRun) -> SummarizationSystem:
    """Return the system of a run; raise `SystemRunRefused` if another version is installed."""
    system = system_named(run.system)
    if system.package != run.package:
        raise SystemRunRefused(
            _("The run was started with %(was)s, but now %(now)s is installed. Start a new run.")
            % {"was": run.package or "Counterpoint", "now": system.package or "Counterpoint"}
        )
    return system


def cells_of(dataset: Dataset, split: str) -> QuerySet[Cell]:
    """Return the cells of a run, in order."""
    rows = dataset.cells.order_by("position")
    return rows.filter(split=split) if split else rows


def estimate_system(plan: SystemPlan) -> SystemEstimate:
    """Count cells, settings and arguments, using two queries."""
    from django.db.models import Count, Q

    condition = None if plan.is_unfiltered else Q(arguments__left_out="")
    rows = cells_of(plan.dataset, plan.split).annotate(n=Count("arguments", filter=condition))
    sizes = list(rows.values_list("n", flat=True))
    reads_both = plan.match_scorer.kind == Scorer.Kind.CROSS_ENCODER
    return SystemEstimate(
        len(sizes),
        count_combinations(plan.checked),
        sum(sizes),
        max(sizes, default=0),
        sum(size**2 for size in sizes) if reads_both else 0,
    )


@transaction.atomic
def start_system(*, study: Study, actor: User, plan: SystemPlan) -> SystemRun:
    """Create a run and queue its job, or return an identical active run.

    If a language model writes for whole cells, the run first waits for its texts. Raises
    `SystemRunRefused`.
    """
    _refuse_unfit(study, plan)
    Study.objects.select_for_update().get(pk=study.pk)
    fields = _fields(plan)
    if same := study.system_runs.filter(state__in=SystemRun.ACTIVE, **fields).first():
        return same
    run = SystemRun.objects.create(
        study=study,
        number=(study.system_runs.aggregate(last=Max("number"))["last"] or 0) + 1,
        label=free_label(study, plan.label or default_label(plan), fields),
        state=State.WRITING if plan.variant in WRITES_CELLS else State.WAITING,
        created_by=actor,
        **fields,
    )
    record(study=study, actor=actor, verb="system_run_started", subject=_subject(run))
    if run.state == State.WAITING:
        enqueue_run(run, actor)
    return run


def enqueue_run(run: SystemRun, actor: User | None = None) -> Job:
    """Queue the job of a run; a run has one active job at a time."""
    key = str(run.public_id)
    job = enqueue(study=run.study, kind=JOB, key=key, actor=actor, system_run=key)
    if run.job_id != job.pk:
        SystemRun.objects.filter(pk=run.pk).update(job=job)
        run.job = job
    return job


@transaction.atomic
def cancel_system(*, run: SystemRun, actor: User) -> None:
    """Cancel a run but keep its sets, and pause its writing run; may raise `SystemRunRefused`."""
    if run.writing is not None:
        # The storage of a reply for the run takes its locks in the same order.
        with locked_gate(run.writing.endpoint), suppress(RunRefused):
            _cancel(run)
            # Avoid paying for texts that are no longer needed. The pause is refused if the writing
            # run is not active.
            pause_run(run=run.writing, actor=actor)
    else:
        _cancel(run)
    record(study=run.study, actor=actor, verb="system_run_cancelled", subject=_subject(run))


def _cancel(run: SystemRun) -> None:
    changed = SystemRun.objects.filter(pk=run.pk, state__in=SystemRun.ACTIVE).update(
        state=State.CANCELLED, ended_at=Now()
    )
    _require(run, changed)
    # The job ends with the run; otherwise it could continue after the run is resumed.
    cancel(Job.objects.filter(study_id=run.study_id, key=f"{JOB}:{run.public_id}"))
    run.state = State.CANCELLED


@transaction.atomic
def resume_system(*, run: SystemRun, actor: User) -> None:
    """Resume a run; raise `SystemRunRefused` if it is done or still running."""
    resumable = [State.CANCELLED, State.FAILED]
    if not is_at_work(run):
        # The worker died too often, or the job was lost.
        resumable += [State.WAITING, State.RUNNING]
    if run.writing is not None:
        # Resume the writing run first, in the order of locks above. This is refused unless it is
        # paused.
        with suppress(RunRefused):
            resume_run(run=run.writing, actor=actor)
    changed = SystemRun.objects.filter(pk=run.pk, state__in=resumable).update(
        state=State.WAITING, error="", ended_at=None
    )
    _require(run, changed)
    run.state, run.error, run.ended_at = State.WAITING, "", None
    record(study=run.study, actor=actor, verb="system_run_resumed", subject=_subject(run))
    enqueue_run(run, actor)


def is_at_work(run: SystemRun) -> bool:
    """Return whether a job of the run is queued or running."""
    return Job.objects.filter(
        study_id=run.study_id, key=f"{JOB}:{run.public_id}", state__in=Job.ACTIVE
    ).exists()


def free_label(study: Study, wanted: str, fields: dict[str, Any]) -> str:
    """Return the requested name, or the first numbered variant that is free in the study.

    Tables combine sets with the same name in one row. Runs may therefore share a name only if they
    are identical except for cells and settings.
    """
    same = {name: value for name, value in fields.items() if name not in ("split", "grid")}
    numbered = (f"{wanted[:110]} ({number})" for number in itertools.count(2))
    return next(
        label
        for label in itertools.chain([wanted], numbered)
        if not study.system_runs.filter(label=label).exclude(**same).exists()
        and not study.summary_sets.filter(system_run=None, system=label).exists()
    )


def name_writer(run: SystemRun, writer: str) -> None:
    """Add the language model that writes for a run to the run's name, unless it is already there.

    This keeps sets by different models in separate table rows. Call it in a transaction that locks
    the run.
    """
    if writer in run.label:
        return
    most = 117 - len(writer)
    if run.label.endswith(")"):
        run.label = f"{run.label[:-1][:most]}, {writer})"
    else:
        run.label = f"{run.label[:most]} ({writer})"
    run.save(update_fields=["label"])
    run.sets.update(system=run.label)


def default_label(plan: SystemPlan) -> str:
    title = system_named(plan.system).title
    parts = [plan.match_scorer.name]
    if plan.variant == Variant.SEQ2SEQ:
        parts.append(plan.writer_model)
    elif plan.variant != Variant.PLAIN:
        parts.append(str(plan.variant))
    return f"{title} ({', '.join(parts)})"[:120]


def grid_named(name: str, system: str, variant: str, scorer: Scorer) -> Grid:
    """Return one of the three named grids.

    Raises
    ------
    SystemRunRefused
        If the match scorer was not trained, or if its training chose no setting for this system.
    """
    summarizer = system_named(system)
    if name == PUBLISHED:
        return summarizer.published_grid(variant)
    if name == USUAL:
        return summarizer.usual_grid(variant)
    figures = scorer.figures.get("chosen", {})
    chosen = summarizer.chosen(figures) if summarizer.chosen else None
    if chosen is None:
        raise SystemRunRefused(
            _(
                "Settings chosen on dev are available only for MCArgSum with a match scorer that "
                "was trained here."
            )
        )
    return chosen


def _checked(plan: SystemPlan) -> Grid:
    system = system_named(plan.system)
    if plan.variant not in system.variants:
        raise SystemRunRefused(_("This system has no such variant."))
    parameters = {param.name: param for param in system.parameters_for(plan.variant)}
    if unknown := sorted(set(plan.grid) - set(parameters)):
        raise SystemRunRefused(_("“%s” is not a parameter of this system.") % unknown[0])
    checked: Grid = {}
    for name, parameter in parameters.items():
        if name not in plan.grid:
            if not parameter.published:
                continue
            raise SystemRunRefused(_("The grid has no values for “%s”.") % name)
        try:
            checked[name] = check_values(plan.grid[name], parameter)
        except GridNotValid as problem:
            raise SystemRunRefused(f"{name}: {problem}") from None
    return checked


def _refuse_unfit(study: Study, plan: SystemPlan) -> None:
    if plan.dataset.study_id != study.pk or plan.match_scorer.study_id != study.pk:
        raise SystemRunRefused(_("The dataset and scorers must belong to the study."))
    if plan.variant == Variant.SEQ2SEQ and not plan.writer_model:
        raise SystemRunRefused(_("Enter the name of a sequence-to-sequence model."))
    _refuse_unready_writer(study, plan)
    _refuse_no_qualities(study, plan)
    estimate = estimate_system(plan)
    if not estimate.cells:
        raise SystemRunRefused(_("The dataset has no cells in this split."))
    if plan.variant in WRITES_CELLS and not estimate.arguments:
        raise SystemRunRefused(_("The cells have no arguments to write about."))
    if estimate.largest > MOST_ARGUMENTS:
        raise SystemRunRefused(
            _("A cell has %(n)s arguments, but the maximum is %(most)s.")
            % {"n": f"{estimate.largest:,}", "most": f"{MOST_ARGUMENTS:,}"}
        )
    if estimate.settings > MOST_SETTINGS:
        raise SystemRunRefused(
            _("There are %(n)s settings, but the maximum is %(most)s. Use fewer values.")
            % {"n": f"{estimate.settings:,}", "most": f"{MOST_SETTINGS:,}"}
        )
    if any(
        len(setting_of(combination)) > LONGEST_SETTING
        for combination in combinations(plan.checked)
    ):
        raise SystemRunRefused(_("The values of one setting are too long to be stored."))
    if estimate.sets > MOST_SETS:
        raise SystemRunRefused(
            _("There are %(n)s cells and settings, but the maximum for one run is %(most)s.")
            % {"n": f"{estimate.sets:,}", "most": f"{MOST_SETS:,}"}
        )


def _refuse_unready_writer(study: Study, plan: SystemPlan) -> None:
    if plan.variant != Variant.SEQ2SEQ:
        return
    writer = writer_called(study, plan.writer_model)
    if writer is not None and writer.state != Scorer.State.READY:
        raise SystemRunRefused(_("The writer “%s” is not ready.") % writer.name)


def _refuse_no_qualities(study: Study, plan: SystemPlan) -> None:
    """Refuse a system that needs qualities if they are missing, as it would choose at random."""
    scorer = plan.quality_scorer
    if scorer is None or scorer.kind != Scorer.Kind.COLUMN:
        return
    if QUALITY in system_named(plan.system).needs and not has_qualities(study, plan.dataset):
        raise SystemRunRefused(
            _(
                "No argument in “%(dataset)s” has an imported quality score, so “%(scorer)s” "
                "cannot score this dataset."
            )
            % {"dataset": plan.dataset.name, "scorer": scorer.name}
        )


def _fields(plan: SystemPlan) -> dict[str, Any]:
    """Return all fields that affect the result."""
    return {
        "dataset": plan.dataset,
        "split": plan.split,
        "is_unfiltered": plan.is_unfiltered,
        "system": plan.system,
        "package": system_named(plan.system).package,
        "variant": plan.variant,
        "match_scorer": plan.match_scorer,
        "quality_scorer": plan.quality_scorer,
        "grid": plan.checked,
        "seed": plan.seed,
        "writer_model": plan.writer_model if plan.variant == Variant.SEQ2SEQ else "",
    }


def _require(run: SystemRun, changed: int) -> None:
    if changed != 1:
        run.refresh_from_db(fields=["state"])
        raise SystemRunRefused(
            _("This is not possible while the state of the run is “%s”.")
            % run.get_state_display().lower()
        )


def _subject(run: SystemRun) -> str:
    return f"#{run.number} {run.label}"
