"""Leases of calls, which workers claim, and lose when they die."""

import logging
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from cqa_site.judging import rate_limits
from cqa_site.judging.chat import ChatRequest, content_key
from cqa_site.judging.endpoint_responses import TOKEN_LIMITS
from cqa_site.judging.rate_limits import MAX_LOSSES
from cqa_site.runs import processes
from cqa_site.runs.kinds import CallRequest, EndedCall, ReplyReading, Subject, kind_of
from cqa_site.runs.models import Attempt, Call, Reply, Run
from cqa_site.web.bulk_queries import write_each
from cqa_site.web.logging import security
from . import gates
from .gates import OpenGate

# After this many losses, a call is sent separately from the others.
SUSPECT = 2
SUSPECTS_TOGETHER = 4


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request ready to be sent."""

    run: Run
    call: Call
    attempt: Attempt
    # None in a batch that the provider refused as a whole.
    request: ChatRequest | None
    key: str
    # Key of the request as planned; equals ``key`` unless the run was corrected.
    planned_key: str


def claim(
    run: Run, gate: OpenGate, worker: str, most: int
) -> tuple[list[OutgoingRequest], list[Call]]:
    """Lease up to ``most`` due calls of a working run, record their attempts, and reserve money.

    The second returned list contains calls that reuse the stored reply to an identical request. If
    there is not enough money for another call and nothing is in flight, the run pauses.
    """
    if most <= 0 or not run.is_working:
        return [], []
    calls = _due(run, gate, most)
    calls = _within_budget(run, calls)
    if not calls:
        return [], []
    attempts = _lease(run, calls, gate, worker)
    questions = questions_for(run, calls)
    pairs = list(zip(calls, questions, strict=True))
    requests = [request_of(run, *pair) for pair in pairs]
    keys = [
        key_of(run, call, chat_request) for call, chat_request in zip(calls, requests, strict=True)
    ]
    reused = _reuse(run, calls, attempts, keys, gate.now)
    gate.state = rate_limits.spend(
        gate.state,
        requests=len(calls) - len(reused),
        tokens=sum(call.tokens_estimated for call in calls if call.pk not in reused),
    )
    rows = zip(pairs, attempts, requests, keys, strict=True)
    outgoing = [
        OutgoingRequest(run, call, attempt, request, key, planned_key(run, call, question, key))
        for (call, question), attempt, request, key in rows
        if call.pk not in reused
    ]
    return outgoing, [call for call in calls if call.pk in reused]


def questions_for(run: Run, calls: list[Call]) -> list[CallRequest]:
    subjects = [Subject(call.subject, tuple(call.subject_ids)) for call in calls]
    return kind_of(run).questions(run, subjects)


def requests_for(run: Run, calls: list[Call]) -> list[ChatRequest]:
    """Return the requests of some calls exactly as they are sent."""
    questions = questions_for(run, calls)
    return [request_of(run, *pair) for pair in zip(calls, questions, strict=True)]


def request_of(run: Run, call: Call, question: CallRequest) -> ChatRequest:
    """Return one request exactly as it is sent."""
    return ChatRequest(
        model=run.spec["model"],
        messages=question.messages,
        params=params_of(run, call),
        schema=question.schema if run.uses_schema else None,
        deadline=float(run.endpoint.deadline_seconds),
    )


def params_of(run: Run, call: Call) -> dict[str, Any]:
    """Return a call's sampling parameters, with its own seed and any token limit raised for it."""
    params = dict(run.params)
    if "seed" in params:
        params["seed"] += call.replicate
    for name in TOKEN_LIMITS:
        if name in params and call.token_limit:
            params[name] = call.token_limit
    return params


def key_of(run: Run, call: Call, request: ChatRequest) -> str:
    """Return the key of a request, which covers everything that affects its output."""
    return content_key(
        origin=run.spec["origin"],
        model=request.model,
        messages=request.messages,
        params=request.params,
        schema=request.schema,
        replicate=call.replicate,
    )


def planned_key(run: Run, call: Call, question: CallRequest, key: str) -> str:
    """Return the key of a request as originally planned; ``key`` is its current key."""
    if not run.amendments:
        return key
    plan = copy(run)
    plan.amendments = []
    return key_of(plan, call, request_of(plan, call, question))


def _due(run: Run, gate: OpenGate, most: int) -> list[Call]:
    """Return ready calls that are due.

    A time in the far future means that a clock jumped; such a call counts as due.
    """
    far = gate.now + 2 * settings.CALL_LONGEST_WAIT
    rows = run.calls.filter(Q(run_after__lte=gate.now) | Q(run_after__gt=far), state="ready")
    if run.state == Run.State.CHECKING:
        rows = rows.filter(is_canary=True)
    elif run.mode == Run.Mode.BATCH:
        # Calls without a value after a batch are sent again one by one.
        rows = rows.filter(Q(batch__isnull=False) | Q(is_canary=True))
    # No effect on SQLite, where the transaction already holds the write lock.
    rows = rows.select_for_update(skip_locked=True, of=("self",))
    ordinary = list(rows.filter(losses__lt=SUSPECT).order_by("position")[:most])
    return ordinary or _suspects(run, rows)[:most]


