from itertools import combinations

import pytest

from cqa_site.stats.agreement import (
    PAIR_STATISTICS,
    cohen_kappa,
    krippendorff_alpha,
    pairwise_agreement,
    pairwise_matrix,
    percent_agreement,
)
from cqa_site.stats.estimate import ONE_VALUE
from tests.stats.tables import ratings_of, simulated


def one_by_one(ratings, statistic, first, second):
    couple = ratings.subset(raters=[first, second])
    if statistic == "percent_agreement":
        return percent_agreement(couple)
    if statistic.startswith("alpha"):
        return krippendorff_alpha(couple, statistic.removeprefix("alpha_"))
    weights = statistic.removeprefix("cohen_kappa").lstrip("_") or None
    return cohen_kappa(ratings.subset(raters=[first]), ratings.subset(raters=[second]), weights)


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


def test_too_few_items_and_one_value_are_reasons():
    rows = [[1, 1, None], [1, 1, None], [1, None, 2], [1, None, 0], [1, None, None]]
    table = pairwise_agreement(ratings_of(rows), "cohen_kappa", min_shared=2)
    assert table["rater_b"].tolist() == ["r1", "r2"]
    assert table["reason"].tolist() == [ONE_VALUE, None]
    assert table["value"].isna().tolist() == [True, False]
    few = pairwise_agreement(ratings_of(rows), "cohen_kappa", min_shared=3)
    assert few["reason"].tolist() == ["fewer than 3 shared items"] * 2
    assert few["value"].isna().all()


def test_raters_who_share_nothing_are_missing_in_the_matrix():
    matrix = pairwise_matrix(ratings_of([[1, None], [None, 2]]), "percent_agreement")
    assert matrix.values.isna().all(axis=None)
    assert matrix.n_shared.to_numpy().tolist() == [[1, 0], [0, 1]]


def test_no_ratings_make_an_empty_matrix():
    assert pairwise_matrix(ratings_of([[None]])).values.shape == (0, 0)


def test_an_unknown_statistic_is_an_error():
    with pytest.raises(ValueError, match="statistic must be one of"):
        pairwise_agreement(ratings_of([[1, 2]]), "pearson")
