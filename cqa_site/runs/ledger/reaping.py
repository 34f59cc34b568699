"""Reaping: calls whose worker died are due again, and replies nobody read are read.

Where a worker ran on this machine, its death is seen at once; elsewhere its lease runs out.
"""

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import F, Q

from cqa_site.judging.transport.retries import MAX_LOSSES
from cqa_site.runs import processes
from cqa_site.runs.kinds import Ended, Reading, kind_of
from cqa_site.runs.models import Attempt, Call, Run

from . import money
from .gates import OpenGate
from .writing import write_each

log = logging.getLogger(__name__)
# A reply is read within a turn of being stored; one that waits longer lost its worker.
UNREAD = timedelta(seconds=10)
AT_ONCE = 200


def reap(gate: OpenGate) -> None:
    """Take back leases that ran out, whose worker is gone, or that a clock set far ahead."""
    far = gate.now + 2 * settings.CALL_LEASE
    leased = Call.objects.filter(state=Call.State.LEASED, run__endpoint=gate.endpoint)
    leased = leased.exclude(leased_by=Call.IN_BATCH)
    workers = leased.order_by().values_list("leased_by", flat=True).distinct()
    is_lost = Q(lease_until__lt=gate.now) | Q(lease_until__gt=far)
    rows = (
        leased.filter(is_lost | Q(leased_by__in=processes.gone(workers)))
        .select_for_update(of=("self",), skip_locked=True)
        .select_related("run")
        .order_by("pk")[:AT_ONCE]
    )
    lost: dict[int, list[Call]] = {}
    for call in rows:
        lost.setdefault(call.run_id, []).append(call)
    for calls in lost.values():
        _take_back(calls[0].run, calls, gate)


def unread(run: Run, gate: OpenGate) -> list[Call]:
    """Replies stored by a worker that did not live to read them."""
    return list(
        run.calls.filter(state=Call.State.REPLIED)
        .filter(
            attempts__fence=F("fence"),
            attempts__closed_at__lt=gate.now - UNREAD,
        )
        .select_related("reply")
        .order_by("pk")[:AT_ONCE]
    )


def _take_back(run: Run, calls: list[Call], gate: OpenGate) -> None:
    log.info("leases taken back", extra={"fields": {"run": run.public_id, "calls": len(calls)}})
    given_up = []
    for call in calls:
        call.losses += 1
        call.lease_until = None
        if run.state == Run.State.CANCELLED:
            call.state, call.finished_at = Call.State.CANCELLED, gate.now
        elif call.losses > MAX_LOSSES:
            call.state, call.reason, call.finished_at = Call.State.UNSCORED, "poison", gate.now
            given_up.append(Ended(call, call.fence, Reading(reason="poison")))
        else:
            call.state = Call.State.READY
    write_each(calls, ["state", "reason", "losses", "lease_until", "finished_at"])
    # The requests may have been paid for; without a reply nobody can tell.
    Attempt.objects.filter(call__in=calls, outcome=Attempt.Outcome.OPEN).update(
        outcome=Attempt.Outcome.LOST, closed_at=gate.now, cost_micro=F("reserve_micro")
    )
    reserved = sum(call.reserve_micro for call in calls)
    money.settle(run, released=reserved, spent=reserved)
    if given_up:
        kind_of(run).store(run, given_up)
