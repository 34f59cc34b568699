import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.stats.agreement import LEVELS, krippendorff_alpha
from cqa_site.stats.estimate import NO_OVERLAP, NO_VALUES, ONE_RATER, ONE_VALUE
from cqa_site.stats.ratings import Ratings
from cqa_site.stats.reliability import alpha
from tests.stats.tables import long_table, ratings_of, ratings_of_grid, simulated, simulated_grid


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("n_items", "n_raters"), [(5, 2), (60, 4), (300, 12)])
def test_the_value_equals_the_krippendorff_package(level, n_items, n_raters):
    grid = simulated_grid(np.random.default_rng(n_items), n_items, n_raters, 0.2)
    expected = krippendorff.alpha(reliability_data=grid.T, level_of_measurement=level)
    found = krippendorff_alpha(ratings_of_grid(grid), level)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.level == level
    assert found.interval == "item jackknife, t"


@pytest.mark.parametrize("level", LEVELS)
def test_large_scales_take_the_sum_over_kinds_and_agree(level, monkeypatch):
    ratings = simulated(60, 4, 0.2)
    packaged = krippendorff_alpha(ratings, level)
    monkeypatch.setattr(alpha, "_PACKAGE_CELLS", 0)
    monkeypatch.setattr(krippendorff, "alpha", None)
    assert krippendorff_alpha(ratings, level).value == pytest.approx(packaged.value, abs=1e-12)


def test_half_points_and_negative_values_are_ordinary_values():
    grid = np.array([[-1.5, -1.0], [0.5, 0.5], [2.0, 1.5], [7.25, 2.0]])
    for level in ("nominal", "ordinal", "interval"):
        expected = krippendorff.alpha(reliability_data=grid.T, level_of_measurement=level)
        assert krippendorff_alpha(ratings_of_grid(grid), level).value == pytest.approx(expected)
    assert "zero or more" in krippendorff_alpha(ratings_of_grid(grid), "ratio").reason


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[None, None]], NO_VALUES),
        ([[1], [2], [3]], ONE_RATER),
        ([[1, None], [None, 1], [2, None]], NO_OVERLAP),
        ([[2, 2], [2, 2], [2, 2], [2, 2]], ONE_VALUE),
        ([[2, 2], [2, 2], [3, None]], ONE_VALUE),
    ],
)
def test_an_undefined_alpha_has_a_reason_and_is_never_one(level, rows, reason):
    found = krippendorff_alpha(ratings_of(rows), level)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert found.reason == reason


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[0, 1], [2, 2]], "fewer than 3"),
        ([[0, 0], [1, 1], [0, 0], [1, 1]], "no spread"),
        ([[0, 1], [0, 0], [0, 0], [0, 0]], "leaves the statistic undefined"),
    ],
)
def test_a_value_without_interval_says_why(level, rows, reason):
    found = krippendorff_alpha(ratings_of(rows), level)
    assert found.value is not None
    assert (found.low, found.interval) == (None, None)
    assert reason in found.reason


def test_counts_of_the_ratings_behind_it():
    found = krippendorff_alpha(ratings_of([[0, 1, 1], [2, None, 2], [3, None, None]]), "ordinal")
    counts = (found.n_items, found.n_pairable_items, found.n_raters, found.n_values)
    assert counts == (3, 2, 3, 6)


def test_more_confidence_is_a_wider_interval_around_the_same_value():
    ratings = simulated(60, 4, 0.2)
    wide, narrow = (krippendorff_alpha(ratings, "ordinal", share) for share in (0.99, 0.8))
    assert wide.value == narrow.value
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_upper_bound_stays_at_one():
    rows = [[0, 0], [1, 1], [2, 2], [3, 3], [3, 2], [0, 0], [1, 1]]
    assert krippendorff_alpha(ratings_of(rows), "ordinal").high == 1.0


def test_unknown_levels_and_confidences_are_errors():
    with pytest.raises(ValueError, match="level must be one of"):
        krippendorff_alpha(ratings_of([[1, 2]]), "metric")
    with pytest.raises(ValueError, match="confidence"):
        krippendorff_alpha(ratings_of([[1, 2]]), "nominal", 95)


label = st.one_of(st.none(), st.integers(0, 3))
panels = st.lists(st.lists(label, min_size=3, max_size=3), min_size=1, max_size=12)


def same(found, expected):
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.low == pytest.approx(expected.low, abs=1e-7)
    assert found.high == pytest.approx(expected.high, abs=1e-7)
    assert found.reason == expected.reason


@given(rows=panels, level=st.sampled_from(LEVELS), seed=st.integers(0, 99))
def test_names_of_raters_and_order_of_items_do_not_matter(rows, level, seed):
    table = long_table(rows)
    shuffled = table.sample(frac=1, random_state=seed)
    shuffled["rater"] = shuffled["rater"].map({"r0": "z", "r1": "r0", "r2": "a"})
    found = krippendorff_alpha(Ratings.from_frame(shuffled), level)
    same(found, krippendorff_alpha(Ratings.from_frame(table), level))


@given(rows=panels, level=st.sampled_from(LEVELS), extra=st.lists(st.integers(0, 9), max_size=5))
def test_items_rated_once_do_not_matter(rows, level, extra):
    table = long_table(rows)
    once = pd.DataFrame({"item": range(len(extra)), "rater": "r0", "value": extra})
    expected = krippendorff_alpha(Ratings.from_frame(table), level)
    found = krippendorff_alpha(Ratings.from_frame(pd.concat([table, once])), level)
    if expected.value is not None:
        same(found, expected)
    else:
        assert found.value is None


@given(rows=panels, level=st.sampled_from(LEVELS))
def test_bounds_hold_whatever_the_ratings(rows, level):
    found = krippendorff_alpha(ratings_of(rows), level)
    assert (found.value is None) <= (found.reason is not None)
    if found.low is not None:
        assert found.low <= found.high <= 1
    if found.value is not None:
        assert found.value <= 1
