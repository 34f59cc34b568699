"""Rate limits and retries: requests in flight, and the step after a failed call."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from .chat import Failure

# How many requests an endpoint may have in flight: additive increase, multiplicative decrease.
#
# The state is a plain value that all workers share through the database; every function takes
# a state and returns a new one. Time is seconds on the database's clock.
#
# The limit doubles once for every ``limit`` successes until the first refusal (slow start), then
# grows by one for every `SUCCESSES_PER_STEP`. A refusal takes the last doubling back during slow
# start, and an eighth off later. Refusals of requests sent before the last decrease say nothing
# new, so each request carries the ``epoch`` it was sent in. After a decrease the limit rests for
# `REST` seconds: probing again at once would meet the same wall.
#
# A refusal among many successes is no wall: some providers refuse a few requests whatever the
# load. While the recent share of refusals is at most `LONE_SHARE`, only the refused call
# waits, and the limit gives back the last step it grew. Beyond it the gate closes for
# everybody, for as long as the endpoint asks; only after a doubling it stays open, because what
# was in flight before it had been answered.

START = 16
SUCCESSES_PER_STEP = 20
REST = 20.0
# Recent share of refusals: an exponential mean over about ten outcomes.
MEMORY = 0.1
LONE_SHARE = 0.3
BREAK_AFTER = 5
BREAK_SECONDS = 60.0
LONGEST_WAIT = 900.0


class RequestOutcome(StrEnum):
    SUCCESS = "success"
    THROTTLED = "throttled"
    BROKEN = "broken"  # 5xx, connection, timeout: says nothing about load, much about health


@dataclass(frozen=True, slots=True)
class GateState:
    """State of one endpoint's gate.

    Parameters
    ----------
    limit
        Requests allowed in flight now, at least 1.
    is_slow_start
        Whether the limit still doubles.
    epoch
        Increased with every decrease.
    successes
        Successes since the limit last changed.
    failures
        Broken requests in a row.
    refusals
        Times the gate closed in a row, for the waiting time where the endpoint names none.
    refused_share
        Recent share of refusals among successes and refusals of this epoch, 0 to 1.
    has_grown
        Whether the limit grew since it was last taken back.
    open_until
        No request may leave before this time.
    rests_until
        The limit does not grow before this time.
    requests_left, tokens_left, refilled_at
        Buckets of the optional limits per minute; None while unused.
    """

    limit: int = START
    is_slow_start: bool = True
    epoch: int = 0
    successes: int = 0
    failures: int = 0
    refusals: int = 0
    refused_share: float = 0.0
    has_grown: bool = False
    open_until: float = 0.0
    rests_until: float = 0.0
    requests_left: float | None = None
    tokens_left: float | None = None
    refilled_at: float = 0.0

    @property
    def is_down(self) -> bool:
        """Whether the breaker closed the gate; only the breaker restarts slow start."""
        return self.is_slow_start


def after(
    gate: GateState,
    outcome: RequestOutcome,
    *,
    now: float,
    epoch: int,
    ceiling: int,
    retry_after: float | None = None,
    break_seconds: float = BREAK_SECONDS,
) -> GateState:
    """Return the state after one finished request that was sent in ``epoch``."""
    if outcome is RequestOutcome.SUCCESS:
        return _after_success(gate, now, epoch, ceiling)
    if outcome is RequestOutcome.THROTTLED:
        return _after_refusal(gate, now, epoch, retry_after)
    return _after_breakage(gate, now, epoch, break_seconds)


def room(gate: GateState, *, in_flight: int, ceiling: int, now: float) -> int:
    """Return how many more requests may be sent now."""
    if now < gate.open_until:
        return 0
    return max(0, min(gate.limit, ceiling) - in_flight)


def refill(
    gate: GateState, *, now: float, per_minute: int | None, tokens: int | None
) -> GateState:
    """Refill the buckets of the per-minute limits up to ``now``; None means no such limit."""
    passed = max(0.0, min(60.0, now - gate.refilled_at))
    return replace(
        gate,
        requests_left=_filled(gate.requests_left, per_minute, passed),
        tokens_left=_filled(gate.tokens_left, tokens, passed),
        refilled_at=now,
    )


def spend(gate: GateState, *, requests: int, tokens: int) -> GateState:
    """Subtract sent requests and tokens from the buckets."""
    return replace(
        gate,
        requests_left=None if gate.requests_left is None else gate.requests_left - requests,
        tokens_left=None if gate.tokens_left is None else gate.tokens_left - tokens,
    )


def _filled(left: float | None, per_minute: int | None, passed: float) -> float | None:
    if per_minute is None:
        return None
    # A bucket holds ten seconds' worth, so that a minute never sees much more than its limit.
    size = max(1.0, per_minute / 6)
    return min(size, (size if left is None else left) + per_minute * passed / 60)


def _after_success(gate: GateState, now: float, epoch: int, ceiling: int) -> GateState:
    share = gate.refused_share * (1 - MEMORY) if epoch == gate.epoch else gate.refused_share
    gate = replace(gate, successes=gate.successes + 1, failures=0, refusals=0, refused_share=share)
    if gate.limit >= ceiling or now < gate.rests_until:
        return gate
    if gate.is_slow_start and gate.successes >= gate.limit:
        return replace(gate, limit=min(ceiling, gate.limit * 2), successes=0, has_grown=True)
    if not gate.is_slow_start and gate.successes >= SUCCESSES_PER_STEP:
        return replace(gate, limit=gate.limit + 1, successes=0, has_grown=True)
    return gate


def _after_refusal(
    gate: GateState, now: float, epoch: int, retry_after: float | None
) -> GateState:
    if epoch < gate.epoch:
        return gate
    share = gate.refused_share * (1 - MEMORY) + MEMORY
    if share <= LONE_SHARE and gate.limit > 1:
        return _after_lone_refusal(gate, now, share)
    gate = replace(gate, epoch=gate.epoch + 1, successes=0, refused_share=0.0)
    if gate.is_slow_start and gate.has_grown:
        return replace(
            gate,
            limit=gate.limit // 2,
            is_slow_start=False,
            has_grown=False,
            rests_until=now + REST,
        )
    refusals = gate.refusals + 1
    wait = min(LONGEST_WAIT, 2.0 ** min(refusals, 9) if retry_after is None else retry_after)
    smaller = gate.limit // 2 if gate.is_slow_start else gate.limit * 7 // 8
    return replace(
        gate,
        limit=max(1, smaller),
        is_slow_start=False,
        refusals=refusals,
        has_grown=False,
        open_until=max(gate.open_until, now + wait),
        rests_until=now + wait + REST,
    )


def _after_lone_refusal(gate: GateState, now: float, share: float) -> GateState:
    gate = replace(gate, refused_share=share)
    if gate.is_slow_start or not gate.has_grown:
        return gate
    # Perhaps the last step met the wall: take it back, and try it again after a rest.
    return replace(gate, limit=gate.limit - 1, has_grown=False, rests_until=now + REST)


def _after_breakage(gate: GateState, now: float, epoch: int, seconds: float) -> GateState:
    if epoch < gate.epoch:
        return gate
    failures = gate.failures + 1
    if failures < BREAK_AFTER:
        return replace(gate, failures=failures)
    # The breaker: everybody waits, then a single request finds out whether it is over.
    return replace(
        gate,
        limit=1,
        is_slow_start=True,
        epoch=gate.epoch + 1,
        successes=0,
        failures=0,
        open_until=now + seconds,
    )


# What becomes of a call after a request that brought no usable result.
#
# One table, one layer: the SDK's own retries are off. A *try* is a request that reached the
# model or may have; being told to wait is none, and a worker's death is a *loss*.

MAX_TRIES = 8
MAX_TIMEOUTS = 4
MAX_THROTTLES = 100
MAX_LOSSES = 3
MAX_FORMAT_TRIES = 3
LONGEST_BACKOFF = 300.0


class Next(StrEnum):
    AGAIN = "again"
    GIVE_UP = "give_up"
    PAUSE_RUN = "pause_run"


@dataclass(frozen=True, slots=True)
class GateStep:
    """Decision about one call.

    Parameters
    ----------
    next
        Try again, give up, or pause the whole run and keep the call for later.
    delay
        Seconds until it is due again.
    counts_as_try, counts_as_throttle
        Amounts added to the call's counters.
    """

    next: Next
    delay: float = 0.0
    counts_as_try: bool = True
    counts_as_throttle: bool = False


PAUSING = {
    Failure.QUOTA, Failure.DENIED, Failure.KEY, Failure.BLOCKED, Failure.CERTIFICATE,
    Failure.PARAMETER,
}  # fmt: skip


def after_failure(
    failure: Failure,
    *,
    tries: int,
    throttles: int,
    retry_after: float | None = None,
    is_paid: bool = False,
) -> GateStep:
    """Decide the next step after a failed request.

    Parameters
    ----------
    failure
        Why there was no reply.
    tries, throttles
        Counters of the call before this request.
    retry_after
        Seconds the endpoint asked for.
    is_paid
        Whether the error came with a choice; such a call is retried no more often than one that
        exceeds the deadline.
    """
    if failure in PAUSING:
        return GateStep(Next.PAUSE_RUN, counts_as_try=False)
    if failure is Failure.THROTTLED:
        if throttles + 1 >= MAX_THROTTLES:
            return GateStep(Next.GIVE_UP, counts_as_try=False, counts_as_throttle=True)
        # Whether everybody has to wait is the gate's affair; this call does in any case.
        wait = backoff(min(throttles + 1, 6)) if retry_after is None else retry_after
        return GateStep(Next.AGAIN, wait, counts_as_try=False, counts_as_throttle=True)
    if failure is Failure.REQUEST:
        return GateStep(Next.GIVE_UP)
    most = MAX_TIMEOUTS if is_paid or failure is Failure.TIMEOUT else MAX_TRIES
    if failure in (Failure.GARBAGE, Failure.TOO_LARGE):
        most = MAX_FORMAT_TRIES
    if tries + 1 >= most:
        return GateStep(Next.GIVE_UP)
    if failure in (Failure.GARBAGE, Failure.TOO_LARGE):
        return GateStep(Next.AGAIN)
    return GateStep(Next.AGAIN, max(backoff(tries + 1), retry_after or 0.0))


def after_unusable_reply(
    *, format_tries: int, is_refusal: bool, is_truncated: bool, is_repeatable: bool = False
) -> GateStep:
    """Decide the next step after a reply without a usable value.

    Allow at most two new tries, none after a refusal.

    One new try where the same request gets the same reply (temperature 0).
    A truncated reply is asked for once more (the engine doubles the token limit), because
    the same limit would cut it at the same place.
    """
    most = 1 if is_refusal else 2 if is_truncated or is_repeatable else MAX_FORMAT_TRIES
    return GateStep(Next.AGAIN) if format_tries + 1 < most else GateStep(Next.GIVE_UP)


def most_paid(*, is_repeatable: bool) -> tuple[int, int]:
    """Return how many requests one call can pay for, and the token limits they add up to.

    Failures that are paid for and replies without a value count together towards the first; a cut
    reply doubles the limit of what follows it. A worker that dies is not reckoned with.

    Examples
    --------
    >>> most_paid(is_repeatable=True), most_paid(is_repeatable=False)
    ((5, 7), (6, 9))
    """
    replies = 2 if is_repeatable else MAX_FORMAT_TRIES
    failures = MAX_TIMEOUTS - 1
    # The first reply is cut; what follows, but one failure, goes with twice its limit.
    return failures + replies, 1 + 2 * (failures - 1 + replies - 1)


def is_repeatable(params: Mapping[str, Any]) -> bool:
    """Whether repeating the request returns the same reply."""
    return params.get("temperature") == 0


def backoff(tries: int) -> float:
    """Return the seconds before try ``tries`` + 1: doubling from 2 s, times 0.5 to 1 at random."""
    # Jitter needs no cryptographic randomness.
    return min(LONGEST_BACKOFF, 2.0 * 2.0 ** (tries - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
