"""Ratings and agreement of raters: percent, kappa, pairs of raters, items and labels."""

import subprocess
import sys
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_counts

from cqa_site.stats.agreement import (
    LEVELS,
    PAIR_STATISTICS,
    coincidences,
    confusion,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    pairwise_agreement,
    pairwise_matrix,
    per_item_disagreement,
    per_label_agreement,
    percent_agreement,
)
from cqa_site.stats.estimate import ONE_VALUE
from cqa_site.stats.ratings import (
    DuplicateRatingError,
    MissingColumnError,
    NotNumericError,
    Ratings,
    RatingsError,
    UnknownCategoryError,
)
from tests.stats.tables import SCALE, long_table, ratings_of, simulated, simulated_grid


def test_shares_equal_a_loop_over_pairs_and_an_interval_needs_items_and_spread():
    grid = simulated_grid(np.random.default_rng(2), 40, 5, 0.3)
    shares = []
    for row in grid:
        values = row[~np.isnan(row)]
        first, second = np.triu_indices(len(values), 1)
        if len(first):
            shares.append((values[first] == values[second]).mean())
    found = percent_agreement(ratings_of(grid.tolist()))
    assert found.value == pytest.approx(np.mean(shares))
    assert found.n_pairable_items == len(shares)
    assert found.low < found.value < found.high
    assert "no spread" in percent_agreement(ratings_of([[2, 2]] * 10)).reason
    assert "10 or more items" in percent_agreement(ratings_of([[2, 2], [2, 1]])).reason


def test_gwet_equals_published_software_and_stays_high_where_one_value_prevails():
    """irrCAC 0.4.4 on the same labels; and 54 of 60 items all alike, labels 0 and 1."""
    generator = np.random.default_rng(4)
    grid = generator.integers(0, 4, (30, 1)) + generator.integers(-1, 2, (30, 4))
    grid = np.clip(grid, 0, 3).astype(float)
    grid[generator.random(grid.shape) < 0.2] = np.nan
    grid[0] = [3, np.nan, np.nan, np.nan]
    for level, value in (
        ("nominal", 0.25705757),
        ("ordinal", 0.61085139),
        ("interval", 0.67133598),
    ):
        found = gwet_ac(ratings_of(grid.tolist()), level, categories=SCALE)
        assert found.value == pytest.approx(value, abs=1e-7)
        assert found.low < found.value < found.high
    rare = [[0, 0, 0]] * 54 + [[0, 0, 1]] * 3 + [[0, 1, 0]] * 3
    alpha, ac1 = krippendorff_alpha(ratings_of(rare), "nominal"), gwet_ac(ratings_of(rare))
    assert alpha.value < 0 < 0.9 < ac1.value
    with pytest.raises(ValueError, match="AC2 has weights"):
        gwet_ac(ratings_of(rare), "ratio")


@pytest.mark.parametrize("n_raters", [2, 3, 7])
def test_fleiss_equals_statsmodels(n_raters):
    ratings = simulated(90, n_raters, seed=n_raters)
    found = fleiss_kappa(ratings)
    assert found.value == pytest.approx(fleiss_of_counts(ratings.counts(), "fleiss"))
    assert found.low < found.value < found.high
    assert found.n_dropped_items == 0


def test_fleiss_refuses_unequal_items_or_drops_them_on_request():
    rows = [[0, 0, 0], [1, 2, 1], [2, 2, 2], [0, 1, None], [3, None, None]]
    refused = fleiss_kappa(ratings_of(rows))
    assert refused.value is None
    assert "different numbers" in refused.reason
    assert refused.n_dropped_items == 0
    kept = fleiss_kappa(ratings_of(rows), drop_unequal=True)
    assert kept.value == pytest.approx(fleiss_kappa(ratings_of(rows[:3])).value)
    assert (kept.n_pairable_items, kept.n_dropped_items) == (3, 2)
    assert (kept.n_raters, kept.n_values) == (3, 9)
    # Of two sizes that are equally frequent the larger one stays.
    rows = [[0, 0, 1], [1, 2, 1], [2, 2, None], [0, 1, None], *[[3, None, None]] * 4]
    for found, dropped in ((kept, 2), (fleiss_kappa(ratings_of(rows), drop_unequal=True), 6)):
        assert "only items with 3 ratings" in found.recipe
        assert found.n_dropped_items == dropped


