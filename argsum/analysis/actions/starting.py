"""Analyses of comments: started, cancelled, begun again, forgotten."""

from typing import Any

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis
from argsum.datasets.models import Cell, CellArgument, Dataset
from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.scorers import default_scorers
from argsum.scorers.models import Scorer
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import enqueue
from cqa_site.runs.models import Job, Run

from .tools import require_vectors

State = Analysis.State
MAKE, PLACE, SPLIT = "analysis", "analysis_place", "analysis_split"
CHECK = "analysis_check_written"
ACTIVE_JOBS = (Job.State.READY, Job.State.LEASED)
MOST_CELLS = 50
MOST_STATEMENTS = 200_000
FEWEST_STATEMENTS = 3
LONGEST_SETTING = 60


class AnalysisRefused(Exception):
    """The analysis cannot do this; the message says why."""


@transaction.atomic
def start_analysis(
    *,
    study: Study,
    actor: User | None,
    cell: Cell,
    match_scorer: Scorer | None = None,
    quality_scorer: Scorer | None = None,
    setting: str = "",
) -> Analysis:
    """Have a worker find the key points of a cell; the same analysis under way is returned.

    Without scorers the study's first ones are used. ``setting`` is one that `Analysis.choice` of
    an earlier analysis names; empty leaves it to the rule. Raises AnalysisRefused if the cell has
    too few or too many statements, or a scorer does not fit.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    usual_match, usual_quality = default_scorers(study, cell.dataset)
    scorer = match_scorer or usual_match
    _refuse_unfit(study, cell, scorer, setting)
    fields: dict[str, Any] = {
        "cell": cell,
        "match_scorer": scorer,
        "quality_scorer": quality_scorer or usual_quality,
        "options": {"setting": setting} if setting else {},
    }
    same = study.analyses.filter(state__in=Analysis.ACTIVE, **fields).first()
    if same is not None and is_at_work(same):
        return same
    made = Analysis.objects.create(
        study=study,
        number=(study.analyses.aggregate(last=Max("number"))["last"] or 0) + 1,
        name=_name(cell),
        created_by=actor,
        **fields,
    )
    record(study=study, actor=actor, verb="analysis_started", subject=subject_of(made))
    enqueue_for(made, MAKE, actor)
    return made


def analyse_dataset(*, study: Study, actor: User, dataset: Dataset) -> list[Analysis]:
    """Start one analysis for each topic and stance, all with what is usual.

    Raises
    ------
    AnalysisRefused
        If there are more than 50 cells, or none can be analysed.
    """
    cells = list(dataset.cells.order_by("position")[: MOST_CELLS + 1])
    if len(cells) > MOST_CELLS:
        raise AnalysisRefused(
            _("One click starts at most %d analyses: choose one topic after the other.")
            % MOST_CELLS
        )
    made, reasons = [], []
    for cell in cells:
        try:
            made.append(start_analysis(study=study, actor=actor, cell=cell))
        except AnalysisRefused as reason:
            reasons.append(str(reason))
    if not made:
        raise AnalysisRefused(reasons[0] if reasons else _("The dataset has no comments."))
    return made


@transaction.atomic
def cancel_analysis(*, analysis: Analysis, actor: User) -> None:
    """Compute nothing more; of an analysis that is done, only what was asked for since.

    Raises AnalysisRefused if nothing is under way.
    """
    changed = Analysis.objects.filter(pk=analysis.pk, state__in=Analysis.ACTIVE).update(
        state=State.CANCELLED
    )
    ended = _jobs(analysis).update(
        state=Job.State.FAILED, lease_until=None, finished_at=Now(), error=_("Cancelled.")
    )
    if not changed and not ended:
        raise AnalysisRefused(_("Nothing of this analysis is under way."))
    record(
        study=analysis.study,
        actor=actor,
        verb="analysis_cancelled",
        subject=subject_of(analysis),
    )
    analysis.refresh_from_db(fields=["state"])


@transaction.atomic
def resume_analysis(*, analysis: Analysis, actor: User) -> None:
    """Begin again what failed, was cancelled or lost its worker; vectors that were read stay.

    Raises AnalysisRefused if it is done or still works.
    """
    states = [State.FAILED, State.CANCELLED]
    if not is_at_work(analysis):
        states += Analysis.ACTIVE
    rows = Analysis.objects.filter(pk=analysis.pk, state__in=states)
    if not rows.update(state=State.WAITING, error=""):
        analysis.refresh_from_db(fields=["state"])
        raise AnalysisRefused(
            _("The analysis is in the state “%s”.") % analysis.get_state_display().lower()
        )
    analysis.state, analysis.error = State.WAITING, ""
    record(
        study=analysis.study, actor=actor, verb="analysis_resumed", subject=subject_of(analysis)
    )
    enqueue_for(analysis, MAKE, actor)


@transaction.atomic
def delete_analysis(*, analysis: Analysis, actor: User) -> None:
    """Forget an analysis with its key points and edits; raises AnalysisRefused while it works."""
    if is_at_work(analysis):
        raise AnalysisRefused(_("Stop the analysis first."))
    if run := writing_now(analysis):
        raise AnalysisRefused(_("Cancel run #%d first: it writes for the analysis.") % run.number)
    record(
        study=analysis.study, actor=actor, verb="analysis_deleted", subject=subject_of(analysis)
    )
    analysis.delete()


def enqueue_for(analysis: Analysis, kind: str, actor: User | None, **more: Any) -> Job:
    """Have a worker do something for an analysis; one job of a kind is active at a time."""
    key = str(analysis.public_id)
    job = enqueue(
        study=analysis.study, kind=kind, key=key, actor=actor, analysis=analysis.pk, **more
    )
    if analysis.job_id != job.pk:
        Analysis.objects.filter(pk=analysis.pk).update(job=job)
        analysis.job = job
    return job


def is_at_work(analysis: Analysis) -> bool:
    """Whether a job of the analysis waits or runs."""
    return _jobs(analysis).exists()


def writing_now(analysis: Analysis) -> Run | None:
    """The run in which a language model writes for an analysis, while it is under way."""
    run = analysis.writing
    return run if run and (run.is_active or run.state == Run.State.DRAFT) else None


def statements_of(cell: Cell) -> Any:
    """The statements of a cell that take part, in order."""
    return CellArgument.objects.filter(cell=cell, left_out="").order_by("position")


def subject_of(analysis: Analysis) -> str:
    """What the log calls an analysis."""
    return f"#{analysis.number} {analysis.name}"


def _jobs(analysis: Analysis) -> Any:
    keys = [f"{kind}:{analysis.public_id}" for kind in (MAKE, PLACE, SPLIT, CHECK)]
    return Job.objects.filter(study_id=analysis.study_id, key__in=keys, state__in=ACTIVE_JOBS)


def _name(cell: Cell) -> str:
    if cell.stance == Cell.Stance.NONE:
        return cell.topic[:120]
    stance = cell.get_stance_display()
    return f"{cell.topic[: 117 - len(stance)]} ({stance})"


def _refuse_unfit(study: Study, cell: Cell, scorer: Scorer, setting: str) -> None:
    if cell.dataset.study_id != study.pk or scorer.study_id != study.pk:
        raise AnalysisRefused(_("Comments and scorers belong to the study."))
    if len(setting) > LONGEST_SETTING:
        raise AnalysisRefused(_("There is no such setting."))
    try:
        require_vectors(scorer)
    except ScorerRefused as reason:
        raise AnalysisRefused(str(reason)) from None
    number = statements_of(cell).count()
    if number < FEWEST_STATEMENTS:
        raise AnalysisRefused(
            _("“%(topic)s” has fewer than %(n)d statements.")
            % {"topic": cell.topic, "n": FEWEST_STATEMENTS}
        )
    if number > MOST_STATEMENTS:
        raise AnalysisRefused(
            _("%(n)s statements on one topic: at most %(most)s are possible.")
            % {"n": f"{number:,}", "most": f"{MOST_STATEMENTS:,}"}
        )
