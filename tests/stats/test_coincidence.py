import numpy as np
import pytest

from cqa_site.stats.reliability.coincidence import (
    LEVELS,
    alpha_from_counts,
    alphas_left_out,
    coincidence_matrix,
    distances,
    distinct_rows,
    pairable_counts,
    row_kinds,
)
from tests.stats.tables import simulated


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


def test_unpairable_items_and_their_categories_go():
    counts = np.array([[2, 0, 0], [0, 1, 0], [1, 0, 1]])
    kept, used = pairable_counts(counts, np.array([5.0, 6.0, 7.0]))
    assert kept.tolist() == [[2, 0], [1, 1]]
    assert used.tolist() == [5, 7]


def test_margins_of_the_coincidence_matrix_count_the_values():
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


def test_ordinal_distances_follow_the_margins_of_the_items_that_stay():
    ratings = simulated(12, 3, seed=5)
    counts, used = pairable_counts(ratings.counts(), ratings.categories())
    rows, multiplicity = distinct_rows(counts)
    distance = distances("ordinal", used, counts.sum(axis=0))
    frozen = [
        alpha_from_counts(rows, multiplicity - (np.arange(len(rows)) == left), distance)
        for left in range(len(rows))
    ]
    assert alphas_left_out("ordinal", rows, multiplicity, used) != pytest.approx(frozen, abs=1e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_leaving_out_the_only_other_value_is_undefined(level):
    rows, multiplicity = np.array([[1, 1], [2, 0]]), np.array([1, 3])
    found = alphas_left_out(level, rows, multiplicity, np.array([0.0, 1.0]))
    assert np.isnan(found).tolist() == [True, False]
