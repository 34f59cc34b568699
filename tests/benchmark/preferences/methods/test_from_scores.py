import numpy as np
import pandas as pd
import pytest

from benchmark.preferences.methods.pair_planning import UNCERTAIN, PlannedPair
from tests.benchmark.preferences.methods.from_scores import verdicts_from_scores


def pair(left, right, question="q"):
    return PlannedPair(
        question=question,
        left=left,
        right=right,
        left_system=left[0],
        right_system=right[0],
        why=UNCERTAIN,
    )


def sheets(*rows):
    return pd.DataFrame(rows, columns=["answer", "rater", "total"])


SCORES = sheets(("a1", "r", 17), ("b1", "r", 15), ("c1", "r", 16.5))


@pytest.mark.parametrize(
    ("margin", "outcomes"),
    [
        (0, ["first", "second", "first"]),
        (0.5, ["first", "second", "tie"]),
        (1.5, ["first", "tie", "tie"]),
        (2, ["tie", "tie", "tie"]),
    ],
)
def test_more_points_than_the_margin_decide(margin, outcomes):
    pairs = [pair("a1", "b1"), pair("b1", "c1"), pair("a1", "c1")]
    found = verdicts_from_scores(pairs, SCORES, margin=margin)
    assert found.verdicts.frame["outcome"].tolist() == outcomes
    assert found.n_without == 0


def test_equal_totals_tie_however_they_were_added_up():
    scores = sheets(("a1", "r", 0.1 + 0.2), ("b1", "r", 0.3))
    found = verdicts_from_scores([pair("a1", "b1")], scores)
    assert found.verdicts.frame["outcome"].tolist() == ["tie"]


def test_the_side_stays_with_the_answer():
    found = verdicts_from_scores([pair("b1", "a1")], SCORES).verdicts.frame.iloc[0]
    assert (found["first"], found["outcome"], found["side"]) == ("a", "first", "right")


def test_each_rater_compares_only_what_that_rater_scored():
    scores = sheets(
        ("a1", "r", 3),
        ("b1", "r", 2),
        ("a1", "s", 1),
        ("b1", "s", 2),
        ("a1", "t", 9),
        ("c1", "t", 1),
    )
    found = verdicts_from_scores([pair("a1", "b1"), pair("b1", "c1")], scores)
    rows = found.verdicts.frame[["rater", "outcome"]].to_numpy().tolist()
    assert rows == [["r", "first"], ["s", "second"]]
    assert found.n_without == 1


def test_replicates_are_averaged_and_unscored_sheets_do_not_count():
    scores = sheets(
        ("a1", "r", 3), ("a1", "r", 6), ("a1", "r", np.nan), ("b1", "r", 4), ("c1", "r", np.nan)
    )
    found = verdicts_from_scores([pair("a1", "b1"), pair("a1", "c1")], scores)
    assert found.verdicts.frame["outcome"].tolist() == ["first"]
    assert found.n_without == 1


def test_what_cannot_be_read_is_named():
    with pytest.raises(ValueError, match="lacks columns: total"):
        verdicts_from_scores([pair("a1", "b1")], SCORES.drop(columns="total"))
    for margin in (-1, float("nan")):
        with pytest.raises(ValueError, match="zero points or more"):
            verdicts_from_scores([pair("a1", "b1")], SCORES, margin=margin)
