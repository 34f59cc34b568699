"""Verdicts on pairs, the two orders of one, and what a favourite side shows."""

import numpy as np
import pandas as pd
import pytest

from benchmark.preferences.methods.consistency import (
    RepeatedVerdictError,
    left_share,
    merge_orders,
    order_consistency,
)
from benchmark.preferences.methods.verdict_tables import Verdicts, VerdictsError

from .made_verdicts import drawn_table, verdicts

TOO_FEW_QUESTIONS = "an interval needs 10 or more questions"


def test_a_row_is_turned_so_that_the_first_system_comes_first_by_name():
    found = verdicts(("b", "a", "first"), ("a", "b", "both_bad"), side=["left", "right"])
    rows = found.frame[["first", "second", "outcome", "side"]].to_numpy().tolist()
    assert rows == [["a", "b", "second", "right"], ["a", "b", "both_bad", "right"]]


def test_counts_are_weights_by_question_and_pair_and_both_bad_is_a_draw():
    found = verdicts(
        ("a", "b", "first"),
        ("b", "a", "first"),
        ("a", "c", "tie"),
        ("a", "c", "both_bad"),
        question=["q", "q", "p", "q"],
        weight=[1.0, 0.5, 2.0, 1.0],
    )
    counts = found.count()
    assert (counts.systems, found.questions) == (("a", "b", "c"), ("p", "q"))
    assert list(zip(counts.first, counts.second, strict=True)) == [(0, 1), (0, 2)]
    assert counts.by_question.tolist() == [
        [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]],
        [[1.0, 0.5, 0.0], [0.0, 0.0, 1.0]],
    ]


def test_counts_do_not_care_which_answer_is_called_first():
    table = drawn_table(seed=3)
    mirror = {"first": "second", "second": "first", "left": "right", "right": "left"}
    turned = table.assign(
        first=table["second"],
        second=table["first"],
        outcome=table["outcome"].map(lambda each: mirror.get(each, each)),
        side=table["side"].map(mirror),
    )
    both = [Verdicts.from_frame(each) for each in (table, turned)]
    assert (both[0].count().by_question == both[1].count().by_question).all()
    pd.testing.assert_frame_equal(both[0].frame, both[1].frame)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outcome": "win"}, "outcome is one of first, second, tie, both_bad, not 'win'"),
        ({"side": "top"}, "side is one of left, right, both, not 'top'"),
        ({"second": "a"}, "'a' is compared with itself"),
        ({"weight": -1.0}, "a weight is a number of zero or more"),
        ({"weight": np.inf}, "a weight is a number of zero or more"),
        ({"rater": None}, "a verdict lacks a value"),
        ({"pair": 0}, "pair 0 stands for different questions or systems"),
    ],
)
def test_what_is_no_verdict_is_named(change, words):
    with pytest.raises(VerdictsError, match=words):
        verdicts(("a", "b", "first"), ("a", "c", "first"), **change)


def judged(*outcomes):
    """Each pair of a judge in both orders: what was said with a on the left, and on the right."""
    rows = [("a", "b", each) for both in outcomes for each in both]
    pairs = [place for place in range(len(outcomes)) for _ in range(2)]
    sides = ["left", "right"] * len(outcomes)
    return verdicts(*rows, question=pairs, pair=pairs, side=sides)


@pytest.mark.parametrize(
    ("both", "merged"),
    [
        (("first", "first"), "first"),
        (("second", "second"), "second"),
        (("tie", "tie"), "tie"),
        (("both_bad", "both_bad"), "both_bad"),
        (("first", "second"), "tie"),
        (("first", "tie"), "tie"),
        (("both_bad", "tie"), "tie"),
        (("second", "both_bad"), "tie"),
    ],
)
def test_two_orders_become_one_verdict(both, merged):
    found = merge_orders(judged(both))
    assert found.verdicts.frame["outcome"].tolist() == [merged]
    assert found.verdicts.frame["side"].tolist() == ["both"]
    same = both[0] == both[1]
    assert (found.n_both, found.n_made_ties) == (1, int(not same))


def test_orders_written_with_the_systems_exchanged_are_the_same_pair():
    found = merge_orders(
        verdicts(("a", "b", "first"), ("b", "a", "second"), question="q", pair="p")
    )
    assert (found.n_both, found.n_made_ties) == (1, 0)
    assert found.verdicts.frame["outcome"].tolist() == ["first"]


def test_raters_are_kept_apart_and_one_order_stands():
    found = merge_orders(
        verdicts(
            ("a", "b", "first"),
            ("a", "b", "first"),
            ("a", "b", "second"),
            question="q",
            pair="p",
            rater=["judge", "judge", "person"],
            side=["left", "right", "right"],
            weight=[1.0, 3.0, 1.0],
        )
    )
    rows = found.verdicts.frame[["rater", "outcome", "side", "weight"]].to_numpy().tolist()
    assert rows == [["judge", "first", "both", 2.0], ["person", "second", "right", 1.0]]
    assert (found.n_both, found.n_one_order) == (1, 1)


@pytest.mark.parametrize("sides", [["left", "left"], ["both", "left"], ["right", "both"]])
def test_the_same_order_twice_is_refused(sides):
    table = verdicts(("a", "b", "first"), ("a", "b", "first"), question="q", pair="p", side=sides)
    for function in (merge_orders, order_consistency):
        with pytest.raises(RepeatedVerdictError, match="rater r judged pair p more than once"):
            function(table)


def test_consistency_is_the_share_of_equal_pairs_with_its_number():
    # The fourth pair is judged in one order only and says nothing about order.
    table = judged(("first", "first"), ("first", "second"), ("tie", "tie"), ("tie", "tie"))
    table = type(table).from_frame(table.frame.iloc[:-1])
    found = order_consistency(table)
    assert found.value == pytest.approx(2 / 3)
    assert (found.n_values, found.n_items) == (3, 3)
    assert (found.low, found.reason) == (None, TOO_FEW_QUESTIONS)


def test_the_share_of_left_shows_who_always_takes_a_side():
    always_left = judged(*[("first", "second")] * 5)
    found = left_share(always_left)
    assert (found.value, found.n_values) == (1.0, 10)
    assert left_share(judged(*[("first", "first")] * 5)).value == 0.5
    mostly = judged(("first", "second"), ("second", "second"), ("tie", "both_bad"))
    assert left_share(mostly).value == pytest.approx(3 / 4)
    assert left_share(judged(("tie", "both_bad"))).value is None
