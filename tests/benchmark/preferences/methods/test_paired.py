"""Verdicts on pairs, the two orders of one, a favourite side, and rankings beside points."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.preferences.methods import davidson
from benchmark.preferences.methods.consistency import (
    FEW_QUESTIONS,
    NO_INTERVAL,
    NO_SCORES,
    NO_VERDICTS,
    RepeatedVerdictError,
    compare_rankings,
    contradicting_questions,
    left_share,
    merge_orders,
    order_consistency,
)
from benchmark.preferences.methods.davidson import fit_strengths
from benchmark.preferences.methods.verdict_tables import Verdicts, VerdictsError
from .made_verdicts import drawn, drawn_table, times, verdicts

TOO_FEW_QUESTIONS = "an interval needs 10 or more questions"


def test_counts_are_by_question_and_pair_whichever_answer_is_called_first():
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
    found = verdicts(("b", "a", "first"), ("a", "b", "both_bad"), side=["left", "right"])
    rows = found.frame[["first", "second", "outcome", "side"]].to_numpy().tolist()
    assert rows == [["a", "b", "second", "right"], ["a", "b", "both_bad", "right"]]


NO_VERDICT = [
    ({"outcome": "win"}, "outcome must be one of first, second, tie, both_bad, not 'win'"),
    ({"side": "top"}, "side must be one of left, right, both, not 'top'"),
    ({"second": "a"}, "'a' is compared with itself"),
    ({"weight": -1.0}, "a weight must be a number of at least 0"),
    ({"weight": np.inf}, "a weight must be a number of at least 0"),
    ({"rater": None}, "a verdict has a missing value"),
    ({"pair": 0}, "pair 0 has different questions or systems"),
]


def test_what_is_no_verdict_is_named():
    for change, words in NO_VERDICT:
        with pytest.raises(VerdictsError, match=words):
            verdicts(("a", "b", "first"), ("a", "c", "first"), **change)


def judged(*outcomes):
    """Each pair of a judge in both orders: what was said with a on the left, and on the right."""
    rows = [("a", "b", each) for both in outcomes for each in both]
    pairs = [place for place in range(len(outcomes)) for _ in range(2)]
    sides = ["left", "right"] * len(outcomes)
    return verdicts(*rows, question=pairs, pair=pairs, side=sides)


MERGED = {
    ("first", "first"): "first",
    ("second", "second"): "second",
    ("tie", "tie"): "tie",
    ("both_bad", "both_bad"): "both_bad",
    ("first", "second"): "tie",
    ("first", "tie"): "tie",
    ("both_bad", "tie"): "tie",
    ("second", "both_bad"): "tie",
}


def test_two_orders_become_one_verdict():
    for both, merged in MERGED.items():
        found = merge_orders(judged(both))
        assert found.verdicts.frame["outcome"].tolist() == [merged], both
        assert found.verdicts.frame["side"].tolist() == ["both"]
        assert (found.n_both, found.n_made_ties) == (1, int(both[0] != both[1]))
    # Orders written with the systems exchanged are the same pair.
    exchanged = verdicts(("a", "b", "first"), ("b", "a", "second"), question="q", pair="p")
    found = merge_orders(exchanged)
    assert (found.n_both, found.n_made_ties) == (1, 0)
    assert found.verdicts.frame["outcome"].tolist() == ["first"]


def test_raters_are_kept_apart_and_the_same_order_twice_is_refused():
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
    rows = ("a", "b", "first"), ("a", "b", "first")
    for side in (["left", "left"], ["both", "left"], ["right", "both"]):
        table = verdicts(*rows, question="q", pair="p", side=side)
        for function in (merge_orders, order_consistency):
            with pytest.raises(RepeatedVerdictError, match="judged pair p more than once"):
                function(table)


def test_consistency_and_the_share_of_left_are_shares_with_their_numbers():
    # The fourth pair is judged in one order only and says nothing about order.
    table = judged(("first", "first"), ("first", "second"), ("tie", "tie"), ("tie", "tie"))
    table = type(table).from_frame(table.frame.iloc[:-1])
    found = order_consistency(table)
    assert found.value == pytest.approx(2 / 3)
    assert (found.n_values, found.n_items) == (3, 3)
    assert (found.low, found.reason) == (None, TOO_FEW_QUESTIONS)
    always_left = judged(*[("first", "second")] * 5)
    found = left_share(always_left)
    assert (found.value, found.n_values) == (1.0, 10)
    assert left_share(judged(*[("first", "first")] * 5)).value == 0.5
    mostly = judged(("first", "second"), ("second", "second"), ("tie", "both_bad"))
    assert left_share(mostly).value == pytest.approx(3 / 4)
    assert left_share(judged(("tie", "both_bad"))).value is None


SYSTEMS = [f"s{each}" for each in range(6)]
QUESTIONS = range(30)
NO_SYSTEMS = "fewer than 8 systems, too few for an interval"


def scores(means, *, noise=1.0, seed=0, systems=SYSTEMS):
    """Points of each system on each question."""
    generator = np.random.default_rng(seed)
    shape = (len(systems), len(QUESTIONS))
    values = np.array(means, dtype=float)[:, None] + noise * generator.normal(size=shape)
    return pd.DataFrame(values, index=systems, columns=list(QUESTIONS))


@pytest.fixture(scope="module")
def people():
    return drawn(n_systems=6, n=900, n_questions=30, seed=2)


def test_correlations_are_those_of_the_two_columns(people):
    points = scores([5, 6, 3, 4, 1, 2], noise=0.1)
    found = compare_rankings(people, points)
    strength = fit_strengths(people).by_system()
    own = [strength[name] for name in found.systems]
    means = points.loc[list(found.systems)].mean(axis=1)
    assert found.log_strengths == pytest.approx(own)
    assert found.means == pytest.approx(means)
    assert found.spearman.value == pytest.approx(stats.spearmanr(own, means).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(own, means).statistic)
    assert (found.spearman.low, found.spearman.reason) == (None, NO_SYSTEMS)
    assert (found.n_questions, found.left_out) == (30, {})
    assert found == compare_rankings(people, points)
    opposite = compare_rankings(people, scores(range(6), noise=0.0))
    assert (opposite.spearman.value, opposite.by_systems.share.value) == (-1.0, 1.0)


def test_pairs_of_systems_that_contradict_are_named_and_intervals_need_eight_systems(people):
    found = compare_rankings(people, scores([5, 6, 3, 4, 1, 2], noise=0.1))
    assert set(found.by_systems.pairs) == {("s0", "s1"), ("s2", "s3"), ("s4", "s5")}
    assert (found.by_systems.n_decided, found.by_systems.n_contradicting) == (15, 3)
    assert found.by_systems.share.value == pytest.approx(3 / 15)
    # Equal means are even and not in the share.
    found = compare_rankings(people, scores([5, 5, 3, 4, 1, 1], noise=0.0))
    assert (found.by_systems.n_even, found.by_systems.n_decided) == (2, 13)
    assert found.by_systems.share.value == pytest.approx(1 / 13)
    systems = [f"s{each}" for each in range(9)]
    points = scores(range(9, 0, -1), noise=4.0, systems=systems)
    found = compare_rankings(drawn(n_systems=9, n=900, n_questions=30), points)
    assert found.spearman.low < found.spearman.value < found.spearman.high
    assert (found.by_systems.share.low, found.by_systems.share.reason) == (None, NO_INTERVAL)


def test_systems_that_only_one_side_knows_or_without_a_strength_are_named(people):
    points = scores(range(6), systems=["s1", "s2", "s3", "s4", "s5", "new"])
    found = compare_rankings(people, points)
    assert found.left_out == {"new": NO_VERDICTS, "s0": NO_SCORES}
    assert set(found.systems) == set(SYSTEMS[1:])
    rows = [*times(3, "a", "b", "first"), *times(2, "b", "a", "first")]
    found = compare_rankings(
        verdicts(*rows, *times(4, "a", "c", "first")), scores([2, 1, 0], systems=["a", "b", "c"])
    )
    # One that always lost has a penalized strength.
    assert (found.left_out, found.systems) == ({}, ("a", "b", "c"))
    assert found.by_systems.share.value == 0.0
    # Where nobody has one, the reason is theirs.
    found = compare_rankings(verdicts(), scores(range(6)))
    assert found.systems == ()
    assert found.spearman.reason == found.by_systems.share.reason == davidson.NO_VERDICTS
    with pytest.raises(ValueError, match="occurs twice"):
        compare_rankings(people, scores(range(6), systems=["s0", "s0", *SYSTEMS[2:]]))


def test_means_are_over_shared_questions_which_are_compared_by_what_verdicts_add_up_to(people):
    points = scores([5, 6, 3, 4, 1, 2])
    points.loc["s0", 0] = np.nan
    found = compare_rankings(people, points)
    assert found.n_questions == 29
    assert found.means == pytest.approx(points.loc[list(found.systems), 1:].mean(axis=1))
    points.loc["s0", 2:] = np.nan
    few = compare_rankings(people, points)
    assert few.spearman.reason == few.by_systems.share.reason == FEW_QUESTIONS
    found = verdicts(
        ("a", "b", "first"),
        ("a", "b", "first"),
        ("a", "b", "second"),
        ("a", "b", "first"),
        ("a", "b", "second"),
        ("a", "c", "tie"),
        ("b", "c", "first"),
        ("b", "c", "first"),
        question=[0, 0, 0, 1, 1, 1, 1, 2],
    )
    points = pd.DataFrame(
        {0: [1.0, 2.0, 3.0], 1: [2.0, 1.0, 0.0], 2: [1.0, 1.0, np.nan]}, index=["a", "b", "c"]
    )
    # On 0 a is preferred with fewer points; on 1 only b against c is decided; c lacks 2.
    counted = contradicting_questions(found, points)
    assert (counted.n_decided, counted.n_contradicting, counted.n_even) == (2, 1, 2)
    assert counted.share.value == 0.5
