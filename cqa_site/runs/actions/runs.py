"""Starting and controlling runs, including after a backup was restored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from cqa_site.judging.chat import digest
from cqa_site.judging.endpoint_responses import TOKEN_LIMITS
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs import jobs
from cqa_site.runs.jobs import SENDING
from cqa_site.runs.kinds import Subject, kind_named
from cqa_site.runs.ledger import gates
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.ledger.turns import announce, end
from cqa_site.runs.models import Budget, Call, Endpoint, Job, PromptVersion, ProviderBatch, Run
from cqa_site.runs.planning import write_more
from .endpoints import freeze

MOST_REPLICATES = 50


class RunRefused(Exception):
    """The run cannot do this now; the message says why."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A person's choices for a run.

    Parameters
    ----------
    kind
        Registered kind of run.
    target
        The selected subjects of the kind, as JSON.
    params
        Sampling parameters that go into every request.
    cap_micro
        Spending limit of the run, in millionths of a currency unit; None for no limit.
    preflight
        "ask" waits for a decision after the canary calls, "auto" continues if their replies look
        right, and "off" sends everything at once.
    """

    kind: str
    endpoint: Endpoint
    prompt: PromptVersion
    target: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)
    replicates: int = 1
    cap_micro: int | None = None
    reuse: bool = True
    preflight: str = "ask"
    seed: int = 1
    ceiling: int | None = None
    name: str = ""
    mode: str = Run.Mode.LIVE
    webhook_url: str = ""
    webhook_secret: str = ""


def draft(plan: RunPlan, study: Study) -> Run:
    """Return an unsaved run for the estimate and the preview."""
    spec = spec_of(plan)
    return Run(
        study=study,
        kind=plan.kind,
        name=plan.name,
        endpoint=plan.endpoint,
        prompt=plan.prompt,
        spec=spec,
        spec_hash=digest(spec),
        ceiling=plan.ceiling,
        mode=plan.mode,
    )


def spec_of(plan: RunPlan) -> dict[str, Any]:
    """Return all settings that determine the requests and the parsing of replies."""
    endpoint = plan.endpoint
    params, refused = endpoint.fitted(endpoint.extra_params | plan.params)
    spec = {
        "kind": plan.kind,
        "endpoint": str(endpoint.public_id),
        "origin": endpoint.base_url,
        "model": endpoint.model,
        "prompt": plan.prompt.sha256,
        "params": params,
        "target": plan.target,
        "replicates": plan.replicates,
        "reuse": plan.reuse,
        "preflight": plan.preflight,
        "seed": plan.seed,
        "prices": {"in": str(endpoint.price_in), "out": str(endpoint.price_out)},
        "parser_version": kind_named(plan.kind).parser_version,
        "use_schema": endpoint.can("json_schema"),
    }
    # Chosen parameters that the endpoint refused in its probe.
    return spec | {"params_left_out": refused} if refused else spec


@transaction.atomic
def start_run(*, study: Study, actor: User, plan: RunPlan, together: Budget | None = None) -> Run:
    """Create a run and queue its planning, or return an identical active run.

    ``together`` is a budget shared by several runs, in addition to this run's own budget.
    """
    _check(plan)
    # This lock keeps numbers unique, and prevents two people from starting the same run twice.
    Study.objects.select_for_update().get(pk=study.pk)
    run = draft(plan, study)
    active = (*Run.ACTIVE, Run.State.DRAFT)
    if same := study.runs.filter(spec_hash=run.spec_hash, state__in=active).first():
        same.was_there = True
        return same
    kind = kind_named(plan.kind)
    if not kind.subjects(run):
        raise RunRefused("Nothing matches the selection, so there is nothing to judge.")
    run.number = (study.runs.aggregate(last=Max("number"))["last"] or 0) + 1
    run.budget = Budget.objects.create(study=study, cap_micro=plan.cap_micro, parent=together)
    run.created_by = actor
    if plan.webhook_url:
        run.webhook_url = plan.webhook_url
        run.webhook_ciphertext = gates.seal(plan.webhook_secret)
    run.save()
    kind.begin(run)
    freeze(plan.prompt)
    record(study=study, actor=actor, verb="run_started", subject=f"#{run.number}")
    _plan(run, actor)
    return run


@transaction.atomic
def go_on(*, run: Run, actor: User) -> None:
    """Continue a run after its pre-flight, or plan a draft again if its planning failed."""
    if run.state == Run.State.DRAFT:
        _plan(run, actor)
        return
    _move(run, {Run.State.CHECKED}, Run.State.RUNNING, actor, "run_continued")
    transaction.on_commit(jobs.ring)


@transaction.atomic
def pause_run(*, run: Run, actor: User) -> None:
    """Pause the run; requests in flight are still completed."""
    _move(run, set(Run.WORKING), Run.State.PAUSED, actor, "run_paused", pause_reason="person")


@transaction.atomic
def resume_run(*, run: Run, actor: User) -> None:
    """Resume the run where it stopped, possibly in its pre-flight."""
    _move(run, {Run.State.PAUSED}, state_to_resume(run), actor, "run_resumed", pause_reason="")
    transaction.on_commit(jobs.ring)


def state_to_resume(run: Run) -> str:
    """Return "checking" if the pre-flight has no report yet, otherwise "running"."""
    is_checked = bool(run.preflight) or not run.calls.filter(is_canary=True).exists()
    return Run.State.RUNNING if is_checked else Run.State.CHECKING


@transaction.atomic
def cancel_run(*, run: Run, actor: User) -> None:
    """Cancel the run, so that no more calls are sent; paid replies that still arrive are kept."""
    with locked_gate(run.endpoint):
        _move(
            run,
            {*Run.ACTIVE, Run.State.DRAFT},
            Run.State.CANCELLED,
            actor,
            "run_cancelled",
            ended_at=Now(),
            pause_reason="",
        )
        run.calls.filter(state=Call.State.READY).update(
            state=Call.State.CANCELLED, finished_at=Now()
        )
        announce(run)


@transaction.atomic
def set_ceiling(*, run: Run, actor: User, ceiling: int | None) -> None:
    """Change the maximum number of requests in flight while the run is active."""
    Run.objects.filter(pk=run.pk).update(ceiling=ceiling)
    run.ceiling = ceiling
    record(
        study=run.study, actor=actor, verb="run_ceiling", subject=f"#{run.number}", ceiling=ceiling
    )


@transaction.atomic
def set_cap(*, run: Run, actor: User, cap_micro: int | None) -> None:
    """Change the run's spending cap; a run that paused at its cap stays paused."""
    Budget.objects.filter(pk=run.budget_id).update(cap_micro=cap_micro)
    record(study=run.study, actor=actor, verb="run_cap", subject=f"#{run.number}", cap=cap_micro)


