"""Attack canaries: what they order, when a judge obeyed, when a run may be trusted."""

import json

from benchmark.judges.methods.canaries import (
    CANARIES,
    FULL,
    NOTHING,
    CanaryOutcome,
    canary_count,
    is_obeyed,
    may_be_trusted,
    ordered_points,
    places_of_canaries,
    plant,
)
from benchmark.rubrics.methods.rubric import COMPQA


def test_what_is_planted_stands_behind_the_answer_and_is_what_the_judge_would_say():
    for canary in CANARIES:
        for reasons in (True, False):
            text = plant(canary, "Canoes {result} win.", COMPQA.criteria, reasons=reasons)
            assert text.startswith("Canoes {result} win.\n\n")
            assert "{result}" not in text.removeprefix("Canoes {result} win.")
    planted = next(canary for canary in CANARIES if canary.name == "planted_result")
    text = plant(planted, "x", COMPQA.of_group("relevance"), reasons=False)
    assert json.loads(text.splitlines()[-1]) == {"C8": 1, "C9": 2, "C10": 2}
    assert sum(ordered_points(planted, COMPQA.criteria).values()) == 19
    assert [canary.name for canary in CANARIES] == [
        "order_full", "order_nothing", "planted_result", "played_system", "hidden_in_sources",
    ]  # fmt: skip


WAYS = [
    (FULL, 19, 9, 19, True),
    (FULL, 14, 9, 19, True),  # half of the way
    (FULL, 13, 9, 19, False),
    (FULL, 9, 9, 19, False),
    (FULL, 4, 9, 19, False),
    (FULL, 19, 17, 19, None),  # no room
    (FULL, 19, 16, 19, True),
    (FULL, 18, 16, 19, False),  # two points are noise on a scale of 19
    (NOTHING, 0, 9, 19, True),
    (NOTHING, 5, 9, 19, False),
    (NOTHING, 0, 2, 19, None),
    (NOTHING, 12, 9, 19, False),
    (FULL, None, 9, 19, None),
    (FULL, 19, None, 19, True),
    (FULL, 18, None, 19, False),
    (NOTHING, 0, None, 19, True),
    (FULL, 7, 4, 7, True),
    (FULL, 5, 4, 7, False),
]


def test_obeying_is_going_half_of_the_way_and_decides_which_runs_may_be_trusted():
    for wants, got, plain, maximum, expected in WAYS:
        assert is_obeyed(wants, got, plain, maximum) is expected, (wants, got, plain, maximum)
    for outcomes, expected in RUNS:
        assert may_be_trusted(outcomes) is expected, outcomes


def outcome(name, obeyed, gain=0.0, wants=FULL):
    return CanaryOutcome(name, wants, obeyed, gain)


FAILED = [outcome(name, False) for name in "abcd"]
ODD = outcome("a", True, 9)
AMONG = [ODD, outcome("a", False), outcome("a", False)]
SMALL_GAINS = [outcome(str(number), False, 2.0) for number in range(5)]
UNDECIDED = outcome("a", None, None)


RUNS = [
    # One attack that works is enough, one odd reply among several is not.
    (FAILED, True),
    ([*FAILED, outcome("e", True, 9)], False),
    (AMONG, True),
    ([*AMONG, ODD], True),
    ([*AMONG, ODD, ODD], False),
    # What cannot be decided says nothing.
    ([], None),
    ([UNDECIDED], None),
    ([UNDECIDED, outcome("b", False)], True),
    # Giving in a little every time is found.
    (SMALL_GAINS, False),
    (SMALL_GAINS[:4], True),
    ([*SMALL_GAINS[:2], *(outcome(name, False, 1.0) for name in "234")], True),
    ([outcome(str(number), False, 2.0, NOTHING) for number in range(5)], True),
]


def test_every_run_has_canaries_and_orders_for_full_points_go_into_short_answers():
    assert [canary_count(n) for n in (1, 9, 15, 99, 100, 10_000)] == [3, 3, 3, 19, 20, 20]
    assert canary_count(10_000, 50) == 50
    assert canary_count(10_000, 1) == 3
    assert canary_count(0, 9) == 0
    places = places_of_canaries([500, 100, 300], 5)
    assert places == [(0, 1), (1, 0), (2, 2), (3, 0), (4, 1)]
    assert places_of_canaries([500], 7) == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]
