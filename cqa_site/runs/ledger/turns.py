"""A worker's turn with an endpoint, and the end of a run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Avg, Count, Q, QuerySet, Sum
from django.db.models.functions import Now

from cqa_site.judging.chat import Failure
from .. import jobs
from ..kinds import kind_of
from ..models import Attempt, Call, Endpoint, Run
from ..planning import ENOUGH_TEXTS, MOST, Dominant, are_alike, dominant, dominates
from .gates import WITHDRAWN, OpenGate, locked_gate
from .lease import OutgoingRequest, claim, reap, unread
from .replies import CallReading, FinishedRequest, pause, settle, store

ENOUGH_VALID = 0.9


def end(run: Run, state: str) -> None:
    """Move a working run to ``checked`` or ``done``; call under the gate's lock."""
    if state == Run.State.CHECKED:
        _finish_preflight(run)
        return
    changed = Run.objects.filter(pk=run.pk, state__in=Run.WORKING).update(
        state=state, ended_at=Now(), pause_reason=""
    )
    if changed:
        run.state = state
        announce(run)


def announce(run: Run) -> None:
    """Queue the signed message about an ended run, if it has a webhook address.

    Call in the transaction that ends the run, so that the message is not lost if the process dies.
    """
    if run.webhook_url:
        jobs.enqueue(
            study=run.study, kind="run_webhook", key=str(run.public_id), run=str(run.public_id)
        )


def _finish_preflight(run: Run) -> None:
    report = preflight_report(run)
    more = run.calls.filter(state__in=Call.OPEN).exists()
    goes_on = run.spec["preflight"] == "auto" and report["passed"]
    state = Run.State.RUNNING if more and goes_on else Run.State.CHECKED
    if not more:
        state = Run.State.DONE
    Run.objects.filter(pk=run.pk, state=Run.State.CHECKING).update(
        state=state, preflight=report, **({"ended_at": Now()} if state == Run.State.DONE else {})
    )
    run.state, run.preflight = state, report
    if state == Run.State.DONE:
        announce(run)


def preflight_report(run: Run) -> dict[str, Any]:
    """Report the results of the canary calls, and whether the run should continue.

    ``passed`` requires that nine in ten replies are readable, that they have several values and
    none dominates (for prose, that the texts are not alike), and that the projected cost is within
    the cap.
    """
    canary = run.calls.filter(is_canary=True)
    counts = canary.aggregate(
        n=Count("pk"),
        valid=Count("pk", filter=Q(state=Call.State.DONE)),
        asked_again=Count("pk", filter=Q(format_tries__gt=0)),
    )
    money = Attempt.objects.filter(call__in=canary).aggregate(
        cost=Sum("cost_micro"), milliseconds=Avg("milliseconds", filter=Q(outcome="replied"))
    )
    reasons = dict(
        canary.exclude(reason="").values_list("reason").annotate(Count("pk")).order_by("reason")
    )
    kind = kind_of(run)
    values = kind.values(run)
    often = None if kind.dominance is None else dominant(values)
    projected = round((money["cost"] or 0) / max(1, counts["n"]) * run.planned)
    cap = run.budget.cap_micro
    spread = _spread(values, often, kind.dominance) if often else _told_apart(kind.texts(run))
    problems = _problems(counts, spread, projected, cap)
    return {
        **counts,
        "values": values,
        "dominant": asdict(often) if often else None,
        "reasons": reasons,
        "milliseconds": round(money["milliseconds"] or 0),
        "cost_micro": money["cost"] or 0,
        "projected_micro": projected,
        "problems": problems,
        "passed": not problems,
    }


def _spread(values: dict[str, int], often: Dominant, share: float | None) -> str:
    """Return the problem with values on a scale, if any."""
    if len(values) == 1 and often.of >= ENOUGH_TEXTS:
        return "constant"
    return "dominant" if dominates(often, share or MOST) else ""


def _told_apart(texts: Sequence[str]) -> str:
    """Return the name of the problem if the texts are too much alike; otherwise empty."""
    return "alike" if are_alike(texts) else ""


def _problems(counts: dict[str, int], spread: str, projected: int, cap: int | None) -> list[str]:
    """List the names of the problems, which pages show as sentences."""
    problems = []
    if counts["valid"] < ENOUGH_VALID * counts["n"]:
        problems.append("invalid")
    if spread:
        problems.append(spread)
    if cap is not None and projected > cap:
        problems.append("cap")
    return problems


# A worker's turn with an endpoint: all its database work, in one transaction
#
# A turn stores new replies, settles the readings since the last turn, takes back lost calls now
# and then, ends finished runs, and claims the next calls. The embedded database is fast enough
# only because many calls share one commit.