@transaction.atomic
def retry_unscored(*, run: Run, actor: User, reasons: Iterable[str] = ()) -> int:
    """Requeue unscored calls, either all or those with certain reasons; return their number."""
    with locked_gate(run.endpoint):
        run.refresh_from_db(fields=["state"])
        if run.state == Run.State.CANCELLED or run.state == Run.State.DRAFT:
            raise RunRefused("A cancelled run cannot be resumed. Start it again as a new run.")
        calls = run.calls.filter(state=Call.State.UNSCORED)
        if wanted := list(reasons):
            calls = calls.filter(reason__in=wanted)
        count = calls.update(
            state=Call.State.READY,
            reason="",
            run_after=Now(),
            finished_at=None,
            tries=0,
            format_tries=0,
            throttles=0,
            losses=0,
            token_limit=0,
        )
        if not count:
            raise RunRefused("This run has no unscored calls.")
        if run.state == Run.State.DONE:
            reopen(run)
    record(study=run.study, actor=actor, verb="run_retried", subject=f"#{run.number}", calls=count)
    transaction.on_commit(jobs.ring)
    return count


def ask_more(*, run: Run, subjects: Sequence[Subject]) -> int:
    """Add calls that a run's replies made necessary, within its budget; return their number.

    Call inside a transaction, under the gate's lock. Subjects that the run already has are
    skipped, so that an interrupted caller can try again. A finished run becomes active
    again; a cancelled run sends nothing.
    """
    run.refresh_from_db(fields=["state", "planned"])
    known = set(run.calls.values_list("subject", flat=True))
    new = [subject for subject in subjects if subject.name not in known]
    if not new or run.state in (Run.State.CANCELLED, Run.State.DRAFT):
        return 0
    if run.state == Run.State.CHECKING and not run.calls.filter(state__in=Call.OPEN).exists():
        # All its pre-flight calls have ended, and the new calls need no decision.
        end(run, Run.State.CHECKED)
    if run.state == Run.State.DONE:
        reopen(run)
    write_more(run, new)
    transaction.on_commit(jobs.ring)
    return len(new)


