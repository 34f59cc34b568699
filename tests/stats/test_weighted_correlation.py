import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cqa_site.stats.weighted_correlation import (
    CORRELATIONS,
    weighted_correlations,
    weighted_mid_ranks,
)

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

triples = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=12
)


@pytest.mark.parametrize("kind", CORRELATIONS)
@given(rows=triples)
def test_a_weight_is_a_repetition(kind, rows):
    x, y, weights = np.array(rows, dtype=float).T
    found = weighted_correlations(kind, x, y, weights[None, :])[0]
    repeated = [np.repeat(each, weights.astype(int)) for each in (x, y)]
    if any(len(set(each)) < 2 for each in repeated):
        assert np.isnan(found)
    else:
        assert found == pytest.approx(SCIPY[kind](*repeated).statistic, abs=1e-9)


@pytest.mark.parametrize("kind", CORRELATIONS)
def test_rows_may_have_pairs_of_their_own(kind):
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 5, (2, 6, 9)).astype(float)
    weights = generator.integers(1, 3, (6, 9)).astype(float)
    together = weighted_correlations(kind, x, y, weights)
    alone = [
        weighted_correlations(kind, x[row], y[row], weights[row : row + 1])[0] for row in range(6)
    ]
    assert together == pytest.approx(alone)


def test_mid_ranks_by_hand():
    """Values 5 5 2 9 with weights 1 2 1 0: 2 covers rank 0-1, both fives share 1-4."""
    found = weighted_mid_ranks(np.array([5.0, 5.0, 2.0, 9.0]), np.array([[1.0, 2.0, 1.0, 0.0]]))
    assert found.tolist() == [[2.5, 2.5, 0.5, 4.0]]


def test_equal_weights_rank_as_scipy_does():
    values = np.random.default_rng(2).integers(0, 6, 40).astype(float)
    found = weighted_mid_ranks(values, np.ones((1, 40)))[0]
    assert found == pytest.approx(stats.rankdata(values) - 0.5)


@pytest.mark.parametrize("shift", [0.0, 0.1, 1e6])
def test_a_constant_has_no_correlation_whatever_its_size(shift):
    constant, other = np.full(7, 0.3 + shift), np.arange(7.0) + shift
    weights = np.random.default_rng(3).random((20, 7))
    assert np.isnan(weighted_correlations("pearson", constant, other, weights)).all()
    assert weighted_correlations("pearson", other, -other, weights) == pytest.approx(-1)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="pearson, spearman, kendall"):
        weighted_correlations("cosine", np.ones(3), np.ones(3), np.ones((1, 3)))
