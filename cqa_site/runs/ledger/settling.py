"""Settling: what a stored reply means, written in the transaction that ends its call."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from django.db.models import F

from cqa_site.judging.estimating import cost_micro
from cqa_site.judging.transport.retries import Next, after_unusable_reply
from cqa_site.runs.kinds import Ended, Reading, RunKind, kind_of
from cqa_site.runs.models import Attempt, Call, Reply, Run

from . import money
from .claiming import doubled_limit
from .gates import OpenGate
from .storing import CHANGED, move
from .writing import write_each


@dataclass(frozen=True, slots=True)
class Read:
    """A call whose stored reply was read."""

    call: Call
    reading: Reading


def read(run: Run, calls: Sequence[Call]) -> list[Read]:
    """Read stored replies; a reply that breaks the parser is unusable, never fatal."""
    kind = kind_of(run)
    return [Read(call, _read_one(kind, run, call)) for call in calls]


def _read_one(kind: RunKind, run: Run, call: Call) -> Reading:
    try:
        if call.reply is None:
            raise ValueError("nothing is stored")
        return kind.read(run, call, call.reply)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        return Reading(reason=f"parser_{type(error).__name__.lower()}"[:20])


def settle(run: Run, gate: OpenGate, readings: Sequence[Read]) -> int:
    """End the calls whose replies were read, or ask again; return how many ended.

    Only calls that are still in the state in which they were read change: when two workers
    read the same reply after a crash, one of them writes.
    """
    held = _held(readings)
    readings = [one for one in readings if one.call.pk in held]
    if not readings:
        return 0
    good = [one for one in readings if not one.reading.reason]
    # Copies: if this transaction fails, the turn is tried again from the same counters.
    rest = [Read(copy(one.call), one.reading) for one in readings if one.reading.reason]
    for one in good:
        one.call.state, one.call.finished_at = Call.State.DONE, gate.now
        one.call.reason = ""
    given_up = [one for one in rest if _ask_again(run, one, gate) is Next.GIVE_UP]
    _save(good, rest)
    ended = [*good, *given_up]
    kind_of(run).store(run, [Ended(one.call, one.call.fence, one.reading) for one in ended])
    return len(ended)


def _held(readings: Sequence[Read]) -> set[int]:
    wanted = {one.call.pk: one.call.fence for one in readings}
    rows = (
        Call.objects.select_for_update()
        .filter(pk__in=wanted, state=Call.State.REPLIED)
        .order_by("pk")
        .values_list("pk", "fence")
    )
    return {pk for pk, fence in rows if wanted[pk] == fence}


def _ask_again(run: Run, one: Read, gate: OpenGate) -> Next:
    call, reading = one.call, one.reading
    step = after_unusable_reply(
        format_tries=call.format_tries,
        is_refusal=reading.is_refusal,
        is_truncated=reading.is_truncated,
    )
    call.format_tries += 1
    if step.next is Next.AGAIN and reading.is_truncated:
        _raise_limit(run, call)
    move(run, call, step, gate, reason=reading.reason)
    return step.next


def _raise_limit(run: Run, call: Call) -> None:
    """Twice the token limit for the new try, and the money to go with it."""
    call.token_limit = doubled_limit(run, call)
    call.reserve_micro += cost_micro(0, call.token_limit // 2, **money.prices_of(run))


def _save(good: Sequence[Read], rest: Sequence[Read]) -> None:
    if good:
        first = good[0].call
        Call.objects.filter(pk__in=[one.call.pk for one in good]).update(
            state=Call.State.DONE, finished_at=first.finished_at, reason=""
        )
        Reply.objects.filter(pk__in=[one.call.reply_id for one in good], is_reusable=False).update(
            is_reusable=True
        )
    if rest:
        write_each((one.call for one in rest), CHANGED)
        for reason in {one.reading.reason for one in rest}:
            calls = [one.call for one in rest if one.reading.reason == reason]
            Attempt.objects.filter(call__in=calls, fence=F("call__fence")).update(
                unusable=reason[:20]
            )
