"""Agreement of a group with one rater outside it."""

import numpy as np
import pandas as pd
import pytest

from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.cross_alpha import cross_alpha
from cqa_site.stats.ratings import Ratings


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
