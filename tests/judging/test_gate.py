"""The adaptive gate, as arithmetic and against a simulated endpoint with a hidden limit."""

import heapq
import random
from dataclasses import dataclass, field, replace

from cqa_site.judging import rate_limits as rules
from cqa_site.judging.rate_limits import GateState, RequestOutcome, after, refill, room, spend

CEILING = 64


def note(gate: GateState, outcome: RequestOutcome, times: int = 1, **values) -> GateState:
    """The state after some requests of one epoch; refusals are no lone ones."""
    told = {"now": 100.0, "epoch": gate.epoch, "ceiling": CEILING} | values
    for _ in range(times):
        if outcome is RequestOutcome.THROTTLED and told["epoch"] == gate.epoch:
            gate = replace(gate, refused_share=1.0)
        gate = after(gate, outcome, **told)
    return gate


def lone(gate: GateState, **values) -> GateState:
    """The state after a refusal among successes."""
    told = {"now": 100.0, "epoch": gate.epoch, "ceiling": CEILING, "retry_after": 5.0} | values
    return after(replace(gate, refused_share=0.0), RequestOutcome.THROTTLED, **told)


def test_growth_and_what_a_refusal_takes_back():
    for start, successes, ceiling, limit in (
        # It doubles after as many successes as the limit …
        (GateState(limit=4), 3, CEILING, 4),
        (GateState(limit=4), 4, CEILING, 8),
        (GateState(limit=4), 4 + 8, CEILING, 16),
        # … up to the ceiling, and after the first refusal grows by one for twenty.
        (GateState(limit=10), 10, 15, 15),
        (GateState(limit=15), 500, 15, 15),
        (GateState(limit=10, is_slow_start=False), 19, CEILING, 10),
        (GateState(limit=10, is_slow_start=False), 20, CEILING, 11),
        (GateState(limit=10, is_slow_start=False), 40, CEILING, 12),
    ):
        assert note(start, RequestOutcome.SUCCESS, successes, ceiling=ceiling).limit == limit
    # A refusal takes back what the last step gave.
    slow, usual = {32: 16, 1: 1}, {16: 14, 17: 14, 3: 2, 1: 1}
    for is_slow_start, limits in ((True, slow), (False, usual)):
        for limit, expected in limits.items():
            start = GateState(limit=limit, is_slow_start=is_slow_start)
            gate = note(start, RequestOutcome.THROTTLED)
            assert (gate.limit, gate.is_slow_start) == (expected, False)


def test_refusals_of_one_epoch_take_off_once_and_close_the_gate_for_everybody():
    start = GateState(limit=32)
    gate = note(start, RequestOutcome.THROTTLED, retry_after=2.0)
    late = note(gate, RequestOutcome.THROTTLED, 15, epoch=start.epoch, retry_after=30.0)
    assert late == gate
    assert gate.epoch == start.epoch + 1
    assert note(gate, RequestOutcome.THROTTLED).limit == 14
    gate = note(GateState(limit=8), RequestOutcome.THROTTLED, retry_after=7.0)
    assert room(gate, in_flight=0, ceiling=CEILING, now=106.9) == 0
    assert room(gate, in_flight=0, ceiling=CEILING, now=107.0) == 4
    # Room ends at the ceiling and is never negative.
    assert room(GateState(limit=64), in_flight=3, ceiling=10, now=0.0) == 7
    assert room(GateState(limit=4), in_flight=9, ceiling=CEILING, now=0.0) == 0
    # An absurd time is cut, and a shorter one does not open early.
    gate = note(GateState(), RequestOutcome.THROTTLED, retry_after=86_400.0)
    assert gate.open_until == 100.0 + 900.0
    gate = note(GateState(limit=8, open_until=150.0), RequestOutcome.THROTTLED, retry_after=1.0)
    assert gate.open_until == 150.0


def test_waits_double_to_an_end_and_after_a_decrease_the_limit_rests():
    gate, waits = GateState(limit=8), []
    for _ in range(12):
        gate = note(gate, RequestOutcome.THROTTLED, now=0.0)
        waits.append(gate.open_until)
    assert waits[:5] == [2.0, 4.0, 8.0, 16.0, 32.0]
    assert waits[-1] == 512.0
    calm = note(gate, RequestOutcome.SUCCESS)
    assert note(calm, RequestOutcome.THROTTLED, now=10_000.0).open_until == 10_002.0
    gate = note(GateState(limit=32), RequestOutcome.THROTTLED, retry_after=1.0)
    assert gate.rests_until == 100.0 + 1.0 + rules.REST
    resting = note(gate, RequestOutcome.SUCCESS, 100, now=gate.rests_until - 0.1)
    assert resting.limit == gate.limit
    assert note(resting, RequestOutcome.SUCCESS, now=gate.rests_until).limit == gate.limit + 1


def test_the_breaker_opens_after_five_failures_in_a_row_and_sends_one_probe():
    start = GateState(limit=40)
    gate = note(start, RequestOutcome.BROKEN, 4, break_seconds=60.0)
    assert (gate.limit, room(gate, in_flight=0, ceiling=CEILING, now=100.0)) == (40, 40)
    gate = note(gate, RequestOutcome.BROKEN, break_seconds=60.0)
    assert room(gate, in_flight=0, ceiling=CEILING, now=159.9) == 0
    assert room(gate, in_flight=0, ceiling=CEILING, now=160.0) == 1
    assert note(gate, RequestOutcome.SUCCESS, now=160.0).limit == 2
    # Failures of requests sent before it opened do not prolong it.
    assert note(gate, RequestOutcome.BROKEN, 35, epoch=start.epoch, now=140.0) == gate
    # A success between failures keeps it closed.
    for _ in range(10):
        start = note(note(start, RequestOutcome.BROKEN, 4), RequestOutcome.SUCCESS)
    assert start.open_until == 0.0


