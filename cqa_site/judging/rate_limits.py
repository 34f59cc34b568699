"""Rate limits and retries: the number of requests in flight, and the step after a failed call."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from .chat import Failure

# Limit of requests in flight per endpoint: additive increase, multiplicative decrease
#
# The state is a plain value that all workers share through the database; every function takes
# a state and returns a new one. Time is in seconds on the database's clock.
#
# The limit doubles after every ``limit`` successes until the first refusal (slow start), and then
# grows by one after every `SUCCESSES_PER_STEP`. During slow start, a refusal undoes the last
# doubling; later it reduces the limit by an eighth. Refusals of requests that were sent before the
# last decrease add no information, so each request records the ``epoch`` in which it was sent.
# After a decrease, the limit stays unchanged for `REST` seconds, because an immediate increase
# would exceed the capacity again.
#
# A refusal among many successes does not show overload, because some providers refuse a few
# requests at any load. While the recent share of refusals is at most `LONE_SHARE`, only the
# refused call waits, and the last increase is undone. Above it, the gate closes for all calls for
# as long as the endpoint asks. After a doubling the gate stays open, because the endpoint answered
# the smaller number of requests.

START = 16
SUCCESSES_PER_STEP = 20
REST = 20.0
# Weight of the newest outcome in the recent share of refusals, an exponential mean over about ten.
MEMORY = 0.1
LONE_SHARE = 0.3
BREAK_AFTER = 5
BREAK_SECONDS = 60.0
LONGEST_WAIT = 900.0


class RequestOutcome(StrEnum):
    SUCCESS = "success"
    THROTTLED = "throttled"
    BROKEN = "broken"  # 5xx, connection, timeout: a sign of poor health rather than load


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
        Counter that increases with every decrease of the limit.
    successes
        Number of successes since the limit last changed.
    failures
        Number of consecutive broken requests.
    refusals
        Number of consecutive closings of the gate, which sets the waiting time if the endpoint
        gives none.
    refused_share
        Recent share of refusals among the successes and refusals of this epoch, 0 to 1.
    has_grown
        Whether the limit has grown since it was last reduced.
    open_until
        Time before which no request may be sent.
    rests_until
        Time before which the limit does not grow.
    requests_left, tokens_left, refilled_at
        Buckets of the optional per-minute limits; None if there is no such limit.
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
    """Return the state after one request that was sent in ``epoch`` has finished."""
    if outcome is RequestOutcome.SUCCESS:
        return _after_success(gate, now, epoch, ceiling)
    if outcome is RequestOutcome.THROTTLED:
        return _after_refusal(gate, now, epoch, retry_after)
    return _after_breakage(gate, now, epoch, break_seconds)


def room(gate: GateState, *, in_flight: int, ceiling: int, now: float) -> int:
    """Return the number of requests that may still be sent now."""
    if now < gate.open_until:
        return 0
    return max(0, min(gate.limit, ceiling) - in_flight)


def refill(
    gate: GateState, *, now: float, per_minute: int | None, tokens: int | None
) -> GateState:
    """Refill the buckets of the per-minute limits up to ``now``; None means unlimited."""
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
    # A bucket holds ten seconds' worth, so that no minute goes far above its limit.
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
    # The last increase may have exceeded the capacity: undo it, and try again after a pause.
    return replace(gate, limit=gate.limit - 1, has_grown=False, rests_until=now + REST)


def _after_breakage(gate: GateState, now: float, epoch: int, seconds: float) -> GateState:
    if epoch < gate.epoch:
        return gate
    failures = gate.failures + 1
    if failures < BREAK_AFTER:
        return replace(gate, failures=failures)
    # The breaker stops all calls, then a single request tests whether the endpoint works again.
    return replace(
        gate,
        limit=1,
        is_slow_start=True,
        epoch=gate.epoch + 1,
        successes=0,
        failures=0,
        open_until=now + seconds,
    )


# Next step of a call after a request without a usable result
#
# Retries are decided only here; the SDK's own retries are off. A *try* is a request that reached
# or may have reached the model. A rate-limited request does not count as a try, and the death of a
# worker counts as a *loss*.

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
        Whether to try again, give up, or pause the whole run and keep the call for later.
    delay
        Seconds until the call is due again.
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
        Reason why there was no reply.
    tries, throttles
        Counters of the call before this request.
    retry_after
        Wait that the endpoint asked for, in seconds.
    is_paid
        Whether the error came with a choice. Such a call is retried no more often than a call
        that exceeds the deadline.
    """
    if failure in PAUSING:
        return GateStep(Next.PAUSE_RUN, counts_as_try=False)
    if failure is Failure.THROTTLED:
        if throttles + 1 >= MAX_THROTTLES:
            return GateStep(Next.GIVE_UP, counts_as_try=False, counts_as_throttle=True)
        # The gate decides whether other calls wait; this call waits in any case.
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

    Allow at most two new tries: none after a refusal, and one if the same request gets the same
    reply (temperature 0). Also allow only one after a truncated reply; the engine then doubles the
    token limit, because the same limit would cut the reply at the same position.
    """
    most = 1 if is_refusal else 2 if is_truncated or is_repeatable else MAX_FORMAT_TRIES
    return GateStep(Next.AGAIN) if format_tries + 1 < most else GateStep(Next.GIVE_UP)


def most_paid(*, is_repeatable: bool) -> tuple[int, int]:
    """Return the maximum number of paid requests for a call, and the total of their token limits.

    The number counts paid failures and replies without a value; the total is in units of the first
    limit, which doubles after a truncated reply. Workers that die are not taken into account.

    Examples
    --------
    >>> most_paid(is_repeatable=True), most_paid(is_repeatable=False)
    ((5, 7), (6, 9))
    """
    replies = 2 if is_repeatable else MAX_FORMAT_TRIES
    failures = MAX_TIMEOUTS - 1
    # The first reply is cut; all later requests except one failure have twice its limit.
    return failures + replies, 1 + 2 * (failures - 1 + replies - 1)


def is_repeatable(params: Mapping[str, Any]) -> bool:
    """Return whether repeating the request returns the same reply."""
    return params.get("temperature") == 0


def backoff(tries: int) -> float:
    """Return the wait before try ``tries`` + 1: 2 s, doubled per try, times a random factor."""
    # A factor of 0.5 to 1; jitter needs no cryptographic randomness.
    return min(LONGEST_BACKOFF, 2.0 * 2.0 ** (tries - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
