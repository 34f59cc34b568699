"""Storing, reading and settling raw replies in the ledger."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import F

from cqa_site.judging import rate_limits
from cqa_site.judging.chat import CallFailed, ChatReply, Failure
from cqa_site.judging.endpoint_responses import named
from cqa_site.judging.endpoints import cost_micro
from cqa_site.judging.rate_limits import (
    GateStep,
    Next,
    after_failure,
    after_unusable_reply,
    is_repeatable,
)
from cqa_site.runs.kinds import EndedCall, ReplyReading, RunKind, kind_of
from cqa_site.runs.models import Attempt, Call, Reply, Run
from cqa_site.web.bulk_queries import write_each
from . import gates
from .gates import OpenGate
from .lease import OutgoingRequest, doubled_limit

OUTCOMES = {
    Failure.THROTTLED: rate_limits.RequestOutcome.THROTTLED,
    Failure.SERVER: rate_limits.RequestOutcome.BROKEN,
    Failure.CONNECTION: rate_limits.RequestOutcome.BROKEN,
    Failure.TIMEOUT: rate_limits.RequestOutcome.BROKEN,
}
# A request that reached the model is paid for even if no reply arrived.
PAID = {Failure.TIMEOUT, Failure.GARBAGE, Failure.TOO_LARGE}
REFUSED_AT_START = 5


@dataclass(frozen=True, slots=True)
class FinishedRequest:
    """A finished request with either a reply or a failure."""

    sent: OutgoingRequest
    reply: ChatReply | None = None
    failure: CallFailed | None = None


def store(run: Run, gate: OpenGate, finished: Sequence[FinishedRequest]) -> list[Call]:
    """Store replies and failures of one run; return the calls whose replies can be read.

    A request whose lease was passed on is closed as stale: it is paid for, but changes nothing.
    """
    if not finished:
        return []
    finished = [_with_parameter(done) for done in finished]
    held = _leased_calls(finished)
    mine = [done for done in finished if done.sent.call.pk in held]
    stale = [done for done in finished if done.sent.call.pk not in held]
    for done in finished:
        _tell_gate(gate, done)
    replied = _store_replies(run, gate, [done for done in mine if done.reply])
    failed = [done for done in mine if done.failure]
    _store_failures(run, gate, failed)
    _close_stale(run, stale)
    _note_models(run, replied)
    return [done.sent.call for done in replied]


def _with_parameter(done: FinishedRequest) -> FinishedRequest:
    """Reclassify a refusal that names a parameter, because it would affect every other call."""
    if done.failure is None or done.sent.request is None:
        return done
    return replace(done, failure=named(done.failure, done.sent.request))


def _leased_calls(finished: Sequence[FinishedRequest]) -> set[int]:
    """Lock the calls whose lease this worker still has, in order; return their primary keys."""
    wanted = {done.sent.call.pk: done.sent.attempt.fence for done in finished}
    rows = (
        Call.objects.select_for_update()
        .filter(pk__in=wanted, state=Call.State.LEASED)
        .order_by("pk")
        .values_list("pk", "fence")
    )
    return {pk for pk, fence in rows if wanted[pk] == fence}


def _tell_gate(gate: OpenGate, done: FinishedRequest) -> None:
    if done.sent.attempt.worker == Call.IN_BATCH:
        return
    if done.reply:
        gate.note(rate_limits.RequestOutcome.SUCCESS, done.sent.attempt.epoch)
    elif done.failure and done.failure.kind in OUTCOMES:
        gate.note(OUTCOMES[done.failure.kind], done.sent.attempt.epoch, done.failure.retry_after)


def _store_replies(run: Run, gate: OpenGate, done: list[FinishedRequest]) -> list[FinishedRequest]:
    if not done:
        return []
    stored = Reply.objects.bulk_create(_reply_row(run, result) for result in done)
    spent = released = 0
    for exchange, reply in zip(done, stored, strict=True):
        call, attempt = exchange.sent.call, exchange.sent.attempt
        call.reply, call.state, call.lease_until = reply, Call.State.REPLIED, None
        attempt.outcome, attempt.reply = Attempt.Outcome.REPLIED, reply
        attempt.status, attempt.milliseconds = 200, reply.milliseconds
        attempt.cost_micro, attempt.closed_at = _cost(run, exchange), gate.now
        spent += attempt.cost_micro
        released += attempt.reserve_micro
    write_each((result.sent.call for result in done), ["reply", "state", "lease_until"])
    write_each(
        (result.sent.attempt for result in done),
        ["outcome", "reply", "status", "milliseconds", "cost_micro", "closed_at"],
    )
    gates.settle(
        run,
        released=released,
        spent=spent,
        tokens_in=sum(reply.tokens_in or 0 for reply in stored),
        tokens_out=sum(reply.tokens_out or 0 for reply in stored),
    )
    return done


def _reply_row(run: Run, done: FinishedRequest) -> Reply:
    reply = done.reply
    assert reply is not None  # noqa: S101 - _store_replies is given replies only
    return Reply(
        study_id=run.study_id,
        content_key=done.sent.key,
        text=_storable(reply.text),
        body=_storable(reply.body),
        finish_reason=_storable(reply.finish_reason)[:40],
        refusal=_storable(reply.refusal),
        model=_storable(reply.model)[:200],
        fingerprint=_storable(reply.fingerprint)[:200],
        request_id=_storable(reply.request_id)[:200],
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        tokens_cached=reply.tokens_cached,
        milliseconds=reply.milliseconds,
    )


def _storable(text: str) -> str:
    """Replace NUL and lone surrogates, which PostgreSQL cannot store, with U+FFFD."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _cost(run: Run, done: FinishedRequest) -> int:
    """Return a reply's cost from its usage, or the reserved amount if no usage is reported."""
    reply = done.reply
    if reply is None or reply.tokens_in is None or reply.tokens_out is None:
        return done.sent.attempt.reserve_micro
    return cost_micro(reply.tokens_in, reply.tokens_out, **gates.prices_of(run))


