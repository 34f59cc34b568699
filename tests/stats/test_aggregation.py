import numpy as np
import pandas as pd
import pytest

from cqa_site.stats.latent.aggregation import majority, split_pattern
from tests.stats.tables import ratings_of, simulated

ROWS = [[0, 0, 1], [3, 1, None], [2, 2, 2], [0, 1, 2], [1, None, None]]


def test_majority_with_the_higher_label_on_a_tie():
    table = majority(ratings_of(ROWS))
    assert table["label"].tolist() == [0, 3, 2, 2, 1]
    assert table["n"].tolist() == [3, 2, 3, 3, 1]
    assert table["votes"].tolist() == [2, 1, 3, 1, 1]
    assert table["share"].tolist() == pytest.approx([2 / 3, 1 / 2, 1, 1 / 3, 1])
    assert table["tied"].tolist() == [False, True, False, True, False]
    assert table["spread"].tolist() == [1, 2, 0, 2, 0]


def test_majority_with_the_lower_label_on_a_tie():
    assert majority(ratings_of(ROWS), tie="lower")["label"].tolist() == [0, 1, 2, 0, 1]
    with pytest.raises(ValueError, match="higher"):
        majority(ratings_of(ROWS), tie="first")


def test_majority_equals_a_loop_over_items():
    ratings = simulated(300, 6, 0.4)
    table = majority(ratings)
    for item, group in ratings.to_frame().groupby("item"):
        frequency = group["value"].value_counts()
        top = frequency.index[frequency == frequency.max()]
        assert table.loc[item, "label"] == max(top)
        assert table.loc[item, "tied"] == (len(top) > 1)
        assert table.loc[item, "spread"] == np.ptp(group["value"])


def test_split_patterns():
    found = split_pattern(ratings_of(ROWS))
    assert found.tolist() == ["2-1", "1-1", "3-0", "1-1-1", "1-0"]
    assert found.index.tolist() == ["i0", "i1", "i2", "i3", "i4"]


def test_no_ratings_make_empty_tables():
    empty = ratings_of([[None]])
    assert majority(empty).empty
    assert split_pattern(empty).equals(pd.Series([], index=empty.items, dtype=object))
