import pytest

from benchmark.preferences.methods.both_orders import (
    RepeatedVerdictError,
    left_share,
    merge_orders,
    order_consistency,
)

from .made_verdicts import verdicts


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
    assert (found.n_both, found.n_same, found.n_made_ties) == (1, int(same), int(not same))


def test_orders_written_with_the_systems_exchanged_are_the_same_pair():
    found = merge_orders(
        verdicts(("a", "b", "first"), ("b", "a", "second"), question="q", pair="p")
    )
    assert found.n_same == 1
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


def test_merging_twice_changes_nothing():
    once = merge_orders(judged(("first", "second"), ("first", "first"))).verdicts
    again = merge_orders(once)
    assert again.verdicts.frame.equals(once.frame)
    assert again.n_both == 0


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
    assert found.low < found.value < found.high


def test_the_share_of_left_shows_who_always_takes_a_side():
    always_left = judged(*[("first", "second")] * 5)
    found = left_share(always_left)
    assert (found.value, found.n_values) == (1.0, 10)
    assert left_share(judged(*[("first", "first")] * 5)).value == 0.5
    mostly = judged(("first", "second"), ("second", "second"), ("tie", "both_bad"))
    assert left_share(mostly).value == pytest.approx(3 / 4)
    assert left_share(judged(("tie", "both_bad"))).value is None