def _suspects(run: Run, rows: QuerySet[Call]) -> list[Call]:
    """Return calls that were often in flight when a worker died: a few together, then one by one.

    One of them may be the cause, and the others should not be given up because of it.
    """
    if run.calls.filter(state=Call.State.LEASED).exists():
        return []
    calls = list(rows.order_by("losses", "position")[:SUSPECTS_TOGETHER])
    return calls if all(call.losses == SUSPECT for call in calls) else calls[:1]


def _within_budget(run: Run, calls: list[Call]) -> list[Call]:
    if not calls:
        return calls
    budgets = gates.budgets_of(run)
    fitting = calls[: gates.affordable(budgets, [call.reserve_micro for call in calls])]
    amount = sum(call.reserve_micro for call in fitting)
    if fitting and amount and not gates.reserve(budgets, amount):
        raise RuntimeError("a locked budget changed under its lock")
    # Pause only after every reply is read, so that the counts are final.
    if not fitting and not run.calls.filter(state__in=Call.LEFT).exists():
        Run.objects.filter(pk=run.pk, state__in=Run.WORKING).update(
            state=Run.State.PAUSED, pause_reason="budget"
        )
        run.state = Run.State.PAUSED
        transaction.on_commit(
            partial(security, "run_cap_hit", run=run.public_id, cap=run.budget.cap_micro)
        )
    return fitting


def _lease(run: Run, calls: list[Call], gate: OpenGate, worker: str) -> list[Attempt]:
    lease = {
        "state": Call.State.LEASED,
        "leased_by": worker,
        "lease_until": gate.now + settings.CALL_LEASE,
    }
    Call.objects.filter(pk__in=[call.pk for call in calls]).update(fence=F("fence") + 1, **lease)
    for call in calls:
        call.fence += 1
        for name, value in lease.items():
            setattr(call, name, value)
    return Attempt.objects.bulk_create(
        Attempt(
            call=call,
            fence=call.fence,
            worker=worker,
            epoch=gate.state.epoch,
            amendment=len(run.amendments),
            reserve_micro=call.reserve_micro,
        )
        for call in calls
    )


def _reuse(
    run: Run, calls: list[Call], attempts: list[Attempt], keys: list[str], now: datetime
) -> set[int]:
    """Answer calls with earlier replies in the study; return the primary keys of these calls."""
    if not run.spec["reuse"]:
        return set()
    fresh = {call.pk: key for call, key in zip(calls, keys, strict=True) if not call.token_limit}
    replies = Reply.objects.filter(
        study=run.study_id, is_reusable=True, content_key__in=fresh.values()
    )
    known = {reply.content_key: reply for reply in replies.order_by("-pk")}
    matches = {pk: known[key] for pk, key in fresh.items() if key in known}
    if not matches:
        return set()
    answered = [call for call in calls if call.pk in matches]
    opened = [attempt for attempt in attempts if attempt.call_id in matches]
    for call, attempt in zip(answered, opened, strict=True):
        call.state, call.lease_until, call.reply = Call.State.REPLIED, None, matches[call.pk]
        attempt.outcome, attempt.reply = Attempt.Outcome.REUSED, matches[call.pk]
        attempt.closed_at = now
    write_each(answered, ["state", "lease_until", "reply"])
    write_each(opened, ["outcome", "reply", "closed_at"])
    saved = sum(attempt.reserve_micro for attempt in opened)
    gates.settle(run, released=saved, spent=0)
    Run.objects.filter(pk=run.pk).update(
        reused=F("reused") + len(answered), saved_micro=F("saved_micro") + saved
    )
    return set(matches)


def doubled_limit(run: Run, call: Call) -> int:
    """Return the token limit for the retry after a cut-off reply; 0 if the run has no limit."""
    for name in TOKEN_LIMITS:
        if name in run.params:
            return 2 * (call.token_limit or int(run.params[name]))
    return 0


# Reaping: calls of dead workers are due again, and their unread replies are read
#
# The death of a worker on this machine is detected immediately; elsewhere, its lease expires.

log = logging.getLogger(__name__)
# Replies are normally read within a turn; after this time, the worker counts as dead.
UNREAD = timedelta(seconds=10)
AT_ONCE = 200


def reap(gate: OpenGate) -> None:
    """Take back leases that expired, lost their worker, or were set far ahead by a wrong clock."""
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
    """Return calls with replies that a worker stored but did not read before it died."""
    return list(
        run.calls.filter(state=Call.State.REPLIED)
        .filter(attempts__fence=F("fence"), attempts__closed_at__lt=gate.now - UNREAD)
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
            given_up.append(EndedCall(call, call.fence, ReplyReading(reason="poison")))
        else:
            call.state = Call.State.READY
    write_each(calls, ["state", "reason", "losses", "lease_until", "finished_at"])
    # Assume the reserved cost, because nobody can know whether these requests were charged.
    Attempt.objects.filter(call__in=calls, outcome=Attempt.Outcome.OPEN).update(
        outcome=Attempt.Outcome.LOST, closed_at=gate.now, cost_micro=F("reserve_micro")
    )
    reserved = sum(call.reserve_micro for call in calls)
    gates.settle(run, released=reserved, spent=reserved)
    if given_up:
        kind_of(run).store(run, given_up)