def _store_failures(run: Run, gate: OpenGate, failed: list[FinishedRequest]) -> None:
    if not failed:
        return
    spent = released = 0
    given_up, calls = [], []
    for done in failed:
        # A copy, because a retry after a failed transaction needs the original counters.
        call, attempt, failure = copy(done.sent.call), done.sent.attempt, done.failure
        calls.append(call)
        assert failure is not None  # noqa: S101
        step = after_failure(
            failure.kind,
            tries=call.tries,
            throttles=call.throttles,
            retry_after=failure.retry_after,
            is_paid=failure.is_paid,
        )
        _close_failed(attempt, failure, gate)
        spent += attempt.cost_micro
        released += attempt.reserve_micro
        move(run, call, step, gate, reason=failure.kind.value)
        if step.next is Next.GIVE_UP:
            given_up.append(EndedCall(call, call.fence, ReplyReading(reason=failure.kind.value)))
        if step.next is Next.PAUSE_RUN:
            pause(run, f"{failure.kind}: {failure}")
    write_each(calls, CHANGED)
    write_each(
        (done.sent.attempt for done in failed),
        ["outcome", "failure", "status", "message", "milliseconds", "cost_micro", "closed_at"],
    )
    gates.settle(run, released=released, spent=spent)
    if given_up:
        kind_of(run).store(run, given_up)
    refusals = sum(done.failure.kind is Failure.THROTTLED for done in failed if done.failure)
    if refusals:
        Run.objects.filter(pk=run.pk).update(refusals=F("refusals") + refusals)
    if any(done.failure and done.failure.kind is Failure.REQUEST for done in failed):
        _pause_if_all_refused(run)
    _pause_if_unreachable(run, failed)


CHANGED = [
    "state", "reason", "lease_until", "run_after", "tries", "format_tries", "throttles",
    "token_limit", "reserve_micro", "finished_at",
]  # fmt: skip