def test_a_wall_closes_the_gate_and_a_lone_refusal_takes_back_one_step():
    grown = note(GateState(limit=8), RequestOutcome.SUCCESS, 8)
    assert grown.limit == 16
    gate = note(grown, RequestOutcome.THROTTLED, 8, epoch=grown.epoch, retry_after=7.0)
    assert (gate.limit, gate.open_until, gate.is_slow_start) == (8, 0.0, False)
    assert gate.epoch == grown.epoch + 1
    # Refused again at what had gone well: then everybody waits.
    again = note(gate, RequestOutcome.THROTTLED, 4, retry_after=7.0)
    assert again.limit == 7
    assert room(again, in_flight=0, ceiling=CEILING, now=106.9) == 0
    grown = note(GateState(limit=16, is_slow_start=False), RequestOutcome.SUCCESS, 20)
    assert grown.limit == 17
    gate = lone(grown)
    assert (gate.limit, gate.open_until, gate.epoch) == (16, 0.0, 0)
    assert lone(gate).limit == 16
    assert note(gate, RequestOutcome.SUCCESS, 100, now=119.0).limit == 16
    assert note(gate, RequestOutcome.SUCCESS, 100, now=121.0).limit > 16
    gate, limits = GateState(limit=32), []
    for _ in range(4):
        gate = after(
            gate, RequestOutcome.THROTTLED, now=1.0, epoch=0, ceiling=CEILING, retry_after=2.0
        )
        limits.append((gate.limit, gate.open_until))
    assert limits == [(32, 0.0), (32, 0.0), (32, 0.0), (16, 3.0)]


def test_an_endpoint_that_refuses_one_in_twenty_by_chance_stays_fast():
    draw, gate, closed = random.Random(1), GateState(), 0
    for number in range(2_000):
        now = 1.0 + number / 100
        outcome = RequestOutcome.THROTTLED if draw.random() < 0.05 else RequestOutcome.SUCCESS
        before = gate.epoch
        gate = after(gate, outcome, now=now, epoch=gate.epoch, ceiling=CEILING, retry_after=1.0)
        closed += gate.epoch > before
    assert closed <= 2
    assert gate.limit >= 16


def test_buckets_fill_with_time_and_bound_what_leaves_in_a_minute():
    def filled(gate, now):
        return refill(gate, now=now, per_minute=60, tokens=6_000)

    gate = filled(GateState(), 1000.0)
    assert (gate.requests_left, gate.tokens_left) == (10.0, 1_000.0)
    gate = spend(gate, requests=10, tokens=2_500)
    assert (gate.requests_left, gate.tokens_left) == (0.0, -1_500.0)
    gate = filled(gate, 1003.0)
    assert (gate.requests_left, gate.tokens_left) == (3.0, -1_200.0)
    gate = filled(gate, 1100.0)
    assert (gate.requests_left, gate.tokens_left) == (10.0, 1_000.0)
    # No limit means no bucket, and a clock set back fills none.
    assert refill(GateState(), now=5.0, per_minute=None, tokens=None).requests_left is None
    assert filled(GateState(requests_left=3.0, refilled_at=1000.0), 500.0).requests_left == 3.0
    gate, sent = GateState(), 0
    for tenth in range(600):
        gate = refill(gate, now=1000.0 + tenth / 10, per_minute=120, tokens=None)
        going = int(gate.requests_left)
        gate = spend(gate, requests=going, tokens=10**9)
        sent += going
    assert 120 <= sent <= 140
    assert gate.tokens_left is None


@dataclass
class Endpoint:
    """Answers in one second, but refuses at once what goes beyond ``cap`` in flight."""

    cap: int
    events: list[tuple[float, int, str, int]] = field(default_factory=list)
    busy: int = 0
    refusals: int = 0
    sent: int = 0

    def send(self, now: float, epoch: int) -> None:
        self.sent += 1
        is_good = self.busy < self.cap
        self.busy += is_good
        self.refusals += not is_good
        what = RequestOutcome.SUCCESS if is_good else RequestOutcome.THROTTLED
        heapq.heappush(self.events, (now + (1.0 if is_good else 0.01), self.sent, what, epoch))


def simulate(cap: int, calls: int) -> tuple[Endpoint, list[float]]:
    """Carry ``calls`` through the gate; return the endpoint and when each was answered."""
    endpoint, gate, now = Endpoint(cap), GateState(), 1.0
    answered: list[float] = []
    while len(answered) < calls:
        free = room(gate, in_flight=len(endpoint.events), ceiling=512, now=now)
        for _ in range(min(free, calls - len(answered) - len(endpoint.events))):
            endpoint.send(now, gate.epoch)
        if not endpoint.events:
            now = gate.open_until
            continue
        at, _number, outcome, epoch = heapq.heappop(endpoint.events)
        now = max(now, at)
        if outcome == RequestOutcome.SUCCESS:
            endpoint.busy -= 1
            answered.append(now)
        after_wait = 1.0 if outcome == RequestOutcome.THROTTLED else None
        about = {"now": now, "epoch": epoch, "ceiling": 512, "retry_after": after_wait}
        gate = after(gate, RequestOutcome(outcome), **about)
    return endpoint, answered


def test_a_hidden_limit_is_used_fully_with_few_refusals():
    # Sixteen at once for a second each is 16 calls a second; the gate loses less than a fifth.
    for cap, refusals, seconds in ((16, 60, 4_000 / (0.8 * 16)), (10_000, 0, 19.0)):
        endpoint, answered = simulate(cap=cap, calls=4_000)
        assert endpoint.refusals <= refusals
        assert answered[-1] - 1.0 < seconds