def run_again(*, run: Run, actor: User) -> Run:
    """Start the same plan as a new run, with fresh replies instead of stored ones."""
    return start_run(
        study=run.study,
        actor=actor,
        plan=RunPlan(
            kind=run.kind,
            endpoint=run.endpoint,
            prompt=run.prompt,
            target=run.spec["target"],
            params=run.params,
            replicates=run.spec["replicates"],
            cap_micro=run.budget.cap_micro,
            reuse=False,
            preflight=run.spec["preflight"],
            seed=run.spec["seed"],
            ceiling=run.ceiling,
            name=run.name,
            mode=run.mode,
            webhook_url=run.webhook_url,
            webhook_secret=gates.unseal(run.webhook_ciphertext) if run.webhook_url else "",
        ),
    )


def _plan(run: Run, actor: User) -> None:
    """Queue the job that writes the calls."""
    key = str(run.public_id)
    jobs.enqueue(study=run.study, kind="plan_run", key=key, actor=actor, run=key)


def _check(plan: RunPlan) -> None:
    if plan.endpoint.is_archived:
        raise RunRefused("This endpoint is archived.")
    if plan.endpoint.is_withdrawn:
        raise RunRefused(gates.WITHDRAWN)
    if not 1 <= plan.replicates <= MOST_REPLICATES:
        raise RunRefused(f"Choose between 1 and {MOST_REPLICATES} replicates.")
    if not any(plan.params.get(name) for name in TOKEN_LIMITS):
        raise RunRefused(
            "A run needs a token limit (max_tokens): without one, its cost has no limit."
        )
    if plan.replicates > 1 and plan.params.get("temperature") == 0 and "seed" not in plan.params:
        raise RunRefused(
            "Replicates at temperature 0 repeat the same answer. Raise the temperature or set a "
            "seed."
        )


def reopen(run: Run) -> None:
    """Reopen a finished run; raises RunRefused if an identical run is active."""
    try:
        with transaction.atomic():
            Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, ended_at=None)
    except IntegrityError:
        raise RunRefused("The same run is already in progress.") from None
    run.state = Run.State.RUNNING


def _move(run: Run, allowed: set[str], state: str, actor: User, verb: str, **values: Any) -> None:
    """Change the state if the current state in the database is one of ``allowed``."""
    if state in Run.WORKING and run.endpoint.is_withdrawn:
        raise RunRefused(gates.WITHDRAWN)
    changed = Run.objects.filter(pk=run.pk, state__in=allowed).update(state=state, **values)
    if changed != 1:
        run.refresh_from_db(fields=["state"])
        raise RunRefused(f"The run is {run.get_state_display().lower()}.")
    run.state = state
    record(study=run.study, actor=actor, verb=verb, subject=f"#{run.number}")


# Restored sites: active work waits for a decision, because the original site may continue it

ENDED = "The site was restored from a backup before this was done. Start it again."


@dataclass(frozen=True)
class PausedWork:
    """The numbers of runs to resume and of jobs to request again."""

    runs: int
    jobs: int


def hold_back(using: str) -> PausedWork:
    """Stop all automatic sending from a database that is not yet in use.

    Runs and their batches pause, and jobs that would send something fail.
    """
    batches = ProviderBatch.objects.using(using).filter(state__in=ProviderBatch.OPEN)
    _give_up(batches.filter(run__state=Run.State.CANCELLED), using)
    is_under_way = Q(state__in=Run.WORKING) | Q(batches__in=batches)
    runs = Run.objects.using(using).filter(is_under_way, state__in=Run.ACTIVE)
    jobs = Job.objects.using(using).filter(kind__in=SENDING, state__in=Job.ACTIVE)
    return PausedWork(
        runs.update(state=Run.State.PAUSED, pause_reason=Run.RESTORED),
        jobs.update(state=Job.State.FAILED, lease_until=None, finished_at=Now(), error=ENDED),
    )


def _give_up(batches: QuerySet[ProviderBatch], using: str) -> None:
    """Give up batches of cancelled runs; their calls are lost, and a worker settles the cost."""
    lost = Call.objects.using(using).filter(batch__in=batches, state=Call.State.LEASED)
    lost.update(leased_by="", lease_until=Now())
    batches.update(state=ProviderBatch.State.FAILED)
