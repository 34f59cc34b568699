"""What is known about a run right now, in a handful of indexed queries."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.db.models.functions import Now

from cqa_site.judging.chat import Failure
from cqa_site.judging.gate import Gate as GateState

from .models import Attempt, Call, Gate, Job, Run

WINDOW = timedelta(seconds=30)
# What closes a gate although nobody asked to wait.
UNANSWERED = (Failure.CONNECTION, Failure.SERVER, Failure.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of calls, money in millionths of a unit, times in seconds."""

    planned: int
    done: int
    unscored: int
    waiting: int
    in_flight: int
    cancelled: int
    reasons: dict[str, int] = field(default_factory=dict)
    limit: int = 0
    refusals: int = 0
    per_second: float = 0.0
    spent_micro: int = 0
    reserved_micro: int = 0
    cap_micro: int | None = None
    saved_micro: int = 0
    reused: int = 0
    seconds_left: float | None = None
    oldest_seconds: float | None = None
    opens_in: float = 0.0
    last_failure: str = ""

    @property
    def ended(self) -> int:
        """Calls that need no further request."""
        return self.done + self.unscored + self.cancelled

    @property
    def share(self) -> float:
        """Part of the planned calls that ended, 0 to 1."""
        return self.ended / self.planned if self.planned else 0.0

    @property
    def coverage(self) -> float:
        """Part of the planned calls that gave a value, 0 to 1."""
        return self.done / self.planned if self.planned else 0.0


def progress_of(run: Run) -> Progress:
    """Look a run up; six queries, whatever its size, and one more while nobody answers."""
    states = dict(run.calls.values_list("state").annotate(Count("pk")))
    # One query for the clock and the window, so that both use the database's time.
    now = Run.objects.annotate(now=Now()).values_list("now", flat=True).get(pk=run.pk)
    recent = run.calls.filter(finished_at__gt=now - WINDOW).aggregate(
        n=Count("pk"), first=Min("finished_at")
    )
    per_second = _rate(recent["n"], recent["first"], now) if run.is_working else 0.0
    waiting = states.get(Call.State.READY, 0) + states.get(Call.State.REPLIED, 0)
    in_flight = states.get(Call.State.LEASED, 0)
    gate = _gate(run)
    budget = run.budget
    opens_in = max(0.0, gate.open_until - now.timestamp())
    return Progress(
        planned=run.planned,
        done=states.get(Call.State.DONE, 0),
        unscored=states.get(Call.State.UNSCORED, 0),
        waiting=waiting,
        in_flight=in_flight,
        cancelled=states.get(Call.State.CANCELLED, 0),
        reasons=_reasons(run) if states.get(Call.State.UNSCORED) else {},
        limit=min(gate.limit, run.endpoint.max_in_flight, run.ceiling or 10**6),
        refusals=run.refusals,
        per_second=per_second,
        spent_micro=budget.spent_micro,
        reserved_micro=budget.reserved_micro,
        cap_micro=budget.cap_micro,
        saved_micro=run.saved_micro,
        reused=run.reused,
        seconds_left=(waiting + in_flight) / per_second if per_second else None,
        oldest_seconds=_oldest(run, now) if in_flight else None,
        opens_in=opens_in,
        last_failure=_last_failure(run) if opens_in and gate.is_down else "",
    )


def _rate(count: int, first: datetime | None, now: datetime) -> float:
    if not first or count < 2:
        return 0.0
    return count / max(1.0, (now - first).total_seconds())


def _reasons(run: Run) -> dict[str, int]:
    rows = run.calls.filter(state=Call.State.UNSCORED).values_list("reason")
    return dict(rows.annotate(n=Count("pk")).order_by("-n", "reason"))


def _gate(run: Run) -> GateState:
    row = Gate.objects.filter(endpoint=run.endpoint_id).values_list("state", flat=True).first()
    return GateState(**(row or {}))


def _last_failure(run: Run) -> str:
    """Why the endpoint gets nothing now, as a pause would name it."""
    failed = Attempt.objects.filter(call__run__endpoint=run.endpoint_id, failure__in=UNANSWERED)
    last = failed.order_by("-pk").values_list("failure", "message").first()
    return ": ".join(last) if last else ""


def _oldest(run: Run, now: datetime) -> float | None:
    opened = Attempt.objects.filter(
        call__run=run, call__state=Call.State.LEASED, outcome=Attempt.Outcome.OPEN
    ).aggregate(first=Min("opened_at"))["first"]
    return (now - opened).total_seconds() if opened else None


def add_counts(runs: Iterable[Run]) -> None:
    """Give each run ``done``, ``unscored``, ``cancelled`` and ``ended``: one query for all.

    A second one where there are drafts, which say whether their planning failed.
    """
    found = {run.pk: run for run in runs}
    for run in found.values():
        run.done = run.unscored = run.cancelled = 0
    ended = (Call.State.DONE, Call.State.UNSCORED, Call.State.CANCELLED)
    rows = Call.objects.filter(run__in=found, state__in=ended).order_by()
    for pk, state, count in rows.values_list("run", "state").annotate(Count("pk")):
        setattr(found[pk], state, count)
    for run in found.values():
        run.ended = run.done + run.unscored + run.cancelled
    with_planning(found.values())


def with_planning(runs: Iterable[Run]) -> list[Run]:
    """Runs whose drafts know whether their planning failed: one query where there are drafts."""
    listed = list(runs)
    drafts = {_planning_key(run): run for run in listed if run.state == Run.State.DRAFT}
    if drafts:
        states = Job.objects.filter(key__in=drafts).order_by("pk").values_list("key", "state")
        for key, state in dict(states).items():
            drafts[key].planning_failed = state == Job.State.FAILED
    return listed


def planning_job(run: Run) -> Job | None:
    """The newest job that writes the calls of a draft."""
    return run.study.jobs.filter(key=_planning_key(run)).order_by("-pk").first()


def _planning_key(run: Run) -> str:
    return f"plan_run:{run.public_id}"
