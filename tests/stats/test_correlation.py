import numpy as np
import pytest
from scipy import stats

import cqa_site.stats.correlation as module
from cqa_site.stats.clustered import TOO_FEW_CLUSTERS
from cqa_site.stats.correlation import TOO_FEW_PAIRS, Pairs, correlation
from cqa_site.stats.estimate import NO_VALUES
from cqa_site.stats.weighted_correlation import CORRELATIONS

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def noisy(n=60, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 20, n).astype(float)
    return x, np.round(x + 4 * generator.normal(size=n))


def test_by_hand():
    """x 1 2 3 4, y 2 1 4 3: products of deviations 3.0 over 5; 4 of 6 pairs agree."""
    pairs = ([1, 2, 3, 4], [2, 1, 4, 3])
    assert correlation(*pairs, kind="pearson").value == pytest.approx(0.6)
    assert correlation(*pairs, kind="spearman").value == pytest.approx(0.6)
    assert correlation(*pairs, kind="kendall").value == pytest.approx(2 / 6)


def test_tau_b_by_hand():
    """x 1 1 2, y 1 2 2: one pair agrees; two are untied in x, two in y: 1 / sqrt(2 x 2)."""
    assert correlation([1, 1, 2], [1, 2, 2], kind="kendall").value == pytest.approx(0.5)


@pytest.mark.parametrize("kind", CORRELATIONS)
def test_the_interval_resamples_whole_clusters(kind):
    """Once more the slow way: the rows of each drawn cluster, repeated, through scipy."""
    x, y = noisy()
    clusters = np.arange(60) // 3
    found = correlation(x, y, clusters.tolist(), kind=kind, n_resamples=200, seed=5)
    draws = np.random.default_rng(5).multinomial(20, np.full(20, 1 / 20), size=200)
    values = []
    for draw in draws:
        rows = np.repeat(np.arange(60), draw[clusters])
        values.append(SCIPY[kind](x[rows], y[rows]).statistic)
    assert (found.low, found.high) == pytest.approx(np.quantile(values, [0.025, 0.975]))
    assert found.interval == "bootstrap of 20 clusters, percentile, 200 resamples, seed 5"


def test_repeating_pairs_inside_clusters_does_not_narrow_the_interval():
    x, y = noisy(40)
    names = np.arange(40)
    alone = correlation(x, y, names.tolist())
    tenfold = correlation(*(np.repeat(each, 10) for each in (x, y)), np.repeat(names, 10).tolist())
    assert tenfold.value == pytest.approx(alone.value)
    assert (tenfold.low, tenfold.high) == pytest.approx((alone.low, alone.high))


def test_chunks_do_not_change_the_answer(monkeypatch):
    whole = correlation(*noisy(), kind="spearman", n_resamples=300)
    monkeypatch.setattr(module, "_CHUNK_CELLS", 100)
    assert correlation(*noisy(), kind="spearman", n_resamples=300) == whole


def test_incomplete_pairs_are_dropped_and_counted():
    found = correlation([1, 2, np.nan, 3, 4], [2, 1, 9, 4, np.nan], n_resamples=50)
    assert found.value == pytest.approx(correlation([1, 2, 3], [2, 1, 4]).value)
    assert (found.n_items, found.n_pairable_items, found.n_dropped_items) == (5, 3, 2)


@pytest.mark.parametrize(
    ("x", "y", "clusters", "reason"),
    [
        ([], [], None, NO_VALUES),
        ([1, 2], [1, 2], None, TOO_FEW_PAIRS),
        ([1, 1, 1], [1, 2, 3], None, "first of the two"),
        ([1, 2, 3], [4, 4, 4], None, "second of the two"),
        ([1, 2, 4], [1, 3, 2], "aab", TOO_FEW_CLUSTERS),
        ([1, 2, 3, 4], [2, 4, 6, 8], None, "undefined|no spread"),
        ([0, 0, 0, 0, 1], [1, 2, 3, 4, 5], None, "over 5 %"),
    ],
)
@pytest.mark.parametrize("kind", CORRELATIONS)
def test_what_is_undefined_says_why(kind, x, y, clusters, reason):
    found = correlation(x, y, clusters, kind=kind)
    assert found.low is None
    assert any(part in found.reason for part in reason.split("|"))
    is_undefined = len(x) < 3 or len(set(x)) < 2 or len(set(y)) < 2
    assert (found.value is None) == is_undefined


def test_kendall_of_too_many_pairs_has_a_value_without_an_interval(monkeypatch):
    monkeypatch.setattr(module, "MOST_KENDALL_PAIRS", 50)
    x, y = noisy()
    found = correlation(x, y, kind="kendall")
    assert found.value == pytest.approx(stats.kendalltau(x, y).statistic)
    assert "more than 50 pairs" in found.reason


@pytest.mark.parametrize(
    ("x", "y", "clusters", "match"),
    [
        ([1, 2], [1], None, "same length"),
        ([1, 2], [1, 2], "abc", "same length"),
        ([1, np.inf], [1, 2], None, "infinite"),
    ],
)
def test_what_are_no_pairs_is_refused(x, y, clusters, match):
    with pytest.raises(ValueError, match=match):
        Pairs.of(x, y, clusters)