def move(run: Run, call: Call, step: GateStep, gate: OpenGate, *, reason: str) -> None:
    """Move a leased or replied call to its next state in memory; the caller saves `CHANGED`."""
    call.tries += step.counts_as_try
    call.throttles += step.counts_as_throttle
    call.lease_until = None
    if step.next is Next.GIVE_UP:
        call.state, call.reason, call.finished_at = Call.State.UNSCORED, reason, gate.now
        return
    if run.state == Run.State.CANCELLED:
        call.state, call.finished_at = Call.State.CANCELLED, gate.now
        return
    call.state = Call.State.READY
    call.run_after = gate.now + timedelta(seconds=step.delay)


def pause(run: Run, reason: str) -> None:
    """Pause a working run with a reason that is shown to people."""
    if not run.is_working:
        return
    Run.objects.filter(pk=run.pk, state__in=Run.WORKING).update(
        state=Run.State.PAUSED, pause_reason=reason[:300]
    )
    run.state, run.pause_reason = Run.State.PAUSED, reason[:300]


def _close_failed(attempt: Attempt, failure: CallFailed, gate: OpenGate) -> None:
    attempt.outcome = Attempt.Outcome.FAILED
    attempt.failure, attempt.status = failure.kind.value, failure.status
    attempt.message = _storable(str(failure))[:300]
    attempt.milliseconds, attempt.closed_at = failure.milliseconds, gate.now
    is_paid = failure.is_paid or failure.kind in PAID
    attempt.cost_micro = attempt.reserve_micro if is_paid else 0


def _close_stale(run: Run, stale: list[FinishedRequest]) -> None:
    """Store late replies to calls that were taken over; the reaper has settled their cost."""
    if not stale:
        return
    attempts = {done.sent.attempt.pk: done.sent.attempt for done in stale}
    lost = Attempt.objects.filter(pk__in=attempts, outcome=Attempt.Outcome.LOST)
    known = set(lost.values_list("pk", flat=True))
    came = [done for done in stale if done.sent.attempt.pk in known]
    late = [done for done in came if done.reply]
    stored = Reply.objects.bulk_create(_reply_row(run, done) for done in late)
    for done, reply in zip(late, stored, strict=True):
        done.sent.attempt.reply = reply
    for done in came:
        done.sent.attempt.outcome = Attempt.Outcome.STALE
    write_each((done.sent.attempt for done in came), ["outcome", "reply"])


def _pause_if_all_refused(run: Run) -> None:
    """Pause a run if its first requests were all refused as invalid, as the others would be."""
    ends = run.calls.exclude(finished_at=None).order_by("finished_at")
    first = list(ends.values_list("reason", flat=True)[:REFUSED_AT_START])
    if len(first) == REFUSED_AT_START and set(first) == {Failure.REQUEST.value}:
        pause(run, "request: the endpoint refuses every request as invalid")


def _pause_if_unreachable(run: Run, failed: list[FinishedRequest]) -> None:
    """Pause a pre-flight that never reached the endpoint, until a person resumes it."""
    messages = [str(done.failure) for done in failed if _is_unreached(done)]
    if run.state != Run.State.CHECKING or not messages:
        return
    # A request in flight has no failure yet and may still succeed.
    ways = list(Attempt.objects.filter(call__run=run).values_list("failure", flat=True))
    if len(ways) >= rate_limits.BREAK_AFTER and set(ways) == {Failure.CONNECTION.value}:
        pause(run, f"{Failure.CONNECTION}: {messages[-1]}")


def _is_unreached(done: FinishedRequest) -> bool:
    return done.failure is not None and done.failure.kind is Failure.CONNECTION


def _note_models(run: Run, replied: list[FinishedRequest]) -> None:
    """Record which models replied, and their fingerprints; the page warns if there are several."""
    seen = {(done.reply.model, done.reply.fingerprint) for done in replied if done.reply}
    known = {tuple(pair) for pair in run.flags.get("models", [])}
    if seen <= known:
        return
    fresh = Run.objects.select_for_update().only("flags").get(pk=run.pk)
    known = {tuple(pair) for pair in fresh.flags.get("models", [])} | seen
    run.flags = fresh.flags | {"models": sorted([list(pair) for pair in known])[:50]}
    Run.objects.filter(pk=run.pk).update(flags=run.flags)