def one_by_one(ratings, statistic, first, second):
    couple = ratings.subset(raters=[first, second])
    if statistic == "percent_agreement":
        return percent_agreement(couple)
    if statistic.startswith("alpha"):
        return krippendorff_alpha(couple, statistic.removeprefix("alpha_"))
    both = couple.to_frame().pivot(index="item", columns="rater", values="value").dropna()
    weights = statistic.removeprefix("cohen_kappa").lstrip("_") or None
    labels = both.astype(int)
    value = cohen_kappa_score(labels[first], labels[second], labels=SCALE, weights=weights)
    return SimpleNamespace(value=value, n_pairable_items=len(both))


@pytest.mark.parametrize("statistic", PAIR_STATISTICS)
def test_every_couple_equals_the_statistic_of_the_two(statistic):
    ratings = simulated(40, 5, 0.3)
    matrix = pairwise_matrix(ratings, statistic)
    for first, second in combinations(ratings.raters, 2):
        expected = one_by_one(ratings, statistic, first, second)
        assert matrix.values.loc[first, second] == pytest.approx(expected.value)
        assert matrix.values.loc[second, first] == matrix.values.loc[first, second]
        assert matrix.n_shared.loc[first, second] == expected.n_pairable_items
    assert all(matrix.values.isna().loc[name, name] for name in ratings.raters)


def test_couples_without_enough_in_common_have_reasons():
    rows = [[1, 1, None], [1, 1, None], [1, None, 2], [1, None, 0], [1, None, None]]
    table = pairwise_agreement(ratings_of(rows), "cohen_kappa", min_shared=2)
    assert table["rater_b"].tolist() == ["r1", "r2"]
    assert table["reason"].tolist() == [ONE_VALUE, None]
    assert table["value"].isna().tolist() == [True, False]
    few = pairwise_agreement(ratings_of(rows), "cohen_kappa", min_shared=3)
    assert few["reason"].tolist() == ["fewer than 3 shared items"] * 2
    assert few["value"].isna().all()
    matrix = pairwise_matrix(ratings_of([[1, None], [None, 2]]), "percent_agreement")
    assert matrix.values.isna().all(axis=None)
    assert matrix.n_shared.to_numpy().tolist() == [[1, 0], [0, 1]]
    assert pairwise_matrix(ratings_of([[None]])).values.shape == (0, 0)
    with pytest.raises(ValueError, match="statistic must be one of"):
        pairwise_agreement(ratings_of([[1, 2]]), "pearson")


@pytest.mark.parametrize("level", LEVELS)
def test_relative_disagreement_averages_to_one_minus_alpha(level):
    ratings = simulated(70, 5, 0.4)
    table = per_item_disagreement(ratings, level)
    share = np.average(table["relative"].astype(float), weights=table["n"])
    assert 1 - share == pytest.approx(krippendorff_alpha(ratings, level).value)


def test_disputed_items_and_labels():
    ratings = ratings_of([[1, 1, None], [0, 3, None], [2, None, None], [1, 2, 1]])
    table = per_item_disagreement(ratings, "ordinal")
    assert table.index.tolist() == ["i1", "i3", "i0"]
    assert table["spread"].tolist() == [3, 1, 0]
    table = per_item_disagreement(ratings, "nominal")
    assert table["mean_distance"].tolist() == pytest.approx([1, 2 / 3, 0])
    # One value leaves the relative distance missing.
    table = per_item_disagreement(ratings_of([[1, 1], [1, 1]]), "interval")
    assert table["mean_distance"].tolist() == [0, 0]
    assert table["relative"].isna().all()
    # Cells 11: 3, 10: 1, 01: 2, 00: 4 -> 2*3/(2*3+3) and 2*4/(2*4+3).
    rows = [[1, 1]] * 3 + [[1, 0]] + [[0, 1]] * 2 + [[0, 0]] * 4
    table = per_label_agreement(ratings_of(rows))
    assert table["agreement"].tolist() == pytest.approx([8 / 11, 6 / 9])
    assert table["n_values"].tolist() == [11, 9]
    assert table["chance"].tolist() == pytest.approx([10 / 19, 8 / 19])
    # A label that nobody could repeat has none.
    table = per_label_agreement(ratings_of([[0, 0], [3, None]]))
    assert table["n_values"].tolist() == [2, 0]
    assert table["agreement"].isna().tolist() == [False, True]


