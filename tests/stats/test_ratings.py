import subprocess
import sys

import pandas as pd
import pytest

from cqa_site.stats.ratings import (
    DuplicateRatingError,
    MissingColumnError,
    NotNumericError,
    Ratings,
    RatingsError,
    UnknownCategoryError,
)
from tests.stats.tables import long_table, ratings_of


def test_missing_values_are_dropped_and_names_keep_the_order_of_appearance():
    ratings = ratings_of([[3, None, 1], [None, None, None], [0, 0, None]])
    assert ratings.items.tolist() == ["i0", "i2"]
    assert ratings.raters.tolist() == ["r0", "r2", "r1"]
    assert (ratings.n_items, ratings.n_raters, ratings.n_values) == (2, 3, 4)
    assert ratings.values_per_item.tolist() == [2, 2]


def test_counts_by_used_and_by_given_categories():
    ratings = ratings_of([[3, 0, 3], [0, None, None]])
    assert ratings.counts().tolist() == [[1, 2], [1, 0]]
    assert ratings.counts([0, 1, 2, 3]).tolist() == [[1, 0, 0, 2], [1, 0, 0, 0]]
    empty = Ratings.from_frame(long_table([[1]])[:0])
    assert empty.n_items == empty.n_raters == empty.n_values == 0
    assert empty.counts().shape == (0, 0)
    assert empty.counts([0, 1]).shape == (0, 2)


def test_a_value_off_the_scale_and_a_scale_that_is_not_ascending_are_errors():
    for scale in ([0, 1, 2], [1, 2, 3], [0, 2, 3.5], []):
        with pytest.raises(UnknownCategoryError):
            ratings_of([[3, 0, 1]]).counts(scale)
    for scale in ([0, 0, 1], [1, 0]):
        with pytest.raises(RatingsError, match="ascending"):
            ratings_of([[1, 0]]).counts(scale)


def test_duplicates_name_the_item_and_the_rater():
    table = pd.concat([long_table([[1, 2], [3, 3]]), long_table([[0, None]])])
    with pytest.raises(DuplicateRatingError, match="item 'i0' by rater 'r0'"):
        Ratings.from_frame(table)
    # A repeated missing rating is none.
    table = pd.concat([long_table([[1, 2]]), long_table([[None, None]])])
    assert Ratings.from_frame(table).n_values == 2


def test_values_are_finite_numbers_also_written_as_text():
    table = pd.DataFrame({"item": ["a", "b", "c"], "rater": "x"})
    for value in ("two", float("inf"), -float("inf")):
        with pytest.raises(NotNumericError):
            Ratings.from_frame(table.assign(value=[1.0, value, 2.0]))
    for values in (["1", None, "3"], pd.array([1, None, 3], dtype="Int64")):
        assert Ratings.from_frame(table.assign(value=values)).values.tolist() == [1, 3]


def test_a_missing_column_or_name_is_an_error():
    table = long_table([[1, 2]])
    with pytest.raises(MissingColumnError, match="rater"):
        Ratings.from_frame(table.drop(columns="rater"))
    with pytest.raises(RatingsError, match="no item or no rater"):
        Ratings.from_frame(table.assign(item=["i0", None]))


def test_subset_drops_what_has_no_value_left():
    ratings = ratings_of([[3, None, 1], [None, 2, 2], [0, 0, None]])
    one = ratings.subset(raters=["r1", "unknown"])
    assert one.items.tolist() == ["i1", "i2"]
    assert one.raters.tolist() == ["r1"]
    assert ratings.subset(items=["i0"], raters=["r2"]).values.tolist() == [1]
    assert ratings.subset(items=[]).n_values == 0


@pytest.mark.long
def test_the_statistics_load_neither_django_nor_celery():
    code = (
        "from cqa_site.stats import agreement, intervals; import sys; "
        "from cqa_site.stats import latent; "
        "print([name for name in ('django', 'celery') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.stdout.strip() == "[]", loaded.stderr
