"""One turn of a worker with one endpoint: everything the database has to do, in one transaction.

A turn stores what came back, settles what was read since the last turn, takes back lost
calls now and then, ends runs that are over, and claims what may leave next. One commit for
many calls is what makes the embedded database fast enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from cqa_site.runs.carrying.ending import end
from cqa_site.runs.models import Call, Endpoint, Run

from .claiming import Outgoing, claim
from .gates import OpenGate, locked_gate
from .reaping import reap, unread
from .settling import Read, settle
from .storing import Finished, store


@dataclass(slots=True)
class Turn:
    """What a worker brings to a turn, and what it takes away."""

    finished: list[Finished] = field(default_factory=list)
    read: list[tuple[Run, Read]] = field(default_factory=list)
    may_claim: bool = True
    does_reap: bool = False
    # Primary keys of the calls this worker carries: only those are kept from running out.
    on_the_way: set[int] = field(default_factory=set)
    ended: int = 0
    to_read: list[tuple[Run, list[Call]]] = field(default_factory=list)
    outgoing: list[Outgoing] = field(default_factory=list)
    is_idle: bool = False
    waits_until: float = 0.0


def take_turn(endpoint: Endpoint, worker: str, turn: Turn, room: int) -> Turn:
    """Run one turn; ``room`` is how many further requests this worker can carry."""
    with transaction.atomic(), locked_gate(endpoint) as gate:
        runs = _runs(endpoint, turn)
        for run in runs.values():
            mine = [done for done in turn.finished if done.sent.run.pk == run.pk]
            _add_unread(turn, run, store(run, gate, mine))
            readings = [read for owner, read in turn.read if owner.pk == run.pk]
            turn.ended += settle(run, gate, readings)
        if turn.does_reap:
            # First: whoever takes a turn is alive, however late it is.
            _heartbeat(worker, turn.on_the_way)
            reap(gate)
            for run in runs.values():
                _add_unread(turn, run, unread(run, gate))
        if turn.may_claim:
            _claim_for_all(turn, [r for r in runs.values() if r.is_working], gate, worker, room)
        # What has just sent something is not over; asking would cost a statement a turn.
        sent = {one.run.pk for one in turn.outgoing}
        rest = [run for run in runs.values() if run.pk not in sent]
        working = [run for run in rest if not _is_over(run) and not is_waiting(run)]
        turn.is_idle = not (sent or working or turn.to_read or _left(endpoint).exists())
        turn.waits_until = gate.state.open_until - gate.now.timestamp()
    return turn


def _runs(endpoint: Endpoint, turn: Turn) -> dict[int, Run]:
    """Runs that work or have something to store or to read, fresh from the database."""
    known = {done.sent.run.pk for done in turn.finished} | {run.pk for run, _read in turn.read}
    wanted = Q(state__in=Run.WORKING) | Q(pk__in=known) | Q(pk__in=_left(endpoint).values("run"))
    rows = Run.objects.select_related("endpoint", "study").filter(wanted, endpoint=endpoint)
    return {run.pk: run for run in rows.order_by("pk")}


def _left(endpoint: Endpoint) -> QuerySet[Call]:
    """Calls on their way or with a reply to be read, also those of runs that paused."""
    left = Call.objects.filter(state__in=Call.LEFT, run__endpoint=endpoint)
    return left.exclude(leased_by=Call.IN_BATCH)


def _add_unread(turn: Turn, run: Run, calls: Sequence[Call]) -> None:
    if calls:
        turn.to_read.append((run, list(calls)))


def _claim_for_all(turn: Turn, runs: list[Run], gate: OpenGate, worker: str, room: int) -> None:
    """Share the room: the oldest run first takes its part, what it leaves goes to the next."""
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
    """Whether a run has nothing to do here until a batch comes back."""
    if run.mode != Run.Mode.BATCH or run.state != Run.State.RUNNING:
        return False
    live = Q(state=Call.State.READY, batch__isnull=False) | Q(state=Call.State.REPLIED)
    away = run.calls.filter(state__in=Call.OPEN)
    return away.exists() and not run.calls.filter(live).exists()


def _heartbeat(worker: str, calls: set[int]) -> None:
    """Not every lease of the worker: a commit whose answer was lost left some nobody carries."""
    Call.objects.filter(state=Call.State.LEASED, leased_by=worker, pk__in=calls).update(
        lease_until=Now() + settings.CALL_LEASE
    )


def _is_over(run: Run) -> bool:
    """End a run whose calls are over; True if it ended or does not work any more."""
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
