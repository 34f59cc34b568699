"""Krippendorff's alpha, the matrices below it, and alpha of a group with one rater outside."""

import krippendorff
import numpy as np
import pandas as pd
import pytest

from cqa_site.stats import agreement_coefficients as coefficients
from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.cross_alpha import alpha_difference, alpha_interval, cross_alpha
from cqa_site.stats.estimate import NO_VALUES
from cqa_site.stats.intervals import mean_interval
from cqa_site.stats.ratings import (
    LEVELS,
    Ratings,
    alpha_from_counts,
    alphas_left_out,
    coincidence_matrix,
    distances,
    distinct_rows,
    pairable_counts,
    row_kinds,
)
from tests.stats.tables import ratings_of, ratings_of_grid, simulated, simulated_grid


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("n_items", "n_raters"), [(5, 2), (60, 4), (300, 12)])
def test_the_value_equals_the_krippendorff_package(level, n_items, n_raters):
    grid = simulated_grid(np.random.default_rng(n_items), n_items, n_raters, 0.2)
    expected = krippendorff.alpha(reliability_data=grid.T, level_of_measurement=level)
    found = krippendorff_alpha(ratings_of_grid(grid), level)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.level == level
    assert (found.interval is None) == (n_items < 20)


@pytest.mark.parametrize("level", LEVELS)
def test_large_scales_take_the_sum_over_kinds_and_agree(level, monkeypatch):
    ratings = simulated(60, 4, 0.2)
    packaged = krippendorff_alpha(ratings, level)
    monkeypatch.setattr(coefficients, "_PACKAGE_CELLS", 0)
    monkeypatch.setattr(krippendorff, "alpha", None)
    assert krippendorff_alpha(ratings, level).value == pytest.approx(packaged.value, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[0, 1], [2, 2]], "20 or more items"),
        ([[0, 0], [1, 1]] * 10, "no spread"),
        ([[0, 1]] + [[0, 0]] * 30, "50 or more items"),
        ([[0, 1]] + [[0, 0]] * 60, "leaves the statistic undefined"),
    ],
)
def test_a_value_without_interval_says_why(level, rows, reason):
    found = krippendorff_alpha(ratings_of(rows), level)
    assert found.value is not None
    assert (found.low, found.interval) == (None, None)
    assert reason in found.reason


def test_confidence_widens_the_interval_and_has_bounds():
    ratings = simulated(60, 4, 0.2)
    wide, narrow = (krippendorff_alpha(ratings, "ordinal", share) for share in (0.99, 0.8))
    assert wide.value == narrow.value
    assert wide.low < narrow.low < narrow.high < wide.high
    # The upper bound stays at 1.
    rows = [[0, 0], [1, 1], [2, 2], [3, 3], [3, 2], [0, 0], [1, 1]] * 3
    assert krippendorff_alpha(ratings_of(rows), "ordinal").high == 1.0
    with pytest.raises(ValueError, match="level must be one of"):
        krippendorff_alpha(ratings_of([[1, 2]]), "metric")
    with pytest.raises(ValueError, match="confidence"):
        krippendorff_alpha(ratings_of([[1, 2]]), "nominal", 95)


def direct_alpha(level, counts, categories):
    rows, multiplicity = distinct_rows(counts)
    return alpha_from_counts(rows, multiplicity, distances(level, categories, counts.sum(axis=0)))


@pytest.mark.parametrize("n_categories", [1, 2, 4, 40])
def test_row_kinds_agree_with_numpy(n_categories):
    counts = np.random.default_rng(1).integers(0, 3, (300, n_categories))
    rows, kind = row_kinds(counts)
    expected, inverse, multiplicity = np.unique(
        counts, axis=0, return_inverse=True, return_counts=True
    )
    assert (rows == expected).all()
    assert (kind == inverse).all()
    assert (distinct_rows(counts)[1] == multiplicity).all()