@dataclass(frozen=True, slots=True)
class CallReading:
    """A call and the reading of its stored reply."""

    call: Call
    reading: ReplyReading


def read(run: Run, calls: Sequence[Call]) -> list[CallReading]:
    """Read stored replies; a reply that crashes the parser is unusable, but not fatal."""
    kind = kind_of(run)
    return [CallReading(call, _read_one(kind, run, call)) for call in calls]


def _read_one(kind: RunKind, run: Run, call: Call) -> ReplyReading:
    try:
        if call.reply is None:
            raise ValueError("nothing is stored")
        return kind.read(run, call, call.reply)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        return ReplyReading(reason=f"parser_{type(error).__name__.lower()}"[:20])


def settle(run: Run, gate: OpenGate, readings: Sequence[CallReading]) -> int:
    """End the calls whose replies were read, or retry them; return how many ended.

    Only calls whose state has not changed since they were read are changed. If two workers read
    the same reply after a crash, only one of them stores the result.
    """
    held = _replied_calls(readings)
    readings = [reading for reading in readings if reading.call.pk in held]
    if not readings:
        return 0
    good = [reading for reading in readings if not reading.reading.reason]
    # Copies, because a retry after a failed transaction needs the original counters.
    rest = [
        CallReading(copy(reading.call), reading.reading)
        for reading in readings
        if reading.reading.reason
    ]
    for success in good:
        success.call.state, success.call.finished_at = Call.State.DONE, gate.now
        success.call.reason = ""
    given_up = [failure for failure in rest if _ask_again(run, failure, gate) is Next.GIVE_UP]
    _save(good, rest)
    ended = [*good, *given_up]
    kind_of(run).store(
        run, [EndedCall(result.call, result.call.fence, result.reading) for result in ended]
    )
    return len(ended)


def _replied_calls(readings: Sequence[CallReading]) -> set[int]:
    wanted = {reading.call.pk: reading.call.fence for reading in readings}
    rows = (
        Call.objects.select_for_update()
        .filter(pk__in=wanted, state=Call.State.REPLIED)
        .order_by("pk")
        .values_list("pk", "fence")
    )
    return {pk for pk, fence in rows if wanted[pk] == fence}


def _ask_again(run: Run, failure: CallReading, gate: OpenGate) -> Next:
    call, reading = failure.call, failure.reading
    step = after_unusable_reply(
        format_tries=call.format_tries,
        is_refusal=reading.is_refusal,
        is_truncated=reading.is_truncated,
        is_repeatable=is_repeatable(run.params),
    )
    call.format_tries += 1
    if step.next is Next.AGAIN and reading.is_truncated:
        _raise_limit(run, call)
    move(run, call, step, gate, reason=reading.reason)
    return step.next


def _raise_limit(run: Run, call: Call) -> None:
    """Double the token limit for the retry, and reserve money for it."""
    call.token_limit = doubled_limit(run, call)
    call.reserve_micro += cost_micro(0, call.token_limit // 2, **gates.prices_of(run))


def _save(good: Sequence[CallReading], rest: Sequence[CallReading]) -> None:
    if good:
        first = good[0].call
        Call.objects.filter(pk__in=[success.call.pk for success in good]).update(
            state=Call.State.DONE, finished_at=first.finished_at, reason=""
        )
        Reply.objects.filter(
            pk__in=[success.call.reply_id for success in good], is_reusable=False
        ).update(is_reusable=True)
    if rest:
        write_each((failure.call for failure in rest), CHANGED)
        for reason in {failure.reading.reason for failure in rest}:
            calls = [failure.call for failure in rest if failure.reading.reason == reason]
            Attempt.objects.filter(call__in=calls, fence=F("call__fence")).update(
                unusable=reason[:20]
            )
