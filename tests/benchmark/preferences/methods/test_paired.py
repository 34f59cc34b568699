import numpy as np
import pandas as pd
import pytest

from benchmark.preferences.methods.paired import MissingColumnError, Verdicts, VerdictsError

from .made_verdicts import drawn, drawn_table, verdicts


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


def test_a_choice_of_raters_and_systems():
    found = verdicts(("a", "b", "first"), ("a", "c", "tie"), rater=["p", "m"])
    assert found.among(["a", "b"]).questions == (0,)


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


def test_a_missing_column_is_named():
    with pytest.raises(MissingColumnError, match="lacks columns: rater"):
        Verdicts.from_frame(drawn().frame.drop(columns="rater"))