def test_only_pairable_values_are_counted():
    counts = np.array([[2, 0, 0], [0, 1, 0], [1, 0, 1]])
    kept, used = pairable_counts(counts, np.array([5.0, 6.0, 7.0]))
    assert kept.tolist() == [[2, 0], [1, 1]]
    assert used.tolist() == [5, 7]
    counts, _ = pairable_counts(simulated(50, 5, 0.3).counts(), np.arange(4.0))
    matrix = coincidence_matrix(*distinct_rows(counts))
    assert matrix == pytest.approx(matrix.T)
    assert matrix.sum(axis=0) == pytest.approx(counts.sum(axis=0))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("n_items", "n_raters"), [(3, 2), (12, 3), (80, 6)])
def test_left_out_alphas_equal_a_loop_over_items(level, n_items, n_raters):
    ratings = simulated(n_items, n_raters, 0.25 if n_items > 3 else 0.0, seed=n_items)
    counts, used = pairable_counts(ratings.counts(), ratings.categories())
    rows, kind = row_kinds(counts)
    multiplicity = np.bincount(kind)
    found = alphas_left_out(level, rows, multiplicity, used)[kind]
    loop = [
        direct_alpha(level, *pairable_counts(np.delete(counts, item, axis=0), used))
        for item in range(len(counts))
    ]
    assert found == pytest.approx(loop, abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("level", LEVELS)
def test_leaving_out_the_only_other_value_is_undefined(level):
    rows, multiplicity = np.array([[1, 1], [2, 0]]), np.array([1, 3])
    found = alphas_left_out(level, rows, multiplicity, np.array([0.0, 1.0]))
    assert np.isnan(found).tolist() == [True, False]


def ratings(rows: list[tuple[str, str, float]]) -> Ratings:
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "value"]))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_with_one_rating_an_item_it_is_alpha_of_the_two(level):
    generator = np.random.default_rng(3)
    first, second = generator.integers(0, 4, 60), generator.integers(0, 4, 60)
    second[:30] = first[:30]
    group = ratings([(f"i{n}", f"r{n % 5}", value) for n, value in enumerate(first)])
    other = pd.Series(second, index=[f"i{n}" for n in range(60)])
    pair = ratings(
        [(f"i{n}", "a", value) for n, value in enumerate(first)]
        + [(f"i{n}", "b", value) for n, value in enumerate(second)]
    )
    found, expected = cross_alpha(group, other, level), krippendorff_alpha(pair, level)
    assert found.value == pytest.approx(expected.value)
    # Its interval reaches as far as that of 1 - alpha on a logarithmic scale, too.
    assert found.low <= expected.low + 1e-9
    assert found.high >= expected.high - 1e-9


def test_by_hand_and_without_missing_labels():
    """Two items, votes (0, 1) and (1, 1), judge 0 and 1: pairs 00, 10, 11, 11.

    Coincidences: o01 = o10 = 1, o00 = 2, o11 = 4; margins 3 and 5, n = 8.
    Alpha nominal = 1 - 7 · 2 / (2 · 3 · 5) = 16/30."""
    group = ratings([("a", "x", 0), ("a", "y", 1), ("b", "x", 1), ("b", "y", 1)])
    found = cross_alpha(group, pd.Series({"a": 0, "b": 1}), "nominal")
    assert found.value == pytest.approx(16 / 30)
    assert found.n_values == 4
    assert found.reason
    group = ratings([("a", "x", 0), ("b", "x", 1), ("c", "x", 2)])
    found = cross_alpha(group, pd.Series({"a": 0, "b": np.nan, "c": 2}), "interval")
    assert found.n_pairable_items == 2
    assert found.value == pytest.approx(1)


def test_the_interval_is_the_jackknife_over_items():
    generator = np.random.default_rng(5)
    rows = [(f"i{n}", f"r{k}", float(generator.integers(0, 4))) for n in range(40) for k in (1, 2)]
    group = ratings(rows)
    other = pd.Series(generator.integers(0, 4, 40), index=[f"i{n}" for n in range(40)])
    found = cross_alpha(group, other, "ordinal")
    left_out = [
        cross_alpha(ratings([r for r in rows if r[0] != item]), other, "ordinal").value
        for item in other.index
    ]
    ones = np.ones(40, dtype=int)
    expected = alpha_interval(found.value, np.array(left_out), ones)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-6)


