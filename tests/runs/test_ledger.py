"""The turns of the ledger, one at a time: claims, fences, what was lost, and what they cost."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.judges.models import JudgeLabel
from cqa_site.judging.chat import ChatReply, Failure
from cqa_site.judging.endpoints import cost_micro
from cqa_site.runs import jobs
from cqa_site.runs.actions import runs as control
from cqa_site.runs.carrying import worker
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.ledger.gates import affordable
from cqa_site.runs.ledger.replies import FinishedRequest
from cqa_site.runs.ledger.turns import Turn
from cqa_site.runs.models import Attempt, Budget, Call, Gate, Run
from cqa_site.runs.progress import progress_of
from tests.runs.judging import Lab, good
from tests.runs.turns import A_DAY, change, failures, planned, readings, replies, states, turn
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(partial(Lab, items=40))


@pytest.fixture
def run(lab) -> Run:
    return planned(lab)


@pytest.mark.parametrize("last", [Failure.CONNECTION, Failure.TIMEOUT, Failure.SERVER])
def test_a_pre_flight_that_reaches_nobody_pauses_with_the_reason_and_can_be_resumed(lab, last):
    run = planned(lab, preflight="ask")
    sent = turn(lab).outgoing
    assert len(sent) == 16
    turn(lab, may_claim=False, finished=failures(sent[:15], Failure.CONNECTION))
    run.refresh_from_db()
    # One may still arrive.
    assert run.state == Run.State.CHECKING
    turn(lab, may_claim=False, finished=failures(sent[15:], last))
    run.refresh_from_db()
    if last == Failure.CONNECTION:
        assert (run.state, run.pause_reason) == (Run.State.PAUSED, "connection: no")
        assert states(run) == {"ready": 40}
        control.resume_run(run=run, actor=lab.researcher)
    assert run.state == Run.State.CHECKING


def test_a_closed_gate_says_who_closed_it(lab, run):
    sent = turn(lab).outgoing
    turn(lab, may_claim=False, finished=failures(sent[:6], Failure.CONNECTION))
    found = progress_of(run)
    assert (found.opens_in > 0, found.last_failure) == (True, "connection: no")
    Gate.objects.update(state={})
    turn(lab, may_claim=False, finished=failures(sent[6:], Failure.THROTTLED))
    found = progress_of(run)
    assert (found.opens_in > 0, found.last_failure) == (True, "")


def test_calls_are_claimed_in_their_order_as_far_as_the_gate_allows(lab, run):
    first = turn(lab)
    assert [one.call.position for one in first.outgoing] == list(range(16))
    assert turn(lab, "b").outgoing == []
    second = turn(lab, finished=replies(first.outgoing[:5]))
    assert [one.call.position for one in second.outgoing] == list(range(16, 21))


def test_no_more_leave_than_worker_run_and_endpoint_take(lab, run):
    assert len(turn(lab, room=3).outgoing) == 3
    Run.objects.filter(pk=run.pk).update(ceiling=5)
    assert len(turn(lab, "b").outgoing) == 2
    Run.objects.filter(pk=run.pk).update(ceiling=None)
    lab.endpoint.max_in_flight = 8
    assert len(turn(lab, "c").outgoing) == 3


def test_two_runs_share_the_room(lab, run):
    other = planned(lab, seed=2, replicates=1)
    sent = turn(lab, room=10).outgoing
    assert sorted(one.run.pk for one in sent) == [run.pk] * 5 + [other.pk] * 5


def test_two_workers_share_the_room(lab, run):
    """The one that came first gives room as its calls come back, and takes no more than half."""
    first = turn(lab).outgoing
    assert len(first) == 16
    assert turn(lab, "b").outgoing == []
    on_the_way = {one.call.pk for one in first[8:]}
    again = turn(lab, finished=replies(first[:8]), on_the_way=on_the_way)
    assert again.outgoing == []
    assert len(turn(lab, "b").outgoing) == 8


def test_a_claim_writes_fence_lease_and_attempt_before_anything_leaves(lab, run):
    sent = turn(lab).outgoing
    for one in sent:
        call = Call.objects.get(pk=one.call.pk)
        assert (call.state, call.fence, call.leased_by) == ("leased", 1, "a")
        seconds = (call.lease_until - timezone.now()).total_seconds()
        assert 25 < seconds <= 30
        assert call.attempts.get().outcome == "open"
    run.budget.refresh_from_db()
    assert run.budget.reserved_micro == sum(one.call.reserve_micro for one in sent) > 0
    assert list(find_violations()) == []


def test_only_a_plausible_waiting_time_is_waited_for(lab, run):
    """More than twice the longest wait ahead is no wait, but a clock that jumped."""
    run.calls.update(run_after=timezone.now() + timedelta(minutes=10))
    assert turn(lab).outgoing == []
    run.calls.update(run_after=timezone.now() + A_DAY)
    assert len(turn(lab).outgoing) == 16


def test_a_late_failure_costs_the_call_no_try(lab, run):
    sent = turn(lab).outgoing
    change(sent, lease_until=timezone.now() - A_DAY)
    turn(lab, "b", does_reap=True)
    turn(lab, "a", finished=failures(sent, Failure.SERVER))
    assert set(run.calls.values_list("tries", flat=True)) == {0}
    assert list(find_violations()) == []


def test_a_reply_read_twice_is_stored_once(lab, run):
    """A worker dies after storing a reply; two others read it at the same time."""
    stored = turn(lab, finished=replies(turn(lab, room=4).outgoing), may_claim=False)
    assert turn(lab, "b", read=readings(stored), may_claim=False).ended == 4
    assert turn(lab, "c", read=readings(stored), may_claim=False).ended == 0
    assert JudgeLabel.objects.count() == 4


@pytest.mark.parametrize("moved", [-timedelta(seconds=1), -A_DAY, A_DAY])
def test_a_lease_that_ran_out_or_cannot_be_is_taken_back(lab, run, moved):
    sent = turn(lab).outgoing
    change(sent, lease_until=timezone.now() + moved)
    turn(lab, "b", does_reap=True, may_claim=False)
    assert states(run) == {"ready": 40}
    assert set(run.calls.filter(fence=1).values_list("losses", "tries")) == {(1, 0)}
    assert Attempt.objects.filter(outcome="lost", cost_micro=F("reserve_micro")).count() == 16
    run.budget.refresh_from_db()
    assert run.budget.reserved_micro == 0
    assert run.budget.spent_micro == sum(one.call.reserve_micro for one in sent)
    assert list(find_violations()) == []


def test_who_is_late_but_alive_keeps_what_is_on_its_way(lab, run):
    sent = turn(lab).outgoing
    change(sent, lease_until=timezone.now() - A_DAY)
    # The last two were claimed by a commit whose answer never came: nobody carries them.
    carried = {one.call.pk for one in sent[:-2]}
    turn(lab, does_reap=True, on_the_way=carried, may_claim=False)
    assert set(run.calls.filter(state="leased").values_list("pk", flat=True)) == carried
    assert states(run) == {"leased": 14, "ready": 26}


def test_replies_nobody_read_are_read_later_even_if_the_run_was_cancelled(lab, run):
    sent = turn(lab, room=8).outgoing
    turn(lab, finished=replies(sent), may_claim=False)
    control.cancel_run(run=run, actor=lab.researcher)
    assert not turn(lab, "b", does_reap=True).is_idle
    Attempt.objects.filter(outcome="replied").update(closed_at=timezone.now() - A_DAY)
    found = turn(lab, "b", does_reap=True)
    assert turn(lab, "b", read=readings(found), does_reap=True).is_idle
    assert states(run) == {"done": 8, "cancelled": 32}
    assert list(find_violations()) == []


def test_a_drain_waits_for_what_others_carry_in_a_paused_run(lab, run):
    sent = turn(lab).outgoing
    control.pause_run(run=run, actor=lab.researcher)
    assert not turn(lab, "b", does_reap=True).is_idle
    change(sent, lease_until=timezone.now() - A_DAY)
    assert turn(lab, "b", does_reap=True).is_idle
    assert states(run) == {"ready": 40}


def test_calls_often_lost_are_asked_after_the_others_and_apart(lab, run):
    """One of them may be what kills: it must not take the others with it."""
    calls = list(run.calls.order_by("position"))
    run.calls.filter(position__lt=30).update(losses=2)
    run.calls.filter(position__in=(28, 29)).update(losses=3)
    ordinary = turn(lab).outgoing
    assert [one.call.position for one in ordinary] == list(range(30, 40))
    assert turn(lab).outgoing == []
    apart = turn(lab, finished=replies(ordinary)).outgoing
    assert [one.call.pk for one in apart] == [call.pk for call in calls[:4]]
    assert turn(lab).outgoing == []
    run.calls.filter(state="ready", losses=2).update(losses=3)
    alone = turn(lab, finished=replies(apart)).outgoing
    assert [one.call.pk for one in alone] == [calls[4].pk]


def test_a_call_whose_workers_died_four_times_is_given_up(lab, run):
    sent = turn(lab, room=2).outgoing
    change(sent, lease_until=timezone.now() - A_DAY, losses=2)
    change(sent[:1], losses=3)
    turn(lab, "b", does_reap=True, may_claim=False)
    assert states(run) == {"ready": 39, "unscored": 1}
    assert JudgeLabel.objects.get().reason == "poison"
    assert list(find_violations()) == []


def test_a_cost_is_rounded_up_to_whole_millionths_and_a_budget_spent_to_its_end():
    prices = {"price_in": Decimal("0.15"), "price_out": Decimal("0.60")}
    costs = {(0, 0): 0, (1, 0): 1, (1, 1): 1, (10, 0): 2, (1_000_000, 1_000_000): 750_000}
    assert {tokens: cost_micro(*tokens, **prices) for tokens in costs} == costs
    budget = Budget(cap_micro=30, spent_micro=10, reserved_micro=0)
    assert affordable([budget], [10, 10, 10]) == 2


def test_books_balance_over_replies_failures_and_losses(lab, run):
    sent = turn(lab).outgoing
    failed = failures(sent[4:6], Failure.SERVER) + failures(sent[6:8], Failure.TIMEOUT)
    after = turn(lab, finished=replies(sent[:4]) + failed, may_claim=False)
    change(sent[8:], lease_until=timezone.now() - A_DAY)
    turn(lab, "b", read=readings(after), does_reap=True, may_claim=False)
    run.budget.refresh_from_db()
    each = cost_micro(100, 10, price_in=Decimal(1), price_out=Decimal(2))
    unknown = sum(one.call.reserve_micro for one in sent[6:])
    assert (run.budget.spent_micro, run.budget.reserved_micro) == (4 * each + unknown, 0)
    assert list(find_violations()) == []


def test_a_cap_for_three_calls_lets_three_leave_and_pauses_after_them(lab):
    run = planned(lab, cap_micro=10**9)
    most = run.calls.order_by("position").first().reserve_micro
    control.set_cap(run=run, actor=lab.researcher, cap_micro=3 * most + most // 2)
    sent = turn(lab).outgoing
    assert len(sent) == 3
    assert turn(lab, "b").outgoing == []
    run.refresh_from_db()
    assert run.state == Run.State.RUNNING
    # Without usage they cost what was reserved.
    full = [FinishedRequest(one, reply=ChatReply(good(), "stop", "m")) for one in sent]
    stored = turn(lab, finished=full)
    assert stored.outgoing == []
    run.refresh_from_db()
    # Whoever sees the pause sees every result that was paid for.
    assert run.state == Run.State.RUNNING
    assert turn(lab, read=readings(stored)).ended == 3
    run.refresh_from_db()
    assert (run.state, run.pause_reason) == (Run.State.PAUSED, "budget")
    assert list(find_violations()) == []


def queries(lab: Lab, **values) -> tuple[int, Turn]:
    with CaptureQueriesContext(connection) as seen:
        after = turn(lab, **values)
    return len(seen), after


def test_the_queries_of_a_turn_do_not_grow_with_its_calls(lab, run):
    """Claim, store, ask again, lose, come late: as many statements for 11 calls as for 2."""
    turn(lab, finished=replies(fresh(lab, 1)), may_claim=False)
    few, many = (queries_of_each_turn(lab, size) for size in (2, 11))
    assert few == many
    assert max(few.values()) <= 20, few


def fresh(lab: Lab, size: int) -> list:
    """Claim calls that were never asked; those asked before have to wait."""
    Call.objects.filter(state="ready", fence__gt=0).update(
        run_after=timezone.now() + timedelta(minutes=10)
    )
    sent = turn(lab, room=size).outgoing
    assert len(sent) == size
    return sent


def queries_of_each_turn(lab: Lab, size: int) -> dict[str, int]:
    """Statements of one turn of each sort with ``size`` calls."""
    found = {}
    sent = fresh(lab, size)
    both = replies(sent[::2]) + replies(sent[1::2], "nothing")
    found["store"], stored = queries(lab, finished=both, may_claim=False)
    found["settle"], _ = queries(lab, read=readings(stored), may_claim=False)
    failed = failures(fresh(lab, size), Failure.GARBAGE)
    found["fail"], _ = queries(lab, finished=failed, may_claim=False)
    Call.objects.filter(state="ready", fence__gt=0).update(
        run_after=timezone.now() + timedelta(minutes=10)
    )
    found["claim"], claimed = queries(lab, room=size)
    change(claimed.outgoing, lease_until=timezone.now() - A_DAY)
    found["reap"], _ = queries(lab, worker="b", does_reap=True, may_claim=False)
    found["late"], _ = queries(lab, finished=replies(claimed.outgoing), may_claim=False)
    return found


def test_a_bell_heard_while_this_process_drains_rings_no_other(lab, run, monkeypatch):
    """Else the second thread of a worker would ring and hear as fast as the broker can."""
    rung = []
    monkeypatch.setattr(jobs, "ring", lambda: rung.append(1))
    with worker.ONE_DRAIN:
        assert worker.drain_runs() == 0
        worker.carry_on()
    assert rung == []
    worker.carry_on()
    assert rung == [1]


def test_endpoints_are_busy_as_long_as_something_is_left_of_their_runs(lab, run):
    other = lab.make_endpoint("Other")
    assert worker.busy_endpoints() == [lab.endpoint]
    turn(lab, room=1)
    control.pause_run(run=run, actor=lab.researcher)
    assert worker.busy_endpoints() == [lab.endpoint]
    Call.objects.filter(state="leased").update(state="ready", lease_until=None)
    assert worker.busy_endpoints() == []
    assert other.pk != lab.endpoint.pk
