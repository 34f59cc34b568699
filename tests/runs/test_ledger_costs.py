"""What the ledger's turns cost: money, statements, and when a drain is called for."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from cqa_site.judging.chat import ChatReply, Failure
from cqa_site.judging.endpoints import cost_micro
from cqa_site.runs import jobs
from cqa_site.runs.actions import runs as control
from cqa_site.runs.carrying import worker
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.ledger.gates import affordable
from cqa_site.runs.ledger.replies import FinishedRequest
from cqa_site.runs.ledger.turns import Turn
from cqa_site.runs.models import Budget, Call, Run
from tests.runs.judging import Lab, good
from tests.runs.turns import A_DAY, change, failures, planned, readings, replies, turn
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(partial(Lab, items=40))


@pytest.fixture
def run(lab) -> Run:
    return planned(lab)


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
