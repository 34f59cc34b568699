"""What becomes of a call after a request that brought no usable result.

One table, one layer: the SDK's own retries are off. A *try* is a request that reached the
model or may have; being told to wait is none, and a worker's death is a *loss*.
"""

import random
from dataclasses import dataclass
from enum import StrEnum

from ..chat import Failure

MAX_TRIES = 8
MAX_TIMEOUTS = 4
MAX_THROTTLES = 100
MAX_LOSSES = 3
MAX_FORMAT_TRIES = 3
LONGEST_BACKOFF = 300.0


class Next(StrEnum):
    """Where a call goes."""

    AGAIN = "again"
    GIVE_UP = "give_up"
    PAUSE_RUN = "pause_run"


@dataclass(frozen=True, slots=True)
class Step:
    """Decision about one call.

    Parameters
    ----------
    next
        Try again, give up, or pause the whole run and keep the call for later.
    delay
        Seconds until it is due again.
    counts_as_try, counts_as_throttle
        What is added to the call's counters.
    """

    next: Next
    delay: float = 0.0
    counts_as_try: bool = True
    counts_as_throttle: bool = False


PAUSING = {
    Failure.QUOTA,
    Failure.DENIED,
    Failure.KEY,
    Failure.BLOCKED,
    Failure.CERTIFICATE,
    Failure.PARAMETER,
}


def after_failure(
    failure: Failure, *, tries: int, throttles: int, retry_after: float | None = None
) -> Step:
    """Decide after a failed request.

    Parameters
    ----------
    failure
        Why there was no reply.
    tries, throttles
        Counters of the call before this request.
    retry_after
        Seconds the endpoint asked for.
    """
    if failure in PAUSING:
        return Step(Next.PAUSE_RUN, counts_as_try=False)
    if failure is Failure.THROTTLED:
        if throttles + 1 >= MAX_THROTTLES:
            return Step(Next.GIVE_UP, counts_as_try=False, counts_as_throttle=True)
        # Whether everybody has to wait is the gate's affair; this call does in any case.
        wait = backoff(min(throttles + 1, 6)) if retry_after is None else retry_after
        return Step(Next.AGAIN, wait, counts_as_try=False, counts_as_throttle=True)
    if failure is Failure.REQUEST:
        return Step(Next.GIVE_UP)
    most = MAX_TIMEOUTS if failure is Failure.TIMEOUT else MAX_TRIES
    if failure in (Failure.GARBAGE, Failure.TOO_LARGE):
        most = MAX_FORMAT_TRIES
    if tries + 1 >= most:
        return Step(Next.GIVE_UP)
    if failure in (Failure.GARBAGE, Failure.TOO_LARGE):
        return Step(Next.AGAIN)
    return Step(Next.AGAIN, max(backoff(tries + 1), retry_after or 0.0))


def after_unusable_reply(*, format_tries: int, is_refusal: bool, is_truncated: bool) -> Step:
    """Decide after a reply without a usable value: at most two new tries, none after a refusal.

    A truncated reply is asked for once more (the engine doubles the token limit), because
    the same limit would cut it at the same place.
    """
    most = 1 if is_refusal else 2 if is_truncated else MAX_FORMAT_TRIES
    return Step(Next.AGAIN) if format_tries + 1 < most else Step(Next.GIVE_UP)


def backoff(tries: int) -> float:
    """Seconds before try ``tries`` + 1: doubling from 2 s, between half and all of it."""
    # Jitter needs no cryptographic randomness.
    return min(LONGEST_BACKOFF, 2.0 * 2.0 ** (tries - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