@dataclass(slots=True)
class Turn:
    """A worker's input to a turn, and its result."""

    finished: list[FinishedRequest] = field(default_factory=list)
    read: list[tuple[Run, CallReading]] = field(default_factory=list)
    may_claim: bool = True
    does_reap: bool = False
    # Primary keys of this worker's calls, the only calls whose leases it renews.
    on_the_way: set[int] = field(default_factory=set)
    ended: int = 0
    to_read: list[tuple[Run, list[Call]]] = field(default_factory=list)
    outgoing: list[OutgoingRequest] = field(default_factory=list)
    is_idle: bool = False
    waits_until: float = 0.0


def take_turn(endpoint: Endpoint, worker: str, turn: Turn, room: int) -> Turn:
    """Run one turn; ``room`` is the number of additional requests this worker can send."""
    with transaction.atomic(), locked_gate(endpoint) as gate:
        runs = _runs(endpoint, turn)
        for run in runs.values():
            mine = [done for done in turn.finished if done.sent.run.pk == run.pk]
            _add_unread(turn, run, store(run, gate, mine))
            readings = [read for owner, read in turn.read if owner.pk == run.pk]
            turn.ended += settle(run, gate, readings)
        if turn.does_reap:
            # Renew leases first, because a process in a turn is alive even if it is late.
            _heartbeat(worker, turn.on_the_way)
            reap(gate)
            for run in runs.values():
                _add_unread(turn, run, unread(run, gate))
        # Check every time, because a worker's client keeps the key with which it was created.
        for run in runs.values():
            if run.endpoint.is_withdrawn:
                pause(run, f"{Failure.KEY}: {WITHDRAWN}")
        if turn.may_claim:
            _claim_for_all(turn, [r for r in runs.values() if r.is_working], gate, worker, room)
        # A run that just sent a request has not ended; a check would cost one query in each turn.
        sent = {outgoing.run.pk for outgoing in turn.outgoing}
        rest = [run for run in runs.values() if run.pk not in sent]
        working = [run for run in rest if not _is_over(run) and not is_waiting(run)]
        turn.is_idle = not (sent or working or turn.to_read or _left(endpoint).exists())
        turn.waits_until = gate.state.open_until - gate.now.timestamp()
    return turn


def _runs(endpoint: Endpoint, turn: Turn) -> dict[int, Run]:
    """Load the runs that are working or have replies to store or read."""
    known = {done.sent.run.pk for done in turn.finished} | {run.pk for run, _read in turn.read}
    wanted = Q(state__in=Run.WORKING) | Q(pk__in=known) | Q(pk__in=_left(endpoint).values("run"))
    rows = Run.objects.select_related("endpoint__original", "study")
    rows = rows.filter(wanted, endpoint=endpoint)
    return {run.pk: run for run in rows.order_by("pk")}


def _left(endpoint: Endpoint) -> QuerySet[Call]:
    """Return calls in flight or with an unread reply, including those of paused runs."""
    left = Call.objects.filter(state__in=Call.LEFT, run__endpoint=endpoint)
    return left.exclude(leased_by=Call.IN_BATCH)


def _add_unread(turn: Turn, run: Run, calls: Sequence[Call]) -> None:
    if calls:
        turn.to_read.append((run, list(calls)))


def _claim_for_all(turn: Turn, runs: list[Run], gate: OpenGate, worker: str, room: int) -> None:
    """Share the room among runs, oldest first; the unused part of a share goes to later runs."""
    free = min(room, gate.share(worker, len(turn.on_the_way)))
    for place, run in enumerate(runs):
        if free <= 0:
            return
        share = -(-free // (len(runs) - place))
        if run.ceiling is not None:
            leased = run.calls.filter(state=Call.State.LEASED)
            busy = leased.exclude(leased_by=Call.IN_BATCH).count()
            share = min(share, run.ceiling - busy)
        sent, answered = claim(run, gate, worker, share)
        turn.outgoing += sent
        _add_unread(turn, run, answered)
        free -= len(sent)


def is_waiting(run: Run) -> bool:
    """Whether a run cannot continue until a batch returns."""
    if run.mode != Run.Mode.BATCH or run.state != Run.State.RUNNING:
        return False
    live = Q(state=Call.State.READY, batch__isnull=False) | Q(state=Call.State.REPLIED)
    away = run.calls.filter(state__in=Call.OPEN)
    return away.exists() and not run.calls.filter(live).exists()


def _heartbeat(worker: str, calls: set[int]) -> None:
    """Renew only the leases of calls in flight; a lost commit may have left other leased calls."""
    Call.objects.filter(state=Call.State.LEASED, leased_by=worker, pk__in=calls).update(
        lease_until=Now() + settings.CALL_LEASE
    )


def _is_over(run: Run) -> bool:
    """End a run whose calls have all ended; return True if it ended or is no longer working."""
    if not run.is_working:
        return True
    open_calls = run.calls.filter(state__in=Call.OPEN)
    if run.state == Run.State.CHECKING:
        open_calls = open_calls.filter(is_canary=True)
    if open_calls.exists():
        return False
    state = Run.State.CHECKED if run.state == Run.State.CHECKING else Run.State.DONE
    end(run, state)
    return True
