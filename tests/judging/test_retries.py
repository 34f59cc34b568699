"""What becomes of a call after a request without a usable result."""

import pytest

from cqa_site.judging.chat import Failure
from cqa_site.judging.transport import retries
from cqa_site.judging.transport.retries import Next, after_failure, after_unusable_reply, backoff


def tries_until_given_up(failure: Failure, most: int = 200) -> int:
    """How many requests a call makes if each fails in the same way."""
    tries = throttles = 0
    for count in range(1, most + 1):
        step = after_failure(failure, tries=tries, throttles=throttles)
        if step.next is Next.GIVE_UP:
            return count
        tries += step.counts_as_try
        throttles += step.counts_as_throttle
    return most + 1


@pytest.mark.parametrize(
    ("failure", "count"),
    [
        (Failure.REQUEST, 1),
        (Failure.GARBAGE, 3),
        (Failure.TOO_LARGE, 3),
        (Failure.TIMEOUT, 4),
        (Failure.SERVER, 8),
        (Failure.CONNECTION, 8),
        (Failure.THROTTLED, 100),
    ],
)
def test_how_often_each_failure_is_tried(failure, count):
    assert tries_until_given_up(failure) == count


@pytest.mark.parametrize(
    "failure",
    [Failure.QUOTA, Failure.DENIED, Failure.KEY, Failure.BLOCKED, Failure.CERTIFICATE],
)
def test_what_a_person_must_mend_pauses_the_run_and_costs_the_call_nothing(failure):
    step = after_failure(failure, tries=7, throttles=99)
    assert (step.next, step.counts_as_try) == (Next.PAUSE_RUN, False)
    assert not step.counts_as_throttle


def test_being_told_to_wait_is_no_try():
    step = after_failure(Failure.THROTTLED, tries=7, throttles=3, retry_after=60.0)
    assert (step.next, step.delay) == (Next.AGAIN, 60.0)
    assert (step.counts_as_try, step.counts_as_throttle) == (False, True)


def test_every_failure_has_a_decision():
    for failure in Failure:
        assert after_failure(failure, tries=0, throttles=0).next in Next


def test_what_the_endpoint_asks_for_is_waited_for():
    step = after_failure(Failure.SERVER, tries=0, throttles=0, retry_after=45.0)
    assert step.delay == 45.0
    assert after_failure(Failure.SERVER, tries=0, throttles=0, retry_after=0.1).delay >= 1.0


def test_garbage_is_asked_again_at_once():
    assert after_failure(Failure.GARBAGE, tries=0, throttles=0).delay == 0.0


@pytest.mark.parametrize(
    ("tries", "longest"), [(1, 2), (2, 4), (3, 8), (6, 64), (9, 300), (60, 300)]
)
def test_backoff_doubles_to_an_end_and_is_spread_over_half_of_it(tries, longest):
    drawn = [backoff(tries) for _ in range(400)]
    assert longest / 2 <= min(drawn) < max(drawn) <= longest
    assert max(drawn) - min(drawn) > longest / 3


def test_the_longest_wait_fits_what_the_ledger_takes_for_a_clock_that_jumped():
    from cqa_site.settings import CALL_LONGEST_WAIT

    assert CALL_LONGEST_WAIT.total_seconds() >= max(retries.LONGEST_BACKOFF, 900.0)


@pytest.mark.parametrize(
    ("is_refusal", "is_truncated", "requests"),
    [(False, False, 3), (False, True, 2), (True, False, 1), (True, True, 1)],
)
def test_how_often_an_unusable_reply_is_asked_for(is_refusal, is_truncated, requests):
    count = 0
    while True:
        step = after_unusable_reply(
            format_tries=count, is_refusal=is_refusal, is_truncated=is_truncated
        )
        count += 1
        if step.next is Next.GIVE_UP:
            break
        assert step.delay == 0.0
    assert count == requests
