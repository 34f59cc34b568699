"""One vote replaced by another rater."""

import pandas as pd
import pytest

from cqa_site.stats.ratings import Ratings
from cqa_site.stats.reliability.replacement import replace_one_vote


def ratings(votes: dict[str, list[int]]) -> Ratings:
    rows = [(item, f"r{n}", v) for item, values in votes.items() for n, v in enumerate(values)]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "value"]))


def test_by_hand():
    """Item a: 2 2 1, judge 1: replacing a 2 gives 2 1 1 → 1 (lower), replacing the 1 changes
    nothing: 2/3 lowered. Item b: 3 3 3, judge 0: never changes. Item c: 0 1 2 (tie, label 2),
    judge 2: replacing 0 or 1 gives label 2 without a tie, replacing the 2 leaves the tie.
    """
    found = replace_one_vote(
        ratings({"a": [2, 2, 1], "b": [3, 3, 3], "c": [0, 1, 2]}),
        pd.Series({"a": 1, "b": 0, "c": 2}),
    )
    assert found.n_items == 3
    assert found.changed == pytest.approx(2 / 9)
    assert (found.raised, found.lowered) == pytest.approx((0, 2 / 9))
    assert found.tied_before == pytest.approx(1 / 3)
    assert found.tied_after == pytest.approx(1 / 9)


def test_a_label_nobody_gave_can_win_a_tie():
    found = replace_one_vote(ratings({"a": [0, 1]}), pd.Series({"a": 3}))
    assert found.changed == found.raised == 1
    assert found.low is None
    assert found.reason


def test_without_common_items_there_is_no_share():
    found = replace_one_vote(ratings({"a": [0, 1]}), pd.Series({"b": 3}))
    assert (found.n_items, found.changed) == (0, None)