def test_confusion_equals_scikit_learn_and_takes_every_pair_of_ratings():
    grid = simulated_grid(np.random.default_rng(3), 70, 2, 0.3)
    a, b = pd.Series(grid[:, 0]), pd.Series(grid[:, 1])
    shared = a.notna() & b.notna()
    found = confusion(a, b[::-1], SCALE)
    assert found.to_numpy().tolist() == confusion_matrix(a[shared], b[shared]).tolist()
    assert found.index.tolist() == found.columns.tolist() == list(SCALE)
    # i0: {0, 0, 1} against {1}; i1: {2} against {2, 3}; i2 on one side only.
    crowd = ratings_of([[0, 0, 1], [2, None, None], [3, 3, 3]])
    judges = ratings_of([[1, None], [2, 3]])
    found = confusion(crowd, judges)
    expected = np.zeros((4, 4), dtype=int)
    expected[0, 1], expected[1, 1], expected[2, 2], expected[2, 3] = 2, 1, 1, 1
    assert (found.to_numpy() == expected).all()
    apart = confusion(pd.Series({"x": 1.0}), pd.Series({"y": 0.0}))
    assert apart.to_numpy().tolist() == [[0, 0], [0, 0]]
    with pytest.raises(UnknownCategoryError):
        confusion(pd.Series({"x": 1.0}), pd.Series({"x": 4.0}), SCALE)
    found = coincidences(ratings_of([[0, 2], [2, 2], [3, None]]), SCALE)
    assert found.loc[1.0].tolist() == found.loc[3.0].tolist() == [0, 0, 0, 0]
    assert found.loc[2.0].tolist() == [1, 0, 2, 0]


def test_missing_values_are_dropped_subsets_made_and_categories_counted():
    ratings = ratings_of([[3, None, 1], [None, None, None], [0, 0, None]])
    assert ratings.items.tolist() == ["i0", "i2"]
    assert ratings.raters.tolist() == ["r0", "r2", "r1"]
    assert (ratings.n_items, ratings.n_raters, ratings.n_values) == (2, 3, 4)
    assert ratings.values_per_item.tolist() == [2, 2]
    ratings = ratings_of([[3, None, 1], [None, 2, 2], [0, 0, None]])
    one = ratings.subset(raters=["r1", "unknown"])
    assert one.items.tolist() == ["i1", "i2"]
    assert one.raters.tolist() == ["r1"]
    assert ratings.subset(items=["i0"], raters=["r2"]).values.tolist() == [1]
    assert ratings.subset(items=[]).n_values == 0
    ratings = ratings_of([[3, 0, 3], [0, None, None]])
    assert ratings.counts().tolist() == [[1, 2], [1, 0]]
    assert ratings.counts([0, 1, 2, 3]).tolist() == [[1, 0, 0, 2], [1, 0, 0, 0]]
    empty = Ratings.from_frame(long_table([[1]])[:0])
    assert empty.n_items == empty.n_raters == empty.n_values == 0
    assert empty.counts().shape == (0, 0)
    assert empty.counts([0, 1]).shape == (0, 2)
    for scale in ([0, 1, 2], [1, 2, 3], [0, 2, 3.5], []):
        with pytest.raises(UnknownCategoryError):
            ratings_of([[3, 0, 1]]).counts(scale)
    for scale in ([0, 0, 1], [1, 0]):
        with pytest.raises(RatingsError, match="ascending"):
            ratings_of([[1, 0]]).counts(scale)


def test_what_is_no_table_of_ratings_is_an_error():
    table = pd.concat([long_table([[1, 2], [3, 3]]), long_table([[0, None]])])
    with pytest.raises(DuplicateRatingError, match="item 'i0' by rater 'r0'"):
        Ratings.from_frame(table)
    # A repeated missing rating is none.
    table = pd.concat([long_table([[1, 2]]), long_table([[None, None]])])
    assert Ratings.from_frame(table).n_values == 2
    table = pd.DataFrame({"item": ["a", "b", "c"], "rater": "x"})
    for value in ("two", float("inf"), -float("inf")):
        with pytest.raises(NotNumericError):
            Ratings.from_frame(table.assign(value=[1.0, value, 2.0]))
    for values in (["1", None, "3"], pd.array([1, None, 3], dtype="Int64")):
        assert Ratings.from_frame(table.assign(value=values)).values.tolist() == [1, 3]
    table = long_table([[1, 2]])
    with pytest.raises(MissingColumnError, match="rater"):
        Ratings.from_frame(table.drop(columns="rater"))
    with pytest.raises(RatingsError, match="no item or no rater"):
        Ratings.from_frame(table.assign(item=["i0", None]))


@pytest.mark.long
def test_the_statistics_load_neither_django_nor_celery():
    code = (
        "from cqa_site.stats import agreement, intervals; import sys; "
        "from cqa_site.stats import latent; "
        "print([name for name in ('django', 'celery') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.stdout.strip() == "[]", loaded.stderr