def test_undefined_is_said_with_its_reason():
    for statistic, group, other, reason in (
        (cross_alpha, {"a": 1, "b": 1}, {}, NO_VALUES),
        (cross_alpha, {"a": 1, "b": 1}, {"z": 1}, "no item"),
        (cross_alpha, {"a": 1, "b": 1}, {"a": 1}, "one value"),
        # Values on items of one side do not define it.
        (cross_alpha, {"a": 1, "b": 1, "c": 3}, {"a": 1, "b": 1, "d": 0}, "one value"),
        # Without a second person there is no difference.
        (alpha_difference, {"a": 0, "b": 1, "c": 2}, {"a": 0, "b": 1, "c": 1}, "two of the group"),
    ):
        people = ratings([(item, "x", value) for item, value in group.items()])
        found = statistic(people, pd.Series(other, dtype=float), "ordinal")
        assert found.value is None
        assert reason in str(found.reason)


def like_the_others(seed: int, n: int) -> tuple[Ratings, pd.Series]:
    """Three raters and a fourth who errs as they do, labels 0-3."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 4, n)
    said = [
        np.clip(np.round(truth + generator.normal(0, 0.9, n)), 0, 3).astype(int)
        for _rater in range(4)
    ]
    rows = [
        (f"i{at}", f"r{rater}", value)
        for rater, values in enumerate(said[:3])
        for at, value in enumerate(values)
    ]
    return ratings(rows), pd.Series(said[3], index=[f"i{at}" for at in range(n)])


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_difference_is_that_of_the_two_alphas_on_shared_items(level):
    group, other = like_the_others(5, 40)
    alone = ratings([("x1", "r0", 0), ("x1", "r1", 3), ("x2", "r0", 3), ("x2", "r1", 0)])
    both = Ratings.from_frame(pd.concat([group.to_frame(), alone.to_frame()]))
    found = alpha_difference(both, other, level)
    expected = cross_alpha(group, other, level).value - krippendorff_alpha(group, level).value
    assert found.value == pytest.approx(expected)
    assert found.n_pairable_items == 40
    assert found.low < found.value < found.high


def test_the_interval_leaves_out_an_item_from_both_and_overlapping_ones_are_no_answer():
    group, other = like_the_others(8, 20)
    found = alpha_difference(group, other, "ordinal")
    rows = group.to_frame()
    left_out = []
    for item in other.index:
        rest = Ratings.from_frame(rows[rows["item"] != item])
        across = cross_alpha(rest, other.drop(item), "ordinal").value
        left_out.append(across - krippendorff_alpha(rest, "ordinal").value)
    pseudo = 20 * found.value - 19 * np.array(left_out)
    assert (found.low, found.high) == pytest.approx(tuple(mean_interval(pseudo)), abs=1e-6)
    # Items on which people differ widely: both intervals are wide, the difference is certain.
    group, other = like_the_others(2, 150)
    worse = other.where(np.arange(150) % 4 > 0, 3 - other)
    people, judge = krippendorff_alpha(group, "ordinal"), cross_alpha(group, worse, "ordinal")
    found = alpha_difference(group, worse, "ordinal")
    assert found.high < 0
    assert found.high - found.low < (people.high - people.low) + (judge.high - judge.low)


@pytest.mark.long
def test_the_interval_holds_nothing_as_often_as_it_says():
    """A rater like the others differs from them by nothing: .95 of 200 within simulation error."""
    held = 0
    for seed in range(200):
        found = alpha_difference(*like_the_others(seed, 40), "ordinal")
        held += found.low <= 0 <= found.high
    assert 0.91 <= held / 200 <= 0.985
