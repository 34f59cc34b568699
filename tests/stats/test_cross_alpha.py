"""Agreement of a group with one rater outside it."""

import numpy as np
import pandas as pd
import pytest

from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.ratings import Ratings
from cqa_site.stats.reliability.cross_alpha import alpha_difference, cross_alpha


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
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_by_hand():
    """Two items, votes (0, 1) and (1, 1), judge 0 and 1: pairs 00, 10, 11, 11.

    Coincidences: o01 = o10 = 1, o00 = 2, o11 = 4; margins 3 and 5, n = 8.
    Alpha nominal = 1 - 7 · 2 / (2 · 3 · 5) = 16/30.
    """
    group = ratings([("a", "x", 0), ("a", "y", 1), ("b", "x", 1), ("b", "y", 1)])
    found = cross_alpha(group, pd.Series({"a": 0, "b": 1}), "nominal")
    assert found.value == pytest.approx(16 / 30)
    assert found.n_values == 4
    assert found.reason


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
    pseudo = 40 * found.value - 39 * np.array(left_out)
    reach = 2.0226909 * pseudo.std(ddof=1) / 40**0.5
    assert found.low == pytest.approx(pseudo.mean() - reach, abs=1e-6)


def test_undefined_is_said_with_its_reason():
    group = ratings([("a", "x", 1), ("b", "x", 1)])
    assert cross_alpha(group, pd.Series(dtype=float), "ordinal").value is None
    assert "no item" in str(cross_alpha(group, pd.Series({"z": 1.0}), "ordinal").reason)
    assert "one value" in str(cross_alpha(group, pd.Series({"a": 1.0}), "ordinal").reason)


def test_values_on_items_of_one_side_do_not_define_it():
    group = ratings([("a", "x", 1), ("b", "x", 1), ("c", "x", 3)])
    found = cross_alpha(group, pd.Series({"a": 1, "b": 1, "d": 0}), "ordinal")
    assert found.value is None
    assert "one value" in str(found.reason)


def test_missing_labels_do_not_count():
    group = ratings([("a", "x", 0), ("b", "x", 1), ("c", "x", 2)])
    found = cross_alpha(group, pd.Series({"a": 0, "b": np.nan, "c": 2}), "interval")
    assert found.n_pairable_items == 2
    assert found.value == pytest.approx(1)


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


def test_the_interval_leaves_out_an_item_from_both_at_once():
    group, other = like_the_others(8, 20)
    found = alpha_difference(group, other, "ordinal")
    rows = group.to_frame()
    left_out = []
    for item in other.index:
        rest = Ratings.from_frame(rows[rows["item"] != item])
        across = cross_alpha(rest, other.drop(item), "ordinal").value
        left_out.append(across - krippendorff_alpha(rest, "ordinal").value)
    pseudo = 20 * found.value - 19 * np.array(left_out)
    reach = 2.0930241 * pseudo.std(ddof=1) / 20**0.5
    assert found.low == pytest.approx(pseudo.mean() - reach, abs=1e-6)


@pytest.mark.long
def test_the_interval_holds_nothing_as_often_as_it_says():
    """A rater like the others differs from them by nothing: .95 of 200 within simulation error."""
    held = 0
    for seed in range(200):
        found = alpha_difference(*like_the_others(seed, 40), "ordinal")
        held += found.low <= 0 <= found.high
    assert 0.91 <= held / 200 <= 0.985


def test_overlapping_intervals_are_no_answer():
    """Items on which people differ widely: both intervals are wide, the difference is certain."""
    group, other = like_the_others(2, 150)
    worse = other.where(np.arange(150) % 4 > 0, 3 - other)
    people, judge = krippendorff_alpha(group, "ordinal"), cross_alpha(group, worse, "ordinal")
    found = alpha_difference(group, worse, "ordinal")
    assert found.high < 0
    assert found.high - found.low < (people.high - people.low) + (judge.high - judge.low)


def test_without_a_second_person_there_is_no_difference():
    group = ratings([("a", "x", 0), ("b", "y", 1), ("c", "x", 2)])
    found = alpha_difference(group, pd.Series({"a": 0, "b": 1, "c": 1}), "ordinal")
    assert found.value is None
    assert "two of the group" in str(found.reason)
