import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from cqa_site.stats.agreement import coincidences, confusion
from cqa_site.stats.ratings import UnknownCategoryError
from tests.stats.tables import SCALE, ratings_of, simulated_grid


def test_confusion_of_two_series_equals_scikit_learn():
    grid = simulated_grid(np.random.default_rng(3), 70, 2, 0.3)
    a, b = pd.Series(grid[:, 0]), pd.Series(grid[:, 1])
    shared = a.notna() & b.notna()
    found = confusion(a, b[::-1], SCALE)
    assert found.to_numpy().tolist() == confusion_matrix(a[shared], b[shared]).tolist()
    assert found.index.tolist() == found.columns.tolist() == list(SCALE)


def test_several_ratings_of_an_item_make_every_pair():
    # i0: {0, 0, 1} against {1}; i1: {2} against {2, 3}; i2 on one side only.
    crowd = ratings_of([[0, 0, 1], [2, None, None], [3, 3, 3]])
    judges = ratings_of([[1, None], [2, 3]])
    found = confusion(crowd, judges)
    expected = np.zeros((4, 4), dtype=int)
    expected[0, 1], expected[1, 1], expected[2, 2], expected[2, 3] = 2, 1, 1, 1
    assert (found.to_numpy() == expected).all()


def test_without_shared_items_the_table_is_zero():
    assert confusion(pd.Series({"x": 1.0}), pd.Series({"y": 0.0})).to_numpy().tolist() == [
        [0, 0],
        [0, 0],
    ]


def test_values_off_the_scale_are_errors():
    with pytest.raises(UnknownCategoryError):
        confusion(pd.Series({"x": 1.0}), pd.Series({"x": 4.0}), SCALE)


def test_coincidences_keep_the_rows_of_unused_categories():
    found = coincidences(ratings_of([[0, 2], [2, 2], [3, None]]), SCALE)
    assert found.loc[1.0].tolist() == found.loc[3.0].tolist() == [0, 0, 0, 0]
    assert found.loc[2.0].tolist() == [1, 0, 2, 0]
